// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package abp_test

import (
	"context"
	"testing"

	"allot/check"
	"allot/model"
	"allot/protocol/abp"
	"allot/sim"
	"allot/topology"
)

func instance(t *testing.T, variant, links string, budget model.Budget) *model.Instance {
	t.Helper()
	g, err := topology.Parse("path:2")
	if err != nil {
		t.Fatal(err)
	}
	options, err := model.ParseLinks(links)
	if err != nil {
		t.Fatal(err)
	}
	inst, err := abp.Algorithm.Make(model.Options{Graph: g, Variant: variant, Links: options, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func ask(t *testing.T, variant, links string, budget model.Budget, o check.Options) *check.Result {
	t.Helper()
	inst := instance(t, variant, links, budget)
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

const lossy = "fifo,lossy,capacity=2"

// TestLinks: what the protocol was made for, and what it cannot do.
func TestLinks(t *testing.T) {
	for _, test := range []struct {
		links           string
		budget          model.Budget
		fairness        check.Fairness
		order, progress check.Verdict
	}{
		{lossy, model.Budget{}, check.Strong, check.Proved, check.Proved},
		{lossy, model.Budget{}, check.Weak, check.Proved, check.Counterexample},
		{lossy, model.Budget{Duplicate: 3}, check.Strong, check.Proved, check.Proved},
		{lossy + ",duplicating", model.Budget{}, check.Strong, check.Proved, check.Counterexample},
		{"fifo,lossy,duplicating,capacity=5", model.Budget{}, check.Strong, check.Proved, check.Counterexample},
		{"fifo,lossy,capacity=4", model.Budget{}, check.Strong, check.Proved, check.Proved},
		{"unordered,lossy,capacity=2", model.Budget{}, check.Strong, check.Counterexample, check.Proved},
		{"unordered,lossy,capacity=1", model.Budget{}, check.Strong, check.Proved, check.Proved},
	} {
		r := ask(t, "", test.links, test.budget, check.Options{Fairness: test.fairness})
		if r.Findings[0].Verdict != test.order || r.Findings[2].Verdict != test.progress {
			t.Errorf("%s, faults %s, fairness %s: order %s, progress %s", test.links, test.budget, test.fairness, r.Findings[0].Verdict, r.Findings[2].Verdict)
		}
	}
}

func TestPinnedCounts(t *testing.T) {
	r := ask(t, "", lossy, model.Budget{}, check.Options{Fairness: check.Strong})
	if r.States != 210 || r.Transitions != 1002 {
		t.Errorf("%d states, %d transitions", r.States, r.Transitions)
	}
}

func TestEveryMutantIsCaught(t *testing.T) {
	for _, variant := range abp.Algorithm.Mutants {
		if r := ask(t, variant, lossy, model.Budget{}, check.Options{Fairness: check.Strong}); r.Verdict != check.Counterexample {
			t.Errorf("%s: %s", variant, r.Verdict)
		}
	}
}

// TestLongRun drives the same machine in the simulator, live and interned: the same seed, the same trace.
func TestLongRun(t *testing.T) {
	var traces []string
	for _, interned := range []bool{false, true} {
		report, err := sim.Run(context.Background(), instance(t, "", lossy, model.Budget{}), sim.Options{Seed: 3, Steps: 100_000, Interned: interned, CountBytes: true})
		if err != nil {
			t.Fatal(err)
		}
		if report.Verdict != sim.Held || report.Messages < 10_000 || report.Bytes < 2*report.Messages {
			t.Errorf("%s after %d messages of %d bytes", report.Verdict, report.Messages, report.Bytes)
		}
		traces = append(traces, report.Trace)
	}
	if traces[0] != traces[1] {
		t.Errorf("live %s, interned %s", traces[0], traces[1])
	}
}
