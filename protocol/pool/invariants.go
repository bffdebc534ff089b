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
		{Name: "exclusive", Claim: model.Always, CleanOnly: true,
			Text:  "no unit has two holders, clients of crashed members included",
			Holds: func(v *model.View) bool { return m.twice(v) < 0 },
			Why: func(v *model.View) string {
				u := m.twice(v)
				return fmt.Sprintf("unit %d is held by %v", u, m.holders(v, u))
			}},
		{Name: "one-reign", Claim: model.Always, CleanOnly: true,
			Text:  "no two members may act as root at the same time",
			Holds: func(v *model.View) bool { return m.reigning(v) <= 1 }},
		{Name: "used", Claim: model.Sometimes, Text: "units are held",
			Holds: func(v *model.View) bool { return m.heldTotal(v) > 0 }},
	}
	if m.hasFences {
		all = append(all, model.Property{Name: "fences-grow", Claim: model.Always, CleanOnly: true,
			Text:  "who holds a unit has a greater fence than everybody who ever held it",
			Holds: m.fencesGrow})
	}
	if m.heals > 0 {
		all = append(all, model.Property{Name: "heals", Claim: model.Always,
			Text:  "after the stated time every unit is in one place",
			Holds: func(v *model.View) bool { return stateOf(v, m.world()).world.age < m.heals || m.misplaced(v) < 0 },
			Why: func(v *model.View) string {
				u := m.misplaced(v)
				return fmt.Sprintf("unit %d is in %d places", u, m.places(v, int32(u)))
			}})
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
func (m *lab) isServed(s *state) bool { return s.seat.queue.len() < m.limit }

func (m *lab) holders(v *model.View, unit int) (who []int) {
	for p := range m.members {
		s := stateOf(v, p)
		for _, h := range s.seat.held {
			if findUnit(h.Units, int32(unit)) >= 0 {
				who = append(who, p)
			}
		}
		for _, u := range s.former {
			if u.number == int32(unit) {
				who = append(who, p)
			}
		}
	}
	return who
}

// twice finds a unit with two holders, or -1.
func (m *lab) twice(v *model.View) int {
	var few [4]uint64
	seen := few[:]
	if words := int(m.options.Units+63) / 64; words > len(few) {
		seen = make([]uint64, words)
	}
	found := -1
	look := func(unit int32) {
		if seen[unit>>6]>>(unit&63)&1 != 0 {
			found = int(unit)
		}
		seen[unit>>6] |= 1 << (unit & 63)
	}
	for p := range m.members {
		s := stateOf(v, p)
		for _, h := range s.seat.held {
			for _, u := range h.Units {
				look(u.Number)
			}
		}
		for _, u := range s.former {
			look(u.number)
		}
	}
	return found
}

func (m *lab) reigning(v *model.View) int {
	n := 0
	for p := range m.members {
		if s := stateOf(v, p); s.dead == 0 && s.seat.isReigning() {
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

// fencesGrow looks at every grant that there is.
func (m *lab) fencesGrow(v *model.View) bool {
	for p := range m.members {
		s := stateOf(v, p)
		if s.fell != 0 {
			return false
		}
		for _, h := range s.seat.held {
			for _, u := range h.Units {
				for q := range m.members {
					if q != p && stateOf(v, q).gave[u.Number] >= u.Fence {
						return false
					}
				}
			}
		}
	}
	return true
}

// misplaced finds a unit that is not in exactly one place, or -1.
func (m *lab) misplaced(v *model.View) int {
	for u := range m.options.Units {
		if m.places(v, u) != 1 {
			return int(u)
		}
	}
	return -1
}

// places counts where a unit is: free or held at a member, or on board of a controller that will be heard.
func (m *lab) places(v *model.View, unit int32) int {
	n := 0
	count := func(units []Unit) {
		for _, u := range units {
			if u.Number == unit {
				n++
			}
		}
	}
	for p := range m.members {
		s := stateOf(v, p)
		count(s.seat.stock)
		for _, h := range s.seat.held {
			count(h.Units)
		}
	}
	network := v.Network()
	for link := range m.graph.Links() {
		for i := range network.Length(v.C, link) {
			_, to := m.graph.Ends(link)
			msg := model.MessageOf[message](network, v.C, link, i)
			if msg.kind == visit && !m.IsIgnored(to, stateOf(v, to), msg) {
				count(msg.visit.Board)
			}
		}
	}
	return n
}
