// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"allot/model"
	"allot/protocol/pool"
	"allot/sim"
	"allot/topology"
)

func makePool(t testing.TB, spec, links, variant string, values map[string]string) *model.Instance {
	t.Helper()
	g, err := topology.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	l, err := model.ParseLinks(links)
	if err != nil {
		t.Fatal(err)
	}
	inst, err := pool.Algorithm.Make(model.Options{Graph: g, Variant: variant, Values: values, Links: l})
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// storm is one run with everything that may go wrong: crashes, restarts, members cut out and taken in, roots that take over,
// clocks that differ, messages that are lost, repeated, late and out of order, links that are cut and healed, requests taken
// back, a pool that is resized.
type storm struct {
	topology, links, script string
	values                  map[string]string
	steps                   int64
}

func drawStorm(seed uint64) storm {
	r := rand.New(rand.NewPCG(seed, 7))
	members := 2 + r.IntN(4)
	units := 1 + r.IntN(4)
	lease := 4 + r.IntN(40)
	skew := 1 + r.IntN(3)
	s := storm{topology: fmt.Sprintf("complete:%d", members+1), links: "fifo,capacity=64", steps: 3000}
	if r.IntN(2) == 0 {
		s.links = "unordered,capacity=64"
	}
	if r.IntN(6) == 0 {
		s.links += ",lossy"
	}
	s.values = map[string]string{
		"l": fmt.Sprint(units), "k": fmt.Sprint(1 + r.IntN(units)), "limit": fmt.Sprint(1 + r.IntN(3)), "asks": "1000000", "fences": "yes",
		"cancel": []string{"yes", "no"}[r.IntN(2)], "skew": fmt.Sprint(skew), "lease": fmt.Sprint(lease), "margin": fmt.Sprint(2 * skew),
		"reign": fmt.Sprint(1 + r.IntN(lease)), "patience": fmt.Sprint(1 + r.IntN(lease)), "pace": fmt.Sprint(1 + r.IntN(lease)),
		"generations": fmt.Sprint(2 + r.IntN(30)), "crashes": fmt.Sprint(r.IntN(4)), "restarts": fmt.Sprint(r.IntN(4)),
		"resizes": fmt.Sprint(r.IntN(3)), "turns": fmt.Sprint(r.IntN(3)), "passes": fmt.Sprint(r.IntN(3)), "burst": fmt.Sprint(1 + r.IntN(3)),
	}
	var script strings.Builder
	link := func() (int, int) {
		a := r.IntN(members)
		return a, (a + 1 + r.IntN(members-1)) % members
	}
	for range r.IntN(40) {
		at := r.IntN(3000)
		a, b := link()
		switch r.IntN(5) {
		case 0, 1:
			fmt.Fprintf(&script, "at %d drop %d->%d\n", at, a, b)
		case 2:
			fmt.Fprintf(&script, "at %d duplicate %d->%d\n", at, a, b)
		case 3:
			fmt.Fprintf(&script, "at %d delay %d->%d %d\n", at, a, b, 1+r.IntN(300))
		case 4:
			fmt.Fprintf(&script, "at %d cut %d-%d\nat %d heal %d-%d\n", at, a, b, at+1+r.IntN(400), a, b)
		}
	}
	s.script = script.String()
	return s
}

func (s storm) run(t testing.TB, variant string, seed uint64) *sim.Report {
	t.Helper()
	inst := makePool(t, s.topology, s.links, variant, s.values)
	script, err := sim.ParseScript([]byte(s.script), inst.System.Graph())
	if err != nil {
		t.Fatal(err)
	}
	report, err := sim.Run(context.Background(), inst, sim.Options{Seed: seed, Steps: s.steps, Script: script, StopWhenViolated: true})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return report
}

// runStorms makes runs with the seeds from..to-1 and returns how many requests were granted.
func runStorms(t *testing.T, from, to uint64) (entered int64) {
	for seed := from; seed < to; seed++ {
		s := drawStorm(seed)
		report := s.run(t, "corrected", seed)
		if report.Verdict != sim.Held {
			t.Fatalf("seed %d: %s: %+v\n%+v\n%s", seed, report.Verdict, report.Properties, s.values, s.script)
		}
		entered += report.Waiting.Entered
	}
	return entered
}

// TestStorms: no unit has two holders, no two roots act, fences grow.
func TestStorms(t *testing.T) {
	entered := runStorms(t, 0, 300)
	t.Logf("300 runs, %d grants", entered)
	if entered < 15000 {
		t.Errorf("only %d grants in all runs: they look at too little", entered)
	}
}

// TestFullStorms is the same with many seeds, or with those in ALLOT_SEEDS.
func TestFullStorms(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("100,000 runs take long; set ALLOT_FULL=1")
	}
	from, to := seedsOf(t, 100_000)
	t.Logf("seeds %d to %d, %d grants", from, to-1, runStorms(t, from, to))
}

// seedsOf are those in ALLOT_SEEDS, or as many as are asked for.
func seedsOf(t *testing.T, many uint64) (from, to uint64) {
	to = many
	if seeds := os.Getenv("ALLOT_SEEDS"); seeds != "" {
		if _, err := fmt.Sscanf(seeds, "%d-%d", &from, &to); err != nil {
			t.Fatalf("ALLOT_SEEDS=%s: it must be like 0-1000", seeds)
		}
	}
	return from, to
}
