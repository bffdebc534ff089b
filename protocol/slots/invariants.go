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

func (m *Machine) gauges() []model.Gauge { return gaugesOf(m.N, m.IsInside, m.IsTrying) }

// gaugesOf counts the processes inside and on their way in.
func gaugesOf(n int, isInside, isTrying func(local uint64) bool) []model.Gauge {
	count := func(is func(uint64) bool) func(*model.View, int) int64 {
		return func(v *model.View, site int) int64 {
			if site < n && is(v.C[site]) {
				return 1
			}
			return 0
		}
	}
	return []model.Gauge{
		gaugeInside: {Name: "inside", Text: "processes in the critical region", Of: count(isInside)},
		gaugeTrying: {Name: "trying", Text: "processes on their way in", Of: count(isTrying)},
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
	ps := []model.Property{
		exclusion(m.K),
		full(min(m.N, m.K)),
		{
			Name:      "no-lockout",
			Text:      fmt.Sprintf("a process that tries and does not stop gets in, as long as at most %d have stopped", m.K-1),
			Claim:     model.Recurs,
			CleanOnly: true,
			Ask:       m.unlike(),
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

// unlike lists processes of which every other one is like one, or nil for all. In one group all are alike: who reads the
// others beginning with the next one does the same as another that is so many numbers further on, if all numbers are.
func (m *Machine) unlike() []int {
	for _, rounds := range m.plan.rounds {
		for _, r := range rounds {
			if r.to-r.from < m.N {
				return nil
			}
		}
	}
	return []int{0}
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
		uniqueNames(func(c model.Configuration) int { return twins(c[:m.N], m.IsInside, m.Name) }),
		onePass(func(was, is uint64) bool {
			return m.at.Get(was) != take || m.at.Get(is) != take || m.name.Get(is) > m.name.Get(was)
		}),
	}
}

func exclusion(k int) model.Property {
	return model.Property{
		Name:      "exclusion",
		Text:      fmt.Sprintf("at most %d processes are inside", k),
		Claim:     model.Always,
		CleanOnly: true,
		Holds:     func(v *model.View) bool { return v.Sum(gaugeInside) <= int64(k) },
		Why: func(v *model.View) string {
			return fmt.Sprintf("%d processes are inside, %d may be", v.Sum(gaugeInside), k)
		},
	}
}

func full(most int) model.Property {
	return model.Property{
		Name:  "full",
		Text:  fmt.Sprintf("%d processes are inside at once", most),
		Claim: model.Sometimes,
		Holds: func(v *model.View) bool { return v.Sum(gaugeInside) == int64(most) },
	}
}

func uniqueNames(twins func(model.Configuration) int) model.Property {
	return model.Property{
		Name:      "unique-names",
		Text:      "no two processes inside have the same name",
		Claim:     model.Always,
		CleanOnly: true,
		Holds:     func(v *model.View) bool { return twins(v.C) < 0 },
		Why: func(v *model.View) string {
			return fmt.Sprintf("two processes inside have the name %d", twins(v.C))
		},
	}
}

func onePass(goesOn func(was, is uint64) bool) model.Property {
	return model.Property{
		Name:      "one-pass",
		Text:      "whoever got in finds a free name before it has tried all of them",
		Claim:     model.AlwaysStep,
		CleanOnly: true,
		HoldsStep: func(before, after *model.View, step []model.Move) bool {
			p := step[0].At
			return step[0].Kind != model.Act || goesOn(before.C[p], after.C[p])
		},
		Why: func(*model.View) string { return "a process found every name taken" },
	}
}

// twins is a name that two processes inside have, or -1.
func twins(locals []uint64, isInside func(uint64) bool, nameOf func(uint64) int) int {
	seen := make(map[int]bool, len(locals))
	for _, local := range locals {
		if isInside(local) {
			if seen[nameOf(local)] {
				return nameOf(local)
			}
			seen[nameOf(local)] = true
		}
	}
	return -1
}
