// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"fmt"

	"allot/model"
)

func stateOf(v *model.View, p int) *state { return model.StateOf[state](v.Network(), v.C, p) }

// The gauges, by number.
const (
	gaugeInside = iota
	gaugePending
)

func (m *machine) instance(o model.Options) *model.Instance {
	count := func(is func(*state) bool) func(v *model.View, site int) int64 {
		return func(v *model.View, site int) int64 {
			if site < m.n && is(stateOf(v, site)) {
				return 1
			}
			return 0
		}
	}
	return &model.Instance{
		System:     model.NewNetwork(m.graph, m, o.Links, o.Budget),
		Properties: m.properties(),
		Gauges: []model.Gauge{
			{Name: "inside", Text: "processes inside", Of: count(func(s *state) bool { return s.inside })},
			{Name: "pending", Text: "processes that are entering or leaving", Of: count(func(s *state) bool { return s.doing != resting })},
		},
		Phase: func(v *model.View, p int) model.Phase {
			if stateOf(v, p).doing != resting {
				return model.Waiting
			}
			return model.Inside
		},
	}
}

// isServed tells whether a process has what it was asked for, or the bounds forbid it for now.
func (m *machine) isServed(v *model.View, p int) bool {
	switch inside := int(v.Sum(gaugeInside)); stateOf(v, p).doing {
	case entering:
		return inside >= m.k
	case leaving:
		return inside <= m.l
	case resting:
	}
	return true
}

func (m *machine) whyUnserved(v *model.View) string {
	for p := range m.n {
		if !m.isServed(v, p) {
			return fmt.Sprintf("process %d is %s for ever, with %d inside, floor %d, ceiling %d", p,
				[]string{"resting", "entering", "leaving"}[stateOf(v, p).doing], v.Sum(gaugeInside), m.l, m.k)
		}
	}
	return ""
}

func (m *machine) properties() []model.Property {
	inside := func(v *model.View) string {
		return fmt.Sprintf("%d inside, floor %d, ceiling %d", v.Sum(gaugeInside), m.l, m.k)
	}
	properties := []model.Property{
		{
			Name: "floor", Text: fmt.Sprintf("at least %d are inside", m.l), Claim: model.Always, CleanOnly: true,
			Holds: func(v *model.View) bool { return int(v.Sum(gaugeInside)) >= m.l }, Why: inside,
		},
		{
			Name: "ceiling", Text: fmt.Sprintf("at most %d are inside", m.k), Claim: model.Always, CleanOnly: true,
			Holds: func(v *model.View) bool { return int(v.Sum(gaugeInside)) <= m.k }, Why: inside,
		},
		{
			Name: "rest", Text: "when nothing is on its way, whoever waits waits for a bound: nobody is stuck", Claim: model.Rests, CleanOnly: true,
			Holds: func(v *model.View) bool { return m.whyUnserved(v) == "" }, Why: m.whyUnserved,
		},
		{
			Name: "lowest", Text: fmt.Sprintf("the floor is reached: %d inside", m.l), Claim: model.Sometimes,
			Holds: func(v *model.View) bool { return int(v.Sum(gaugeInside)) == m.l },
		},
		{
			Name: "highest", Text: fmt.Sprintf("the ceiling is reached: %d inside", m.k), Claim: model.Sometimes,
			Holds: func(v *model.View) bool { return int(v.Sum(gaugeInside)) == m.k },
		},
		{
			Name: "contended", Text: "two are asked for something at the same time", Claim: model.Sometimes,
			Holds: func(v *model.View) bool { return int(v.Sum(gaugePending)) >= 2 || m.l == 0 && m.k == m.n },
		},
	}
	if m.times > 0 {
		properties = append(properties, model.Property{
			Name: "served", Text: "whoever enters or leaves gets there, or a bound stands in the way again and again", Claim: model.Recurs, CleanOnly: true,
			HoldsFor: m.isServed, Why: m.whyUnserved,
		})
	} else {
		properties = append(properties, model.Property{
			Name: "served", Text: "whoever enters or leaves gets there, or a bound or somebody with a smaller number stands in the way again and again",
			Claim: model.Recurs, CleanOnly: true,
			HoldsFor: func(v *model.View, p int) bool { return m.isServed(v, p) || m.hasStronger(v, p) }, Why: m.whyUnserved,
		})
	}
	if m.isFailStop {
		properties[0] = m.floorOfTheLiving()
		properties = append(properties, m.backInside())
	}
	if m.isPlain {
		properties = append(properties, model.Property{
			Name: "fair", Text: "no request that has come to an arbiter is overtaken there by the same process twice", Claim: model.Always, CleanOnly: true,
			Holds: func(v *model.View) bool {
				for p := range m.n {
					if stateOf(v, p).gadgets[ceiling].unfair {
						return m.times == 0 // an order by number is not fair
					}
				}
				return true
			},
			Why: func(*model.View) string { return "a request was overtaken twice by the same process" },
		})
	}
	return properties
}

// hasStronger tells whether somebody with a smaller number waits too. Without clocks it may overtake without end; but the
// smallest of those who wait is overtaken by nobody.
func (m *machine) hasStronger(v *model.View, p int) bool {
	for q := range p {
		if stateOf(v, q).doing != resting {
			return true
		}
	}
	return false
}
