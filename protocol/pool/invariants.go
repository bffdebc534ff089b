// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"fmt"

	"allot/model"
)

// properties are the promises of a pool.
func (m *lab) properties() []model.Property {
	all := []model.Property{
		{Name: "exclusive", Claim: model.Always,
			Text:  "no unit has two holders, clients of crashed members included",
			Holds: func(v *model.View) bool { return m.twice(v) < 0 },
			Why: func(v *model.View) string {
				u := m.twice(v)
				return fmt.Sprintf("unit %d is held by %v", u, m.holders(v, u))
			}},
		{Name: "one-reign", Claim: model.Always,
			Text:  "no two members may act as root at the same time",
			Holds: func(v *model.View) bool { return m.reigning(v) <= 1 }},
		{Name: "used", Claim: model.Sometimes, Text: "units are held",
			Holds: func(v *model.View) bool { return m.heldTotal(v) > 0 }},
	}
	if m.hasFences {
		all = append(all, model.Property{Name: "fences-grow", Claim: model.AlwaysStep,
			Text:      "a grant has a greater fence than every earlier grant of the unit, wherever that was",
			HoldsStep: m.fencesGrow})
	}
	if m.crashes == 0 && m.skew == 0 && m.generations == 1 {
		all = append(all, model.Property{Name: "served", Claim: model.Recurs,
			Text: "a member that waits is served in the end",
			HoldsFor: func(v *model.View, p int) bool {
				return p == m.world() || m.forever>>p&1 != 0 || m.isServed(stateOf(v, p))
			}})
	}
	if m.most == m.options.Units && m.members > 1 {
		all = append(all, model.Property{Name: "full", Claim: model.Sometimes, Text: "one member holds all units",
			Holds: func(v *model.View) bool { return m.heldBy(v, m.members-1) == int(m.options.Units) }})
	}
	return all
}

// isServed: nothing waits. With several requests at once somebody may always wait; then it is enough that the first is a new
// one, which it is right after a grant.
func (m *lab) isServed(s *state) bool { return len(s.seat.queue) < m.limit }

func (m *lab) holders(v *model.View, unit int) (who []int) {
	for p := range m.members {
		s := stateOf(v, p)
		for _, h := range s.seat.held {
			if findUnit(h.Units, int32(unit)) >= 0 {
				who = append(who, p)
			}
		}
		if findUnit(s.former, int32(unit)) >= 0 {
			who = append(who, p)
		}
	}
	return who
}

// twice finds a unit with two holders, or -1.
func (m *lab) twice(v *model.View) int {
	for u := range int(m.options.Units) {
		if len(m.holders(v, u)) > 1 {
			return u
		}
	}
	return -1
}

func (m *lab) reigning(v *model.View) int {
	n := 0
	for p := range m.members {
		if s := stateOf(v, p); !s.isDead && s.seat.isReigning() {
			n++
		}
	}
	return n
}

func (m *lab) heldBy(v *model.View, p int) int {
	n := 0
	for _, h := range stateOf(v, p).seat.held {
		n += len(h.Units)
	}
	return n
}

func (m *lab) heldTotal(v *model.View) int {
	n := 0
	for p := range m.members {
		n += m.heldBy(v, p)
	}
	return n
}

// fencesGrow looks at every grant that is new in a step.
func (m *lab) fencesGrow(before, after *model.View, _ []model.Move) bool {
	for u := range int(m.options.Units) {
		var most int64
		for p := range m.members {
			most = max(most, stateOf(before, p).gave[u])
		}
		for p := range m.members {
			was := findHeld(&stateOf(before, p).seat, u)
			now := findHeld(&stateOf(after, p).seat, u)
			if now != nil && (was == nil || was.Fence != now.Fence) && now.Fence <= most {
				return false
			}
		}
	}
	return true
}

func findHeld(s *Seat, unit int) *Unit {
	for i := range s.held {
		if j := findUnit(s.held[i].Units, int32(unit)); j >= 0 {
			return &s.held[i].Units[j]
		}
	}
	return nil
}
