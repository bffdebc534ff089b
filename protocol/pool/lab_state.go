// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "allot/model"

// state of a process in the laboratory: of a member, or of the world.
type state struct {
	seat    Seat
	root    int32 // of the generation that the member knows
	members int32 // as a sum of powers of 2
	floor   int64
	isDead  bool
	// former is what the clients of a member that crashed and came back may still use, for so many ticks.
	former      []Unit
	formerLease int32
	asked       int32
	gave        []int64 // by unit: the greatest fence that this member ever gave

	world worldState
}

// worldState is what only the world has.
type worldState struct {
	generation int64
	root       int32
	members    int32
	quiet      int32   // ticks since the root last touched the record
	ahead      []int32 // by clock: ticks that it is ahead of the slowest
	crashes    int32   // members that may still crash
	restarts   int32
	dead       int32 // members that have crashed, as a sum of powers of 2
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
	die          // the world to a member: it crashes
	rise         // the world to a member: it comes back with empty memory
)

var kindNames = []string{"visit", "wake", "tick", "read", "record", "touch", "touched", "die", "rise"}

// HasPrompt and IsPrompt: see Algorithm.
func (m *lab) HasPrompt() bool            { return true }
func (m *lab) IsPrompt(msg *message) bool { return msg.kind != visit && msg.kind != wake }

// HasStamps: numbers of circulations and calls matter by their order only.
func (m *lab) HasStamps() bool { return true }

// Clean is the start of a new network: everybody knows the first generation, and nothing has happened yet.
func (m *lab) Clean(p int) state {
	all := int32(1)<<m.members - 1
	if p == m.world() {
		return state{world: worldState{generation: 1, members: all, ahead: make([]int32, m.members+1), crashes: m.crashes,
			restarts: m.restarts}}
	}
	s := state{seat: *NewSeat(&m.options, nil), members: all, gave: make([]int64, m.options.Units)}
	s.seat.rule = m.rule
	s.seat.out = &post{m: m, p: p, s: &s, box: &model.Outbox[message]{}}
	place, size := m.place(p, 0, all)
	s.seat.Begin(1, place, size, true)
	return s
}

const mostStamp = 1 << 40

// VisitState names the variables and their domains.
func (m *lab) VisitState(p int, s *state, f *model.Fields) {
	if p == m.world() {
		m.visitWorld(&s.world, f)
		return
	}
	t := &s.seat
	t.options, t.rule = &m.options, m.rule
	lease := m.options.Lease
	model.Bool(f, "dead", &s.isDead)
	model.Int(f, "generation", &t.generation, 0, m.generations)
	model.Int(f, "root", &s.root, 0, int32(m.members-1))
	model.Int(f, "members", &s.members, 0, int32(1)<<m.members-1)
	model.Int(f, "floor", &s.floor, 0, m.generations)
	model.Int(f, "place", &t.place, -1, int32(m.members-1))
	model.Int(f, "size", &t.size, 0, int32(m.members))
	model.Stamp(f, "circ", &t.circ, mostStamp)
	model.Stamp(f, "base", &t.base, mostStamp)
	model.Int(f, "since", &t.since, 0, lease)
	model.Int(f, "lease", &t.lease, 0, lease)
	model.Stamp(f, "call", &t.call, mostStamp)
	model.Int(f, "sinceCall", &t.sinceCall, 0, lease)
	model.Bool(f, "calling", &t.isCalling)
	m.visitUnits(f, "stock", &t.stock)
	model.List(f, "held", &t.held, m.limit, func(f *model.Fields, name string, h *Holding) {
		model.Int(f, name+".id", &h.ID, 0, int64(m.limit-1))
		m.visitUnits(f, name+".units", &h.Units)
	})
	model.List(f, "queue", &t.queue, m.limit, func(f *model.Fields, name string, r *Pending) {
		model.Int(f, name+".id", &r.ID, 0, int64(m.limit-1))
		model.Int(f, name+".need", &r.Need, 1, m.most)
	})
	model.Int(f, "given", &t.given, 0, burst)
	model.Int(f, "turns", &t.turns, 0, max(1, m.options.Turns))
	model.Int(f, "passed", &t.passed, 0, m.options.Passes)
	model.Bool(f, "others", &t.isOthers)
	model.Bool(f, "prio", &t.hasPrio)
	m.visitUnits(f, "former", &s.former)
	model.Int(f, "formerLease", &s.formerLease, 0, lease)
	if m.asks > 0 {
		model.Ghost(f, "asked", &s.asked, 0, m.asks)
	}
	if m.hasFences {
		for u := range s.gave {
			model.Ghost(f, "gave", &s.gave[u], 0, 1<<20)
		}
	}
	if t.place == 0 {
		m.visitRoot(&t.root, f)
	}
}

func (m *lab) visitRoot(r *rootPart, f *model.Fields) {
	lease := m.options.Lease
	model.Int(f, "reign", &r.reign, 0, m.reign)
	model.Bool(f, "out", &r.isOut)
	model.Bool(f, "again", &r.isAgain)
	model.Int(f, "away", &r.away, 0, lease)
	model.Int(f, "rest", &r.rest, 0, m.options.Pace)
	model.Int(f, "patience", &r.patience, 0, max(lease, m.options.Patience))
	model.Int(f, "settle", &r.settle, 0, lease+m.options.Margin)
	model.Int(f, "open", &r.open, 0, mostOpen)
	model.Stamp(f, "done", &r.done, mostStamp)
	m.visitWaiters(f, "waiters", &r.waiters)
	m.visitWaiters(f, "late", &r.late)
	model.Int(f, "priority", &r.prio, -1, int32(m.members-1))
	model.Int(f, "lack", &r.lack, 0, m.most)
	if m.hasFences {
		model.Int(f, "top", &r.top, 0, 1<<20)
	}
}

func (m *lab) visitUnits(f *model.Fields, name string, units *[]Unit) {
	model.List(f, name, units, int(m.options.Units), func(f *model.Fields, name string, u *Unit) {
		model.Int(f, name, &u.Number, 0, m.options.Units-1)
		if m.hasFences {
			model.Int(f, name+".fence", &u.Fence, 0, 1<<20)
		}
	})
}

func (m *lab) visitWaiters(f *model.Fields, name string, list *[]Waiter) {
	model.List(f, name, list, m.members, func(f *model.Fields, name string, w *Waiter) {
		model.Int(f, name, &w.Place, 0, int32(m.members-1))
		model.Int(f, name+".lack", &w.Lack, 0, m.options.Units)
		model.Stamp(f, name+".call", &w.Call, mostStamp)
	})
}

func (m *lab) visitWorld(w *worldState, f *model.Fields) {
	model.Int(f, "generation", &w.generation, 0, m.generations)
	model.Int(f, "root", &w.root, 0, int32(m.members-1))
	model.Int(f, "members", &w.members, 0, int32(1)<<m.members-1)
	model.Int(f, "quiet", &w.quiet, 0, m.takeover())
	for i := range w.ahead {
		model.Int(f, "ahead", &w.ahead[i], 0, m.skew)
	}
	model.Ghost(f, "crashes", &w.crashes, 0, m.crashes)
	model.Ghost(f, "restarts", &w.restarts, 0, m.restarts)
	model.Ghost(f, "dead", &w.dead, 0, int32(1)<<m.members-1)
}

// takeover is how long the record must be quiet before another root may take over. Over that time two clocks differ by at
// most twice the skew.
func (m *lab) takeover() int32 { return m.reign + 2*m.skew }

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
			model.Stamp(f, "call", &msg.wake.Call, mostStamp)
		case record, rise:
			model.Int(f, "generation", &msg.generation, 0, m.generations)
			model.Int(f, "root", &msg.root, 0, int32(m.members-1))
			model.Int(f, "members", &msg.members, 0, int32(1)<<m.members-1)
		case tick, read, touch, touched, die:
		}
	})
}

func (m *lab) visitVisit(v *Visit, f *model.Fields) {
	v.Units = m.options.Units
	model.Int(f, "generation", &v.Generation, 0, m.generations)
	model.Stamp(f, "circ", &v.Circ, mostStamp)
	model.Stamp(f, "done", &v.Done, mostStamp)
	m.visitUnits(f, "board", &v.Board)
	if len(v.Present) == 0 {
		v.Present = make(Set, (m.options.Units+63)/64)
	}
	model.Set(f, "present", &v.Present, int(m.options.Units))
	m.visitWaiters(f, "waiters", &v.Waiters)
	model.Int(f, "prio", &v.Prio, -1, int32(m.members-1))
	model.Int(f, "lack", &v.Lack, 0, m.most)
	model.Bool(f, "seen", &v.Seen)
	model.Bool(f, "moved", &v.Moved)
	if m.hasFences {
		model.Int(f, "top", &v.Top, 0, 1<<20)
	}
}
