// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import "allot/model"

// Loans. Without them a resource is ready for the first of its queue, who may have to wait for others, and is idle
// meanwhile: under load most resources are. With them a client that waits for one resource alone asks it. A resource
// that is asked wants to be given back by the first of its queue, if that one waits for others; it does so at once, and
// the resource is lent to whoever asked. Then it is the first one's turn again.
//
// Whoever waits for what it lent waits for a claim with a larger stamp, and otherwise for one with a smaller stamp; and
// that one, when it borrowed, had everything else. So no circle of waiting can form, even if a claim has lent something in the
// meantime and waits with a loan. A claim lends a few times and no more. So whoever waits is passed only as often as
// those ahead of it lend, and nobody starves.

// loan is what an entry of a queue has to do with loans.
type loan struct {
	isAsked    bool // the client has asked, and was given nothing since
	isHeard    bool // the ready that it was sent last answers its ask
	isWanted   bool // it was told, with the ready, to give the resource back
	isRecalled bool // it was told so later
	isBack     bool // it was the first, and has given the resource back
	isOdd      bool // it was given the resource an odd number of times
	isWagered  bool // while weak: it may take itself for the first
}

func (l *loan) visit(f *model.Fields, name string, s *stamps) {
	model.Bool(f, name+".asked", &l.isAsked)
	model.Bool(f, name+".wanted", &l.isWanted)
	model.Bool(f, name+".recalled", &l.isRecalled)
	model.Bool(f, name+".back", &l.isBack)
	model.Bool(f, name+".wagered", &l.isWagered)
	if s.canCancel { // who leaves after it has used its claim has had all that was sent
		model.Bool(f, name+".heard", &l.isHeard)
		model.Bool(f, name+".odd", &l.isOdd)
	}
}

// leaving is what remains of the loans of a client that leaves: an ask or a return that has not come yet, and a recall that
// it may not have had.
func (l loan) leaving(msg message, at stage, isEven bool) (rest loan, awaits set) {
	isAnswered := at == told && l.isHeard && msg.isOdd != l.isOdd // and that is on its way
	if msg.isAsked && !l.isAsked && !isAnswered {
		awaits = awaits.with(int(ask))
	}
	if msg.isBack && at == told && (msg.isOdd == l.isOdd || isEven) {
		awaits = awaits.with(int(back))
	}
	return loan{isRecalled: l.isRecalled}, awaits
}

// maybeLend gives the resource to somebody, or wants it back from who has it.
func (m *stamps) maybeLend(s *state, out *model.Outbox[message]) {
	first := -1
	for i := range s.queue {
		e := &s.queue[i]
		switch {
		case e.stage == told:
			if !e.isWanted && !e.isRecalled && s.borrower() >= 0 {
				e.isRecalled = true
				out.Send(int(e.client), message{kind: recall, epoch: s.epoch})
			}
			return
		case e.isWagered:
			return
		case first < 0 && e.stamp > 0:
			first = i
		}
	}
	if first < 0 || s.queue[first].stage != strong {
		return
	}
	to := first
	if b := s.borrower(); s.queue[first].isBack && b >= 0 {
		to = b
	}
	s.queue[first].isBack = false
	e := &s.queue[to]
	e.stage, e.isOdd, e.isHeard, e.isAsked = told, !e.isOdd, e.isAsked, false
	isWanted := to == first && s.borrower() >= 0
	e.isWanted = isWanted || to != first // a loan is not lent on
	s.fence = (s.fence + 1) % int64(m.fences)
	out.Send(int(e.client), message{kind: ready, epoch: s.epoch, fence: s.fence, isWanted: isWanted, isAsked: e.isHeard, isOdd: e.isOdd})
}

// borrower is the place of the first that has asked and is not the first of the queue anyway, or -1.
func (s *state) borrower() int {
	isBehind := false
	for i, e := range s.queue {
		if isBehind && e.isAsked && e.stage == strong {
			return i
		}
		isBehind = isBehind || e.stamp > 0
	}
	return -1
}

// onAsk remembers that a client waits for this resource alone.
func (m *stamps) onAsk(s *state, c, i int, out *model.Outbox[message]) {
	if i < 0 {
		if s.unheard.has(c) { // it has come before the client said what it had
			s.early = s.early.with(c)
		}
		return
	}
	s.queue[i].isAsked = true
	m.maybeReady(s, out)
}

// onBack takes the resource back from the client at place i.
func (m *stamps) onBack(s *state, i int, out *model.Outbox[message]) {
	e := &s.queue[i]
	e.stage, e.isWanted, e.isRecalled, e.isHeard = strong, false, false, false
	e.isBack = true
	for _, ahead := range s.queue[:i] {
		e.isBack = e.isBack && ahead.stamp == 0
	}
	m.maybeReady(s, out)
}

// onLoanReady is a resource that is ready for a client. If it is wanted by others and not all the rest is ready, the client
// may give it back at once.
func (m *stamps) onLoanReady(s *state, r int, msg message, out *model.Outbox[message]) {
	s.back, s.turns = s.back.without(r), s.turns.without(r)
	if msg.isOdd {
		s.turns = s.turns.with(r)
	}
	if msg.isAsked {
		s.asked = s.asked.without(r)
	}
	if m.maybeUse(s); s.phase == waiting && (msg.isWanted || s.recalled.has(r)) {
		m.maybeGiveBack(s, r, out)
	}
	m.maybeAsk(s, out)
}

// onRecall is a resource that others could use at once. A client that uses it keeps it, and if the ready is still on its way
// it remembers.
func (m *stamps) onRecall(s *state, r int, out *model.Outbox[message]) {
	s.recalled = s.recalled.with(r)
	if s.phase == waiting && s.readied.has(r) {
		m.maybeGiveBack(s, r, out)
	}
}

// maybeGiveBack lets others have a resource, if the claim has not done so too often. The claim counts, and not the resource:
// a large claim would otherwise never have all its resources at once.
func (m *stamps) maybeGiveBack(s *state, r int, out *model.Outbox[message]) {
	if int(s.lent) == m.loans && !m.rule.isGenerous {
		return
	}
	s.lent = min(s.lent+1, uint8(m.loans))
	s.readied, s.recalled, s.back = s.readied.without(r), s.recalled.without(r), s.back.with(r)
	out.Send(r, message{kind: back, epoch: s.epochs[r]})
}

// maybeAsk asks for the only resource that the client still waits for, unless it has.
func (m *stamps) maybeAsk(s *state, out *model.Outbox[message]) {
	missing := s.need &^ s.readied
	if m.loans == 0 || s.phase != waiting || !s.isFinal || missing.len() != 1 || s.asked&missing != 0 {
		return
	}
	s.asked |= missing
	r := missing.first()
	out.Send(r, message{kind: ask, epoch: s.epochs[r]})
}
