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

// bounds and exits, without what needs messages to arrive.
var safety = check.Options{Properties: []string{"floor", "ceiling", "exit"}}

// TestTolerant: whoever is suspected, wrongly too, whoever crashes in whatever state and comes back without its memory, whoever gives up,
// and whatever the links do, no bound is broken; and where messages arrive nobody is stuck.
func TestTolerant(t *testing.T) {
	gcs := question{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", times: 1, variant: "tolerant"}
	crash, withdraw := gcs, gcs
	crash.crashes, crash.crashers = 1, 1
	withdraw.more = "--withdraw 1"
	table(t, "tolerant.txt", []question{
		gcs, crash, withdraw,
		{object: "kmutex", n: 2, k: 1, coterie: "own:0+1", times: 1, variant: "tolerant", more: "--suspicions 1"},
		{object: "kmutex", n: 2, k: 1, coterie: "own:0+1", times: 1, variant: "tolerant", more: "--suspicions 2"},
		{object: "mutin", n: 2, l: 1, coterie: "own:0+1", inside: "0+1", times: 1, variant: "tolerant", more: "--suspicions 1", crashes: 1, crashers: 1},
		{object: "mutin", n: 2, l: 1, coterie: "own:0+1", inside: "0+1", times: 1, variant: "tolerant", more: "--suspicions 1 --links unordered"},
		{object: "mutin", n: 2, l: 1, coterie: "own:0+1", times: 1, variant: "tolerant", more: "--step-in 1 --suspicions 1", crashes: 1, crashers: 1},
		{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", times: 1, variant: "tolerant", more: "--step-in 1", crashes: 1, crashers: 1},
	}, check.Options{})
	table(t, "tolerant_loss.txt", []question{
		{object: "mutin", n: 2, l: 1, coterie: "own:0+1", inside: "0+1", times: 1, variant: "tolerant", more: "--suspicions 1 --links unordered,lossy,capacity=2"},
		{object: "mutin", n: 2, l: 1, coterie: "own:0+1", inside: "0+1", times: 1, variant: "tolerant", more: "--links unordered,lossy,duplicating,capacity=2", crashes: 1, crashers: 1},
		{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", times: 1, variant: "tolerant", faults: "crash=1,resume=1"},
	}, safety)
}

// TestChanges: members and quorums change while processes enter, leave and crash; some are members no more, some are new.
func TestChanges(t *testing.T) {
	table(t, "tolerant_changes.txt", []question{
		{object: "kmutex", n: 2, k: 1, coterie: "own:0", times: 1, variant: "tolerant", more: "--changes 1 --next own:1"},
		{object: "mutin", n: 2, l: 1, coterie: "own:0", inside: "0+1", times: 1, variant: "tolerant", more: "--changes 1 --next own:1", crashes: 1, crashers: 1},
		{object: "kmutex", n: 3, k: 1, coterie: "own:0", times: 1, variant: "tolerant", more: "--changes 1 --next own:1 --members 2"},
		{object: "kmutex", n: 2, k: 1, coterie: "own:1", inside: "1", times: 1, variant: "tolerant", more: "--changes 1 --next own:0 --next-members 1"},
		{object: "kmutex", n: 2, k: 1, coterie: "own:1", times: 1, variant: "tolerant", more: "--changes 1 --next own:0 --next-members 1 --links unordered", crashes: 1, crashers: 1},
		{object: "kmutex", n: 2, k: 1, coterie: "own:1", times: 1, variant: "tolerant", more: "--changes 1 --next own:0 --next-members 1 --burials 1", crashes: 1, crashers: 2},
	}, check.Options{})
}

// TestMoreTolerance is what takes longer; each part has a file of its own.
func TestMoreTolerance(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("it takes some minutes; set ALLOT_FULL=1")
	}
	for name, q := range map[string]question{
		"suspicion": {object: "kmutex", n: 3, k: 2, coterie: "majority", times: 1, variant: "tolerant", more: "--suspicions 1"},
		"removal": {object: "kmutex", n: 2, k: 1, coterie: "own:1", times: 1, variant: "tolerant", crashes: 1, crashers: 2,
			more: "--changes 1 --next own:0 --next-members 1 --links unordered"},
		"two_wishes": {object: "kmutex", n: 2, k: 1, coterie: "own:1", times: 2, variant: "tolerant", crashes: 1, crashers: 2,
			more: "--changes 1 --next own:0 --next-members 1"},
		"three_crash": {object: "mutin", n: 3, l: 1, coterie: "own:0", inside: "0+1+2", times: 1, variant: "tolerant", crashes: 1, crashers: 3},
	} {
		t.Run(name, func(t *testing.T) {
			table(t, "tolerant_full_"+name+".txt", []question{q}, check.Options{MaxMemory: 6 << 30})
		})
	}
}

// caughtTolerant says where each mutant is caught, and by which property.
var caughtTolerant = map[string]struct {
	question
	property string
}{
	"keeps-registered": {question{object: "kmutex", n: 2, k: 1, coterie: "own:0+1", times: 1, more: "--suspicions 1"}, "ceiling"},
	"restores":         {question{object: "mutin", n: 2, l: 1, coterie: "own:0", inside: "0+1", times: 1, more: "--suspicions 1", faults: "duplicate=1"}, "floor"},
	"keeps-grant":      {question{object: "kmutex", n: 2, k: 1, coterie: "own:0+1", times: 1, crashes: 1, crashers: 1}, "rest"},
	"any-number":       {question{object: "kmutex", n: 2, k: 1, coterie: "own:0", times: 1, more: "--changes 1 --next own:1 --links unordered"}, "ceiling"},
	"any-address": {question{object: "kmutex", n: 2, k: 1, coterie: "own:1", times: 1, crashes: 1, crashers: 2,
		more: "--changes 1 --next own:0 --next-members 1 --links unordered"}, "ceiling"},
	"any-answer":     {question{object: "kmutex", n: 3, k: 1, coterie: "own:0", times: 1, more: "--links unordered"}, "ceiling"},
	"unsure":         {question{object: "kmutex", n: 3, k: 2, coterie: "majority", times: 1, more: "--suspicions 1"}, "ceiling"},
	"one-witness":    {question{object: "mutin", n: 3, l: 1, coterie: "own:1+2", inside: "0+1", times: 1, crashes: 1, crashers: 1}, "exit"},
	"stays-sure":     {question{object: "kmutex", n: 3, k: 2, coterie: "majority", times: 1, more: "--suspicions 1"}, "ceiling"},
	"says-yes":       {question{object: "kmutex", n: 3, k: 2, coterie: "majority", times: 1, more: "--suspicions 1"}, "ceiling"},
	"no-recall":      {question{object: "kmutex", n: 2, k: 1, coterie: "own:0+1", times: 1}, "rest"},
	"no-report":      {question{object: "kmutex", n: 2, k: 1, coterie: "own:0+1", times: 2}, "rest"},
	"no-poke":        {question{object: "kmutex", n: 2, k: 1, coterie: "own:0+1", times: 1, crashes: 1, crashers: 1}, "rest"},
	"one-less":       {question{object: "kmutex", n: 2, k: 1, coterie: "own:0+1", times: 1}, "ceiling"},
	"keeps-book":     {question{object: "kmutex", n: 3, k: 1, coterie: "own:0", times: 1, more: "--changes 1 --next own:0"}, "ceiling"},
	"stays-low":      {question{object: "mutin", n: 2, l: 1, coterie: "own:0+1", times: 1, more: "--step-in 1", crashes: 1, crashers: 1}, "refill"},
	"any-generation": {question{object: "kmutex", n: 2, k: 1, coterie: "own:1", inside: "1", times: 1, more: "--changes 1 --next own:0 --next-members 1"}, "rest"},
	"acts-frozen": {question{object: "kmutex", n: 2, k: 1, coterie: "own:1", times: 2, crashes: 1, crashers: 2,
		more: "--changes 1 --next own:0 --next-members 1"}, "ceiling"},
	"no-promise": {question{object: "kmutex", n: 2, k: 1, coterie: "own:1", times: 1, crashes: 1, crashers: 2,
		more: "--changes 1 --next own:0 --next-members 1 --links unordered"}, "ceiling"},
	"no-wait":       {question{object: "kmutex", n: 2, k: 1, coterie: "own:1", times: 1, more: "--changes 1 --next own:0 --next-members 1"}, "ceiling"},
	"drops-members": {question{object: "kmutex", n: 2, k: 1, coterie: "own:1", inside: "1", times: 1, more: "--changes 1 --next own:0 --next-members 1"}, "ceiling"},
}

// TestEveryTolerantMutantIsCaught also pins how. Two of them break nothing but progress after loss, which the simulator sees.
func TestEveryTolerantMutantIsCaught(t *testing.T) {
	var lines []string
	for _, mutant := range band.Algorithm.Mutants {
		name, ok := strings.CutPrefix(mutant, "tolerant-")
		if !ok {
			continue
		}
		if name == "no-spent" || name == "trusts" {
			lines = append(lines, simulated(t, mutant))
			continue
		}
		c, ok := caughtTolerant[name]
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
		if os.Getenv("ALLOT_FULL") == "" {
			continue
		}
		c.variant = "tolerant"
		if r, _ := ask(t, c.question, check.Options{Properties: []string{c.property}}); r.Verdict != check.Proved {
			t.Errorf("%s, whole: %s", c.question, r.Verdict)
		}
	}
	compare(t, "tolerant_mutants.txt", strings.Join(lines, "\n")+"\n")
}

func simulated(t *testing.T, mutant string) string {
	t.Helper()
	var sum tally
	for seed := range uint64(60) {
		if mutant == "tolerant-trusts" && deadForGood(t, seed, mutant) != nil || mutant != "tolerant-trusts" && tolerantRun(t, seed, mutant, false, &sum) != nil {
			return fmt.Sprintf("--variant %s: seed %d of the fault runs", mutant, seed)
		}
	}
	t.Errorf("%s: nobody noticed", mutant)
	return ""
}
