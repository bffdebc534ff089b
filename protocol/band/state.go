// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"allot/model"
	"allot/protocol/internal/coterie"
)

// op is what a process is about to do.
type op uint8

const (
	resting op = iota
	entering
	leaving
)

// state of a process: where it is, what it is about to do, and its part in the two gadgets.
type state struct {
	inside  bool
	doing   op
	gadgets [2]gadget
	life    life // failstop only
}

// The gadgets. The floor guards leaving, and its registers hold who is inside. The ceiling guards entering, and its
// registers hold who is outside. Each is the other with inside and outside exchanged.
const (
	floor = iota
	ceiling
)

// phase of a process that takes what a gadget guards.
type phase uint8

const (
	idle      phase = iota
	wanting         // it has asked for the mutual exclusion
	counting        // it has it, and waits until enough others are registered
	acquiring       // it has struck itself off, and waits until all know
	holding         // plain mutual exclusion only: it is in
)

// gadget is one process's part, in both of its roles.
//
// What must hold between them: whoever is in procs of some arbiter is on the guarded side (inside for the floor) unless it
// holds that arbiter's lock, because it strikes itself off before it lets the lock go. So what the holder of all locks of
// a quorum reads there is true until it acts.
type gadget struct {
	// As a requester.
	phase    phase
	clock    int32 // Lamport's, of both roles
	time     int32 // of the present request
	granted  coterie.Set
	failed   coterie.Set   // arbiters that have somebody stronger
	deferred coterie.Set   // arbiters that inquire and have no answer yet; part of granted
	current  coterie.Set   // who is known to be registered
	acked    coterie.Set   // members that have struck me off
	known    []coterie.Set // lean: by member of the quorum, what it said
	count    int32         // printed: the number of the query
	heard    [][]int8      // failstop: by member of the quorum, the incarnations that it said are registered

	// As an arbiter and register.
	lock    int32 // who holds it, or -1
	lockAt  int32 // its time stamp
	inquiry bool  // an inquiry is on its way to the holder
	waiting []waiter
	procs   coterie.Set
	again   int32  // who counts, and is to be told of every new registration, or -1
	againOf int32  // printed: the number of its query
	book    []int8 // failstop: by process, the incarnation that is registered, 0 if none

	// unfair is set for good when somebody overtakes the same waiting request twice. It is for the checker.
	unfair bool
}

// waiter is a request in the queue of an arbiter, strongest first.
type waiter struct {
	time, who int32
	isTold    bool // it knows that it must wait
	// ahead holds who has come later and been put before it. It is for the checker, and kept for plain mutual exclusion.
	ahead coterie.Set
}

func (m *machine) Clean(p int) state {
	s := state{inside: m.start.Has(p)}
	for i := range s.gadgets {
		if !m.has[i] {
			continue
		}
		g := &s.gadgets[i]
		g.lock, g.again = -1, -1
		for _, set := range []*coterie.Set{&g.granted, &g.failed, &g.deferred, &g.current, &g.acked, &g.procs} {
			*set = coterie.NewSet(m.n)
		}
		m.askers[p].Each(func(x int) {
			if m.start.Has(x) == (i == floor) {
				g.procs.Add(x)
			}
		})
		if m.isFailStop {
			g.heard, g.book = make([][]int8, len(m.quorums[p])), make([]int8, m.n)
			g.procs.Each(func(x int) { g.book[x] = 1 })
		} else if m.isLean {
			g.known = make([]coterie.Set, len(m.quorums[p]))
		}
	}
	if m.isFailStop {
		s.life = m.newLife()
	}
	return s
}

func (m *machine) VisitState(p int, s *state, f *model.Fields) {
	if m.isFailStop {
		m.visitLife(&s.life, f)
	}
	model.Bool(f, "inside", &s.inside)
	model.Enum(f, "doing", &s.doing, "resting", "entering", "leaving")
	for i := range s.gadgets {
		if m.has[i] {
			m.visitRequester(p, &s.gadgets[i], gadgetNames[i]+".", f)
			m.visitArbiter(&s.gadgets[i], gadgetNames[i]+".", f)
		}
	}
}

func (m *machine) visitRequester(p int, g *gadget, of string, f *model.Fields) {
	model.Enum(f, of+"phase", &g.phase, "idle", "wanting", "counting", "acquiring", "holding")
	model.Int(f, of+"clock", &g.clock, 0, m.times)
	model.Int(f, of+"time", &g.time, 0, m.times)
	model.Set(f, of+"granted", &g.granted, m.n)
	model.Set(f, of+"failed", &g.failed, m.n)
	model.Set(f, of+"deferred", &g.deferred, m.n)
	switch {
	case m.isPlain:
	case m.isFailStop:
		for i := range g.heard {
			m.visitVector(f, of+"heard", &g.heard[i])
		}
	case m.isLean:
		for i := range g.known {
			model.Set(f, of+"known", &g.known[i], m.n)
		}
	default:
		model.Set(f, of+"current", &g.current, m.n)
		model.Set(f, of+"acked", &g.acked, m.n)
		m.visitCount(f, of+"count", &g.count)
	}
}

func (m *machine) visitArbiter(g *gadget, of string, f *model.Fields) {
	most := int32(m.n - 1)
	model.Int(f, of+"lock", &g.lock, -1, most)
	model.Int(f, of+"lockAt", &g.lockAt, 0, m.times)
	model.Bool(f, of+"inquiry", &g.inquiry)
	model.List(f, of+"waiting", &g.waiting, m.n, func(f *model.Fields, name string, w *waiter) {
		model.Int(f, name+".time", &w.time, 0, m.times)
		model.Int(f, name+".who", &w.who, 0, most)
		model.Bool(f, name+".told", &w.isTold)
		if m.isPlain {
			model.Set(f, name+".ahead", &w.ahead, m.n)
		}
	})
	if m.isPlain {
		model.Bool(f, of+"unfair", &g.unfair)
		return
	}
	if m.isFailStop {
		m.visitVector(f, of+"book", &g.book)
		return
	}
	model.Set(f, of+"procs", &g.procs, m.n)
	if !m.isLean {
		model.Int(f, of+"again", &g.again, -1, most)
		m.visitCount(f, of+"againOf", &g.againOf)
	}
}
