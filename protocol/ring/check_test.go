// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"allot/check"
	"allot/internal/golden"
	"allot/model"
	"allot/protocol/ring"
	"allot/sim"
	"allot/topology"
)

func instance(t *testing.T, n, k int, variant string) *model.Instance {
	t.Helper()
	g, err := topology.Parse(fmt.Sprintf("ring:%d", n))
	if err != nil {
		t.Fatal(err)
	}
	inst, err := ring.Algorithm.Make(model.Options{Graph: g, Variant: variant, Values: map[string]string{"k": fmt.Sprint(k)}})
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func ask(t *testing.T, inst *model.Instance, o check.Options) *check.Result {
	t.Helper()
	r, err := check.Run(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Verdict == check.Counterexample {
			replay(t, inst, f)
		}
	}
	return r
}

// replay lets the simulator verify a counterexample of the checker.
func replay(t *testing.T, inst *model.Instance, f check.Finding) {
	t.Helper()
	f.Run.Origin = "check"
	report, err := sim.Replay(inst, f.Run, nil)
	if err != nil {
		t.Fatalf("%s: the simulator refuses the counterexample: %v", f.Property, err)
	}
	if !report.IsVerified {
		t.Fatalf("%s: the simulator does not see the violation: %s", f.Property, report.Text)
	}
}

// exactWorstCase is the number of steps that Altisen, Corbineau and Devismes certified with a proof assistant
// ("Certification of an exact worst-case self-stabilization time", ICDCN 2021), for K ≥ n under the distributed daemon.
// From n = 4 on the central daemon can be as bad; for n = 3 it takes two processes at once to need the third step.
func exactWorstCase(n int, daemon check.Daemon) int {
	switch {
	case n <= 2:
		return 0
	case n == 3 && daemon == check.Central:
		return 2
	case n == 3:
		return 3
	}
	return 3*n*(n-1)/2 - n - 1
}

func TestProvedForEnoughValues(t *testing.T) {
	for n := 2; n <= 6; n++ {
		for _, daemon := range []check.Daemon{check.Central, check.Distributed} {
			for k := n; k <= min(n+1, 6); k++ {
				r := ask(t, instance(t, n, k, ""), check.Options{Arbitrary: true, Daemon: daemon})
				if r.Verdict != check.Proved {
					t.Errorf("n=%d K=%d %s: %s", n, k, daemon, r.Verdict)
					continue
				}
				if got := *r.Findings[0].WorstSteps; got != exactWorstCase(n, daemon) {
					t.Errorf("n=%d K=%d %s: at most %d steps, published are %d", n, k, daemon, got, exactWorstCase(n, daemon))
				}
			}
		}
	}
}

// TestTooFewValues: under the central daemon K = n-1 is enough and K = n-2 is not (Fokkink, Hoepman and Pang, Nordic
// Journal of Computing 12, 2005); under the distributed daemon K = n-1 is not enough from n = 4 on.
func TestTooFewValues(t *testing.T) {
	for _, test := range []struct {
		n, k   int
		daemon check.Daemon
		want   check.Verdict
	}{
		{3, 2, check.Central, check.Proved},
		{4, 3, check.Central, check.Proved},
		{5, 4, check.Central, check.Proved},
		{6, 5, check.Central, check.Proved},
		{4, 2, check.Central, check.Counterexample},
		{5, 3, check.Central, check.Counterexample},
		{6, 4, check.Central, check.Counterexample},
		{4, 3, check.Distributed, check.Counterexample},
		{5, 4, check.Distributed, check.Counterexample},
		{6, 5, check.Distributed, check.Counterexample},
		{4, 3, check.LocallyCentral, check.Proved},
		{5, 4, check.LocallyCentral, check.Proved},
		{5, 3, check.LocallyCentral, check.Counterexample},
		{5, 5, check.Synchronous, check.Proved},
		{5, 2, check.Synchronous, check.Counterexample},
	} {
		r := ask(t, instance(t, test.n, test.k, ""), check.Options{Arbitrary: true, Daemon: test.daemon, Properties: []string{"stabilizes"}})
		if r.Verdict != test.want {
			t.Errorf("n=%d K=%d %s: %s, want %s", test.n, test.k, test.daemon, r.Verdict, test.want)
		}
		if f := r.Findings[0]; r.Verdict == check.Counterexample && (f.Run.Loop < 0 || f.Run.Loop == len(f.Run.Steps)) {
			t.Errorf("n=%d K=%d %s: the counterexample is no cycle", test.n, test.k, test.daemon)
		}
	}
}

// TestPublishedCounts compares with what the TLA+ examples publish for EWD426 with N = M = 6: 46,656 distinct states and
// 248,832 generated ones, which count every start once and every step once.
func TestPublishedCounts(t *testing.T) {
	r := ask(t, instance(t, 6, 6, ""), check.Options{Arbitrary: true})
	if r.States != 46_656 || r.States+r.Transitions != 248_832 {
		t.Errorf("%d states, %d generated", r.States, r.States+r.Transitions)
	}
}

func TestEveryMutantIsCaught(t *testing.T) {
	for _, variant := range ring.Algorithm.Mutants {
		for _, daemon := range []check.Daemon{check.Central, check.Distributed} {
			r := ask(t, instance(t, 4, 4, variant), check.Options{Arbitrary: true, Daemon: daemon})
			if r.Verdict != check.Counterexample {
				t.Errorf("%s, %s: %s", variant, daemon, r.Verdict)
			}
		}
	}
}

// TestOptimalAdversary: the greedy daemon with the checker's distances takes exactly the worst case, and no seed of the
// central daemon takes longer.
func TestOptimalAdversary(t *testing.T) {
	for n := 4; n <= 6; n++ {
		inst := instance(t, n, n, "")
		r := ask(t, inst, check.Options{Arbitrary: true, Distances: true, Properties: []string{"stabilizes"}})
		f := r.Findings[0]
		if len(f.Worst.Steps) != *f.WorstSteps {
			t.Errorf("n=%d: the worst run has %d steps, not %d", n, len(f.Worst.Steps), *f.WorstSteps)
		}
		adversary := &sim.Greedy{Name: "optimal", Potential: func(v *model.View) int64 {
			d, ok := r.Distance(v.C)
			if !ok {
				t.Fatal("there is a configuration without a distance")
			}
			return int64(d)
		}}
		for seed := range uint64(20) {
			for _, daemon := range []sim.Daemon{adversary, &sim.Central{}} {
				report, err := sim.Run(context.Background(), inst, sim.Options{Ranks: f.Worst.Start, Seed: seed, Daemon: daemon, StopWhenStable: true})
				if err != nil {
					t.Fatal(err)
				}
				isOptimal := daemon == sim.Daemon(adversary)
				if got := int(report.Stabilized.Step); got > *f.WorstSteps || isOptimal && got != *f.WorstSteps {
					t.Errorf("n=%d, %s, seed %d: %d steps, the worst case is %d", n, report.Daemon, seed, got, *f.WorstSteps)
				}
			}
		}
	}
}

func TestRefusedNetworks(t *testing.T) {
	for _, spec := range []string{"single", "path:4", "star:4", "complete:4", "grid:2x3"} {
		g, err := topology.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ring.Algorithm.Make(model.Options{Graph: g}); err == nil {
			t.Errorf("%s is taken for a ring", spec)
		}
	}
	two, err := topology.ParseDOT([]byte("graph { a -- b -- c -- a; d -- e -- f -- d }"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Algorithm.Make(model.Options{Graph: two}); err == nil {
		t.Error("two rings are taken for one")
	}
}

// TestStories compares shortest counterexamples with what a person has read and found right.
func TestStories(t *testing.T) {
	for _, test := range []struct {
		name, variant string
		n, k          int
		o             check.Options
	}{
		{"four_processes_with_two_values_never_heal", "", 4, 2, check.Options{Arbitrary: true, Properties: []string{"stabilizes"}}},
		{"all_at_once_three_values_are_too_few", "", 4, 3, check.Options{Arbitrary: true, Daemon: check.Distributed, Properties: []string{"stabilizes"}}},
		{"copying_wrongly_makes_a_second_privilege", "copy-plus-one", 4, 4, check.Options{Properties: []string{"exclusion"}}},
		{"a_root_that_copies_starves_everybody", "root-copies", 4, 4, check.Options{Arbitrary: true, Properties: []string{"no-deadlock"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inst := instance(t, test.n, test.k, test.variant)
			test.o.Workers = 1 // always the same of several shortest ones
			r := ask(t, inst, test.o)
			story, err := model.Tell(inst, r.Findings[0].Run)
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, filepath.Join("testdata", test.name+".txt"), story.String())
		})
	}
}
