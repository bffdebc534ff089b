// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

// Prompt is a Machine some of whose messages arrive within the step that sends them, in the order in which they were
// sent. Such a network has fewer configurations and fewer runs, so that larger instances can be explored to the end. It
// answers for the network in which these messages may take their time only if it does not matter when they arrive:
// whoever says that a message is prompt owes the argument, and a comparison of the two where both can be explored.
//
// A message whose receiver has crashed goes onto the link like any other. The answers to prompt messages may be prompt
// too, but not for ever.
type Prompt[M any] interface {
	// HasPrompt tells whether there are such messages, IsPrompt whether this is one.
	HasPrompt() bool
	IsPrompt(m *M) bool
}

func (t typed[S, M]) hasPrompt() bool {
	p, ok := t.machine.(Prompt[M])
	return ok && p.HasPrompt()
}

func (t typed[S, M]) isPrompt(message any) bool { return t.machine.(Prompt[M]).IsPrompt(message.(*M)) }

// prompted is a message that is to arrive before the step is over.
type prompted struct {
	link    int
	message uint64
}

// isPrompt tells whether a message that is sent now arrives within the step.
func (n *Network) isPrompt(c Configuration, link int, message uint64) bool {
	if !n.hasPrompt || n.IsCut(c, link) {
		return false
	}
	_, to := n.graph.Ends(link)
	return !n.IsCrashed(c, to) && n.body.isPrompt(n.store.messageValue(message))
}

// settle delivers the prompt messages of a step, and those that are sent on the way.
func (n *Network) settle(c Configuration, b *Buffer) {
	for i := 0; i < len(b.prompt); i++ {
		p := b.prompt[i]
		_, to := n.graph.Ends(p.link)
		n.happen(c, to, happening{kind: Received, channel: n.graph.Channel(p.link), message: p.message}, b)
	}
	b.prompt = b.prompt[:0]
}
