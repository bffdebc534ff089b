// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import "allot/model"

// onClient is what a resource does with a message of client c.
func (m *stamps) onClient(s *state, c int, msg message, out *model.Outbox[message]) {
	i := s.find(c)
	at := absent
	if i >= 0 {
		at = s.queue[i].stage
	}
	switch {
	case msg.kind == expired:
		m.onExpired(s, c, i, out)
	case at == over || msg.epoch != s.epoch:
	case msg.kind == present:
		m.onPresent(s, c, msg, out)
	case at == cancelled:
		m.onAwaited(s, c, i, msg.kind, out)
	case at == absent && len(s.queue) >= m.clients: // only overwritten memory has more entries than clients
	case msg.kind == request && at == absent:
		s.put(entry{client: int32(c), stage: fresh})
		m.maybeOffer(s, out)
	case msg.kind == final && at == weak:
		e := s.queue[i]
		s.remove(i)
		e.stage, e.stamp, e.isWagered = strong, msg.stamp, false
		if msg.isFirst {
			e.stage = told
		}
		s.put(e)
		m.maybeReady(s, out)
	case msg.kind == leave:
		m.onLeave(s, c, i, at, msg, out)
	case msg.kind == ask && at != fresh:
		m.onAsk(s, c, i, out)
	case msg.kind == back && at == told:
		m.onBack(s, i, out)
	}
}

// maybeOffer offers the next stamp to whoever has none, where the rule is the next number.
func (m *stamps) maybeOffer(s *state, out *model.Outbox[message]) {
	for !m.isAny && s.unheard == 0 && len(s.queue) > 0 {
		i := 0
		for i < len(s.queue) && s.queue[i].stage != fresh {
			i++
		}
		if i == len(s.queue) {
			return
		}
		m.offer(s, i, 1, out)
	}
}

// offer gives the fresh client at place i of the queue a stamp above all that are there.
func (m *stamps) offer(s *state, i int, above int64, out *model.Outbox[message]) {
	stamp := s.top() + above
	if m.rule.isLow {
		stamp = above
	}
	c := s.queue[i].client
	msg := message{kind: offer, epoch: s.epoch, stamp: stamp, client: c, isFirst: s.top() == 0}
	if msg.isFirst {
		s.fence = (s.fence + 1) % int64(m.fences)
		msg.fence = s.fence
	}
	e := s.queue[i]
	s.remove(i)
	e.stage, e.stamp, e.isWagered = weak, stamp, msg.isFirst && m.loans > 0
	s.put(e)
	out.Send(int(c), msg)
}

// maybeReady tells the first of the queue, if its stamp is final. A weak one ahead must be awaited: its final stamp may
// be the smaller one.
func (m *stamps) maybeReady(s *state, out *model.Outbox[message]) {
	if s.unheard != 0 {
		return
	}
	if m.loans > 0 {
		m.maybeLend(s, out)
		return
	}
	for i := range s.queue {
		e := &s.queue[i]
		if e.stamp == 0 || e.stage == weak && m.rule.isRash {
			continue
		}
		if e.stage == strong {
			e.stage = told
			s.fence = (s.fence + 1) % int64(m.fences)
			out.Send(int(e.client), message{kind: ready, epoch: s.epoch, fence: s.fence})
		}
		return
	}
}

// onLeave takes a client out. What it sent before and has not come yet is awaited, or it would be taken for part of the
// client's next claim.
func (m *stamps) onLeave(s *state, c, i int, at stage, msg message, out *model.Outbox[message]) {
	gone := entry{client: int32(c), stage: cancelled, was: at}
	if at == absent {
		gone.awaits = gone.awaits.with(int(request))
	}
	if at == weak && msg.isFinal {
		gone.awaits = gone.awaits.with(int(final))
	}
	if i >= 0 {
		rest, awaits := s.queue[i].leaving(msg, at, m.rule.isEven)
		gone.loan, gone.awaits = rest, gone.awaits|awaits
		s.remove(i)
	}
	if gone.awaits != 0 && !m.rule.isAbrupt {
		s.put(gone)
	} else {
		m.end(s, c, gone, out)
	}
	m.maybeReady(s, out)
}

// onAwaited is a message of a client that has left, which overtook it.
func (m *stamps) onAwaited(s *state, c, i int, k kind, out *model.Outbox[message]) {
	e := &s.queue[i]
	if !e.awaits.has(int(k)) {
		return
	}
	e.awaits = e.awaits.without(int(k))
	if k == back {
		e.was, e.isRecalled = strong, false
	}
	if gone := *e; gone.awaits == 0 {
		s.remove(i)
		m.end(s, c, gone, out)
	}
}

// end tells a client that it is out, and what was sent to it before.
func (m *stamps) end(s *state, c int, e entry, out *model.Outbox[message]) {
	at := e.was
	out.Send(c, message{kind: ended, epoch: s.epoch, hasOffered: at == weak || at == strong || at == told, hasReadied: at == told, hasRecalled: e.isRecalled})
}

// onExpired takes a client out whose session has ended, and remembers that: what it sent may still come.
func (m *stamps) onExpired(s *state, c, i int, out *model.Outbox[message]) {
	if i >= 0 {
		s.remove(i)
	}
	if !m.rule.isForgetful && len(s.queue) < m.clients {
		s.put(entry{client: int32(c), stage: over})
	}
	s.unheard, s.early = s.unheard.without(c), s.early.without(c)
	m.maybeOffer(s, out)
	m.maybeReady(s, out)
}

// onLoss is a crash in which a resource loses its queue. Its epoch and its fence are on disk. It gives nothing until
// every client has said what it had, or its session has ended.
func (m *stamps) onLoss(s *state, out *model.Outbox[message]) {
	if s.losses--; int(s.epoch) == m.losses {
		return
	}
	s.epoch++
	s.unheard, s.early = 0, 0
	kept := s.queue[:0]
	for _, e := range s.queue {
		if e.stage == over {
			kept = append(kept, e) // the list of sessions is not the resource's own
		}
	}
	s.queue = kept
	for c := range m.clients {
		if s.find(c) < 0 {
			s.unheard = s.unheard.with(c)
			out.Send(c, message{kind: lost, epoch: s.epoch})
		}
	}
	if m.rule.isBlank {
		s.unheard = 0
	}
}

// onLost answers a resource that has lost its queue. What was on the way to and from it belongs to an epoch that has
// passed, so nothing of that is owed any more.
func (m *stamps) onLost(p int, s *state, r int, msg message, out *model.Outbox[message]) {
	if msg.epoch <= s.epochs[r] {
		return // an older loss, told late
	}
	s.epochs[r] = msg.epoch
	answer := message{kind: present, epoch: msg.epoch, client: int32(p)}
	s.asked, s.recalled, s.back, s.turns = s.asked.without(r), s.recalled.without(r), s.back.without(r), s.turns.without(r)
	switch {
	case !s.need.has(r) || s.phase == closing:
	case !s.isFinal:
		// The offer of the old epoch, if it came, still counts for the largest: a larger stamp does no harm.
		s.offered, s.firsts = s.offered.without(r), s.firsts.without(r)
		answer.stage = fresh
	case s.readied.has(r):
		answer.stage, answer.stamp = told, s.stamp
	default:
		answer.stage, answer.stamp = strong, s.stamp
	}
	out.Send(r, answer)
	if s.need.has(r) && s.phase == closing {
		m.close(s, r)
	}
}

// onPresent puts back what a client had before the queue was lost.
func (m *stamps) onPresent(s *state, c int, msg message, out *model.Outbox[message]) {
	if !s.unheard.has(c) && !m.rule.isBlank {
		return
	}
	s.unheard = s.unheard.without(c)
	defer func() { s.early = s.early.without(c) }()
	switch i := s.find(c); {
	case msg.stage == absent: // whatever is here belongs to a claim that was made since
	case i >= 0 && s.queue[i].stage == cancelled: // it has left since, and that came first
		e := s.queue[i]
		s.remove(i)
		e.was = absent
		m.end(s, c, e, out)
	case i < 0 && len(s.queue) < m.clients:
		s.put(entry{client: int32(c), stage: msg.stage, stamp: msg.stamp, loan: loan{isAsked: s.early.has(c)}})
	}
	m.maybeOffer(s, out)
	m.maybeReady(s, out)
}
