// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package reign_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"allot/sim"
)

// drawStorm is one run with everything that may go wrong: crashes, restarts, stops, nodes that leave, answers lost, news that is
// late and old, beats lost, clocks that differ, and a store that is often too slow for the reign.
func drawStorm(seed uint64) (spec string, values map[string]string) {
	r := rand.New(rand.NewPCG(seed, 11))
	nodes := 2 + r.IntN(4)
	length := 1 + r.IntN(40)
	skew := r.IntN(4)
	draw := func(most int) string { return fmt.Sprint(r.IntN(most + 1)) }
	return fmt.Sprintf("complete:%d", nodes+1), map[string]string{
		"reign": fmt.Sprint(length), "margin": fmt.Sprint(2 * skew), "skew": fmt.Sprint(skew), "touch": fmt.Sprint(1 + r.IntN(max(1, length/2))),
		"silence": fmt.Sprint(1 + r.IntN(length)), "stagger": draw(5), "answers": "slow", "news": []string{"new", "old"}[r.IntN(2)],
		"losses": draw(20), "crashes": draw(6), "restarts": draw(6), "stops": draw(6), "leaves": draw(nodes - 1), "renewals": draw(4),
	}
}

func runStorm(t testing.TB, variant string, seed uint64) *sim.Report {
	t.Helper()
	spec, values := drawStorm(seed)
	report, err := sim.Run(context.Background(), makeReign(t, spec, variant, values), sim.Options{Seed: seed, Steps: 2000, StopWhenViolated: true})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return report
}

// runStorms makes runs with the seeds from..to-1. It returns how often a reign began, and in how many runs each Sometimes was seen.
func runStorms(t *testing.T, from, to uint64) (begun int64, seen map[string]int) {
	seen = map[string]int{}
	for seed := from; seed < to; seed++ {
		report := runStorm(t, "corrected", seed)
		if report.Verdict != sim.Held {
			t.Fatalf("seed %d: %s: %+v", seed, report.Verdict, report.Properties)
		}
		begun += report.Waiting.Entered
		for _, p := range report.Properties {
			if p.Holds {
				seen[p.Name]++
			}
		}
	}
	return begun, seen
}

// TestStorms: one reign at a time, generations grow, lives are told apart.
func TestStorms(t *testing.T) {
	begun, seen := runStorms(t, 0, 1500)
	t.Logf("1500 runs, %d reigns began, %v", begun, seen)
	if begun < 8000 || seen["taken-over"] < 40 || seen["left"] < 100 || seen["reigns"] < 300 {
		t.Errorf("%d reigns, %v: they look at too little", begun, seen)
	}
}

// TestFullStorms is the same with many seeds, or with those in ALLOT_SEEDS, such as 2000-8000.
func TestFullStorms(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("100,000 runs take long; set ALLOT_FULL=1")
	}
	from, to := uint64(2000), uint64(102_000)
	if seeds := os.Getenv("ALLOT_SEEDS"); seeds != "" {
		if _, err := fmt.Sscanf(seeds, "%d-%d", &from, &to); err != nil {
			t.Fatalf("ALLOT_SEEDS=%s: it must be like 2000-8000", seeds)
		}
	}
	begun, seen := runStorms(t, from, to)
	t.Logf("seeds %d to %d, %d reigns began, %v", from, to-1, begun, seen)
}

// TestStormsCatch: the storms are strong enough to find what the checker finds.
func TestStormsCatch(t *testing.T) {
	for _, name := range []string{"taken-over-early", "counted-from-answer", "quiet-kept", "revision-ignored", "kept-on-leaving", "life-forgotten"} {
		seed := uint64(0)
		for seed < 3000 && runStorm(t, name, seed).Verdict != sim.Violated {
			seed++
		}
		if seed == 3000 {
			t.Errorf("no storm catches %s", name)
		}
	}
}
