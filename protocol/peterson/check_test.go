// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package peterson_test

import (
	"context"
	"testing"

	"allot/check"
	"allot/model"
	"allot/protocol/peterson"
	"allot/sim"
	"allot/topology"
)

func ask(t *testing.T, variant string, budget model.Budget, o check.Options) *check.Result {
	t.Helper()
	g, err := topology.Parse("path:2")
	if err != nil {
		t.Fatal(err)
	}
	inst, err := peterson.Algorithm.Make(model.Options{Graph: g, Variant: variant, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	r, err := check.Run(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Verdict != check.Counterexample {
			continue
		}
		f.Run.Origin = "check"
		if report, err := sim.Replay(inst, f.Run, nil); err != nil || !report.IsVerified {
			t.Errorf("%s: the simulator does not see the violation: %v, %v", f.Property, report, err)
		}
	}
	return r
}

func TestProvedUnderWeakFairness(t *testing.T) {
	r := ask(t, "", model.Budget{}, check.Options{Fairness: check.Weak})
	if r.Verdict != check.Proved || r.States != 58 || r.Transitions != 116 {
		t.Errorf("%s, %d states, %d transitions", r.Verdict, r.States, r.Transitions)
	}
}

func TestUnfairMemoryLocksOut(t *testing.T) {
	r := ask(t, "", model.Budget{}, check.Options{})
	for _, f := range r.Findings {
		if (f.Verdict == check.Counterexample) != (f.Property == "no-lockout") {
			t.Errorf("%s: %s", f.Property, f.Verdict)
		}
	}
}

// TestCrashBlocks: the algorithm does not survive a process that stops in its critical section, and the checker says
// so; it stays safe.
func TestCrashBlocks(t *testing.T) {
	r := ask(t, "", model.Budget{Crash: 1}, check.Options{Fairness: check.Weak})
	for _, f := range r.Findings {
		want := check.Proved
		if f.Property == "no-lockout" {
			want = check.Counterexample
		}
		if f.Property != "no-deadlock" && f.Verdict != want {
			t.Errorf("%s: %s, want %s", f.Property, f.Verdict, want)
		}
	}
}

func TestEveryMutantIsCaught(t *testing.T) {
	for variant, steps := range map[string]int{"turn-first": 9, "no-flag": 6, "no-turn": 7} {
		f := ask(t, variant, model.Budget{}, check.Options{Fairness: check.Weak, Properties: []string{"exclusion"}}).Findings[0]
		if f.Verdict != check.Counterexample || len(f.Run.Steps) != steps {
			t.Errorf("%s: %s", variant, f.Verdict)
		}
	}
}
