// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"slices"

	"allot/model"
)

// Step is the paper's protocol, corrected.
func (m *paper) Step(p int, s *paperState, e model.Event[paperMessage], out *model.Outbox[paperMessage]) {
	if m.isClient(p) {
		m.stepClient(s, e, out)
		return
	}
	r := resourceOf{m, p - m.clients, s, out}
	if e.Kind == model.Received {
		r.on(e.Channel, e.Message)
	}
	r.maybeHead()
	if !m.rule.isLazy {
		r.maybeToken()
	}
}

func (m *paper) stepClient(s *paperState, e model.Event[paperMessage], out *model.Outbox[paperMessage]) {
	switch {
	case e.Kind == model.Given && e.Input.Code == doClaim:
		s.becomeWaiting(&m.shape, set(e.Input.Arg&(1<<weakShift-1)))
		s.weakAt = int(e.Input.Arg >> weakShift)
		msg := paperMessage{kind: pAsk, isTwo: s.need.len() == 2}
		if msg.isTwo {
			msg.peer = int32(s.need.without(s.weakAt).first())
		}
		out.Send(s.weakAt, msg)
	case e.Kind == model.Given && e.Input.Code == doRelease:
		s.phase = closing
		out.Send(s.weakAt, paperMessage{kind: pDone})
	case e.Kind == model.Received && e.Message.kind == pAllowed && s.phase == waiting:
		s.phase = using
	case e.Kind == model.Received && e.Message.kind == pEnd && s.phase == closing:
		if s.need = s.need.without(e.Channel); s.need == 0 {
			s.phase, s.weakAt = idle, 0
		}
	}
}

// resourceOf is a resource in the middle of a step.
type resourceOf struct {
	m   *paper
	me  int
	s   *paperState
	out *model.Outbox[paperMessage]
}

// isFull tells that a queue has as many entries as there are clients. Only memory that was overwritten has more claims
// than clients.
func (r resourceOf) isFull() bool {
	return max(len(r.s.strong), len(r.s.weak)) >= r.m.clients
}

// to sends to another resource. Only a forged message names the receiver itself.
func (r resourceOf) to(resource int32, msg paperMessage) {
	if int(resource) == r.me {
		return
	}
	r.out.Send(r.m.toResource(r.me, int(resource)), msg)
}

func (r resourceOf) on(channel int, msg paperMessage) {
	s := r.s
	from := int32(0)
	if channel >= r.m.clients {
		from = int32(r.m.fromResource(r.me, channel))
	}
	switch msg.kind {
	case pAsk:
		if find(s.weak, int32(channel)) >= 0 || find(s.strong, int32(channel)) >= 0 || r.isFull() {
			break // it came twice
		}
		if !msg.isTwo {
			s.strong = append(s.strong, half{client: int32(channel)})
			break
		}
		s.weak = insert(s.weak, half{client: int32(channel), role: weakHalf, peer: msg.peer})
		r.to(msg.peer, paperMessage{kind: pStrong, client: int32(channel)})
	case pStrong:
		if find(s.strong, msg.client) >= 0 || r.isFull() {
			break
		}
		s.strong = append(s.strong, half{client: msg.client, role: strongHalf, peer: from})
	case pNew:
		r.onNew(msg)
	case pDone:
		r.drop(int32(channel))
	case pDoneToo:
		r.drop(msg.client)
	case pSeek:
		r.onSeek(msg)
	case pConfirm:
		r.onConfirm(msg)
	case pKill:
		r.onKill(msg)
	case pKilled:
		if i := find(s.strong, msg.client); i >= 0 {
			h := s.strong[i]
			h.isTold = false
			s.strong = append(slices.Delete(s.strong, i, i+1), h)
		}
	case pOver:
		r.onOver(msg.client)
	case pToken:
		s.hasToken = true
		for _, h := range s.strong {
			if h.role != weakHalf {
				s.awaited = s.awaited.with(int(h.client))
			}
		}
	case pAllowed, pEnd:
	}
}

func find(list []half, client int32) int {
	return slices.IndexFunc(list, func(h half) bool { return h.client == client })
}

// insert keeps the weak ones sorted: they are a set, and equal sets must be equal states.
func insert(list []half, h half) []half {
	i := 0
	for i < len(list) && list[i].client < h.client {
		i++
	}
	return slices.Insert(list, i, h)
}

// maybeHead looks at the head of the queue, and does what it has not been done for yet.
func (r resourceOf) maybeHead() {
	if len(r.s.strong) == 0 || r.s.strong[0].isTold {
		return
	}
	h := &r.s.strong[0]
	h.isTold = true
	if h.role == strongHalf {
		r.to(h.peer, paperMessage{kind: pNew, client: h.client, token: r.s.hasToken})
	} else {
		r.out.Send(int(h.client), paperMessage{kind: pAllowed})
	}
}

// onNew moves a weak half into the queue, because its strong half is at the head of the other one. Unless it is at the
// head here too, it waits for another one, and that may close a loop.
func (r resourceOf) onNew(msg paperMessage) {
	s := r.s
	i := find(s.weak, msg.client)
	if i < 0 || len(s.strong) >= r.m.clients {
		return
	}
	h := s.weak[i]
	h.token = msg.token
	s.strong = append(s.strong, h)
	s.weak = slices.Delete(s.weak, i, i+1)
	if len(s.strong) > 1 && !r.m.rule.isBlind {
		r.seek(msg.client)
	}
}

// seek starts to look for a loop, or remembers to when the last search for this client has come to its end.
func (r resourceOf) seek(client int32) {
	s := r.s
	i := 0
	for i < len(s.seeks) && s.seeks[i].client < client {
		i++
	}
	if i < len(s.seeks) && s.seeks[i].client == client {
		s.seeks[i].isAgain = true
		return
	}
	if len(s.seeks) == r.m.clients {
		return
	}
	s.seeks = slices.Insert(s.seeks, i, seeking{client: client})
	h := &s.strong[find(s.strong, client)]
	h.seen = h.seen.with(int(client))
	r.follow(paperMessage{kind: pSeek, client: client, path: []hop{{resource: h.peer, client: client, token: h.token}}})
}

// follow sends a search on along the dependency of the head, or ends it if there is none.
func (r resourceOf) follow(msg paperMessage) {
	s := r.s
	if len(s.strong) == 0 {
		return
	}
	h := s.strong[0]
	if h.role != strongHalf || len(msg.path) > r.m.resources {
		r.over(msg)
		return
	}
	msg.path = append(slices.Clone(msg.path), hop{resource: int32(r.me), client: h.client, token: s.hasToken})
	r.to(h.peer, msg)
}

// over tells where a search began that it has come to its end: at the weak resource of the first dependency.
func (r resourceOf) over(msg paperMessage) {
	start := int32(r.me)
	if len(msg.path) > 1 {
		start = msg.path[1].resource
	}
	if start == int32(r.me) {
		r.onOver(msg.client)
		return
	}
	r.to(start, paperMessage{kind: pOver, client: msg.client})
}

// onSeek checks the dependency on which a search came, and ends it, follows it, or has found a loop.
func (r resourceOf) onSeek(msg paperMessage) {
	if len(msg.path) < 2 {
		return // forged
	}
	msg.path = slices.Clone(msg.path)
	last := &msg.path[len(msg.path)-1]
	i := find(r.s.strong, last.client)
	isThere := i > 0 && r.s.strong[i].role == weakHalf
	if isThere {
		r.s.strong[i].seen = r.s.strong[i].seen.with(int(msg.client))
		if !r.m.rule.isFickle {
			last.token = r.s.strong[i].token
		}
	}
	isThere = isThere || r.m.rule.isGullible && len(r.s.strong) > 0
	switch {
	case !isThere:
		r.over(msg)
	case msg.path[0].resource != int32(r.me):
		r.follow(msg)
	case r.s.strong[0].client != msg.path[0].client && !r.m.rule.isGullible:
		r.over(msg)
	case r.m.rule.isCertain:
		r.kill(msg)
	default:
		msg.kind = pConfirm
		r.to(msg.path[1].resource, msg)
	}
}

// onConfirm goes along a path that has come round. A dependency begins and ends where its weak half is, and a search
// leaves a mark there; so if all marks are still there, all dependencies were there at once when the path came round.
// That is a loop, and it stays until somebody breaks it. Without this a search that is slow may take dependencies of
// different times for a loop.
func (r resourceOf) onConfirm(msg paperMessage) {
	if int(msg.at) >= len(msg.path)-1 {
		return // forged
	}
	i := find(r.s.strong, msg.path[msg.at].client)
	if i <= 0 || r.s.strong[i].role != weakHalf || !r.s.strong[i].seen.has(int(msg.client)) {
		r.over(msg)
		return
	}
	if msg.at++; int(msg.at) < len(msg.path)-1 {
		r.to(msg.path[msg.at+1].resource, msg)
		return
	}
	r.kill(msg)
}

// kill makes the least dependency of the loop give way: the one whose resource has the smallest number, the holder of
// the token being above all. What counts is who had the token when the dependency began: so all who find the same loop
// choose the same victim, and only the first of them breaks something.
func (r resourceOf) kill(msg paperMessage) {
	victim := 0
	for i, h := range msg.path {
		least := msg.path[victim]
		isHigher := h.token && !r.m.rule.isUntoken
		isLeastHigher := least.token && !r.m.rule.isUntoken
		if isHigher == isLeastHigher && h.resource < least.resource || !isHigher && isLeastHigher {
			victim = i
		}
	}
	at := msg.path[(victim+1)%len(msg.path)].resource // the weak resource is the next one on the loop
	order := paperMessage{kind: pKill, client: msg.path[victim].client, peer: msg.path[1].resource, second: msg.client}
	if at == int32(r.me) {
		r.onKill(order)
		return
	}
	r.to(at, order)
}

// onKill takes a weak half back out of the queue, if it is the very one that the search came along. Then it is on a loop,
// so it is not at the head and was not allowed: the weak resource alone decides between grant and kill.
func (r resourceOf) onKill(msg paperMessage) {
	s := r.s
	i := find(s.strong, msg.client)
	isSeen := i >= 0 && (s.strong[i].seen.has(int(msg.second)) || r.m.rule.isUnmarked)
	if isSeen && s.strong[i].role == weakHalf && len(s.weak) < r.m.clients {
		h := s.strong[i]
		h.isTold, h.token, h.seen = false, false, 0
		s.strong = slices.Delete(s.strong, i, i+1)
		s.weak = insert(s.weak, h)
		r.to(h.peer, paperMessage{kind: pKilled, client: msg.client})
	}
	if msg.peer == int32(r.me) {
		r.onOver(msg.second)
		return
	}
	r.to(msg.peer, paperMessage{kind: pOver, client: msg.second})
}

// onOver is the end of a search that began here.
func (r resourceOf) onOver(client int32) {
	s := r.s
	i := slices.IndexFunc(s.seeks, func(k seeking) bool { return k.client == client })
	if i < 0 {
		return
	}
	isAgain := s.seeks[i].isAgain
	if s.seeks[i].isEnded {
		r.out.Send(int(client), paperMessage{kind: pEnd})
	}
	s.seeks = slices.Delete(s.seeks, i, i+1)
	if j := find(s.strong, client); isAgain && j > 0 && s.strong[j].role == weakHalf {
		r.seek(client)
	}
}

// drop takes a finished claim out. The client is told by both resources, by the weak one only when no search for it is
// under way: none outlives its claim, or searches would pile up.
func (r resourceOf) drop(client int32) {
	s := r.s
	i := find(s.strong, client)
	if i < 0 {
		return
	}
	h := s.strong[i]
	s.strong = slices.Delete(s.strong, i, i+1)
	s.awaited = s.awaited.without(int(client))
	if r.m.rule.isLazy {
		r.maybeToken()
	}
	if h.role == weakHalf {
		r.to(h.peer, paperMessage{kind: pDoneToo, client: client})
		if i := slices.IndexFunc(s.seeks, func(k seeking) bool { return k.client == client }); i >= 0 {
			s.seeks[i] = seeking{client: client, isEnded: true}
			return
		}
	}
	r.out.Send(int(client), paperMessage{kind: pEnd})
}

// maybeToken sends the token on when nothing is awaited.
func (r resourceOf) maybeToken() {
	if !r.s.hasToken || r.s.awaited != 0 || r.m.resources == 1 || r.m.rule.isStuck {
		return
	}
	r.s.hasToken = false
	r.to(int32((r.me+1)%r.m.resources), paperMessage{kind: pToken})
}
