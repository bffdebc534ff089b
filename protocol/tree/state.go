// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"slices"

	"allot/model"
)

// phase is the paper's State: what the application of a process is doing.
type phase uint8

const (
	out phase = iota // nothing
	req              // it wants need units
	in               // it uses need units
)

var phaseNames = []string{"out", "req", "in"}

// none is the paper's ⊥.
const none = -1

// state of a process. Channels are those of the algorithm: 0 leads to the parent, or at the root to its first child.
type state struct {
	phase phase
	need  int32 // units that the application wants or uses, 1..k; 0 if it is out
	// held is RSet: for each resource token held, the channel from which it came, in increasing order. At most k.
	held []int32
	prio int32 // Prio: the channel from which the priority token came that is held, or none

	// counter is myC: the last circulation that was here, or none; at the root the present one. The paper has no none, and
	// a process that restarts with the number of the present circulation hides what is below it from the count.
	counter int32
	succ    int32 // Succ: the channel to which the controller went last

	root rootState
}

// rootState is what only the root has.
type rootState struct {
	// starting is 1 until the root has put the tokens of a clean start on their way.
	starting uint8
	reset    bool  // Reset: tokens that arrive are dropped
	tokens   int32 // SToken: resource tokens that left by channel 0 in this circulation, at most ℓ+1
	prios    int32 // SPrio: priority tokens that did, at most 2
	pushers  int32 // SPush: pushers that did, at most 2
	// fired is how often the timer has run out since the last valid controller. Where it is not to run out early at all
	// (resends is 0), it may do so once, and has done so in the clean start.
	fired int32
	ticks int32 // of the clock since then, where the timer is a clock
}

// Clean is the state before the first request: nothing held, nothing counted.
func (m *machine) Clean(p int) state {
	s := state{prio: none}
	if p == m.shape.root {
		s.root.starting = 1
		if m.resends == 0 {
			s.root.fired = 1
		}
	} else if m.hasUnknown() {
		s.counter = none
	}
	return s
}

// VisitState names the variables and their domains.
func (m *machine) VisitState(p int, s *state, f *model.Fields) {
	m.visit(s, f, m.shape.degree[p], p == m.shape.root)
	if p == m.shape.root && m.shape.degree[p] > 0 {
		model.Ghost(f, "starting", &s.root.starting, 0, 1)
		m.visitRoot(&s.root, f)
	}
}

// visit names the variables of a process with so many channels, but for those that only a root has.
func (m *machine) visit(s *state, f *model.Fields, degree int32, isRoot bool) {
	model.Union(f, "State", &s.phase, phaseNames, func(f *model.Fields, ph phase) {
		if ph != out {
			model.Int(f, "Need", &s.need, 1, m.most)
		}
	})
	if s.phase == out {
		s.need = 0
	}
	if degree == 0 {
		return
	}
	slices.Sort(s.held) // a multiset has no order; arbitrary memory may come in any
	model.List(f, "RSet", &s.held, int(m.most), func(f *model.Fields, name string, q *int32) {
		model.Int(f, name, q, 0, degree-1)
	})
	if m.stage >= stagePriority {
		model.Int(f, "Prio", &s.prio, none, degree-1)
	}
	if m.stage >= stageController {
		lowest := int32(0)
		if !isRoot && m.hasUnknown() {
			lowest = none
		}
		model.Int(f, "myC", &s.counter, lowest, m.counters-1)
		model.Int(f, "Succ", &s.succ, 0, degree-1)
	}
}

func (m *machine) visitRoot(s *rootState, f *model.Fields) {
	if m.stage < stageController {
		return
	}
	model.Bool(f, "Reset", &s.reset)
	model.Int(f, "SToken", &s.tokens, 0, m.units+1)
	model.Int(f, "SPrio", &s.prios, 0, 2)
	model.Int(f, "SPush", &s.pushers, 0, 2)
	if m.timeout > 0 {
		model.Int(f, "ticks", &s.ticks, 0, m.timeout-1)
	} else {
		// How often the timer may run out is bounded so that there are finitely many configurations.
		model.Ghost(f, "fired", &s.fired, 0, max(1, m.resends))
	}
}

// isSatisfied tells whether a process holds what it wants.
func (s *state) isSatisfied() bool { return int32(len(s.held)) >= s.need }

// isWaiting tells whether a process wants more than it holds.
func (s *state) isWaiting() bool { return s.phase == req && !s.isSatisfied() }

// heldFrom is |RSet|q: how many of the tokens held came from channel q.
func (s *state) heldFrom(q int32) int32 {
	var n int32
	for _, h := range s.held {
		if h == q {
			n++
		}
	}
	return n
}
