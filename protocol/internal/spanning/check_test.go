// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package spanning

import (
	"context"
	"fmt"
	"os"
	"testing"

	"allot/check"
	"allot/model"
	"allot/topology"
)

// question to the checker.
type question struct {
	network, root, variant, faults string
	garbage                        int
	isClean                        bool
	more                           map[string]string
}

func (x question) String() string {
	return fmt.Sprintf("spanning on %s, root %s, variant %s, faults %s, garbage %d, clean %v %v", x.network, x.root, x.variant, x.faults, x.garbage, x.isClean, x.more)
}

func (x question) ask(t testing.TB, fairness check.Fairness) *check.Result {
	t.Helper()
	g, err := topology.Parse(x.network)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := model.ParseBudget(x.faults)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"root": x.root}
	for name, v := range x.more {
		values[name] = v
	}
	inst, err := Algorithm.Make(model.Options{Graph: g, Variant: x.variant, Values: values, Budget: budget, Links: model.Links{Garbage: x.garbage}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := check.Run(context.Background(), inst, check.Options{Arbitrary: !x.isClean, Fairness: fairness, Properties: []string{"settled"}, Workers: 1, MaxMemory: 6 << 30})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// expectation pins what a search finds: the numbers of configurations and steps, and the exact largest number of steps until the
// tree stands.
type expectation struct {
	question
	states, transitions uint64
	worst               int
}

func (e expectation) prove(t *testing.T) {
	t.Helper()
	r := e.ask(t, check.None)
	if r.Verdict != check.Proved {
		t.Errorf("%s: %s %s", e.question, r.Verdict, r.Findings[0].Why)
		return
	}
	worst := -1
	if w := r.Findings[0].WorstSteps; w != nil {
		worst = *w
	}
	if r.States != e.states || r.Transitions != e.transitions || worst != e.worst {
		t.Errorf("%s: %d states, %d transitions, at most %d steps; want %d, %d, %d", e.question, r.States, r.Transitions, worst, e.states, e.transitions, e.worst)
	}
}

// TestStabilizes: from every memory of every process, with empty links and with arbitrary messages on them. No fairness is
// needed: whatever happens, in the end nothing happens any more, and then the tree stands.
func TestStabilizes(t *testing.T) {
	for _, e := range []expectation{
		{question{network: "path:2", root: "given"}, 187, 336, 5},
		{question{network: "path:2", root: "given", garbage: 1}, 8773, 23748, 8},
		{question{network: "path:2", root: "given", garbage: 2}, 334681, 971016, 11},
		{question{network: "path:2", root: "elected"}, 1495, 2826, 7},
		{question{network: "path:2", root: "elected", garbage: 1}, 557677, 1576008, 12},
		{question{network: "path:3", root: "given"}, 64787, 206692, 16},
		{question{network: "path:3", root: "given", more: map[string]string{"repeats": "2"}}, 564207, 2341183, 23},
		{question{network: "star:3", root: "given"}, 52721, 171712, 9},
		{question{network: "complete:3", root: "given", isClean: true}, 1961, 6311, 15},
		{question{network: "complete:3", root: "elected", isClean: true}, 2904, 9231, 17},
	} {
		e.prove(t)
	}
}

// TestStabilizesFull is TestStabilizes where there is more than one way.
func TestStabilizesFull(t *testing.T) {
	if os.Getenv("ALLOT_FULL") != "1" {
		t.Skip("long: set ALLOT_FULL=1 to run it")
	}
	expectation{question{network: "complete:3", root: "given"}, 5972028, 25528618, 23}.prove(t)
}

// TestMutants: each rule is needed. The mutant first has no end of configurations; see TestFirst.
func TestMutants(t *testing.T) {
	for name, x := range map[string]question{
		flawBelieves:     {network: "path:2", root: "elected"},
		flawNearest:      {network: "path:2", root: "elected"},
		flawSilent:       {network: "path:3", root: "given", isClean: true},
		flawNeverRepeats: {network: "path:2", root: "given"},
	} {
		x.variant = name
		if r := x.ask(t, check.Weak); r.Verdict != check.Counterexample {
			t.Errorf("%s: %s, want a counterexample", x, r.Verdict)
		}
	}
}
