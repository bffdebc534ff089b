// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"fmt"
	"testing"

	"allot/model"
	"allot/protocol/ring"
	"allot/topology"
)

func graph(t testing.TB, spec string) *model.Graph {
	t.Helper()
	g, err := topology.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func ringOf(t testing.TB, n, k int, variant string) *model.Instance {
	t.Helper()
	inst, err := ring.Algorithm.Make(model.Options{
		Graph: graph(t, fmt.Sprintf("ring:%d", n)), Variant: variant, Values: map[string]string{"k": fmt.Sprint(k)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func daemonOf(t testing.TB, spec string) Daemon {
	t.Helper()
	d, err := ParseDaemon(spec)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func scriptOf(t testing.TB, inst *model.Instance, text string) *Script {
	t.Helper()
	s, err := ParseScript([]byte(text), inst.System.Graph())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustRun(t testing.TB, inst *model.Instance, o Options) *Report {
	t.Helper()
	r, err := Run(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// replayed walks through a recording.
func replayed(t testing.TB, inst *model.Instance, run *model.Run, visit func(step int, v *model.View, moves []model.Move)) *ReplayReport {
	t.Helper()
	r, err := Replay(inst, run, visit)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// spinner is a program in which everybody can always act; a process has two actions, one of them the environment's.
type spinner struct{ layout model.Layout }

func newSpinner(t testing.TB, spec string) *model.Instance {
	t.Helper()
	layout, err := model.NewLayout(&model.Field{Name: "x", Size: 5})
	if err != nil {
		t.Fatal(err)
	}
	g := graph(t, spec)
	s, err := model.NewGuarded(g, &spinner{layout}, model.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	return &model.Instance{System: s, Potential: func(v *model.View) int64 {
		var sum int64
		for p := range g.Len() {
			sum += int64(v.C[p])
		}
		return sum
	}}
}

func (s *spinner) Layout(int) model.Layout { return s.layout }
func (s *spinner) Clean(int) uint64        { return 0 }
func (s *spinner) Actions() []model.Action {
	return []model.Action{{Name: "up"}, {Name: "jump", Environment: true}}
}
func (s *spinner) Enabled(int, model.Configuration) uint64 { return 3 }
func (s *spinner) Next(p, action int, c model.Configuration) uint64 {
	return (c[p] + 1 + uint64(action)) % 5
}

// pair is a spinner whose processes can act only while they differ from nobody: two neighbours that are equal both can.
// It does not matter what it is good for; its enabled set changes a lot.
type pair struct {
	spinner
	graph *model.Graph
}

func newPair(t testing.TB, spec string) *model.Instance {
	t.Helper()
	layout, err := model.NewLayout(&model.Field{Name: "x", Size: 5})
	if err != nil {
		t.Fatal(err)
	}
	g := graph(t, spec)
	s, err := model.NewGuarded(g, &pair{spinner{layout}, g}, model.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	return &model.Instance{System: s, Gauges: []model.Gauge{{Name: "odd", Of: func(v *model.View, site int) int64 {
		return int64(v.C[site] % 2)
	}}}}
}

func (s *pair) Enabled(p int, c model.Configuration) uint64 {
	for _, q := range s.graph.Neighbours(p) {
		if c[q] == c[p] {
			return 1 + c[p]%2*2
		}
	}
	return 0
}
