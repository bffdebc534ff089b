// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"slices"
	"testing"

	"allot/check"
	"allot/model"
	"allot/protocol/abp"
	"allot/protocol/peterson"
	"allot/protocol/ring"
)

// TestCounterexamplesOfTheCheckerReplay: the two engines share the transition relation, so each counterexample of one
// must be one for the other, and verified as what it claims to be.
func TestCounterexamplesOfTheCheckerReplay(t *testing.T) {
	count := map[model.Claim]int{}
	for _, a := range []*model.Algorithm{&ring.Algorithm, &peterson.Algorithm, &abp.Algorithm} {
		for _, variant := range slices.Concat(a.Variants, a.Mutants) {
			links, err := model.ParseLinks(a.Links)
			if err != nil {
				t.Fatal(err)
			}
			inst, err := a.Make(model.Options{Graph: graph(t, a.Topology), Variant: variant, Links: links})
			if err != nil {
				t.Fatal(err)
			}
			for _, fairness := range check.Fairnesses {
				for _, daemon := range []check.Daemon{check.Central, check.Distributed} {
					if daemon != check.Central && !inst.System.IsConcurrent() {
						continue
					}
					isArbitrary := a == &ring.Algorithm
					result, err := check.Run(context.Background(), inst, check.Options{Arbitrary: isArbitrary, Fairness: fairness, Daemon: daemon})
					if err != nil {
						t.Fatal(err)
					}
					for _, f := range result.Findings {
						if f.Run == nil {
							continue
						}
						f.Run.Origin, f.Run.Fairness = "check", string(fairness)
						report, err := Replay(inst, f.Run, nil)
						if err != nil || !report.IsVerified {
							t.Errorf("%s, %s, %s, %s: %s: %v, %+v", a.Name, variant, fairness, daemon, f.Property, err, report)
						}
						count[f.Claim]++
					}
				}
			}
		}
	}
	if count[model.Always] == 0 || count[model.Stabilizes] == 0 || count[model.Recurs] == 0 || count[model.Rests] == 0 || count[model.Sometimes] == 0 {
		t.Errorf("not every kind of claim was looked at: %v", count)
	}
}

// TestTheOptimalAdversaryReachesTheWorstCase: with the checker's distances as its potential the greedy daemon takes
// exactly as many steps as the checker says are possible, and no other daemon takes more.
func TestTheOptimalAdversaryReachesTheWorstCase(t *testing.T) {
	inst := ringOf(t, 5, 5, "")
	result, err := check.Run(context.Background(), inst, check.Options{Arbitrary: true, Properties: []string{"stabilizes"}, Distances: true})
	if err != nil {
		t.Fatal(err)
	}
	worst := result.Findings[0]
	distance := func(v *model.View) int64 {
		d, _ := result.Distance(v.C)
		return int64(d)
	}
	for seed := range uint64(50) {
		o := Options{Seed: seed, StopWhenStable: true, Daemon: &Greedy{Name: "optimal", Potential: distance}, Ranks: worst.Worst.Start}
		if r := mustRun(t, inst, o); r.Stabilized.Step != int64(*worst.WorstSteps) {
			t.Fatalf("seed %d: %d steps, the worst case is %d", seed, r.Stabilized.Step, *worst.WorstSteps)
		}
		for _, spec := range []string{"central", "round-robin", "greedy", "unfair:0"} {
			o := Options{Seed: seed, Start: Arbitrary, StopWhenStable: true, Daemon: daemonOf(t, spec)}
			if r := mustRun(t, inst, o); r.Stabilized.Step > int64(*worst.WorstSteps) {
				t.Fatalf("%s, seed %d: %d steps, the worst case is %d", spec, seed, r.Stabilized.Step, *worst.WorstSteps)
			}
		}
	}
}
