// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"os"
	"testing"

	"allot/chart"
	"allot/internal/golden"
	"allot/sim"
)

func picture(t *testing.T, name string, c chart.Chart) {
	t.Helper()
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("../../docs/pictures/"+name+".svg", svg, 0o644); err != nil {
		t.Fatal(err)
	}
}

func simulate(t testing.TB, network string, v map[string]string, o sim.Options, script string) *sim.Report {
	t.Helper()
	inst := question{network: network, values: v}.make(t)
	if script != "" {
		s, err := sim.ParseScript([]byte(script), inst.System.Graph())
		if err != nil {
			t.Fatal(err)
		}
		o.Script = s
	}
	r, err := sim.Run(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWaitingSampled: under random schedules and full load the waiting time stays below ℓ(2n-3)², and where requests are
// for one unit below ℓ(2n-3).
func TestWaitingSampled(t *testing.T) {
	sizes := []int{2, 3, 4, 6, 8, 12, 16, 24, 32}
	shape := map[string]*chart.Series{}
	bound := chart.Series{Name: "Theorem 2: ℓ(2n-3)²", Dashed: true}
	linear := chart.Series{Name: "ℓ(2n-3)", Dashed: true}
	const l = 4
	for _, n := range sizes {
		x := float64(n)
		bound.X, bound.Y = append(bound.X, x), append(bound.Y, l*(2*x-3)*(2*x-3))
		linear.X, linear.Y = append(linear.X, x), append(linear.Y, l*(2*x-3))
		for _, k := range []int{1, 4} {
			r := simulate(t, fmt.Sprintf("path:%d", n), values("l", l, "k", k), sim.Options{Seed: 1, Steps: int64(runs(40)) * 500}, "")
			name := fmt.Sprintf("measured, k=%d", k)
			if shape[name] == nil {
				shape[name] = &chart.Series{Name: name}
			}
			s := shape[name]
			s.X, s.Y = append(s.X, x), append(s.Y, float64(r.Waiting.Entries.Max))
			t.Logf("path:%d l=%d k=%d: longest wait %d entries of others, %d entries, %.1f messages for each", n, l, k,
				r.Waiting.Entries.Max, r.Waiting.Entered, float64(r.Messages)/float64(r.Waiting.Entered))
			if k == 1 && r.Waiting.Entries.Max > int64(l*(2*n-3)) {
				t.Errorf("path:%d l=%d k=%d: %d entries of others, above ℓ(2n-3)", n, l, k, r.Waiting.Entries.Max)
			}
			if n > 2 && r.Waiting.Entries.Max > int64(l*(2*n-3)*(2*n-3)) {
				t.Errorf("path:%d l=%d k=%d: %d entries of others, above Theorem 2", n, l, k, r.Waiting.Entries.Max)
			}
		}
	}
	if golden.IsRewriting() {
		picture(t, "tree-waiting", chart.Chart{Title: "Waiting time: entries of others while a process waits, at the worst",
			Subtitle: "paths, ℓ = 4, everybody asks again at once, random schedule", XLabel: "processes", YLabel: "entries", LogY: true, LogX: true,
			Series: []chart.Series{*shape["measured, k=1"], *shape["measured, k=4"], bound, linear}})
	}
}

// TestHundredThousand simulates a large tree for a while.
func TestHundredThousand(t *testing.T) {
	needsFull(t)
	r := simulate(t, "tree:100000,seed=1", values("l", 1000, "k", 5), sim.Options{Seed: 1, Steps: 10_000_000}, "")
	t.Logf("%d steps, %d rounds, %d entries, %d processes served, verdict %s", r.Steps, r.Rounds, r.Waiting.Entered, r.Waiting.Served, r.Verdict)
	if r.Verdict == sim.Violated || r.Waiting.Entered == 0 {
		t.Errorf("%s, %d entries", r.Verdict, r.Waiting.Entered)
	}
}
