// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package spanning

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"allot/model"
	"allot/sim"
	"allot/topology"
)

func simulate(t testing.TB, network, variant, root, script string, o sim.Options) *sim.Report {
	t.Helper()
	g, err := topology.Parse(network)
	if err != nil {
		t.Fatal(err)
	}
	inst, err := Algorithm.Make(model.Options{Graph: g, Variant: variant, Links: model.Links{Garbage: 2}, Values: map[string]string{"root": root, "ticks": "40"}})
	if err != nil {
		t.Fatal(err)
	}
	if script != "" {
		if o.Script, err = sim.ParseScript([]byte(script), g); err != nil {
			t.Fatal(err)
		}
	}
	r, err := sim.Run(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestArbitrary: from arbitrary memory and messages, on networks of up to 60 processes.
func TestArbitrary(t *testing.T) {
	for _, root := range []string{"given", "elected"} {
		var rounds []int64
		for seed := range uint64(30) {
			n := 2 + 2*seed
			network := fmt.Sprintf("random:%d,seed=%d", n, seed+1)
			if n < 5 {
				network = fmt.Sprintf("path:%d", n)
			}
			r := simulate(t, network, "corrected", root, "", sim.Options{Start: sim.Arbitrary, Seed: seed + 1, Steps: 2_000_000, StopWhenStable: true})
			if r.Stopped != sim.StoppedStable {
				t.Errorf("%s root %s seed %d: %s", network, root, seed+1, r.Stopped)
			}
			rounds = append(rounds, r.Stabilized.Round)
		}
		slices.Sort(rounds)
		t.Logf("root %s: %d runs, rounds until the tree stands: p50 %d, max %d", root, len(rounds), rounds[len(rounds)/2], rounds[len(rounds)-1])
	}
}

// TestChurn: links and processes come and go, one change when the tree stands after the one before. What is gone is gone: those who
// cannot reach the root forget it, and those who lost their leader elect another one.
func TestChurn(t *testing.T) {
	for _, root := range []string{"given", "elected"} {
		for seed := range uint64(12) {
			network := fmt.Sprintf("random:%d,seed=%d", 6+seed, seed+1)
			g, err := topology.Parse(network)
			if err != nil {
				t.Fatal(err)
			}
			script := churn(g, rand.New(rand.NewPCG(seed, 1)))
			r := simulate(t, network, "corrected", root, script, sim.Options{Seed: seed + 1, Steps: 3_000_000, StopWhenStable: true})
			if r.Stopped != sim.StoppedStable || len(r.Unfired()) > 0 {
				t.Errorf("%s root %s seed %d: %s after %d steps, %d statements of no effect", network, root, seed+1, r.Stopped, r.Steps, len(r.Unfired()))
			}
		}
	}
}

// churn is a script in which everything happens, to random victims.
func churn(g *model.Graph, chance *rand.Rand) string {
	var s strings.Builder
	for range 4 {
		from, to := g.Ends(chance.IntN(g.Links()))
		p, q, c := chance.IntN(g.Len()), chance.IntN(g.Len()), chance.IntN(g.Len())
		fmt.Fprintf(&s, "when stable cut %d-%d\nwhen stable heal %d-%d\n", from, to, from, to)
		fmt.Fprintf(&s, "when stable leave %d\nwhen stable join %d\n", p, p)
		fmt.Fprintf(&s, "when stable crash %d\nwhen stable restart %d\n", q, q)
		fmt.Fprintf(&s, "when stable corrupt %d\nwhen stable corrupt all\n", c)
	}
	return s.String()
}

// TestFirst: where the first neighbour is the parent and not the nearest, two processes can follow each other for ever.
func TestFirst(t *testing.T) {
	for variant, want := range map[string]string{"corrected": sim.StoppedStable, flawFirst: sim.StoppedSteps} {
		r := simulate(t, "complete:3,root=2", variant, "given", "", sim.Options{Seed: 1, Steps: 10_000, StopWhenStable: true})
		if r.Stopped != want {
			t.Errorf("%s: %s, want %s", variant, r.Stopped, want)
		}
	}
}
