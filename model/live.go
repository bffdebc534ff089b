// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "slices"

// store keeps the values whose handles are the words of a network's configuration. The network's rules (what is
// delivered, lost, repeated) are written once, over this interface.
type store interface {
	// begin is called before each step: handles of messages that are on no link are forgotten.
	begin()
	clean(p int) uint64
	chooseState(p int, rank uint64) uint64
	step(p int, state uint64, e happening, out []sending) (uint64, []sending)
	inputs(p int, state uint64) []Input
	stateValue(p int, state uint64) any

	empty(link int) uint64
	length(link uint64) int
	// at is the message at a position of a link.
	at(link uint64, i int) uint64
	push(link, message uint64, sorted bool) uint64
	remove(link uint64, i int) uint64
	// repeat puts a second copy of a message right behind it, so that the order of a link is kept.
	repeat(link uint64, i int) uint64
	chooseMessage(rank uint64) uint64
	messageValue(message uint64) any
	// peek is the message at a position of a link, good until the next step.
	peek(link uint64, i int) any
	// size is the length of a message's encoding.
	size(message uint64) int
	// class is the message that stands for this one where fairness is concerned.
	class(message uint64) uint64
	// isSame tells whether two positions of a sorted link hold equal messages, so that one of them is enough.
	isSame(link uint64, i, j int) bool
}

type sending struct {
	channel int32
	message uint32
}

// live keeps one run: states and links are changed in place and nothing is encoded. A word is the number of its
// process or link. It is what the simulator uses; steps cannot be undone.
type live[S, M any] struct {
	typed[S, M]
	states []S
	links  []queue[M]
	loose  []M // messages that are on no link at the moment, by handle
	out    Outbox[M]
	in     []Input
	coded  []byte
}

// queue is a first-in first-out buffer that reuses its memory.
type queue[M any] struct {
	items []M
	head  int
}

func (t typed[S, M]) newLive(g *Graph) store {
	l := &live[S, M]{typed: t, states: make([]S, g.Len()), links: make([]queue[M], g.Links())}
	return l
}

func (l *live[S, M]) begin() { l.loose = l.loose[:0] }

func (l *live[S, M]) clean(p int) uint64 {
	l.states[p] = l.machine.Clean(p)
	return uint64(p)
}

func (l *live[S, M]) chooseState(p int, rank uint64) uint64 {
	l.states[p] = *l.chosenState(p, rank)
	return uint64(p)
}

func (l *live[S, M]) step(p int, state uint64, e happening, out []sending) (uint64, []sending) {
	event := Event[M]{Kind: e.kind, Channel: e.channel}
	switch e.kind {
	case Received:
		event.Message = l.loose[e.message]
	case Given:
		l.in = l.machine.Inputs(p, &l.states[p], l.in[:0])
		event.Input = l.in[e.input]
	case Ticked, LinkCut, LinkHealed:
	}
	l.out.Reset()
	l.machine.Step(p, &l.states[p], event, &l.out)
	for i := range l.out.sent {
		out = append(out, sending{int32(l.out.sent[i].channel), uint32(len(l.loose))})
		l.loose = append(l.loose, l.out.sent[i].message)
	}
	return state, out
}

func (l *live[S, M]) inputs(p int, _ uint64) []Input {
	l.in = l.machine.Inputs(p, &l.states[p], l.in[:0])
	return l.in
}

func (l *live[S, M]) stateValue(p int, _ uint64) any { return &l.states[p] }

func (l *live[S, M]) empty(link int) uint64 {
	l.links[link] = queue[M]{items: l.links[link].items[:0]}
	return uint64(link)
}

func (l *live[S, M]) length(link uint64) int {
	q := &l.links[link]
	return len(q.items) - q.head
}

func (l *live[S, M]) at(link uint64, i int) uint64 {
	q := &l.links[link]
	l.loose = append(l.loose, q.items[q.head+i])
	return uint64(len(l.loose) - 1)
}

// push appends; a live link need not be sorted, because nobody compares two of its contents. What was taken from the
// front is used again once it is half of the memory, so that a link that stays long is not copied for every message.
func (l *live[S, M]) push(link, message uint64, _ bool) uint64 {
	q := &l.links[link]
	if len(q.items) == cap(q.items) && 2*q.head >= len(q.items) {
		q.items = q.items[:copy(q.items, q.items[q.head:])]
		q.head = 0
	}
	q.items = append(q.items, l.loose[message])
	return link
}

func (l *live[S, M]) repeat(link uint64, i int) uint64 {
	q := &l.links[link]
	q.items = slices.Insert(q.items, q.head+i+1, q.items[q.head+i])
	return link
}

func (l *live[S, M]) remove(link uint64, i int) uint64 {
	q := &l.links[link]
	copy(q.items[q.head+1:q.head+i+1], q.items[q.head:q.head+i])
	var zero M
	q.items[q.head] = zero
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return link
}

func (l *live[S, M]) chooseMessage(rank uint64) uint64 {
	l.loose = append(l.loose, *l.chosenMessage(rank))
	return uint64(len(l.loose) - 1)
}

func (l *live[S, M]) messageValue(message uint64) any { return &l.loose[message] }

func (l *live[S, M]) peek(link uint64, i int) any {
	q := &l.links[link]
	return &q.items[q.head+i]
}

func (l *live[S, M]) size(message uint64) int {
	l.coded = Encode(l.coded[:0], l.visitMessage(&l.loose[message]))
	return len(l.coded)
}

func (l *live[S, M]) isSame(uint64, int, int) bool { return false }

func (l *live[S, M]) class(message uint64) uint64 { return message }
