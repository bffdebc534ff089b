// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"fmt"

	"allot/model"
)

// floorOfTheLiving is what the floor means when members crash: nobody leaves if fewer than l stay inside, those counted of
// whose crash it has not been told yet.
func (m *machine) floorOfTheLiving() model.Property {
	return model.Property{
		Name: "floor", Text: fmt.Sprintf("nobody leaves unless %d stay inside, not counting those of whose crash it knows", m.l),
		Claim: model.AlwaysStep, CleanOnly: true,
		HoldsStep: func(before, after *model.View, _ []model.Move) bool {
			for p := range m.n {
				b, a := stateOf(before, p), stateOf(after, p)
				if b.inside && !a.inside && !a.life.isDown {
					return int(after.Sum(gaugeInside))+m.untold(after, p) >= m.l
				}
			}
			return true
		},
		Why: func(v *model.View) string {
			return fmt.Sprintf("only %d stay inside, floor %d", v.Sum(gaugeInside), m.l)
		},
	}
}

// untold counts the processes that crashed inside and of which p has not been told.
func (m *machine) untold(v *model.View, p int) int {
	n, count := v.Network(), 0
	for channel := range m.graph.Degree(p) {
		link := m.graph.Back(m.graph.Link(p, channel))
		for i := range n.Length(v.C, link) {
			if msg := model.MessageOf[message](n, v.C, link, i); msg.kind == down && msg.wasInside {
				count++
			}
		}
	}
	return count
}

func (m *machine) backInside() model.Property {
	return model.Property{
		Name: "back", Text: "somebody who has crashed is inside again", Claim: model.Sometimes,
		Holds: func(v *model.View) bool {
			for p := range m.n {
				if s := stateOf(v, p); s.inside && (s.life.incarnation > 1 || m.crashes == 0) {
					return true
				}
			}
			return false
		},
	}
}
