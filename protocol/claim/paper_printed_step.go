// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"slices"

	"allot/model"
)

// Step is the listing. A message is received, and then the loop goes round until nothing in it applies any more. The
// listing lets more messages come in between; whatever goes wrong here therefore goes wrong there.
func (m *raw) Step(p int, s *rawState, e model.Event[rawMessage], out *model.Outbox[rawMessage]) {
	if m.isClient(p) {
		m.stepClient(p, s, e, out)
		return
	}
	r := rawResource{m, int32(p - m.clients), s, out}
	if e.Kind == model.Received {
		r.on(e.Channel, e.Message)
	}
	for r.goRound() {
	}
}

// stepClient is Variable 1 and Algorithm 1.
func (m *raw) stepClient(p int, s *rawState, e model.Event[rawMessage], out *model.Outbox[rawMessage]) {
	switch {
	case e.Kind == model.Given && e.Input.Code == doClaim:
		s.becomeWaiting(&m.shape, set(e.Input.Arg&(1<<weakShift-1)))
		s.weakAt = int(e.Input.Arg >> weakShift)
		msg := rawMessage{kind: rNewRequest, client: int32(p), number: 1, next: m.none()}
		if s.need.len() == 2 {
			msg.number, msg.next = 2, int32(s.need.without(s.weakAt).first())
		}
		out.Send(s.weakAt, msg)
	case e.Kind == model.Given && e.Input.Code == doRelease:
		s.phase = closing
		out.Send(s.weakAt, rawMessage{kind: rDone})
	case e.Kind == model.Received && e.Message.kind == rAllowed && s.phase == waiting:
		s.phase = using
	case e.Kind == model.Received && e.Message.kind == rEnd && s.phase == closing:
		s.phase, s.need, s.weakAt = idle, 0, 0
	}
}

// rawResource is a resource in the middle of a step.
type rawResource struct {
	m   *raw
	me  int32
	s   *rawState
	out *model.Outbox[rawMessage]
}

// to sends to a resource. What goes to none, to infinity or to the sender itself goes nowhere.
func (r rawResource) to(resource int32, msg rawMessage) {
	if resource != r.m.none() && resource != r.me {
		r.out.Send(r.m.toResource(int(r.me), int(resource)), msg)
	}
}

// head of the strong queue; of an empty one it names no resource, and isThere is false.
func (r rawResource) head() (q rawRequest, isThere bool) {
	if len(r.s.strong) == 0 {
		return rawRequest{next: r.m.none()}, false
	}
	return r.s.strong[0], true
}

func (r rawResource) repaired(fix int) bool { return r.m.rule.repairs >= fix }

// isFull tells that the queues have more entries than the clients can have requests.
func (r rawResource) isFull() bool {
	return len(r.s.held)+len(r.s.strong)+len(r.s.weak) >= 2*r.m.clients
}

// goRound is lines 12-48 and 64-68. It tells whether anything was done.
func (r rawResource) goRound() bool {
	s := r.s
	head, isThere := r.head()
	switch {
	case s.isSending:
		s.hasToken, s.isSending = false, false
		r.to((r.me+1)%int32(r.m.resources), rawMessage{kind: rToken})
	case !s.isLocked && len(s.held) > 0:
		q := s.held[0]
		s.held = slices.Delete(s.held, 0, 1)
		r.onNewRequest(q)
	case s.isNewHead && isThere:
		s.isNewHead = false
		switch {
		case head.number == 2:
			s.isWeakReady = true
		case head.next == r.m.none():
			r.out.Send(int(head.client), rawMessage{kind: rAllowed})
		default:
			r.to(head.next, rawMessage{kind: rNewStrong, client: head.client})
		}
	case s.isStrongReady && s.isWeakReady:
		if isThere {
			r.out.Send(int(head.client), rawMessage{kind: rAllowed})
		}
		s.isStrongReady, s.isWeakReady = false, false
	default:
		s.isNewHead = false
		return false
	}
	return true
}

// onNewRequest is lines 19-33.
func (r rawResource) onNewRequest(q rawRequest) {
	s := r.s
	if q.number == 1 {
		s.isNewHead = s.isNewHead || len(s.strong) == 0
		s.strong = append(s.strong, q)
		return
	}
	s.weak = append(s.weak, q)
	r.to(q.next, rawMessage{kind: rNewRequest, client: q.client, number: 1, next: r.me})
}

func (r rawResource) on(channel int, msg rawMessage) {
	s := r.s
	from := r.m.none()
	if channel >= r.m.clients {
		from = int32(r.m.fromResource(int(r.me), channel))
	}
	head, isThere := r.head()
	if r.repaired(fixNames) && msg.kind.isAboutHead() && (!isThere || head.client != msg.client) {
		return
	}
	switch msg.kind {
	case rToken:
		r.onToken()
	case rNewRequest:
		if r.isFull() {
			break // more requests than there can be: some came twice
		}
		s.held = append(s.held, rawRequest{msg.client, msg.number, msg.next})
	case rNewStrong:
		s.isNewHead = s.isNewHead || len(s.strong) == 0
		r.move(&s.weak, &s.strong, msg.client)
		r.to(from, rawMessage{kind: rNewStrongACK, client: msg.client})
	case rStrongReady:
		s.isStrongReady = true
	case rDone:
		r.onDone()
	case rNewStrongACK:
		least := &s.least
		if r.repaired(fixLeast) {
			own := r.me
			least = &own
		}
		if s.hasToken {
			*least = r.m.none()
		}
		r.to(head.next, rawMessage{kind: rSeekLoop, least: *least, initial: r.me, client: head.client})
	case rSeekLoop:
		r.onSeekLoop(msg)
	case rNoLoop:
		r.to(head.next, rawMessage{kind: rStrongReady, client: head.client})
	case rRemoteKill:
		s.isLocked = true
		r.to(head.next, rawMessage{kind: rKillLoop, client: head.client})
	case rKillLoop:
		s.isLocked = true
		r.move(&s.strong, &s.weak, msg.client)
		r.to(from, rawMessage{kind: rKillACK1, client: msg.client})
	case rKillACK1:
		if isThere {
			s.strong = append(slices.Delete(s.strong, 0, 1), head) // HeadToTail; Score is never read
		}
		r.to(from, rawMessage{kind: rKillACK2})
		s.isNewHead, s.isLocked = true, false
	case rKillACK2:
		s.isLocked = false
	case rAllowed, rEnd:
	}
}

// isAboutHead tells whether a message is about the client at the head of the receiver's strong queue.
func (k rawKind) isAboutHead() bool {
	return k == rNewStrongACK || k == rNoLoop || k == rRemoteKill || k == rKillACK1
}

// move takes a client's request out of one queue and puts it at the end of another, if it is there.
func (r rawResource) move(from, to *[]rawRequest, client int32) {
	i := slices.IndexFunc(*from, func(q rawRequest) bool { return q.client == client })
	if i >= 0 {
		*to = append(*to, (*from)[i])
		*from = slices.Delete(*from, i, i+1)
	}
}

// onToken is lines 3-10.
func (r rawResource) onToken() {
	s := r.s
	s.awaited = nil
	for _, q := range s.strong {
		if q.number == 1 {
			s.awaited = append(s.awaited, q.client)
		}
	}
	s.hasToken = true
	s.isSending = r.repaired(fixToken) && len(s.awaited) == 0
}

// onDone is lines 70-84.
func (r rawResource) onDone() {
	s := r.s
	head, isThere := r.head()
	if !isThere {
		return
	}
	s.strong = slices.Delete(s.strong, 0, 1)
	if head.number == 1 {
		if i := slices.Index(s.awaited, head.client); r.repaired(fixToken) && i >= 0 {
			s.awaited = slices.Delete(s.awaited, i, i+1)
		} else if !r.repaired(fixToken) && s.hasToken && len(s.awaited) > 0 {
			s.awaited = slices.Delete(s.awaited, 0, 1)
		}
		r.out.Send(int(head.client), rawMessage{kind: rEnd})
	} else {
		next := head.next
		if !r.repaired(fixPop) {
			after, _ := r.head()
			next = after.next
		}
		r.to(next, rawMessage{kind: rDone})
	}
	s.isNewHead = len(s.strong) > 0
	s.isSending = len(s.awaited) == 0 && (s.hasToken || !r.repaired(fixToken))
}

// onSeekLoop is lines 92-110.
func (r rawResource) onSeekLoop(msg rawMessage) {
	s := r.s
	head, isThere := r.head()
	least := &msg.least
	if !r.repaired(fixLeast) {
		s.least = msg.least
		least = &s.least
	}
	isEdge := isThere && head.next != r.m.none() && head.number == 1
	if r.repaired(fixEdge) {
		// The client that the search came for must be in the queue, or it does not wait here.
		isEdge = isEdge && slices.ContainsFunc(s.strong, func(q rawRequest) bool { return q.client == msg.client && q.number == 2 })
	}
	switch {
	case r.me == msg.initial && r.repaired(fixEdge) && !isEdge:
	case r.me == msg.initial && r.me != *least:
		r.to(*least, rawMessage{kind: rRemoteKill, client: msg.client})
	case r.me == msg.initial:
		s.isLocked = true
		r.to(head.next, rawMessage{kind: rKillLoop, client: head.client})
	case !isEdge:
		r.to(msg.initial, rawMessage{kind: rNoLoop, client: msg.client})
	default:
		if !s.hasToken && *least > r.me {
			*least = r.me
		}
		r.to(head.next, rawMessage{kind: rSeekLoop, least: *least, initial: msg.initial, client: head.client})
	}
}
