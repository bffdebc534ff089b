// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"allot/check"
	"allot/protocol/band"
)

// bounds is mutual exclusion and every floor and ceiling for n processes. The floor alone is gcs with k = n and the ceiling
// alone gcs with l = 0; TestObjects shows that.
func bounds(n int) []question {
	questions := []question{{object: "mutex", n: n}}
	for l := range n {
		for k := l + 1; k <= n; k++ {
			questions = append(questions, question{object: "gcs", n: n, l: l, k: k})
		}
	}
	return questions
}

// TestObjects: mutin and kmutex are gcs without the other bound, and each is the other with inside and outside exchanged
// (Theorem 1), so they have as many configurations.
func TestObjects(t *testing.T) {
	for _, variant := range []string{"corrected", "lean"} {
		var states []uint64
		for _, q := range []question{{object: "mutin", l: 1}, {object: "gcs", l: 1, k: 3}, {object: "kmutex", k: 2}, {object: "gcs", l: 0, k: 2}} {
			q.n, q.coterie, q.variant = 3, "majority", variant
			r, _ := ask(t, q, check.Options{})
			if r.Verdict != check.Proved {
				t.Errorf("%s: %s", q, r.Verdict)
			}
			states = append(states, r.States)
		}
		if states[0] != states[1] || states[0] != states[2] || states[0] != states[3] {
			t.Errorf("%s: %d states", variant, states)
		}
	}
}

// table asks every question and writes one line for each: the numbers of states and transitions are pinned by the file.
func table(t *testing.T, file string, questions []question, o check.Options) {
	t.Helper()
	compare(t, file, strings.Join(answers(t, questions, o), "\n")+"\n")
}

// answers is the lines of a table; everything must be proved.
func answers(t *testing.T, questions []question, o check.Options) []string {
	t.Helper()
	var lines []string
	for _, q := range questions {
		r, _ := ask(t, q, o)
		for _, f := range r.Findings {
			if f.Verdict != check.Proved {
				t.Errorf("%s: %s: %s: %s", q, f.Property, f.Verdict, f.Why)
			}
		}
		lines = append(lines, fmt.Sprintf("%-90s %s %d states %d transitions", q, r.Verdict, r.States, r.Transitions))
	}
	return lines
}

// TestEveryBoundOfThree: Lemmas 1, 2, 8 and 9 for n = 3, every floor and ceiling, several coteries, runs without end and
// runs with clocks.
func TestEveryBoundOfThree(t *testing.T) {
	var questions []question
	for _, variant := range []string{"corrected", "lean"} {
		for _, coterie := range []string{"majority", "tree", "wall", "votes:2,1,1", "own:0"} {
			for _, times := range []int{0, 2} {
				if coterie == "votes:2,1,1" {
					if times == 0 {
						continue // half a million configurations each; the coterie is asked with clocks
					}
					times = 1
				}
				for _, q := range bounds(3) {
					q.coterie, q.variant, q.times = coterie, variant, times
					questions = append(questions, q)
				}
			}
		}
	}
	table(t, "exhaustive_n3.txt", questions, check.Options{})
}

// TestSharedPair: the coterie in which all ask the same two, where requests meet the most, and where the printed mutual
// exclusion fails; and longer clocks.
func TestSharedPair(t *testing.T) {
	table(t, "exhaustive_pair.txt", []question{
		{object: "mutex", n: 3, coterie: "own:0+1", times: 0},
		{object: "mutex", n: 3, coterie: "own:0+1", times: 4},
		{object: "mutin", n: 3, l: 1, coterie: "own:0+1", times: 0},
		{object: "gcs", n: 3, l: 1, k: 2, coterie: "own:0+1", times: 2},
		{object: "gcs", n: 3, l: 1, k: 2, coterie: "own:0+1", times: 2, variant: "lean"},
		{object: "mutex", n: 3, coterie: "majority", times: 8},
		{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", times: 3},
		{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", times: 3, variant: "lean"},
	}, check.Options{})
}

// TestEveryStart: without clocks every safe start leads to the same configurations, so the checks from one start cover all
// of them.
func TestEveryStart(t *testing.T) {
	for _, variant := range []string{"corrected", "lean"} {
		var states uint64
		for _, inside := range []string{"0", "1", "2", "0+1", "1+2", "0+2"} {
			q := question{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", inside: inside, variant: variant}
			r, _ := ask(t, q, check.Options{})
			if r.Verdict != check.Proved || states != 0 && r.States != states {
				t.Errorf("%s: %s, %d states, others %d", q, r.Verdict, r.States, states)
			}
			states = r.States
		}
	}
}

// TestFour: every floor and ceiling of n = 4, as far as it ends in time.
func TestFour(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("it takes about half an hour; set ALLOT_FULL=1")
	}
	var questions []question
	for _, coterie := range []string{"tree", "majority"} {
		for _, q := range bounds(4) {
			q.coterie, q.variant, q.times = coterie, "lean", 1
			questions = append(questions, q)
		}
	}
	for _, q := range bounds(4) {
		q.coterie, q.variant, q.times = "tree", "corrected", 1
		questions = append(questions, q)
	}
	questions = append(questions, question{object: "mutex", n: 4, coterie: "majority", times: 2})
	table(t, "exhaustive_n4.txt", questions, check.Options{MaxMemory: 8 << 30})
}

// TestFive: n = 5 with quorums that leave it small enough.
func TestFive(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("it takes about a quarter of an hour; set ALLOT_FULL=1")
	}
	questions := []question{
		{object: "mutex", n: 5, coterie: "majority", times: 1},
		{object: "mutex", n: 5, coterie: "tree", times: 1},
	}
	for _, q := range bounds(5)[1:] {
		q.coterie, q.variant, q.times = "own:0", "lean", 1
		questions = append(questions, q)
	}
	table(t, "exhaustive_n5.txt", questions, check.Options{MaxMemory: 8 << 30})
}

// TestCrashes: a process that stops, for good or until it goes on with its memory, is as good as slow: no bound is ever
// broken. Progress is not claimed, since whoever has it in its quorum blocks.
func TestCrashes(t *testing.T) {
	var lines []string
	for _, variant := range []string{"corrected", "lean"} {
		for _, faults := range []string{"crash=1", "crash=1,resume=1"} {
			q := question{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", variant: variant, faults: faults}
			r, _ := ask(t, q, check.Options{Properties: []string{"floor", "ceiling"}})
			if r.Verdict != check.Proved {
				t.Errorf("%s: %s", q, r.Verdict)
			}
			lines = append(lines, fmt.Sprintf("%-90s %s %d states %d transitions", q, r.Verdict, r.States, r.Transitions))
		}
	}
	compare(t, "crashes.txt", strings.Join(lines, "\n")+"\n")
}

// caught says where each mutant is caught, and by which property.
var caught = map[string]struct {
	question
	property string
}{
	"maekawa-1985":             {question{object: "mutex", n: 3, coterie: "own:0+1", times: 2}, "rest"},
	"tell-once":                {question{object: "mutin", n: 4, l: 2, coterie: "own:0+1/0+1/0/0+1", times: 1}, "rest"},
	"no-failed":                {question{object: "mutex", n: 3, coterie: "majority", times: 2}, "rest"},
	"no-inquire":               {question{object: "mutex", n: 3, coterie: "majority", times: 2}, "rest"},
	"no-defer":                 {question{object: "mutex", n: 3, coterie: "majority", times: 2}, "rest"},
	"relinquish-inside":        {question{object: "mutex", n: 3, coterie: "majority", times: 2}, "ceiling"},
	"keep-inquiry":             {question{object: "mutex", n: 3, coterie: "majority", times: 2}, "rest"},
	"no-clock":                 {question{object: "mutex", n: 3, coterie: "own:0+1", times: 3}, "fair"},
	"no-mutex":                 {question{object: "mutin", n: 3, l: 1, coterie: "majority", times: 2}, "floor"},
	"one-less":                 {question{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", times: 2}, "floor"},
	"keep-current":             {question{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", times: 2}, "floor"},
	"no-again":                 {question{object: "mutin", n: 3, l: 1, coterie: "majority", times: 2}, "rest"},
	"keep-registered":          {question{object: "kmutex", n: 3, k: 2, coterie: "majority", times: 2}, "ceiling"},
	"lean-merge":               {question{object: "mutin", n: 3, l: 1, coterie: "majority", times: 2}, "floor"},
	"lean-no-update":           {question{object: "mutin", n: 3, l: 1, coterie: "majority", times: 2}, "rest"},
	"lean-stays":               {question{object: "mutin", n: 3, l: 1, coterie: "majority", times: 2}, "floor"},
	"failstop-hasty":           {question{object: "mutin", n: 3, l: 1, coterie: "own:0+1", inside: "1+2", times: 1, crashes: 1, crashers: 1}, "floor"},
	"failstop-keeps-dead":      {question{object: "mutin", n: 3, l: 1, coterie: "majority", times: 1, crashes: 1, crashers: 1}, "floor"},
	"failstop-forgets-nothing": {question{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", times: 1, crashes: 1, crashers: 1}, "rest"},
	"failstop-no-register":     {question{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", times: 1, crashes: 1, crashers: 1}, "rest"},
	"failstop-no-request":      {question{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", times: 1, crashes: 1, crashers: 1}, "rest"},
	"lean-maekawa-1985":        {question{object: "mutin", n: 3, l: 1, coterie: "own:0+1", times: 2}, "rest"},
}

// TestEveryMutantIsCaught also pins how: the property, and the number of steps.
func TestEveryMutantIsCaught(t *testing.T) {
	var lines []string
	for _, mutant := range band.Algorithm.Mutants {
		if mutant == "failstop-any-address" || strings.HasPrefix(mutant, "tolerant-") {
			continue // TestForeignAddress, TestEveryTolerantMutantIsCaught
		}
		c, ok := caught[mutant]
		if !ok {
			t.Errorf("%s: nobody says where it is caught", mutant)
			continue
		}
		c.variant = mutant
		r, _ := ask(t, c.question, check.Options{Properties: []string{c.property}})
		if r.Verdict != check.Counterexample {
			t.Errorf("%s: %s", c.question, r.Verdict)
			continue
		}
		lines = append(lines, fmt.Sprintf("%-90s %s after %d steps", c.question, c.property, len(r.Findings[0].Run.Steps)))
		c.variant = "corrected"
		for _, base := range []string{"lean", "failstop"} {
			if strings.HasPrefix(mutant, base+"-") {
				c.variant = base
			}
		}
		if r, _ := ask(t, c.question, check.Options{Properties: []string{c.property}}); r.Verdict != check.Proved {
			t.Errorf("%s, whole: %s", c.question, r.Verdict)
		}
	}
	compare(t, "mutants.txt", strings.Join(lines, "\n")+"\n")
}

// TestPrinted: the two errors of the paper, as stories.
func TestPrinted(t *testing.T) {
	for file, q := range map[string]question{
		"maekawa_1985_deadlocks.txt":     {object: "mutex", n: 3, coterie: "own:0+1", times: 2, variant: "printed"},
		"majority_of_four_deadlocks.txt": {object: "gcs", n: 4, l: 1, k: 3, coterie: "majority", times: 1, variant: "printed"},
		"told_once_waits_for_ever.txt":   {object: "mutin", n: 4, l: 2, coterie: "own:0+1/0+1/0/0+1", times: 1, variant: "tell-once"},
	} {
		r, inst := ask(t, q, check.Options{Properties: []string{"rest"}})
		if r.Verdict != check.Counterexample {
			t.Fatalf("%s: %s", q, r.Verdict)
		}
		compare(t, file, story(t, inst, r.Findings[0].Run))
	}
	// The safety of what is printed could not be refuted.
	for _, q := range []question{
		{object: "mutex", n: 3, coterie: "own:0+1", times: 3, variant: "printed"},
		{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", times: 2, variant: "printed"},
	} {
		if r, _ := ask(t, q, check.Options{Properties: []string{"floor", "ceiling"}}); r.Verdict != check.Proved {
			t.Errorf("%s: %s", q, r.Verdict)
		}
	}
}
