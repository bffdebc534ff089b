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
	gauges // how many there are
)

func (m *machine) gauges() []model.Gauge {
	list := []model.Gauge{
		gaugeTokens:      {Name: "tokens", Text: "resource tokens held and on links"},
		gaugeUsed:        {Name: "used", Text: "units in use: what the processes inside have asked for"},
		gaugePushers:     {Name: "pushers", Text: "pushers"},
		gaugePriorities:  {Name: "priorities", Text: "priority tokens held and on links"},
		gaugeControllers: {Name: "controllers", Text: "controllers on links, valid or not"},
		gaugeUnbacked:    {Name: "unbacked", Text: "units in use for which the user holds no token"},
	}
	for i := range list {
		list[i].Of = func(v *model.View, site int) int64 {
			var shares [gauges]int64
			m.shares(v, site, shares[:])
			return shares[i]
		}
	}
	return list
}

// gaugeOf says which gauge a message belongs to.
var gaugeOf = [...]int{resource: gaugeTokens, pusher: gaugePushers, priority: gaugePriorities, controller: gaugeControllers}

// shares is what a site contributes to the gauges.
func (m *machine) shares(v *model.View, site int, shares []int64) {
	m.sharesBy(reader{stateOf, messageOf}, v, site, shares)
}

func (m *machine) sharesBy(r reader, v *model.View, site int, shares []int64) {
	clear(shares)
	n := m.graph.Len()
	switch {
	case site < n:
		s := r.state(v, site)
		shares[gaugeTokens] = int64(len(s.held))
		if s.prio != none {
			shares[gaugePriorities] = 1
		}
		if s.phase == in {
			shares[gaugeUsed] = int64(s.need)
			shares[gaugeUnbacked] = max(0, int64(s.need)-int64(len(s.held)))
		}
	case site < n+m.graph.Links():
		for i := range v.Network().Length(v.C, site-n) {
			if k := r.message(v, site-n, i).kind; k != word {
				shares[gaugeOf[k]]++
			}
		}
	}
}

var phases = [...]model.Phase{out: model.Idle, req: model.Waiting, in: model.Inside}

func (m *machine) phase(v *model.View, p int) model.Phase {
	return phases[stateOf(v, p).phase]
}

// isStarting tells whether the tokens of a clean start are not on their way yet, or that there are none: a single process
// has all units to itself.
func (m *machine) isStarting(v *model.View) bool {
	return m.graph.Len() == 1 || stateOf(v, m.shape.root).root.starting == 1
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

// hasCensus tells whether census has nothing to say. The simulator keeps an index, so that it need not look at everything.
func (m *machine) hasCensus(v *model.View) bool {
	if m.graph.Len() == 1 {
		return true
	}
	if x, ok := v.Index.(*index); ok {
		return x.isRight(v)
	}
	return m.survey.census(v) == ""
}

func (m *machine) controllerProperties() []model.Property {
	return []model.Property{
		{
			Name: "census", Text: "the controller's sums are the tokens behind it, and whoever is behind it knows its number",
			Claim: model.Always, CleanOnly: true,
			Holds: func(v *model.View) bool { return m.isStarting(v) || m.hasCensus(v) },
			Why:   m.survey.census,
		},
		{
			Name: "legitimate", Text: "all numbers of tokens are right, all units in use have tokens, the controller counts right",
			Claim: model.Stabilizes,
			Holds: func(v *model.View) bool {
				if m.graph.Len() == 1 {
					return true
				}
				return !m.isStarting(v) && m.isExact(v) && v.Sum(gaugeUnbacked) == 0 && !stateOf(v, m.shape.root).root.reset && m.hasCensus(v)
			},
			Why: func(v *model.View) string {
				switch why := m.survey.census(v); {
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
