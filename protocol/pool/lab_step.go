// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"
	"slices"

	"allot/model"
)

// Codes of the inputs: their fairness classes.
const (
	codeRequest = iota
	codeCancel
	codeRelease
	codeTouch
	codeRead
	codeAppoint
	codeCrash
	codeRestart
	codeTick // and one more for each clock
)

// Inputs are what clients, clocks, the control plane and misfortune may do.
func (m *lab) Inputs(p int, s *state, inputs []model.Input) []model.Input {
	if p == m.world() {
		return m.worldInputs(&s.world, inputs)
	}
	if s.isDead {
		return inputs
	}
	t := &s.seat
	if len(t.queue)+len(t.held) < m.limit && (m.asks == 0 || s.asked < m.asks) {
		for need := range m.most {
			inputs = append(inputs, model.Input{Name: fmt.Sprintf("request %d", need+1), Code: codeRequest, Arg: uint64(need + 1),
				Environment: true})
		}
	}
	for _, r := range t.queue {
		if m.hasCancel {
			inputs = append(inputs, model.Input{Name: fmt.Sprintf("cancel request %d", r.ID), Code: codeCancel, Arg: uint64(r.ID), Environment: true})
		}
	}
	for _, h := range t.held {
		if m.forever>>p&1 == 0 {
			inputs = append(inputs, model.Input{Name: fmt.Sprintf("release grant %d", h.ID), Code: codeRelease, Arg: uint64(h.ID)})
		}
	}
	if t.place == 0 && t.root.reign < m.reign {
		inputs = append(inputs, model.Input{Name: "touch the record", Code: codeTouch})
	}
	if m.generations > 1 {
		inputs = append(inputs, model.Input{Name: "read the record", Code: codeRead})
	}
	return inputs
}

func (m *lab) worldInputs(w *worldState, inputs []model.Input) []model.Input {
	if m.skew > 0 {
		for i, ahead := range w.ahead {
			if ahead < m.skew {
				inputs = append(inputs, model.Input{Name: "the clock of " + m.clockName(i) + " ticks", Code: codeTick + i, Arg: uint64(i)})
			}
		}
	}
	if w.generation < m.generations {
		for root := range int32(m.members) {
			if root != w.root && w.quiet < m.takeover() {
				continue
			}
			for members := range int32(1) << m.members {
				if members>>root&1 != 0 {
					inputs = append(inputs, model.Input{Name: fmt.Sprintf("generation %d with root %d and members %b", w.generation+1, root, members),
						Code: codeAppoint, Arg: uint64(root)<<32 | uint64(members), Environment: true})
				}
			}
		}
	}
	for p := range m.members {
		isDead := w.dead>>p&1 != 0
		if !isDead && w.crashes > 0 {
			inputs = append(inputs, model.Input{Name: fmt.Sprintf("member %d crashes", p), Code: codeCrash, Arg: uint64(p), Environment: true})
		}
		if isDead && w.restarts > 0 {
			inputs = append(inputs, model.Input{Name: fmt.Sprintf("member %d comes back", p), Code: codeRestart, Arg: uint64(p), Environment: true})
		}
	}
	return inputs
}

func (m *lab) clockName(i int) string {
	if i == m.world() {
		return "the world"
	}
	return "member " + m.graph.Name(i)
}

// Step lets one thing happen.
func (m *lab) Step(p int, s *state, e model.Event[message], box *model.Outbox[message]) {
	o := &post{m: m, p: p, s: s, box: box}
	if p == m.world() {
		m.stepWorld(&s.world, e, o)
		return
	}
	t := &s.seat
	t.options, t.rule, t.out = &m.options, m.rule, o
	switch e.Kind {
	case model.Received:
		m.onMessage(p, s, e, o)
	case model.Given:
		m.onInput(s, e.Input, o)
	case model.Ticked, model.LinkCut, model.LinkHealed:
	}
	m.tidy(s)
	t.out = nil
}

// tidy brings what has no meaning, such as the order of free units, into one form, so that there are fewer configurations.
func (m *lab) tidy(s *state) {
	slices.SortFunc(s.seat.stock, func(a, b Unit) int { return int(a.Number - b.Number) })
	t := &s.seat
	t.root.isStable = false
	if !m.hasFences {
		t.root.top = 0
		for i := range t.stock {
			t.stock[i].Fence = 0
		}
		for i := range t.held {
			for j := range t.held[i].Units {
				t.held[i].Units[j].Fence = 0
			}
		}
	}
	if !t.isCalling && t.lease == m.options.Lease {
		t.sinceCall = m.options.Lease
	}
}

func (m *lab) onMessage(p int, s *state, e model.Event[message], o *post) {
	msg := e.Message
	t := &s.seat
	switch {
	case msg.kind == tick:
		m.onTick(s)
	case msg.kind == rise:
		m.onRise(s, msg)
	case s.isDead:
	case msg.kind == visit:
		v := copyVisit(&msg.visit)
		if !m.hasFences {
			v.Top = 0
		}
		t.OnVisit(&v)
	case msg.kind == wake:
		t.OnWake(msg.wake)
	case msg.kind == record:
		if msg.generation > max(t.generation, s.floor) {
			s.root, s.members = msg.root, msg.members
			place, size := m.place(p, msg.root, msg.members)
			t.Begin(msg.generation, place, size, false)
			if place == 0 {
				o.send(m.world(), message{kind: touch})
			}
		}
	case msg.kind == touched:
		t.Reign(m.reign)
	case msg.kind == die:
		s.isDead = true
	}
}

// onTick lets time pass for a member, dead or not: the clients of a dead one still believe in what they hold.
func (m *lab) onTick(s *state) {
	if s.formerLease > 0 {
		if s.formerLease--; s.formerLease == 0 {
			s.former = nil
		}
	}
	if !s.isDead {
		s.seat.Advance(1)
		return
	}
	t := &s.seat
	if t.place == 0 && t.root.reign > 0 {
		t.root.reign--
		return
	}
	if t.lease > 0 {
		if t.lease--; t.lease == 0 {
			t.held, t.stock = nil, nil
		}
	}
}

// onRise is a restart with empty memory: what the clients held they still hold until the lease has run out.
func (m *lab) onRise(s *state, msg message) {
	for _, h := range s.seat.held {
		s.former = append(s.former, h.Units...)
	}
	s.formerLease = 0
	if len(s.former) > 0 {
		s.formerLease = s.seat.lease
	}
	out := s.seat.out
	s.seat = *NewSeat(&m.options, out)
	s.seat.rule = m.rule
	s.isDead, s.floor = false, msg.generation
	s.members = 0
}

func (m *lab) onInput(s *state, input model.Input, o *post) {
	t := &s.seat
	switch input.Code {
	case codeRequest:
		if m.asks > 0 {
			s.asked++
		}
		t.Request(m.freeID(t), int32(input.Arg), 0)
	case codeCancel:
		t.Cancel(int64(input.Arg))
	case codeRelease:
		t.Release(int64(input.Arg))
	case codeTouch:
		o.send(m.world(), message{kind: touch})
	case codeRead:
		o.send(m.world(), message{kind: read})
	}
}

func (m *lab) freeID(t *Seat) int64 {
	id := int64(0)
	for slices.ContainsFunc(t.held, func(h Holding) bool { return h.ID == id }) ||
		slices.ContainsFunc(t.queue, func(r Pending) bool { return r.ID == id }) {
		id++
	}
	return id
}

func (m *lab) stepWorld(w *worldState, e model.Event[message], o *post) {
	answer := message{kind: record, generation: w.generation, root: w.root, members: w.members}
	switch e.Kind {
	case model.Received:
		from := int(m.graph.Neighbours(m.world())[e.Channel])
		switch {
		case e.Message.kind == read:
			o.send(from, answer)
		case e.Message.kind == touch && from == int(w.root):
			w.quiet = 0
			o.send(from, message{kind: touched})
		}
	case model.Given:
		m.onWorldInput(w, e.Input, o)
	case model.Ticked, model.LinkCut, model.LinkHealed:
	}
}

func (m *lab) onWorldInput(w *worldState, input model.Input, o *post) {
	switch {
	case input.Code >= codeTick:
		m.worldTick(w, int(input.Arg), o)
	case input.Code == codeAppoint:
		w.generation++
		w.root, w.members, w.quiet = int32(input.Arg>>32), int32(input.Arg&0xffffffff), 0
		o.send(int(w.root), message{kind: record, generation: w.generation, root: w.root, members: w.members})
	case input.Code == codeCrash:
		w.crashes--
		w.dead |= 1 << input.Arg
		o.send(int(input.Arg), message{kind: die})
	case input.Code == codeRestart:
		w.restarts--
		w.dead &^= 1 << input.Arg
		o.send(int(input.Arg), message{kind: rise, generation: w.generation})
	}
}

func (m *lab) worldTick(w *worldState, clock int, o *post) {
	w.ahead[clock]++
	if slowest := slices.Min(w.ahead); slowest > 0 {
		for i := range w.ahead {
			w.ahead[i] -= slowest
		}
	}
	if clock == m.world() {
		w.quiet = min(w.quiet+1, m.takeover())
		return
	}
	o.send(clock, message{kind: tick})
}
