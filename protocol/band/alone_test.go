// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"allot/check"
)

// hub is a quorum system of five in which every quorum is the hub and one other.
const hub = "own:0+1/0+1/0+2/0+3/0+4"

// alone asks for each bound alone what both together need from the smallest start: (l,k) from l inside is the floor l alone and the ceiling k
// alone, each from l inside (TestEachBoundAlone). So what holds here holds for all (l,k).
func alone(n int, coterie string, times int) []question {
	var questions []question
	for l := range n {
		first := "none"
		for p := range l {
			if first = fmt.Sprintf("%s+%d", first, p); p == 0 {
				first = "0"
			}
		}
		if l > 0 {
			questions = append(questions, question{object: "mutin", n: n, l: l, coterie: coterie, times: times, inside: first})
		}
		for k := l + 1; k < n; k++ {
			questions = append(questions, question{object: "kmutex", n: n, k: k, coterie: coterie, times: times, inside: first})
		}
	}
	return questions
}

// TestFiveAlone: five processes on quorums of two, the ceilings from nobody inside and the larger floors. The rest of the file is in TestAlone.
func TestFiveAlone(t *testing.T) {
	all, err := os.ReadFile("testdata/alone_n5_hub.txt")
	if err != nil {
		t.Fatal(err)
	}
	var some []question
	for _, q := range alone(5, hub, 1) {
		if q.inside == "none" || q.object == "mutin" && q.l > 2 {
			some = append(some, q)
		}
	}
	for _, line := range answers(t, some, check.Options{}) {
		if !strings.Contains(string(all), line+"\n") {
			t.Errorf("it has changed: %s", line)
		}
	}
}

// TestAlone is the same for other quorums and for runs without end; each part has a file of its own.
func TestAlone(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("it takes some minutes; set ALLOT_FULL=1")
	}
	part := func(name string, questions []question) {
		t.Run(name, func(t *testing.T) {
			table(t, "alone_"+name+".txt", questions, check.Options{MaxMemory: 10 << 30})
		})
	}
	part("n5_hub", alone(5, hub, 1))
	for _, coterie := range []string{"majority", "tree", "wall", "grid"} {
		part("n4_"+coterie, alone(4, coterie, 1))
	}
	// Without clocks every start leads to the same configurations, so one is enough.
	part("n5_hub_endless", []question{{object: "mutin", n: 5, l: 4, coterie: hub}, {object: "mutin", n: 5, l: 3, coterie: hub}, {object: "mutin", n: 5, l: 2, coterie: hub}})
	tree := []question{{object: "mutin", n: 5, l: 4, coterie: "tree", times: 1}, {object: "mutin", n: 5, l: 3, coterie: "tree", times: 1}}
	for k := 1; k < 5; k++ {
		tree = append(tree, question{object: "kmutex", n: 5, k: k, coterie: "tree", times: 1, inside: "none"})
	}
	part("n5_tree", tree)
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
