// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"

	"allot/model"
)

// courier is a small message-passing machine for the tests: a token travels round a ring by channel 1 of each process
// (channel 0 of the last), whoever has asked for it keeps it for a while, and clocks send notes.
type courier struct{ graph *model.Graph }

type courierState struct {
	token, asks, inside bool
	ticks, notes, cuts  int
}

type letter struct{ kind uint8 }

const (
	note uint8 = iota
	token
)

func newCourier(t testing.TB, spec string, links model.Links) *model.Instance {
	t.Helper()
	g := graph(t, spec)
	n := model.NewNetwork(g, &courier{g}, links, model.Budget{})
	return &model.Instance{
		System: n,
		Gauges: []model.Gauge{
			{Name: "tokens", Of: tokensAt},
			{Name: "inside", Of: func(v *model.View, site int) int64 {
				if site < g.Len() && model.StateOf[courierState](v.Network(), v.C, site).inside {
					return 1
				}
				return 0
			}},
		},
		Phase: func(v *model.View, p int) model.Phase {
			switch s := model.StateOf[courierState](v.Network(), v.C, p); {
			case s.inside:
				return model.Inside
			case s.asks:
				return model.Waiting
			}
			return model.Idle
		},
		Properties: []model.Property{
			{Name: "one", Claim: model.Stabilizes, Holds: func(v *model.View) bool { return v.Sum(0) == 1 }},
			{Name: "alone", Claim: model.Always, CleanOnly: true, Holds: func(v *model.View) bool { return v.Sum(1) <= 1 }},
			{Name: "same", Claim: model.AlwaysStep, HoldsStep: func(before, after *model.View, _ []model.Move) bool {
				return before.Sum(0) == after.Sum(0)
			}},
			{Name: "served", Claim: model.Sometimes, Holds: func(v *model.View) bool { return v.Sum(1) == 1 }},
		},
		Potential: func(v *model.View) int64 { return v.Sum(1) },
	}
}

func tokensAt(v *model.View, site int) int64 {
	n := v.Network()
	g := n.Graph()
	switch {
	case site < g.Len():
		if model.StateOf[courierState](n, v.C, site).token {
			return 1
		}
	case site < g.Len()+g.Links():
		var sum int64
		for i := range n.Length(v.C, site-g.Len()) {
			if model.MessageOf[letter](n, v.C, site-g.Len(), i).kind == token {
				sum++
			}
		}
		return sum
	}
	return 0
}

func (c *courier) HasClock(p int) bool { return p%2 == 0 }

func (c *courier) Clean(p int) courierState { return courierState{token: p == 0} }

func (c *courier) VisitState(_ int, s *courierState, f *model.Fields) {
	model.Bool(f, "token", &s.token)
	model.Bool(f, "asks", &s.asks)
	model.Bool(f, "inside", &s.inside)
	model.Int(f, "ticks", &s.ticks, 0, 999)
	model.Int(f, "notes", &s.notes, 0, 999)
	model.Int(f, "cuts", &s.cuts, 0, 99)
}

func (c *courier) VisitMessage(m *letter, f *model.Fields) {
	model.Enum(f, "kind", &m.kind, "note", "token")
}

func (c *courier) Inputs(_ int, s *courierState, inputs []model.Input) []model.Input {
	switch {
	case s.inside:
		return append(inputs, model.Input{Name: "leave", Code: 1})
	case s.token:
		return append(inputs, model.Input{Name: "pass", Code: 2})
	case !s.asks:
		return append(inputs, model.Input{Name: "ask", Environment: true})
	}
	return inputs
}

func (c *courier) Step(p int, s *courierState, e model.Event[letter], out *model.Outbox[letter]) {
	next := 0
	for i, q := range c.graph.Neighbours(p) {
		if int(q) == (p+1)%c.graph.Len() {
			next = i
		}
	}
	switch {
	case e.Kind == model.Ticked:
		s.ticks = (s.ticks + 1) % 1000
		out.Send(next, letter{note})
	case e.Kind == model.LinkCut || e.Kind == model.LinkHealed:
		s.cuts = (s.cuts + 1) % 100
	case e.Kind == model.Given && e.Input.Name == "ask":
		s.asks = true
	case e.Kind == model.Given:
		s.token, s.inside = false, false
		out.Send(next, letter{token})
	case e.Message.kind == note:
		s.notes = (s.notes + 1) % 1000
	case s.token: // a second token is lost, so that the machine has something to lose
	default:
		s.token, s.inside, s.asks = true, s.asks, false
	}
}

// stateIn is the state of a process at the end of a run, by replaying it.
func stateIn(t testing.TB, inst *model.Instance, run *model.Run, p int) courierState {
	t.Helper()
	var s courierState
	replayed(t, inst, run, func(step int, v *model.View, _ []model.Move) {
		if step == len(run.Steps) {
			s = *model.StateOf[courierState](v.Network(), v.C, p)
		}
	})
	return s
}
