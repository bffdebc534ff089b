// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"

	"allot/model"
)

func stateOf(v *model.View, p int) *state { return model.StateOf[state](v.Network(), v.C, p) }

func messageOf(v *model.View, link, i int) *message {
	return model.MessageOf[message](v.Network(), v.C, link, i)
}

// The gauges, by number.
const (
	gaugeTokens = iota
	gaugeUsed
	gaugePushers
	gaugePriorities
	gaugeControllers
	gaugeUnbacked
)

func (m *machine) gauges() []model.Gauge {
	return []model.Gauge{
		gaugeTokens: {Name: "tokens", Text: "resource tokens held and on links",
			Of: m.sum(resource, func(s *state) int64 { return int64(len(s.held)) })},
		gaugeUsed: {Name: "used", Text: "units in use: what the processes inside have asked for",
			Of: ofState(func(s *state) int64 { return inside(s, int64(s.need)) })},
		gaugePushers: {Name: "pushers", Text: "pushers", Of: m.sum(pusher, func(*state) int64 { return 0 })},
		gaugePriorities: {Name: "priorities", Text: "priority tokens held and on links",
			Of: m.sum(priority, func(s *state) int64 {
				if s.prio == none {
					return 0
				}
				return 1
			})},
		gaugeControllers: {Name: "controllers", Text: "controllers on links, valid or not",
			Of: m.sum(controller, func(*state) int64 { return 0 })},
		gaugeUnbacked: {Name: "unbacked", Text: "units in use for which the user holds no token",
			Of: ofState(func(s *state) int64 { return inside(s, max(0, int64(s.need)-int64(len(s.held)))) })},
	}
}

func inside(s *state, n int64) int64 {
	if s.phase == in {
		return n
	}
	return 0
}

// sum is a gauge that adds up messages of a kind and what processes have of them.
func (m *machine) sum(k kind, has func(*state) int64) func(v *model.View, site int) int64 {
	return func(v *model.View, site int) int64 {
		where := v.System.Site(site)
		switch {
		case where.Link >= 0:
			var n int64
			for i := range v.Network().Length(v.C, where.Link) {
				if messageOf(v, where.Link, i).kind == k {
					n++
				}
			}
			return n
		case where.Process >= 0 && !where.Clock:
			return has(stateOf(v, where.Process))
		}
		return 0
	}
}

func ofState(has func(*state) int64) func(v *model.View, site int) int64 {
	return func(v *model.View, site int) int64 {
		if where := v.System.Site(site); where.Process >= 0 && !where.Clock {
			return has(stateOf(v, where.Process))
		}
		return 0
	}
}

func (m *machine) phase(v *model.View, p int) model.Phase {
	return [...]model.Phase{out: model.Idle, req: model.Waiting, in: model.Inside}[stateOf(v, p).phase]
}

// isStarting tells whether the tokens of a clean start are not on their way yet, or that there are none: a single process
// has all units to itself.
func (m *machine) isStarting(v *model.View) bool {
	return m.graph.Len() == 1 || stateOf(v, m.root).root.starting == 1
}

// wants tells how many tokens of each kind there should be.
func (m *machine) wants(k kind) int64 {
	switch {
	case stage(k) > m.stage:
		return 0
	case k == resource:
		return int64(m.units)
	}
	return 1
}

func (m *machine) isExact(v *model.View) bool {
	return v.Sum(gaugeTokens) == m.wants(resource) && v.Sum(gaugePushers) == m.wants(pusher) &&
		v.Sum(gaugePriorities) == m.wants(priority)
}

func (m *machine) whyExact(v *model.View) string {
	return fmt.Sprintf("there are %d resource tokens, %d pushers and %d priority tokens; there should be %d, %d and %d",
		v.Sum(gaugeTokens), v.Sum(gaugePushers), v.Sum(gaugePriorities), m.units, m.wants(pusher), m.wants(priority))
}

func (m *machine) anyProcess(v *model.View, is func(s *state) bool) bool {
	for p := range m.graph.Len() {
		if is(stateOf(v, p)) {
			return true
		}
	}
	return false
}

func (m *machine) properties() []model.Property {
	list := []model.Property{
		{
			// Nobody uses more than k: that is the domain of Need, and no step leaves it.
			Name: "safety", Text: "no more than ℓ units are in use",
			Claim: model.Always, CleanOnly: true,
			Holds: func(v *model.View) bool { return v.Sum(gaugeUsed) <= int64(m.units) },
			Why: func(v *model.View) string {
				return fmt.Sprintf("%d units are in use, and there are %d", v.Sum(gaugeUsed), m.units)
			},
		},
		{
			Name: "backed", Text: "whoever is inside holds a token for each unit that it uses",
			Claim: model.Always, CleanOnly: true,
			Holds: func(v *model.View) bool { return m.graph.Len() == 1 || v.Sum(gaugeUnbacked) == 0 },
			Why: func(v *model.View) string {
				return fmt.Sprintf("%d units are in use without a token, so that others may get them too", v.Sum(gaugeUnbacked))
			},
		},
		{
			Name: "exact", Text: "there are exactly ℓ resource tokens, one pusher and one priority token",
			Claim: model.Always, CleanOnly: true,
			Holds: func(v *model.View) bool { return m.isStarting(v) || m.isExact(v) },
			Why:   m.whyExact,
		},
		{
			Name: "all used", Text: "all units are in use at once",
			Claim: model.Sometimes, CleanOnly: true,
			Holds: func(v *model.View) bool {
				return v.Sum(gaugeUsed) == min(int64(m.units), int64(m.most)*int64(m.graph.Len()))
			},
		},
		{
			Name: "deadlock", Text: "nobody waits where nothing moves any more",
			Claim: model.Rests,
			Holds: func(v *model.View) bool { return !m.anyProcess(v, (*state).isWaiting) },
			Why:   func(*model.View) string { return "somebody waits and nothing moves any more" },
		},
	}
	if m.forever == 0 {
		list = append(list, m.served())
	} else {
		list = append(list, m.liveness())
	}
	if m.stage == stageController {
		list = append(list, m.controllerProperties()...)
	}
	return list
}

func (m *machine) served() model.Property {
	return model.Property{
		Name: "served", Text: "every request is served",
		Claim: model.Recurs, CleanOnly: true,
		HoldsFor: func(v *model.View, p int) bool { return stateOf(v, p).phase != req },
	}
}

// liveness is (k,ℓ)-liveness: where some never release, requests that fit into what is left are served.
func (m *machine) liveness() model.Property {
	return model.Property{
		Name: "liveness", Text: "where all requests fit into what those leave who never release, each is served",
		Claim: model.Recurs, CleanOnly: true,
		HoldsFor: func(v *model.View, p int) bool { return stateOf(v, p).phase != req || !m.allFit(v) },
	}
}

// allFit tells whether every request is at most what those leave who are inside for ever.
func (m *machine) allFit(v *model.View) bool {
	left := m.units
	for p := range m.graph.Len() {
		if s := stateOf(v, p); m.isForever(p) && s.phase == in {
			left -= s.need
		}
	}
	return !m.anyProcess(v, func(s *state) bool { return s.phase == req && s.need > left })
}

// maxCensus is the largest network in which the controller's sums are compared with what it has passed in every
// configuration, which takes a look at all of them. In larger ones only the numbers of tokens are looked at.
const maxCensus = 64

func (m *machine) controllerProperties() []model.Property {
	hasCensus := func(v *model.View) bool { return m.graph.Len() == 1 || m.graph.Len() > maxCensus || m.census(v) == "" }
	return []model.Property{
		{
			Name: "census", Text: "the controller's sums are the tokens behind it, and whoever is behind it knows its number",
			Claim: model.Always, CleanOnly: true,
			Holds: func(v *model.View) bool { return m.isStarting(v) || hasCensus(v) },
			Why:   m.census,
		},
		{
			Name: "legitimate", Text: "all numbers of tokens are right, all units in use have tokens, the controller counts right",
			Claim: model.Stabilizes,
			Holds: func(v *model.View) bool {
				if m.graph.Len() == 1 {
					return true
				}
				return !m.isStarting(v) && m.isExact(v) && v.Sum(gaugeUnbacked) == 0 && !stateOf(v, m.root).root.reset && hasCensus(v)
			},
			Why: func(v *model.View) string {
				switch why := m.census(v); {
				case !m.isExact(v):
					return m.whyExact(v)
				case why != "":
					return why
				}
				return fmt.Sprintf("%d units are in use without a token", v.Sum(gaugeUnbacked))
			},
		},
	}
}
