// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"os"
	"testing"

	"allot/check"
	"allot/model"
)

// proof is a question whose answer is yes, with the size of the search.
type proof struct {
	question
	states, transitions uint64
}

func (p proof) verify(t *testing.T) {
	t.Helper()
	_, r := p.ask(t)
	if r.Verdict != check.Proved {
		for _, f := range r.Findings {
			t.Errorf("%s: %s %s: %s", p.question, f.Property, f.Verdict, f.Why)
		}
	}
	if r.States != p.states || r.Transitions != p.transitions {
		t.Errorf("%s: %d states and %d transitions, were %d and %d", p.question, r.States, r.Transitions, p.states, p.transitions)
	}
}

// TestProved asks everything of every small instance: k-exclusion (theorems 2 and 7), and that with up to k-1 processes
// stopped anywhere everybody else gets in (theorems 3, 4, 9 and 10), with giving up, taking over from the dead, the
// express lane and names.
func TestProved(t *testing.T) {
	for _, p := range proofs {
		t.Run(p.String(), func(t *testing.T) { p.verify(t) })
	}
}

// TestProvedFull is the rest of TestProved, which takes long.
func TestProvedFull(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("this takes many minutes; set ALLOT_FULL=1")
	}
	for _, p := range longProofs {
		t.Run(p.String(), func(t *testing.T) { p.verify(t) })
	}
}

// TestNaive: (n,k)-NAIVE keeps k-exclusion and, if nobody stops, lets everybody in; one process that stops is enough to
// lock another out (section 2 of the paper).
func TestNaive(t *testing.T) {
	for _, q := range []question{
		{algorithm: NAIVE, n: 3, k: 2, crashes: 1}, {algorithm: NAIVE, n: 4, k: 3, crashes: 1},
	} {
		_, r := q.ask(t)
		want(t, q, r, "exclusion", check.Proved)
		want(t, q, r, "no-lockout", check.Counterexample)
	}
}

// TestPrinted: the listing of GTEX is right for n = 2k, where it is EXCL, and wrong for leaves of another size and, because
// of the register that gcheck reads, wherever there is more than one leaf.
func TestPrinted(t *testing.T) {
	for _, right := range []question{
		{algorithm: GTEX, variant: "printed", n: 2, k: 1}, {algorithm: EXCL, variant: "printed", n: 3, k: 1},
		{algorithm: EXCL, variant: "printed", n: 3, k: 2, crashes: 1}, {algorithm: NAIVE, variant: "printed", n: 3, k: 1},
		{algorithm: GTEX, variant: "printed", n: 3, k: 2, crashes: 1},
	} {
		_, r := right.ask(t)
		want(t, right, r, "exclusion", check.Proved)
		want(t, right, r, "no-lockout", check.Proved)
	}
	for _, wrong := range []question{
		{algorithm: GTEX, variant: "printed", n: 3, k: 1}, {algorithm: GTEX, variant: "printed-leaves", n: 3, k: 1},
		{algorithm: GTEX, variant: "printed", n: 4, k: 1}, {algorithm: GTEX, variant: "printed-turn", n: 4, k: 1},
		{algorithm: GTEX, variant: "turn-by-height", n: 4, k: 1},
	} {
		_, r := wrong.ask(t, "exclusion")
		want(t, wrong, r, "exclusion", check.Counterexample)
	}
}

func want(t *testing.T, q question, r *check.Result, property string, verdict check.Verdict) {
	t.Helper()
	for _, f := range r.Findings {
		if f.Property == property {
			if f.Verdict != verdict {
				t.Errorf("%s: %s is %s, want %s", q, property, f.Verdict, verdict)
			}
			return
		}
	}
	t.Errorf("%s: %s was not asked", q, property)
}

// killers says for every mutant where it fails and which claim it breaks.
var killers = map[string]struct {
	question
	property string
}{
	"printed-leaves":       {question{algorithm: GTEX, n: 3, k: 1}, "exclusion"},
	"printed-turn":         {question{algorithm: GTEX, n: 4, k: 1}, "exclusion"},
	"turn-by-height":       {question{algorithm: GTEX, n: 4, k: 1}, "exclusion"},
	"turn-first":           {question{algorithm: EXCL, n: 2, k: 1}, "exclusion"},
	"no-level":             {question{algorithm: EXCL, n: 3, k: 1}, "exclusion"},
	"no-turn":              {question{algorithm: EXCL, n: 2, k: 1}, "exclusion"},
	"no-escape":            {question{algorithm: EXCL, n: 2, k: 1}, "no-lockout"},
	"threshold":            {question{algorithm: EXCL, n: 2, k: 1}, "exclusion"},
	"skip-read":            {question{algorithm: EXCL, n: 2, k: 1}, "exclusion"},
	"same-height":          {question{algorithm: GTEX, n: 4, k: 1}, "exclusion"},
	"same-level":           {question{algorithm: EXCL, n: 3, k: 1}, "exclusion"},
	"fewer-rounds":         {question{algorithm: EXCL, n: 3, k: 1}, "exclusion"},
	"stay-up":              {question{algorithm: EXCL, n: 2, k: 1}, "no-lockout"},
	"cancel-early":         {question{algorithm: EXCL, n: 2, k: 1, more: "cancel=yes"}, "no-lockout"},
	"cancel-silently":      {question{algorithm: EXCL, n: 2, k: 1, more: "cancel=yes"}, "no-lockout"},
	"keep-level":           {question{algorithm: EXCL, n: 2, k: 1, faults: "crash=1,restart=1"}, "no-lockout"},
	"keep-name":            {question{algorithm: EXCL, n: 3, k: 2, more: "names=yes", faults: "crash=1,restart=1"}, "no-lockout"},
	"arrive-then-sweep":    {question{algorithm: EXCL, n: 3, k: 2, more: "names=yes", faults: "crash=1,restart=1"}, "one-pass"},
	"leave-then-drop":      {question{algorithm: EXCL, n: 3, k: 2, more: "names=yes"}, "one-pass"},
	"express-by-levels":    {question{algorithm: GTEX, n: 4, k: 1, more: "express=yes cancel=yes"}, "exclusion"},
	"express-full":         {question{algorithm: EXCL, n: 3, k: 2, more: "express=yes"}, "exclusion"},
	"express-blind":        {question{algorithm: EXCL, n: 3, k: 2, more: "express=yes"}, "no-lockout"},
	"try-hasty":            {question{algorithm: EXCL, n: 2, k: 1, more: "express=yes try=yes"}, "no-lockout"},
	"express-hasty":        {question{algorithm: EXCL, n: 3, k: 1, more: "express=yes cancel=yes"}, "no-lockout"},
	"counted-blind":        {question{algorithm: EXCL, n: 3, k: 1, more: "express=counted"}, "one-pass"},
	"counted-open":         {question{algorithm: EXCL, n: 3, k: 1, more: "express=counted"}, "one-pass"},
	"counted-glance-first": {question{algorithm: EXCL, n: 3, k: 1, more: "express=counted"}, "one-pass"},
	"counted-vacate-first": {question{algorithm: EXCL, n: 3, k: 1, more: "express=counted"}, "one-pass"},
	"counted-settle-first": {question{algorithm: EXCL, n: 3, k: 1, more: "express=counted"}, "one-pass"},
	"counted-careless":     {question{algorithm: EXCL, n: 3, k: 2, more: "express=counted"}, "unique-names"},
	"counted-drop-late":    {question{algorithm: EXCL, n: 3, k: 2, more: "express=counted bits=1"}, "one-pass"},
	"express-late":         {question{algorithm: EXCL, n: 3, k: 2, more: "express=yes"}, "exclusion"},
}

// TestMutants: every mutant breaks a claim that the corrected algorithm keeps on the same instance.
func TestMutants(t *testing.T) {
	for _, name := range Algorithm.Mutants {
		k, ok := killers[name]
		if !ok {
			t.Errorf("nobody says how %s fails", name)
			continue
		}
		_, r := k.ask(t, k.property)
		want(t, k.question, r, k.property, check.Proved)
		k.variant = name
		_, r = k.ask(t, k.property)
		want(t, k.question, r, k.property, check.Counterexample)
	}
}

// TestTooManyStop: k processes that stop inside keep everybody else out, so the claim about k-1 is as strong as it can
// be, and the property can fail.
func TestTooManyStop(t *testing.T) {
	for _, q := range []question{{algorithm: EXCL, n: 3, k: 2, crashes: 2}, {algorithm: EXCL, n: 3, k: 2, faults: "crash=2"}} {
		inst := q.instance(t)
		m := inst.System.(*model.Registers)
		inst.Properties = []model.Property{{
			Name: "no-lockout-by-k", Claim: model.Recurs, Stops: q.crashes,
			HoldsFor: func(v *model.View, p int) bool { return inst.Phase(v, p) != model.Waiting || m.IsCrashed(v.C, p) },
		}}
		r, err := check.Run(t.Context(), inst, check.Options{Fairness: check.Weak, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		want(t, q, r, "no-lockout-by-k", check.Counterexample)
	}
}

// TestCountedRounds: the mutants of the rounds themselves are killed there as well.
func TestCountedRounds(t *testing.T) {
	q := question{algorithm: EXCL, n: 3, k: 1, more: "express=counted"}
	for variant, property := range map[string]string{
		"threshold": "one-pass", "no-escape": "no-lockout", "fewer-rounds": "one-pass", "same-level": "one-pass",
	} {
		q.variant = variant
		_, r := q.ask(t, property)
		want(t, q, r, property, check.Counterexample)
	}
}

// TestCountedRefusals: what Counted does not claim cannot be asked.
func TestCountedRefusals(t *testing.T) {
	for _, q := range []question{
		{algorithm: NAIVE, n: 3, k: 1, more: "express=counted"}, {algorithm: EXCL, n: 3, k: 2, crashes: 1, more: "express=counted"},
		{algorithm: EXCL, n: 3, k: 2, faults: "crash=1", more: "express=counted"}, {algorithm: EXCL, n: 3, k: 2, more: "express=counted holders=2"},
		{algorithm: EXCL, n: 30, k: 20, more: "express=counted seats=3"},
	} {
		if _, err := q.tryInstance(t); err == nil {
			t.Errorf("%s was accepted", q)
		}
	}
}
