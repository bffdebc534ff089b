// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package reign

import (
	"slices"

	"allot/model"
)

// properties are the promises of the control plane.
func (m *lab) properties() []model.Property {
	all := []model.Property{
		{Name: "one-reign", Claim: model.Always, CleanOnly: true, Text: "no two nodes may act as root at the same time",
			Holds: func(v *model.View) bool { return len(m.reigning(v)) <= 1 }},
		{Name: "handed-over", Claim: model.Always, CleanOnly: true, Text: "who may act is the root of the record that the store holds",
			Holds: func(v *model.View) bool {
				r := &stateOf(v, m.world()).world.record
				return !slices.ContainsFunc(m.reigning(v), func(p int) bool { return !isRootOf(r, stateOf(v, p).node.self) })
			}},
		{Name: "generations", Claim: model.Always, CleanOnly: true, Text: "generations only grow, each has one root and one list of members, and nobody goes back to an older one",
			Holds: func(v *model.View) bool {
				for p := range m.nodes {
					if stateOf(v, p).hasFallen {
						return false
					}
				}
				return !stateOf(v, m.world()).world.isBroken
			}},
		{Name: "new-life", Claim: model.Always, CleanOnly: true, Text: "no node is a member of a generation that began before its life",
			Holds: func(v *model.View) bool {
				return !m.isAny(v, func(s *state) bool { return s.floor > 0 && s.node.Place() >= 0 })
			}},
		{Name: "reigns", Claim: model.Sometimes, Text: "a node reigns, and all nodes are members",
			Holds: func(v *model.View) bool {
				return len(m.reigning(v)) > 0 && len(stateOf(v, m.world()).world.record.Members) == m.nodes
			}},
	}
	if m.nodes > 1 && (m.isSlow || m.budget.stops > 0) {
		all = append(all, model.Property{Name: "taken-over", Claim: model.Sometimes, Text: "a node reigns while another one that stays believes to be root",
			Holds: func(v *model.View) bool {
				return m.isAny(v, func(s *state) bool {
					n := &s.node
					return n.IsRoot() && !n.isLeaving && slices.ContainsFunc(m.reigning(v), func(q int) bool { return !stateOf(v, q).node.self.is(n.self) })
				})
			}})
	}
	if m.budget.leaves > 0 {
		all = append(all, model.Property{Name: "left", Claim: model.Sometimes, Text: "a node has left, and another one reigns",
			Holds: func(v *model.View) bool {
				return len(m.reigning(v)) > 0 && m.isAny(v, func(s *state) bool { return s.node.isLeaving && s.node.isKnown && s.node.Place() < 0 })
			}})
	}
	if m.budget.leaves > 0 && (m.isSlow || int(m.budget.leaves+m.budget.crashes) >= m.nodes) {
		all = append(all,
			model.Property{Name: "rested", Claim: model.Sometimes, Text: "the last node has left at rest",
				Holds: func(v *model.View) bool { return stateOf(v, m.world()).world.record.Rest }})
	}
	if !m.isSlow && m.generations == 0 {
		all = append(all, m.living()...)
	}
	return all
}

// living are claims about a store that is not too slow for the times that were chosen.
func (m *lab) living() []model.Property {
	return []model.Property{
		{Name: "ruled", Claim: model.Recurs, Ask: []int{m.world()}, Text: "again and again somebody reigns, if anybody is alive and stays",
			HoldsFor: func(v *model.View, _ int) bool {
				return len(m.reigning(v)) > 0 || !m.isAny(v, func(s *state) bool { return !s.node.isLeaving })
			}},
		{Name: "out", Claim: model.Recurs, Text: "who leaves knows in the end that it is out, whoever else is alive",
			HoldsFor: func(v *model.View, p int) bool {
				if p == m.world() {
					return true
				}
				s := stateOf(v, p)
				return s.isDead || !s.node.isLeaving || s.node.isKnown && s.node.Place() < 0
			}},
		{Name: "member", Claim: model.Recurs, Text: "again and again who is alive and stays is a member, and who is not is none",
			HoldsFor: func(v *model.View, p int) bool {
				if p == m.world() || !m.isAny(v, func(s *state) bool { return !s.node.isLeaving }) {
					return true
				}
				s := stateOf(v, p)
				if s.isDead || s.node.isLeaving {
					return !slices.ContainsFunc(stateOf(v, m.world()).world.record.Members, func(m Member) bool { return number(m.Name) == p })
				}
				return s.node.Place() >= 0
			}},
	}
}

// isAny asks of the nodes that are alive.
func (m *lab) isAny(v *model.View, is func(s *state) bool) bool {
	for p := range m.nodes {
		if s := stateOf(v, p); !s.isDead && is(s) {
			return true
		}
	}
	return false
}

// reigning are the nodes that may act as root. One that has stopped may until its clock has run out.
func (m *lab) reigning(v *model.View) (list []int) {
	for p := range m.nodes {
		if s := stateOf(v, p); !s.isDead && s.node.reign > s.slept {
			list = append(list, p)
		}
	}
	return list
}

// phase of a node, so that the simulator counts how often a reign begins.
func (m *lab) phase(v *model.View, p int) model.Phase {
	if p == m.world() {
		return model.Idle
	}
	switch s := stateOf(v, p); {
	case s.isDead:
		return model.Idle
	case s.node.reign > s.slept:
		return model.Inside
	case s.node.IsRoot():
		return model.Waiting
	}
	return model.Idle
}
