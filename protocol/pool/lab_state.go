// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "allot/model"

// state of a process in the laboratory: of a member, or of the world.
type state struct {
	seat    Seat
	options Options // with ℓ as the member knows it
	root    int32   // of the generation that the member knows
	members int32   // as a sum of powers of 2
	floor   int64   // the generation in which it began to live; it takes no part in that one
	dead    uint8   // 1 if it has crashed
	// former is what the clients of an earlier life may still use.
	former []formerUnit
	asked  int32
	gave   []int64 // by unit: the greatest fence that this member ever gave
	fell   uint8   // 1 if it ever gave a fence that was not greater

	world worldState
}

// formerUnit is used for so many ticks.
type formerUnit struct{ number, lease int32 }

// worldState is what only the world has.
type worldState struct {
	generation int64
	root       int32
	members    int32
	units      int32
	quiet      int32   // ticks since the root last touched the record
	ahead      []int32 // by clock: ticks that it is ahead of the slowest
	crashes    int32   // members that may still crash
	restarts   int32
	resizes    int32
	dead       int32 // members that have crashed, as a sum of powers of 2
	stuck      uint8 // 1 if the root has asked for a new generation
	age        int32 // ticks since the start, where the pool must heal
}

// message of the laboratory. All but visit and wake happen within the step that sends them.
type message struct {
	kind  kind
	visit Visit
	wake  Wake
	// record
	generation int64
	root       int32
	members    int32
	units      int32
}

type kind uint8

const (
	visit   kind = iota
	wake         // a call for the controller
	tick         // the world to a member: its clock ticks
	read         // a member to the world: what is the record?
	record       // the answer
	touch        // the root to the world: the record is still mine
	touched      // the answer
	stuck        // the root to the world: a new generation, please
	die          // the world to a member: it crashes
	rise         // the world to a member: it comes back with empty memory
)

var kindNames = []string{"visit", "wake", "tick", "read", "record", "touch", "touched", "stuck", "die", "rise"}

// HasPrompt and IsPrompt: see Algorithm.
func (m *lab) HasPrompt() bool { return true }
func (m *lab) IsPrompt(msg *message) bool {
	return msg.kind != visit && (msg.kind != wake || m.isPrompt)
}

// HasStamps: numbers of circulations and calls matter by their order only.
func (m *lab) HasStamps() bool { return true }

// HasIgnored: the machine drops what is old. Two mutants do not.
func (m *lab) HasIgnored() bool { return m.rule != generationUnchecked && m.rule != oldVisitTaken }

// IsIgnored: generations only grow at a member, and so do circulations within one. A member that has crashed comes back above
// all generations that there are.
func (m *lab) IsIgnored(p int, s *state, msg *message) bool {
	if p == m.world() || msg.kind != visit && msg.kind != wake {
		return false
	}
	t := &s.seat
	generation := msg.visit.Generation
	if msg.kind == wake {
		generation = msg.wake.Generation
	}
	switch {
	case s.dead != 0 || generation < t.generation || generation <= s.floor && m.rule != lifeForgotten:
		return true
	case generation > t.generation:
		return false
	case t.place < 0:
		return true
	case msg.kind == wake:
		return t.place != 0
	case t.place == 0:
		return !t.root.isOut || msg.visit.Circ != t.circ
	}
	return msg.visit.Circ <= t.circ
}

// Clean is the start of a new network: everybody knows the first generation, and nothing has happened yet.
func (m *lab) Clean(p int) state {
	all := int32(1)<<m.members - 1
	if p == m.world() {
		return state{world: worldState{generation: 1, members: all, units: m.options.Units, ahead: make([]int32, m.members+1),
			crashes: m.crashes, restarts: m.restarts, resizes: m.resizes}}
	}
	s := state{options: m.options, members: all, gave: make([]int64, m.options.Units)}
	s.seat = Seat{place: -1, rule: m.rule, options: &s.options, out: &post{m: m, p: p, s: &s, box: &model.Outbox[message]{}}}
	place, size := m.place(p, 0, all)
	s.seat.Begin(1, place, size, true)
	m.tidy(&s)
	s.seat.options, s.seat.out = nil, nil
	return s
}

const (
	mostStamp = 1 << 40
	mostFence = 1 << 40
)

// VisitState names the variables and their domains.
func (m *lab) VisitState(p int, s *state, f *model.Fields) {
	if p == m.world() {
		m.visitWorld(&s.world, f)
		return
	}
	t := &s.seat
	lease := m.options.Lease
	model.Ghost(f, "dead", &s.dead, 0, 1)
	model.Int(f, "generation", &t.generation, 0, m.generations)
	model.Int(f, "root", &s.root, 0, int32(m.members-1))
	model.Int(f, "members", &s.members, 0, int32(1)<<m.members-1)
	model.Ghost(f, "floor", &s.floor, 0, m.generations)
	if m.resizes > 0 {
		model.Int(f, "units", &s.options.Units, m.least, m.options.Units)
	}
	model.Int(f, "place", &t.place, -1, int32(m.members-1))
	model.Int(f, "size", &t.size, 0, int32(m.members))
	model.Stamp(f, "circ", &t.circ, mostStamp)
	model.Stamp(f, "base", &t.base, mostStamp)
	model.Int(f, "since", &t.since, 0, lease)
	model.Int(f, "lease", &t.lease, 0, lease)
	model.StampIn(f, "call", &t.call, mostStamp, callClass(t.place))
	model.Int(f, "sinceCall", &t.sinceCall, 0, lease)
	model.Bool(f, "calling", &t.isCalling)
	m.visitUnits(f, "stock", &t.stock)
	model.List(f, "held", &t.held, m.limit, func(f *model.Fields, name string, h *Holding) {
		model.Int(f, name+".id", &h.ID, 0, int64(m.limit-1))
		m.visitUnits(f, name+".units", &h.Units)
	})
	queue := t.queue.list()
	model.List(f, "queue", &queue, m.limit, func(f *model.Fields, name string, r *Pending) {
		model.Int(f, name+".id", &r.ID, 0, int64(m.limit-1))
		model.Int(f, name+".need", &r.Need, 1, m.most)
	})
	t.queue = waitList{items: queue}
	model.Int(f, "given", &t.given, 0, m.options.Burst)
	model.Int(f, "turns", &t.turns, 0, max(1, m.options.Turns))
	model.Int(f, "passed", &t.passed, 0, m.options.Passes)
	model.Bool(f, "others", &t.isOthers)
	model.Bool(f, "known", &t.isKnown)
	model.Bool(f, "prio", &t.hasPrio)
	model.List(f, "former", &s.former, 2*int(m.options.Units), func(f *model.Fields, name string, u *formerUnit) {
		model.Int(f, name, &u.number, 0, m.options.Units-1)
		model.Int(f, name+".lease", &u.lease, 1, lease)
	})
	if m.asks > 0 {
		model.Ghost(f, "asked", &s.asked, 0, m.asks)
	}
	if m.hasFences {
		for u := range s.gave {
			model.Ghost(f, "gave", &s.gave[u], 0, mostFence)
		}
		model.Ghost(f, "fell", &s.fell, 0, 1)
	}
	if t.place == 0 {
		m.visitRoot(&t.root, f)
	}
}

// callClass is the class of the numbers of calls: each member compares its own ones only.
func callClass(place int32) int { return 1 + int(max(0, place)) }

func (m *lab) visitRoot(r *rootPart, f *model.Fields) {
	lease := m.options.Lease
	model.Int(f, "reign", &r.reign, 0, m.reign)
	model.Bool(f, "out", &r.isOut)
	model.Bool(f, "again", &r.isAgain)
	model.Int(f, "away", &r.away, 0, lease)
	model.Int(f, "rest", &r.rest, 0, max(m.options.Pace, lease+m.options.Margin))
	model.Int(f, "patience", &r.patience, 0, max(lease, m.options.Patience))
	model.Int(f, "settle", &r.settle, 0, lease+m.options.Margin)
	model.Int(f, "open", &r.open, 0, mostCounted)
	model.Stamp(f, "done", &r.done, mostStamp)
	m.visitWaiters(f, "waiters", &r.waiters)
	m.visitWaiters(f, "late", &r.late)
	model.Int(f, "priority", &r.prio, -1, int32(m.members-1))
	model.Int(f, "lack", &r.lack, 0, m.most)
	if m.hasFences {
		model.Int(f, "top", &r.top, 0, mostFence)
		model.Int(f, "gap", &r.gap, 0, mostCounted)
	}
}

func (m *lab) visitUnits(f *model.Fields, name string, units *[]Unit) {
	longest := int(m.options.Units)
	if m.rule == presentIgnored {
		longest *= 2 // it makes units twice
	}
	model.List(f, name, units, longest, func(f *model.Fields, name string, u *Unit) {
		model.Int(f, name, &u.Number, 0, m.options.Units-1)
		if m.hasFences {
			model.Int(f, name+".fence", &u.Fence, 0, mostFence)
		}
	})
}

func (m *lab) visitWaiters(f *model.Fields, name string, list *[]Waiter) {
	model.List(f, name, list, m.members, func(f *model.Fields, name string, w *Waiter) {
		model.Int(f, name, &w.Place, 0, int32(m.members-1))
		model.Int(f, name+".lack", &w.Lack, 0, m.options.Units)
		model.StampIn(f, name+".call", &w.Call, mostStamp, callClass(w.Place))
	})
}

// visitWorld: no fault reaches the world.
func (m *lab) visitWorld(w *worldState, f *model.Fields) {
	all := int32(1)<<m.members - 1
	absent, fewer := all&^w.members, m.options.Units-w.units
	model.Ghost(f, "generation", &w.generation, 1, m.generations)
	model.Ghost(f, "root", &w.root, 0, int32(m.members-1))
	model.Ghost(f, "absent", &absent, 0, all)
	if m.resizes > 0 {
		model.Ghost(f, "units less", &fewer, 0, m.options.Units-m.least)
		model.Ghost(f, "resizes", &w.resizes, 0, m.resizes)
	}
	w.members, w.units = all&^absent, m.options.Units-fewer
	model.Ghost(f, "stuck", &w.stuck, 0, 1)
	model.Ghost(f, "quiet", &w.quiet, 0, m.takeover())
	for i := range w.ahead {
		model.Ghost(f, "ahead", &w.ahead[i], 0, m.skew)
	}
	model.Ghost(f, "crashes", &w.crashes, 0, m.crashes)
	model.Ghost(f, "restarts", &w.restarts, 0, m.restarts)
	model.Ghost(f, "dead", &w.dead, 0, all)
	if m.heals > 0 {
		model.Ghost(f, "age", &w.age, 0, m.heals)
	}
}

// takeover is how long the record must be quiet before another root may take over. Over that time two clocks differ by at
// most twice the skew.
func (m *lab) takeover() int32 {
	wait := m.reign + 2*m.skew
	if m.isExact {
		wait = m.reign // of the root's own ticks
	}
	if m.rule == takenOverEarly {
		wait--
	}
	return wait
}

// VisitMessage names the fields.
func (m *lab) VisitMessage(msg *message, f *model.Fields) {
	model.Union(f, "kind", &msg.kind, kindNames, func(f *model.Fields, k kind) {
		switch k {
		case visit:
			m.visitVisit(&msg.visit, f)
		case wake:
			model.Int(f, "generation", &msg.wake.Generation, 0, m.generations)
			model.Int(f, "place", &msg.wake.Place, 0, int32(m.members-1))
			model.Int(f, "lack", &msg.wake.Lack, 0, m.options.Units)
			model.StampIn(f, "call", &msg.wake.Call, mostStamp, callClass(msg.wake.Place))
		case touch:
			model.Int(f, "generation", &msg.generation, 0, m.generations)
		case record, rise:
			model.Int(f, "generation", &msg.generation, 0, m.generations)
			model.Int(f, "root", &msg.root, 0, int32(m.members-1))
			model.Int(f, "members", &msg.members, 0, int32(1)<<m.members-1)
			model.Int(f, "units", &msg.units, 0, m.options.Units)
		case tick, read, touched, stuck, die:
		}
	})
}

func (m *lab) visitVisit(v *Visit, f *model.Fields) {
	v.Units = max(v.Units, m.least)
	if m.resizes > 0 {
		model.Int(f, "units", &v.Units, m.least, m.options.Units)
	} else {
		v.Units = m.options.Units
	}
	model.Int(f, "generation", &v.Generation, 0, m.generations)
	model.Stamp(f, "circ", &v.Circ, mostStamp)
	model.Stamp(f, "done", &v.Done, mostStamp)
	m.visitUnits(f, "board", &v.Board)
	model.Set(f, "present", &v.Present, int(m.options.Units))
	m.visitWaiters(f, "waiters", &v.Waiters)
	model.Int(f, "prio", &v.Prio, -1, int32(m.members-1))
	model.Int(f, "lack", &v.Lack, 0, m.most)
	model.Bool(f, "seen", &v.Seen)
	if m.isAnyTime {
		v.Moved = false // the root may send the controller again at any time
	} else {
		model.Bool(f, "moved", &v.Moved)
	}
	if m.hasFences {
		model.Int(f, "top", &v.Top, 0, mostFence)
	}
}
