// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"

	"allot/model"
)

// phase: a critical section is inside an action, so who has no turn waits, unless the program says otherwise.
func (t *carried) phase(v *model.View, p int) model.Phase {
	s := stateOf(v, p)
	if h, ok := t.program.(Holding); ok && h.IsHolding(p, s.word) {
		return model.Inside
	}
	if !t.hasTurn(s) {
		return model.Waiting
	}
	view := t.inner.View(t.sight(p, s))
	return t.inner.Phase(&view, p)
}

func (t *carried) gauges() []model.Gauge {
	count := func(is func(v *model.View, p int) bool) func(*model.View, int) int64 {
		return func(v *model.View, site int) int64 {
			if site < t.graph.Len() && !v.Network().IsCrashed(v.C, site) && is(v, site) {
				return 1
			}
			return 0
		}
	}
	gauges := []model.Gauge{{Name: "turns", Text: "processes that have their turn", Of: count(func(v *model.View, p int) bool { return t.hasTurn(stateOf(v, p)) })}}
	if t.inner.Phase != nil {
		gauges = append(gauges, model.Gauge{Name: "inside", Text: "processes in their critical sections", Of: count(func(v *model.View, p int) bool { return t.phase(v, p) == model.Inside })})
	}
	return gauges
}

// properties are those of the program, asked of what all processes are, and what the transformer adds. The first is the one that
// says when all is well, so those of the program come first.
func (t *carried) properties() []model.Property {
	var list []model.Property
	for _, p := range t.inner.Properties {
		if p.Claim != model.Rests { // timers never rest
			list = append(list, t.property(p))
		}
	}
	return append(list,
		model.Property{
			Name:  "sound",
			Text:  "from some moment on every edge has one token and its holder sees the other end as it is, whatever the start",
			Claim: model.Stabilizes,
			Holds: t.isSound,
			Why:   t.whyUnsound,
		},
		model.Property{
			Name:      "exact",
			Text:      "who has its turn sees its neighbours as they are, and no neighbour has its turn too",
			Claim:     model.Always,
			CleanOnly: true,
			Holds:     t.isExact,
		},
		model.Property{
			Name:      "faithful",
			Text:      "once all edges are sound, every step is one action of the program that was enabled, or none",
			Claim:     model.AlwaysStep,
			HoldsStep: t.isFaithful,
		},
		model.Property{
			Name:     "turns",
			Text:     "everybody has its turn again and again",
			Claim:    model.Recurs,
			HoldsFor: func(v *model.View, p int) bool { return t.hasTurn(stateOf(v, p)) },
		})
}

func (t *carried) whyUnsound(v *model.View) string {
	for link := range t.graph.Links() {
		if from, to := t.graph.Ends(link); from < to && !t.isEdgeSound(v, link) {
			return fmt.Sprintf("the edge %s-%s has not one token, or a wrong state with it", t.graph.Name(from), t.graph.Name(to))
		}
	}
	return ""
}

// property asks a property of the program.
func (t *carried) property(p model.Property) model.Property {
	if holds := p.Holds; holds != nil {
		isStabilizing := p.Claim == model.Stabilizes
		p.Holds = func(v *model.View) bool {
			inner := t.project(v)
			return holds(&inner) && (!isStabilizing || t.isSound(v))
		}
	}
	if holds := p.HoldsFor; holds != nil {
		p.HoldsFor = func(v *model.View, process int) bool {
			inner := t.project(v)
			return holds(&inner, process)
		}
	}
	if holds := p.HoldsStep; holds != nil {
		p.HoldsStep = func(before, after *model.View, step []model.Move) bool {
			if !t.isSound(before) {
				return true
			}
			a, b := t.project(before), t.project(after)
			return holds(&a, &b, t.projectStep(before, step))
		}
	}
	if why := p.Why; why != nil {
		isStabilizing := p.Claim == model.Stabilizes
		p.Why = func(v *model.View) string {
			if isStabilizing && !t.isSound(v) {
				return t.whyUnsound(v)
			}
			inner := t.project(v)
			return why(&inner)
		}
	}
	return p
}

// isFaithful tells whether a step is one of the program under the central daemon, or none of it. That it is so is why whatever is
// proved of the program holds over links.
func (t *carried) isFaithful(before, after *model.View, step []model.Move) bool {
	if step[0].Kind.IsFault() || !t.isSound(before) {
		return true
	}
	a, b := t.project(before), t.project(after)
	if moves := t.projectStep(before, step); len(moves) > 0 {
		if t.inner.System.Check(a.C, moves[0]) != nil {
			return false
		}
		var buffer model.Buffer
		t.inner.System.Apply(a.C, moves, &buffer)
	}
	return a.C.Equal(b.C)
}

// projectStep is what a step is for the program: an action, a fault, or nothing.
func (t *carried) projectStep(before *model.View, step []model.Move) []model.Move {
	m := step[0]
	switch {
	case m.Kind == model.Act:
		in := t.Inputs(int(m.At), stateOf(before, int(m.At)), nil)[m.Arg]
		if in.Code == onTurn && in.Arg < passOn {
			return []model.Move{{Kind: model.Act, At: m.At, Arg: in.Arg}}
		}
		return nil
	case m.Kind.IsFault():
		return step
	}
	return nil
}
