// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"testing"

	"allot/model"
)

// TestShrinkFindsAShortRunOfAMutant: the run is a long one that happens to end with a violation; two moves are enough.
func TestShrinkFindsAShortRunOfAMutant(t *testing.T) {
	inst := ringOf(t, 6, 6, "copy-plus-one")
	for _, spec := range []string{"central", "distributed"} {
		var run *model.Run
		for steps := int64(500); run == nil; steps++ {
			r := mustRun(t, inst, Options{Seed: 3, Steps: steps, Record: true, Daemon: daemonOf(t, spec)})
			r.Run.Property = "exclusion"
			if replayed(t, inst, r.Run, nil).IsVerified {
				run = r.Run
			}
		}
		trials := 0
		short, err := ShrinkProperty(context.Background(), inst, run, func(p ShrinkProgress) { trials = p.Trials })
		if err != nil {
			t.Fatal(err)
		}
		if got := replayed(t, inst, short, nil); !got.IsVerified || len(short.Steps) > 3 || trials == 0 || short.Why == "" {
			t.Errorf("%s: %d steps become %d after %d trials: %s", spec, len(run.Steps), len(short.Steps), trials, got.Text)
		}
	}
}

// TestShrinkOfADeadlock: a ring without a root comes to rest wherever it starts, so nothing of the run is needed.
func TestShrinkOfADeadlock(t *testing.T) {
	inst := ringOf(t, 6, 6, "root-copies")
	r := mustRun(t, inst, Options{Start: Arbitrary, Seed: 3, Record: true})
	if r.Stopped != StoppedRest || r.Verdict != Violated || len(r.Run.Steps) == 0 {
		t.Fatalf("%s, %s after %d steps", r.Stopped, r.Verdict, len(r.Run.Steps))
	}
	r.Run.Property = "no-deadlock"
	short, err := ShrinkProperty(context.Background(), inst, r.Run, nil)
	if err != nil || len(short.Steps) != 0 || len(short.Start) != 0 {
		t.Errorf("%v, %+v", err, short)
	}
}

func TestShrinkKeepsOnlyTheFaultThatMatters(t *testing.T) {
	inst := newCourier(t, "ring:5", model.Links{})
	script := "every 100 crash 3\nevery 100 from 120 resume 3\nat 700 forge 0->1 1\nat 720 duplicate 1->2"
	r := mustRun(t, inst, Options{Seed: 2, Steps: 4000, Record: true, Script: scriptOf(t, inst, script)})
	r.Run.Property = "alone"
	n, ok := firstViolation(inst, r.Run)
	if !ok {
		t.Fatal("two tokens do not let two in")
	}
	long := clone(r.Run)
	long.Steps = long.Steps[:n]
	short, err := ShrinkProperty(context.Background(), inst, long, nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[model.Kind]int{}
	for _, step := range short.Steps {
		kinds[step[0].Kind]++
	}
	if len(short.Steps)*10 > n || kinds[model.Crash] > 0 || kinds[model.Forge] != 1 {
		t.Errorf("%d steps become %d with %v", n, len(short.Steps), kinds)
	}
	if got := replayed(t, inst, short, nil); !got.IsVerified {
		t.Error(got.Text)
	}
}

func TestShrinkCleansTheStart(t *testing.T) {
	inst := ringOf(t, 8, 8, "")
	r := mustRun(t, inst, Options{Start: Arbitrary, Seed: 1, Steps: 40, Record: true, Daemon: &Synchronous{}})
	// Fails when process 3 has acted while it differed from a clean neighbour: one word of the start matters.
	fails := func(run *model.Run) bool {
		found := false
		replayed(t, inst, run, func(_ int, v *model.View, moves []model.Move) {
			for _, m := range moves {
				found = found || m.At == 3 && v.C[3] == r.Run.Start[3]
			}
		})
		return found
	}
	if !fails(r.Run) {
		t.Fatal("process 3 does not act at the start")
	}
	short := Shrink(context.Background(), inst, r.Run, fails, nil)
	changed := 0
	for _, rank := range short.Start {
		if rank != 0 {
			changed++
		}
	}
	if changed != 1 || len(short.Steps) != 1 || len(short.Steps[0]) != 1 {
		t.Errorf("start %v, steps %v", short.Start, short.Steps)
	}
	// What does not fail is returned as it is, and so is everything when there is no time.
	if got := Shrink(context.Background(), inst, r.Run, func(*model.Run) bool { return false }, nil); got != r.Run {
		t.Error("a run that does not fail was changed")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := Shrink(ctx, inst, r.Run, fails, nil); got != r.Run {
		t.Error("a cancelled shrinking changed the run")
	}
	if _, err := ShrinkProperty(ctx, inst, r.Run, nil); err == nil {
		t.Error("a run without a property was shrunk")
	}
}

func TestAViolationIsRecordedUpToItsEnd(t *testing.T) {
	inst := ringOf(t, 6, 6, "copy-plus-one")
	r := mustRun(t, inst, Options{Seed: 1, Steps: 1000, Record: true})
	if r.Verdict != Violated || r.Counterexample == nil || len(r.Counterexample.Steps) >= len(r.Run.Steps) {
		t.Fatalf("%s, %+v", r.Verdict, r.Counterexample)
	}
	if got := replayed(t, inst, r.Counterexample, nil); !got.IsVerified {
		t.Error(got.Text)
	}
	stopped := mustRun(t, inst, Options{Seed: 1, Steps: 1000, Record: true, StopWhenViolated: true})
	if stopped.Stopped != StoppedViolated || len(stopped.Run.Steps) != len(r.Counterexample.Steps) || stopped.Run.Property == "" || stopped.Run.Why == "" {
		t.Errorf("%s after %d steps: %+v", stopped.Stopped, len(stopped.Run.Steps), stopped.Run.Header)
	}
}
