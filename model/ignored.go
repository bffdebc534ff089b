// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

// Ignoring is a Machine that knows of messages to which their receiver will never answer, nor change its state, whatever
// happens until they arrive. Such a message is taken off its link at once. There are fewer configurations without them, and
// on links that lose messages there is no other difference: it might have been lost. A link of bounded capacity has room
// again, and whatever is sent onto a link could be lost there as well as on a full one.
//
// Whoever says that a message is ignored owes the argument that it is so for ever, and a comparison with the network that
// keeps them where both can be explored.
type Ignoring[S, M any] interface {
	// HasIgnored tells whether there are such messages, IsIgnored whether this one, under way to p, is one.
	HasIgnored() bool
	IsIgnored(p int, s *S, m *M) bool
}

func (t typed[S, M]) hasIgnored() bool {
	i, ok := t.machine.(Ignoring[S, M])
	return ok && i.HasIgnored()
}

func (t typed[S, M]) isIgnored(p int, state, message any) bool {
	return t.machine.(Ignoring[S, M]).IsIgnored(p, state.(*S), message.(*M))
}

// sweep takes the messages that are ignored off the links that the step has touched, and off those to the processes that it
// has touched.
func (n *Network) sweep(c Configuration, b *Buffer) {
	if !n.hasIgnored {
		return
	}
	for _, site := range b.Touched[:len(b.Touched):len(b.Touched)] {
		switch p := int(site); {
		case p < n.graph.Len():
			for i := range n.graph.Degree(p) {
				n.sweepLink(c, n.graph.Back(n.graph.Link(p, i)), b)
			}
		case p < n.graph.Len()+n.graph.Links():
			n.sweepLink(c, p-n.graph.Len(), b)
		}
	}
}

func (n *Network) sweepLink(c Configuration, link int, b *Buffer) {
	word := n.linkWord(link)
	_, to := n.graph.Ends(link)
	for i := n.store.length(c[word]) - 1; i >= 0; i-- {
		if n.body.isIgnored(to, n.store.stateValue(to, c[to]), n.store.peek(c[word], i)) {
			n.take(c, link, i, b)
		}
	}
}
