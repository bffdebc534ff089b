// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"context"
	"os"
	"testing"

	"allot/model"
	"allot/sim"
)

// TestFaultyRuns: clients cancel and vanish, resources lose their queues, and one of them stands still for a while and
// comes back with its queue. Every run ends with nobody waiting.
func TestFaultyRuns(t *testing.T) { faultyRuns(t, 2_000) }

// TestFullFaultyRuns is part of make full.
func TestFullFaultyRuns(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("this takes long: set ALLOT_FULL=1")
	}
	faultyRuns(t, 100_000)
}

func faultyRuns(t *testing.T, runs uint64) {
	t.Helper()
	var entered, rested, faults int64
	var inst *model.Instance
	for seed := range runs {
		departures := "cancel"
		if seed%4 == 0 { // who vanishes does not come back, so such runs are short
			departures = "both"
		}
		inst = instance(t, "clients=6 resources=3 most=2 stamps=next claims=12 losses=1 fences=1000 loans=2 departures="+departures)
		script, err := sim.ParseScript([]byte("at 20 crash 6\nat 60 resume 6\nat 80 crash 7\nat 140 resume 7\n"), inst.System.Graph())
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(context.Background(), inst, sim.Options{Seed: seed + 1, Steps: 20_000, Script: script})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != sim.Held {
			t.Fatalf("seed %d: %s, %+v", seed+1, r.Verdict, r.Properties)
		}
		entered += r.Waiting.Entered
		for _, n := range r.Faults {
			faults += n
		}
		if r.Stopped == sim.StoppedRest {
			rested++
		}
	}
	t.Logf("%d runs: %d grants, %d faults of the script, %d runs ended with nothing left to do", runs, entered, faults, rested)
	if entered == 0 || faults == 0 || rested != int64(runs) {
		t.Errorf("%d grants, %d faults, %d of %d runs came to rest", entered, faults, rested, runs)
	}
}
