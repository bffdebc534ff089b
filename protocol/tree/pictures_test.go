// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"testing"

	"allot/chart"
	"allot/internal/golden"
	"allot/model"
	"allot/sim"
)

// watch runs an instance and is shown every configuration.
func watch(t testing.TB, inst *model.Instance, o sim.Options, see func(step int, v *model.View)) *sim.Report {
	t.Helper()
	step := 0
	inst.Properties = append(inst.Properties, model.Property{Name: "seen", Claim: model.Sometimes, Holds: func(v *model.View) bool {
		see(step, v)
		step++
		return false
	}})
	r, err := sim.Run(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPictures draws two runs for docs/protocols/tree.md: where on the virtual ring the tokens are, and how many there are on the way
// from an arbitrary start. What is drawn is checked as well.
func TestPictures(t *testing.T) {
	ring := ringPicture(t)
	gauges := gaugePicture(t)
	if golden.IsRewriting() {
		picture(t, "tree-ring", ring)
		picture(t, "tree-recovery", gauges)
	}
}

func ringPicture(t *testing.T) chart.Chart {
	inst := question{network: "binary:5", values: values("l", 2, "k", 2)}.make(t)
	sh := shapeOf(inst.System.Graph())
	names := [...]string{resource: "resource tokens", pusher: "pusher", priority: "priority token", controller: "controller"}
	series := make([]chart.Series, len(names))
	for k, name := range names {
		series[k] = chart.Series{Name: name, Points: true}
	}
	const from, to = 150, 330
	add := func(k kind, step int, place float64) {
		series[k].X, series[k].Y = append(series[k].X, float64(step)), append(series[k].Y, place)
	}
	watch(t, inst, sim.Options{Seed: 4, Steps: to}, func(step int, v *model.View) {
		if step < from {
			return
		}
		for hop, link := range sh.ring {
			for i := range v.Network().Length(v.C, int(link)) {
				add(messageOf(v, int(link), i).kind, step, float64(hop)+0.5)
			}
			_, p := sh.graph.Ends(int(link))
			s, q := stateOf(v, p), sh.arrives(int(link))
			for range s.heldFrom(q) {
				add(resource, step, float64(hop)+1)
			}
			if s.prio == q {
				add(priority, step, float64(hop)+1)
			}
		}
	})
	for k, s := range series {
		want := to - from + 1
		if kind(k) == resource {
			want *= 2
		}
		if len(s.X) != want {
			t.Errorf("%s: seen %d times in %d configurations, want %d", s.Name, len(s.X), to-from+1, want)
		}
	}
	return chart.Chart{Title: "Where the tokens are on the virtual ring", Subtitle: "a tree of five processes, ℓ = 2, k = 2, random schedule; at whole numbers a process holds the token, in between it is on a link",
		XLabel: "step", YLabel: "place on the virtual ring", Series: series}
}

func gaugePicture(t *testing.T) chart.Chart {
	inst := question{network: "tree:20,seed=3", values: values("l", 5, "k", 3)}.make(t)
	series := []chart.Series{{Name: "resource tokens"}, {Name: "units in use"}, {Name: "priority tokens"}, {Name: "ℓ", Dashed: true}}
	r := watch(t, inst, sim.Options{Start: sim.Arbitrary, Seed: 11, Steps: 6000}, func(step int, v *model.View) {
		if step%10 != 0 {
			return
		}
		for i, y := range []int64{v.Sum(gaugeTokens), v.Sum(gaugeUsed), v.Sum(gaugePriorities), 5} {
			series[i].X, series[i].Y = append(series[i].X, float64(step)), append(series[i].Y, float64(y))
		}
	})
	if r.Stabilized.Step < 0 || r.Property("safety").Violations == 0 {
		t.Errorf("stable since step %d, %d unsafe configurations: this run shows nothing", r.Stabilized.Step, r.Property("safety").Violations)
	}
	t.Logf("stable since step %d, %d unsafe configurations", r.Stabilized.Step, r.Property("safety").Violations)
	return chart.Chart{Title: "From an arbitrary start until all is in order", Subtitle: "a tree of 20 processes, ℓ = 5, k = 3; too many tokens cause a reset, which takes them away, and then they are made anew",
		XLabel: "step", YLabel: "how many", Series: series}
}
