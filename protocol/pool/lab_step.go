// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
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
	codeGiveUp
	codeDepart
	codeCall
	codeAppoint
	codeRenew
	codeCrash
	codeRestart
	codeResize
	codeTick // and one more for each clock
	mostCode = 30
)

// Inputs are what clients, clocks, the control plane and misfortune may do.
func (m *lab) Inputs(p int, s *state, inputs []model.Input) []model.Input {
	if p == m.world() {
		return m.worldInputs(&s.world, inputs)
	}
	if s.dead != 0 {
		return inputs
	}
	t := &s.seat
	if t.queue.len()+len(t.held) < m.limit && (m.asks == 0 || s.asked < m.asks) {
		for need := range min(m.most, s.options.Units) {
			inputs = append(inputs, model.Input{Name: fmt.Sprintf("request %d", need+1), Code: codeRequest, Arg: uint64(need + 1),
				Environment: true})
		}
	}
	for _, r := range t.queue.list() {
		if m.hasCancel || r.Need > s.options.Units {
			inputs = append(inputs, model.Input{Name: fmt.Sprintf("cancel request %d", r.ID), Code: codeCancel, Arg: uint64(r.ID),
				Environment: r.Need <= s.options.Units})
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
	if (m.generations > 1 || m.resizes > 0) && !m.isOrderly {
		inputs = append(inputs, model.Input{Name: "read the record", Code: codeRead})
	}
	if m.isAnyTime {
		inputs = m.timerInputs(t, inputs)
	}
	return inputs
}

// timerInputs: patience and pace run out.
func (m *lab) timerInputs(t *Seat, inputs []model.Input) []model.Input {
	if t.place == 0 && t.root.isOut {
		inputs = append(inputs, model.Input{Name: "the controller counts as lost", Code: codeGiveUp})
	}
	if t.place == 0 && t.root.reign > 0 && !t.root.isOut {
		inputs = append(inputs, model.Input{Name: "it is time for a circulation", Code: codeDepart})
	}
	if t.place > 0 && t.isCalling {
		inputs = append(inputs, model.Input{Name: "call again", Code: codeCall})
	}
	return inputs
}

func (m *lab) worldInputs(w *worldState, inputs []model.Input) []model.Input {
	if m.skew > 0 {
		for i, ahead := range w.ahead {
			if m.members > mostChosen && m.heals == 0 && m.isFree(w, i) {
				inputs = append(inputs, model.Input{Name: "all clocks but that of " + m.clockName(i) + " tick", Code: mostCode, Arg: allBut | uint64(i)})
			}
			if ahead < m.skew && (i != m.world() || m.hasWorldClock(w)) {
				inputs = append(inputs, model.Input{Name: "the clock of " + m.clockName(i) + " ticks", Code: min(codeTick+i, mostCode), Arg: uint64(i)})
			}
		}
	}
	if w.generation < m.generations {
		inputs = m.appointInputs(w, inputs)
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
	for units := m.least; w.resizes > 0 && units <= m.options.Units; units++ {
		if units != w.units {
			inputs = append(inputs, model.Input{Name: fmt.Sprintf("the pool gets %d units", units), Code: codeResize, Arg: uint64(units), Environment: true})
		}
	}
	return inputs
}

// allBut marks an input that lets all clocks but one tick: at size, time would hardly pass if they did so one by one.
const allBut = 1 << 32

// isFree tells whether all clocks but one may tick.
func (m *lab) isFree(w *worldState, but int) bool {
	for i, ahead := range w.ahead {
		if i != but && ahead >= m.skew {
			return false
		}
	}
	return true
}

// hasWorldClock tells whether the clock of the world matters: nobody takes over from the root of the last generation.
func (m *lab) hasWorldClock(w *worldState) bool {
	return (w.generation < m.generations || m.heals > 0) && !m.isExact
}

// appointInputs: the root may change the members at any time, and others may take over when the root was quiet for long.
func (m *lab) appointInputs(w *worldState, inputs []model.Input) []model.Input {
	if m.isOrderly {
		return m.appointInOrder(w, inputs)
	}
	for root := range int32(m.members) {
		if root != w.root && w.quiet < m.takeover() {
			continue
		}
		for members := range int32(1) << m.members {
			if members>>root&1 != 0 && m.isNext(root == w.root, members == 1<<root) {
				inputs = append(inputs, m.appointment(w, root, members, true))
			}
		}
	}
	return inputs
}

// isNext tells whether a generation is one of those that are asked about.
func (m *lab) isNext(isSame, isAlone bool) bool {
	switch m.next {
	case "same":
		return isSame && !isAlone
	case "same-alone":
		return isSame && isAlone
	case "other":
		return !isSame && !isAlone
	case "other-alone":
		return !isSame && isAlone
	}
	return true
}

// mostChosen members can be combined in every way; of more, only those who live are members.
const mostChosen = 3

func (m *lab) appointment(w *worldState, root, members int32, isFree bool) model.Input {
	return model.Input{Name: fmt.Sprintf("generation %d with root %d and members %b", w.generation+1, root, members),
		Code: codeAppoint, Arg: uint64(root)<<32 | uint64(members), Environment: isFree}
}

// appointInOrder is what the control plane does in a large simulation: who is dead is cut out, who came back is taken in,
// the next who lives takes over from a root that is dead, and a root that is stuck gets a new generation.
func (m *lab) appointInOrder(w *worldState, inputs []model.Input) []model.Input {
	alive := (int32(1)<<m.members - 1) &^ w.dead
	switch {
	case alive == 0:
	case w.quiet >= m.takeover():
		for i := range int32(m.members) {
			if root := (w.root + 1 + i) % int32(m.members); alive>>root&1 != 0 {
				return append(inputs, m.appointment(w, root, alive, false))
			}
		}
	case alive>>w.root&1 != 0 && (alive != w.members || w.stuck != 0):
		inputs = append(inputs, m.appointment(w, w.root, alive, false))
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
	t.options, t.rule, t.out = &s.options, m.rule, o
	switch e.Kind {
	case model.Received:
		m.onMessage(p, s, e, o)
	case model.Given:
		m.onInput(s, e.Input, o)
	case model.Ticked, model.LinkCut, model.LinkHealed:
	}
	m.tidy(s)
	t.options, t.out = nil, nil
}

// tidy brings what has no meaning into one form, so that there are fewer configurations: the order of free units, and
// variables whose value cannot matter any more.
//
// A moment from which a lease could be counted does not matter once the lease reaches as far: both lose a tick at a
// time, and a root's lease less than that.
func (m *lab) tidy(s *state) {
	t := &s.seat
	lease := m.options.Lease
	slices.SortFunc(t.stock, func(a, b Unit) int { return int(a.Number - b.Number) })
	t.board, t.spare, t.root.visit = nil, nil, Visit{}
	if t.base == 0 || t.lease >= lease-t.since || t.place == 0 {
		t.base, t.since = 0, lease
	}
	if !t.isCalling && (t.lease >= lease-t.sinceCall || t.call == 0) || t.isCalling && m.isAnyTime && t.lease >= lease-t.sinceCall {
		t.sinceCall = lease
	}
	if t.place < 0 {
		t.call, t.isOthers, t.turns = 0, false, 0
	}
	if m.skew == 0 && m.generations == 1 {
		t.lease = min(t.lease, 1) * lease // it never runs out
	}
	r := &t.root
	r.isStable = false
	if m.isAnyTime {
		r.away, r.rest, r.patience, r.isAgain = 0, 1, 1, false
	}
	if !r.isOut {
		r.away = 0
	}
	if r.isOut || r.isAgain {
		r.rest = 1
	}
	if !m.hasFences {
		r.top, r.gap = 0, 0
		clearFences(t.stock)
		for i := range t.held {
			clearFences(t.held[i].Units)
		}
	}
	switch {
	case m.isOrderly:
	case m.hasFences:
		// More lost controllers than grants make no difference: fences leave room for two grants each.
		r.open, r.gap = min(r.open, mostOpen), min(r.gap, m.asks*int32(m.members))
	default:
		r.open = 0
	}
}

func clearFences(units []Unit) {
	for i := range units {
		units[i].Fence = 0
	}
}

func (m *lab) onMessage(p int, s *state, e model.Event[message], o *post) {
	msg := e.Message
	t := &s.seat
	switch isWorld := int(m.graph.Neighbours(p)[e.Channel]) == m.world(); {
	case isWorld == (msg.kind == visit || msg.kind == wake): // it was forged
	case msg.kind == tick:
		m.onTick(s, o)
	case msg.kind == rise:
		m.onRise(s, msg)
	case s.dead != 0:
	case msg.kind == visit:
		v := copyVisit(&msg.visit)
		if !m.hasFences {
			v.Top = 0
		}
		t.OnVisit(&v)
	case msg.kind == wake:
		t.OnWake(msg.wake)
	case msg.kind == record:
		m.onRecord(p, s, msg, o)
	case msg.kind == touched:
		t.Reign(m.reign)
	case msg.kind == die:
		m.onDie(s)
	}
}

// onRecord tells a member what the control plane holds. It takes no part in a generation that began before it did.
func (m *lab) onRecord(p int, s *state, msg message, o *post) {
	t := &s.seat
	if s.options.Units != msg.units {
		s.options.Units = msg.units
		t.Resize()
	}
	if msg.generation <= s.floor && m.rule != lifeForgotten {
		return
	}
	s.root, s.members = msg.root, msg.members
	place, size := m.place(p, msg.root, msg.members)
	isNew := t.generation != msg.generation || t.place != place
	t.Begin(msg.generation, place, size, false)
	if place == 0 && isNew {
		o.send(m.world(), message{kind: touch, generation: t.generation})
	}
}

// onDie: the clients of a member that crashes still believe in what they hold, for as long as they were told.
func (m *lab) onDie(s *state) {
	for _, h := range s.seat.held {
		for _, u := range h.Units {
			s.former = append(s.former, formerUnit{u.Number, s.seat.Good()})
		}
	}
	slices.SortFunc(s.former, func(a, b formerUnit) int { return cmp.Or(int(a.number-b.number), int(a.lease-b.lease)) })
	s.dead = 1
	s.root, s.members = 0, 0
	s.seat = Seat{place: -1, rule: m.rule, options: &s.options, out: s.seat.out}
}

// onTick lets time pass for a member and for the clients of its former lives. Where the control plane is orderly, the member also
// looks at the record.
func (m *lab) onTick(s *state, o *post) {
	kept := s.former[:0]
	for _, u := range s.former {
		if u.lease--; u.lease > 0 {
			kept = append(kept, u)
		}
	}
	s.former = kept
	if s.dead != 0 {
		return
	}
	s.seat.Advance(1)
	if m.isOrderly {
		o.send(m.world(), message{kind: read})
	}
}

// onRise is a restart with empty memory.
func (m *lab) onRise(s *state, msg message) {
	s.dead, s.floor = 0, msg.generation
	s.options.Units = msg.units
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
		o.send(m.world(), message{kind: touch, generation: t.generation})
	case codeGiveUp:
		t.giveUp()
	case codeDepart:
		t.root.rest = 0
		t.maybeDepart()
	case codeCall:
		t.sendCall()
	case codeRead:
		o.send(m.world(), message{kind: read})
	}
}

func (m *lab) freeID(t *Seat) int64 {
	id := int64(0)
	for slices.ContainsFunc(t.held, func(h Holding) bool { return h.ID == id }) ||
		slices.ContainsFunc(t.queue.list(), func(r Pending) bool { return r.ID == id }) {
		id++
	}
	return id
}

func (m *lab) stepWorld(w *worldState, e model.Event[message], o *post) {
	answer := message{kind: record, generation: w.generation, root: w.root, members: w.members, units: w.units}
	switch e.Kind {
	case model.Received:
		from := int(m.graph.Neighbours(m.world())[e.Channel])
		switch {
		case e.Message.kind == read:
			o.send(from, answer)
		case e.Message.kind == touch && from == int(w.root) && e.Message.generation == w.generation:
			if w.quiet = 0; w.generation == m.generations {
				w.quiet = m.takeover()
			}
			o.send(from, message{kind: touched})
		case e.Message.kind == stuck && from == int(w.root) && m.isOrderly:
			w.stuck = 1
		}
	case model.Given:
		m.onWorldInput(w, e.Input, o)
	case model.Ticked, model.LinkCut, model.LinkHealed:
	}
}

func (m *lab) onWorldInput(w *worldState, input model.Input, o *post) {
	switch {
	case input.Arg&allBut != 0 && input.Code == mostCode:
		for i := range w.ahead {
			if i != int(input.Arg&^allBut) {
				m.worldTick(w, i, o)
			}
		}
	case input.Code >= codeTick:
		m.worldTick(w, int(input.Arg), o)
	case input.Code == codeAppoint:
		w.generation++
		w.root, w.members, w.quiet, w.stuck = int32(input.Arg>>32), int32(input.Arg&0xffffffff), 0, 0
		if w.generation == m.generations {
			// Nobody looks at it any more.
			w.quiet, w.ahead[m.world()] = m.takeover(), 0
		}
		o.send(int(w.root), message{kind: record, generation: w.generation, root: w.root, members: w.members, units: w.units})
	case input.Code == codeCrash:
		w.crashes--
		w.dead |= 1 << input.Arg
		o.send(int(input.Arg), message{kind: die})
	case input.Code == codeRestart:
		w.restarts--
		w.dead &^= 1 << input.Arg
		o.send(int(input.Arg), message{kind: rise, generation: w.generation, units: w.units})
	case input.Code == codeResize:
		w.resizes--
		w.units = int32(input.Arg)
	}
}

func (m *lab) worldTick(w *worldState, clock int, o *post) {
	w.ahead[clock]++
	clocks := w.ahead
	if !m.hasWorldClock(w) {
		clocks = clocks[:m.world()]
	}
	if slowest := slices.Min(clocks); slowest > 0 {
		for i := range clocks {
			clocks[i] -= slowest
		}
	}
	if clock == m.world() && !m.isExact || clock == int(w.root) && m.isExact {
		w.quiet = min(w.quiet+1, m.takeover())
	}
	if clock == m.world() {
		w.age = min(w.age+1, m.heals)
		return
	}
	o.send(clock, message{kind: tick})
}
