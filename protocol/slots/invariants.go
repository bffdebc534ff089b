// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"fmt"

	"allot/model"
)

// The gauges.
const (
	gaugeInside = iota
	gaugeTrying
)

func (m *Machine) gauges() []model.Gauge {
	count := func(is func(uint64) bool) func(*model.View, int) int64 {
		return func(v *model.View, site int) int64 {
			if site < m.N && is(v.C[site]) {
				return 1
			}
			return 0
		}
	}
	return []model.Gauge{
		gaugeInside: {Name: "inside", Text: "processes in the critical region", Of: count(m.IsInside)},
		gaugeTrying: {Name: "trying", Text: "processes on their way in", Of: count(m.IsTrying)},
	}
}

func (m *Machine) phase(v *model.View, p int) model.Phase {
	switch local := v.C[p]; {
	case m.IsInside(local):
		return model.Inside
	case m.IsTrying(local):
		return model.Waiting
	}
	return model.Idle
}

// properties are the claims. Up to stops processes may be owed nothing any more, which is the same as crashing; the fault
// crash, with a configuration of its own for each crash, is there for processes that are taken over afterwards.
func (m *Machine) properties(s *model.Registers, stops int) []model.Property {
	most := int64(min(m.N, m.K))
	ps := []model.Property{
		{
			Name:      "exclusion",
			Text:      fmt.Sprintf("at most %d processes are inside", m.K),
			Claim:     model.Always,
			CleanOnly: true,
			Holds:     func(v *model.View) bool { return v.Sum(gaugeInside) <= int64(m.K) },
			Why: func(v *model.View) string {
				return fmt.Sprintf("%d processes are inside, %d may be", v.Sum(gaugeInside), m.K)
			},
		},
		{
			Name:  "full",
			Text:  fmt.Sprintf("%d processes are inside at once", most),
			Claim: model.Sometimes,
			Holds: func(v *model.View) bool { return v.Sum(gaugeInside) == most },
		},
		{
			Name:      "no-lockout",
			Text:      fmt.Sprintf("a process that tries and does not stop gets in, as long as at most %d have stopped", m.K-1),
			Claim:     model.Recurs,
			CleanOnly: true,
			Stops:     stops,
			HoldsFor: func(v *model.View, p int) bool {
				return !m.IsTrying(v.C[p]) || s.IsCrashed(v.C, p) || m.stopped(s, v.C) >= m.K
			},
		},
	}
	if m.Names {
		ps = append(ps, m.nameProperties()...)
	}
	return ps
}

// stopped counts the processes that have crashed.
func (m *Machine) stopped(s *model.Registers, c model.Configuration) int {
	n := 0
	for p := range m.N {
		if s.IsCrashed(c, p) {
			n++
		}
	}
	return n
}

func (m *Machine) nameProperties() []model.Property {
	return []model.Property{
		{
			Name:      "unique-names",
			Text:      "no two processes inside have the same name",
			Claim:     model.Always,
			CleanOnly: true,
			Holds:     func(v *model.View) bool { return m.twins(v.C) < 0 },
			Why: func(v *model.View) string {
				return fmt.Sprintf("two processes inside have the name %d", m.twins(v.C))
			},
		},
		{
			Name:      "one-pass",
			Text:      "whoever got in finds a free name before it has tried all of them",
			Claim:     model.AlwaysStep,
			CleanOnly: true,
			HoldsStep: func(before, after *model.View, step []model.Move) bool {
				p := step[0].At
				was, is := before.C[p], after.C[p]
				return step[0].Kind != model.Act || m.at.Get(was) != take || m.at.Get(is) != take || m.name.Get(is) > m.name.Get(was)
			},
			Why: func(*model.View) string { return "a process found every name taken" },
		},
	}
}

// twins is a name that two processes inside have, or -1.
func (m *Machine) twins(c model.Configuration) int {
	seen := make(map[int]bool, m.K)
	for p := range m.N {
		if m.IsInside(c[p]) {
			if seen[m.Name(c[p])] {
				return m.Name(c[p])
			}
			seen[m.Name(c[p])] = true
		}
	}
	return -1
}
