// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "fmt"

// Apply takes one move.
func (n *Network) Apply(c Configuration, step []Move, b *Buffer) {
	b.reset()
	n.store.begin()
	m := step[0]
	at := int(m.At)
	switch m.Kind {
	case Act:
		n.happen(c, at, happening{kind: Given, input: int(m.Arg)}, b)
	case Tick:
		n.happen(c, at, happening{kind: Ticked}, b)
		b.Touched = append(b.Touched, n.clockSite(at))
	case Deliver:
		_, to := n.graph.Ends(at)
		message := n.store.at(c[n.linkWord(at)], int(m.Arg))
		n.take(c, at, int(m.Arg), b)
		n.happen(c, to, happening{kind: Received, channel: n.graph.Channel(at), message: message}, b)
	case Lose, Duplicate, Corrupt, Forge, Crash, Resume, Restart, Cut, Heal, Leave, Join:
		n.applyFault(c, m, b)
	case kinds:
	}
	n.settle(c, b)
	n.sweep(c, b)
	n.canonical(c, b)
}

// happen lets an event happen to a process and puts what it sends on its links.
func (n *Network) happen(c Configuration, p int, e happening, b *Buffer) {
	if n.IsCrashed(c, p) {
		return
	}
	next, out := n.store.step(p, c[p], e, b.out[:0])
	b.out = out
	b.write(c, p, next)
	b.Touched = append(b.Touched, int32(p))
	for _, s := range out {
		link := n.graph.Link(p, int(s.channel))
		if n.isPrompt(c, link, uint64(s.message)) {
			b.prompt = append(b.prompt, prompted{link, uint64(s.message)})
			continue
		}
		n.put(c, link, uint64(s.message), b)
	}
	b.Sent += len(out)
	if b.CountBytes {
		for _, s := range out {
			b.SentBytes += n.store.size(uint64(s.message))
		}
	}
}

// put appends a message to a link, unless the link is cut or full.
func (n *Network) put(c Configuration, link int, message uint64, b *Buffer) {
	if n.IsCut(c, link) {
		return
	}
	word := n.linkWord(link)
	if n.links.Capacity > 0 && n.store.length(c[word]) >= n.links.Capacity {
		b.Overflow = b.Overflow || !n.links.Lossy
		return
	}
	b.write(c, word, n.store.push(c[word], message, n.links.Unordered))
	b.Touched = append(b.Touched, n.linkSite(link))
}

// repeat doubles a message where it stands: a link that keeps the order delivers the copy next. There is no copy on a
// link that is full.
func (n *Network) repeat(c Configuration, link, i int, b *Buffer) {
	word := n.linkWord(link)
	if n.links.Capacity > 0 && n.store.length(c[word]) >= n.links.Capacity {
		return
	}
	b.write(c, word, n.store.repeat(c[word], i))
	b.Touched = append(b.Touched, n.linkSite(link))
}

// take removes a message from a link.
func (n *Network) take(c Configuration, link, i int, b *Buffer) {
	word := n.linkWord(link)
	b.write(c, word, n.store.remove(c[word], i))
	b.Touched = append(b.Touched, n.linkSite(link))
}

func (n *Network) applyFault(c Configuration, m Move, b *Buffer) {
	if !n.isFree(m.Kind) {
		n.spend(c, m.Kind, b)
	}
	at := int(m.At)
	switch m.Kind {
	case Lose:
		n.take(c, at, int(m.Arg), b)
	case Duplicate:
		n.repeat(c, at, int(m.Arg), b)
	case Forge:
		n.put(c, at, n.store.chooseMessage(m.Arg), b)
	case Corrupt:
		b.write(c, at, n.store.chooseState(at, m.Arg))
		n.touchProcess(at, b)
	case Crash, Resume:
		n.setCrashed(c, at, m.Kind == Crash, b)
		n.touchProcess(at, b)
	case Restart:
		n.setCrashed(c, at, false, b)
		b.write(c, at, n.store.clean(at))
		n.touchProcess(at, b)
	case Cut, Heal:
		n.setEdge(c, at, m.Kind == Cut, b)
	case Leave, Join:
		n.setCrashed(c, at, m.Kind == Leave, b)
		if m.Kind == Join {
			b.write(c, at, n.store.clean(at))
		}
		for i := range n.graph.Degree(at) {
			n.setEdge(c, n.graph.Link(at, i), m.Kind == Leave, b)
		}
		n.touchProcess(at, b)
	case Act, Deliver, Tick, kinds:
	}
}

// setEdge cuts or heals both directions and then tells the two ends, so that what either answers meets the edge as it
// is now.
func (n *Network) setEdge(c Configuration, link int, cut bool, b *Buffer) {
	if n.IsCut(c, link) == cut {
		return
	}
	kind := LinkHealed
	if cut {
		kind = LinkCut
	}
	edge := [...]int{link, n.graph.Back(link)}
	for _, l := range edge {
		n.setCut(c, l, cut, b)
		if cut {
			b.write(c, n.linkWord(l), n.store.empty(l))
		}
		b.Touched = append(b.Touched, n.linkSite(l))
	}
	for _, l := range edge {
		_, to := n.graph.Ends(l)
		n.happen(c, to, happening{kind: kind, channel: n.graph.Channel(l)}, b)
	}
}

// touchProcess touches the process, its clock, and the links that lead to it.
func (n *Network) touchProcess(p int, b *Buffer) {
	b.Touched = append(b.Touched, int32(p))
	if n.clockOf[p] >= 0 {
		b.Touched = append(b.Touched, n.clockSite(p))
	}
	for i := range n.graph.Degree(p) {
		b.Touched = append(b.Touched, n.linkSite(n.graph.Back(n.graph.Link(p, i))))
	}
}

// Check tells why a move is impossible.
func (n *Network) Check(c Configuration, m Move) error {
	if err := n.checkAt(m); err != nil {
		return err
	}
	at := int(m.At)
	switch m.Kind {
	case Act:
		if err := n.checkCrashed(c, m); err != nil {
			return err
		}
		if got := len(n.store.inputs(at, c[at])); m.Arg >= uint64(got) {
			return fmt.Errorf("process %s has %d inputs to choose from, there is no number %d", n.graph.Name(at), got, m.Arg)
		}
	case Tick:
		if n.clockOf[at] < 0 {
			return fmt.Errorf("tick: process %s has no clock", n.graph.Name(at))
		}
		return n.checkCrashed(c, m)
	case Deliver, Lose, Duplicate:
		return n.checkPosition(c, m)
	case Corrupt:
		if size := n.body.countStates(at); m.Arg >= size && size < Uncountable {
			return fmt.Errorf("corrupt: process %s has %d possible states, there is no number %d", n.graph.Name(at), size, m.Arg)
		}
	case Forge:
		if size := n.body.countMessages(); m.Arg >= size && size < Uncountable {
			return fmt.Errorf("forge: there are %d possible messages, there is no number %d", size, m.Arg)
		}
	case Crash, Resume, Restart, Cut, Heal, Leave, Join, kinds:
	}
	return nil
}

func (n *Network) checkPosition(c Configuration, m Move) error {
	from, to := n.graph.Ends(int(m.At))
	length := n.store.length(c[n.linkWord(int(m.At))])
	switch {
	case m.Arg >= uint64(length):
		return fmt.Errorf("%s: link %s→%s holds %d messages, there is no number %d", m.Kind, n.graph.Name(from), n.graph.Name(to), length, m.Arg)
	case m.Kind == Deliver && n.IsCrashed(c, to):
		return fmt.Errorf("deliver: process %s has crashed", n.graph.Name(to))
	case m.Kind == Deliver && !n.links.Unordered && m.Arg > 0:
		return fmt.Errorf("deliver: link %s→%s is first in, first out", n.graph.Name(from), n.graph.Name(to))
	}
	return nil
}

// IsConcurrent does not hold: messages are received one after the other.
func (n *Network) IsConcurrent() bool { return false }

// classesPerProcess is how many fairness classes a process has: one for each code of its inputs, the last for its clock.
const classesPerProcess = 32

// Class of an input is its process and code, of a delivery its link; of an unordered link each message is owed, but in
// a live network, whose messages have no lasting handles, only some message.
func (n *Network) Class(c Configuration, m Move) int {
	at, processes, links := int(m.At), n.graph.Len(), n.graph.Links()
	switch m.Kind {
	case Act:
		if in := n.store.inputs(at, c[at])[m.Arg]; !in.Environment {
			return at*classesPerProcess + in.Code
		}
	case Tick:
		return at*classesPerProcess + classesPerProcess - 1
	case Deliver:
		class := processes*classesPerProcess + at
		if n.links.Unordered && n.table != nil {
			class += links * int(1+n.store.class(n.store.at(c[n.linkWord(at)], int(m.Arg))))
		}
		return class
	case Lose, Duplicate, Corrupt, Forge, Crash, Resume, Restart, Cut, Heal, Leave, Join, kinds:
	}
	return NoClass
}

// ClassName names the process and its input, or the link.
func (n *Network) ClassName(class int) string {
	own := n.graph.Len() * classesPerProcess
	if class < own {
		p, code := class/classesPerProcess, class%classesPerProcess
		if code == classesPerProcess-1 {
			return "clock of process " + n.graph.Name(p)
		}
		return fmt.Sprintf("input %d of process %s", code, n.graph.Name(p))
	}
	from, to := n.graph.Ends((class - own) % n.graph.Links())
	name := fmt.Sprintf("link %s→%s", n.graph.Name(from), n.graph.Name(to))
	if message := (class - own) / n.graph.Links(); message > 0 {
		name += ", message " + n.body.messageText(n.store.messageValue(uint64(message-1)))
	}
	return name
}

// Describe says what a move does.
func (n *Network) Describe(c Configuration, m Move) string {
	at := int(m.At)
	switch m.Kind {
	case Act:
		return fmt.Sprintf("process %s: %s", n.graph.Name(at), n.store.inputs(at, c[at])[m.Arg].Name)
	case Tick:
		return "the clock of process " + n.graph.Name(at) + " ticks"
	case Deliver, Lose, Duplicate:
		from, to := n.graph.Ends(at)
		text := n.messageText(c, at, int(m.Arg))
		if m.Kind == Lose {
			return fmt.Sprintf("link %s→%s loses %s", n.graph.Name(from), n.graph.Name(to), text)
		}
		if m.Kind == Duplicate {
			return fmt.Sprintf("link %s→%s repeats %s", n.graph.Name(from), n.graph.Name(to), text)
		}
		return fmt.Sprintf("process %s receives %s from %s", n.graph.Name(to), text, n.graph.Name(from))
	case Corrupt, Forge, Crash, Resume, Restart, Cut, Heal, Leave, Join, kinds:
	}
	return n.describeFault(m)
}

func (n *Network) messageText(c Configuration, link, i int) string {
	n.store.begin()
	return n.body.messageText(n.store.messageValue(n.store.at(c[n.linkWord(link)], i)))
}

// Variables of a process, or the messages of a link.
func (n *Network) Variables(c Configuration, site int) []Variable {
	s := n.Site(site)
	switch {
	case s.IsAdversary() || s.Clock:
		return nil
	case s.Process >= 0:
		vs := n.body.variables(site, n.store.stateValue(site, c[site]))
		if n.IsCrashed(c, site) {
			vs = append(vs, Variable{Name: "crashed", Value: "yes"})
		}
		return vs
	}
	var vs []Variable
	for i := range n.Length(c, s.Link) {
		vs = append(vs, Variable{Name: fmt.Sprint(i), Value: n.messageText(c, s.Link, i)})
	}
	return vs
}

// Length is the number of messages on a link.
func (n *Network) Length(c Configuration, link int) int { return n.store.length(c[n.linkWord(link)]) }

// StateOf is the state of process p in a configuration of a network. Nobody may change it.
func StateOf[S any](n *Network, c Configuration, p int) *S { return n.store.stateValue(p, c[p]).(*S) }

// MessageOf is the message at position i of a link. Nobody may change it, and it is good until the next step.
func MessageOf[M any](n *Network, c Configuration, link, i int) *M {
	return n.store.peek(c[n.linkWord(link)], i).(*M)
}
