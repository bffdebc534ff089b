// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"slices"

	"allot/model"
)

// turn is one step of one process: what it works on, and what it has sent to itself. A process is often in its own
// quorum; what it sends to itself it receives at the end of the same step, in order.
type turn struct {
	m     *machine
	p     int
	s     *state
	out   *model.Outbox[message]
	local []message
}

func (t *turn) gadget(i int) *gadget { return &t.s.gadgets[i] }

// position of a member in the quorum.
func (t *turn) position(member int) int {
	at, _ := slices.BinarySearch(t.m.quorums[t.p], member)
	return at
}

func (t *turn) send(to int, msg message) {
	if to == t.p {
		t.local = append(t.local, msg)
		return
	}
	t.out.Send(int(t.m.channels[t.p][to]), msg)
}

func (t *turn) toQuorum(msg message) {
	for _, j := range t.m.quorums[t.p] {
		t.send(j, msg)
	}
}

// Inputs: a process that rests may be asked to enter or to leave. Nobody owes it. Requests end when the clock has reached
// the bound of its domain, so that the checker's question is finite; without clocks they do not end.
func (m *machine) Inputs(p int, s *state, inputs []model.Input) []model.Input {
	if m.isFailStop {
		if inputs = m.lifeInputs(p, s, inputs); s.life.isDown {
			return inputs
		}
	}
	if s.doing != resting {
		return inputs
	}
	guard, input := ceiling, model.Input{Name: "is asked to enter", Code: 0, Environment: true}
	if s.inside {
		guard, input = floor, model.Input{Name: "is asked to leave", Code: 1, Environment: true}
	}
	if m.has[guard] && m.times > 0 && s.gadgets[guard].clock >= m.times {
		return inputs
	}
	return append(inputs, input)
}

func (m *machine) Step(p int, s *state, e model.Event[message], out *model.Outbox[message]) {
	t := turn{m: m, p: p, s: s, out: out}
	switch e.Kind {
	case model.Given:
		switch e.Input.Code {
		case codeCrash:
			t.crash()
		case codeRestart:
			t.restart()
		default:
			t.begin()
		}
	case model.Received:
		t.onMessage(int(m.graph.Neighbours(p)[e.Channel]), e.Message)
	case model.Ticked, model.LinkCut, model.LinkHealed:
	}
	for i := 0; i < len(t.local); i++ {
		t.onMessage(p, t.local[i])
	}
}

// begin starts what the process is asked for. If no gadget guards it, it is done at once.
func (t *turn) begin() {
	guard := ceiling
	t.s.doing = entering
	if t.s.inside {
		guard, t.s.doing = floor, leaving
	}
	if t.m.has[guard] {
		t.take(guard)
		return
	}
	t.complete(guard)
}

// complete changes sides, and then tells the other gadget: never before, so that a process is registered only where it
// is. Whoever leaves plain mutual exclusion gives it back.
func (t *turn) complete(guard int) {
	t.s.inside = guard == ceiling
	t.s.doing = resting
	other := floor
	if guard == floor {
		other = ceiling
	}
	switch {
	case t.m.isPlain && guard == floor:
		t.leaveMutex(ceiling)
	case t.m.has[other] && !t.m.isPlain:
		t.toQuorum(message{gadget: uint8(other), kind: release, incarnation: t.s.life.incarnation})
	}
}

func (t *turn) onMessage(from int, msg message) {
	i := int(msg.gadget)
	if !t.m.has[i] || t.m.isFailStop && !t.accepts(from, msg) {
		return
	}
	switch msg.kind {
	case request:
		t.onRequest(i, from, msg)
	case grant:
		t.onGrant(i, from, msg)
	case failed:
		t.onFailed(i, from)
	case inquire:
		t.onInquire(i, from)
	case relinquish:
		t.onRelinquish(i, from)
	case free:
		t.onFree(i, from)
	case query:
		t.onQuery(i, from, msg)
	case response1, response2:
		t.onResponse(i, msg)
	case release:
		t.onRelease(i, from, msg)
	case acquire:
		t.onAcquire(i, from)
	case ack:
		t.onAck(i, from)
	case update:
		t.onUpdate(i, from, msg)
	case down, up, reset: // accepts has dealt with them
	}
}
