// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band_test

import (
	"fmt"
	"os"
	"testing"

	"allot/check"
)

// hub is a quorum system of five in which every quorum is the hub and one other.
const hub = "own:0+1/0+1/0+2/0+3/0+4"

// floors is every floor alone, from the smallest and from the largest start. Each ceiling alone is one of them with inside and outside exchanged
// (TestObjects), and both bounds together do nothing that each alone does not (TestEachBoundAlone). So what holds here holds for all (l,k).
func floors(n int, coterie string, times int, starts ...string) []question {
	var questions []question
	for l := n - 1; l > 0; l-- {
		for _, inside := range starts {
			questions = append(questions, question{object: "mutin", n: n, l: l, coterie: coterie, times: times, inside: inside})
		}
	}
	return questions
}

// TestFiveAlone: five processes, all floors, and so all (l,k), on quorums of two.
func TestFiveAlone(t *testing.T) {
	table(t, "alone_n5_hub.txt", floors(5, hub, 1, "least", "most"), check.Options{})
}

// TestAlone is the same for larger quorums and for runs without end; each part has a file of its own.
func TestAlone(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("it takes about an hour; set ALLOT_FULL=1")
	}
	part := func(name string, questions []question) {
		t.Run(name, func(t *testing.T) {
			table(t, "alone_"+name+".txt", questions, check.Options{MaxMemory: 10 << 30})
		})
	}
	for _, coterie := range []string{"majority", "tree", "wall", "grid"} {
		part("n4_"+coterie, floors(4, coterie, 1, "least", "most"))
	}
	part("n4_hub_endless", floors(4, "own:0+1/0+1/0+2/0+3", 0, "least"))
	part("n4_tree_endless", floors(4, "tree", 0, "least"))
	for i, q := range floors(5, hub, 0, "least") {
		part(fmt.Sprintf("n5_hub_endless_%d", 4-i), []question{q})
	}
	for _, coterie := range []string{"tree", "majority"} {
		for i, q := range floors(5, coterie, 1, "least") {
			part(fmt.Sprintf("n5_%s_%d", coterie, 4-i), []question{q})
		}
		for i, q := range floors(5, coterie, 1, "most") {
			part(fmt.Sprintf("n5_%s_most_%d", coterie, 4-i), []question{q})
		}
	}
}

// TestMutantsAlone: what is caught with both bounds is caught with one alone.
func TestMutantsAlone(t *testing.T) {
	for mutant, c := range caught {
		if c.object != "gcs" || c.crashes > 0 {
			continue
		}
		isCaught := false
		for _, object := range []string{"mutin", "kmutex"} {
			q := c.question
			q.variant, q.object = mutant, object
			r, _ := ask(t, q, check.Options{})
			isCaught = isCaught || r.Verdict == check.Counterexample
		}
		if !isCaught {
			t.Errorf("%s is caught with both bounds only", mutant)
		}
	}
}
