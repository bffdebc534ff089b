// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave_test

import (
	"fmt"
	"strings"
	"testing"

	"allot/check"
)

// bound is what the proof of Lemma 4.12 adds up to, with D = n-1 for the height of the tree, since a level can be that
// large: ⌈n/ℓ⌉ (5D + 2ℓ + 4 + D + ℓ) rounds.
func bound(n, l int) int { return (n + l - 1) / l * (6*(n-1) + 3*l + 4) }

// claim measures the exact worst case in rounds from every configuration to a normal one (Theorem 4.1: D+1) and to a
// legitimate one (Lemma 4.12), under the distributed, weakly fair daemon.
func claim(t *testing.T, net network, variant string, l int) (line string, isRefuted bool) {
	t.Helper()
	r := ask(t, instance(t, net.graph, variant, l, "claims", "paper"), check.Options{Arbitrary: true, Daemon: check.Distributed,
		Fairness: check.Weak, Rounds: true, Properties: []string{"normal", "stabilizes"}})
	n := net.graph.Len()
	rounds := func(i, bound int) string {
		f := r.Findings[i]
		if f.WorstRounds == nil {
			isRefuted = true
			return fmt.Sprintf("%s (%s)", f.Verdict, f.Why)
		}
		isRefuted = isRefuted || *f.WorstRounds > bound
		return fmt.Sprintf("%d of %d", *f.WorstRounds, bound)
	}
	return fmt.Sprintf("%-30s l=%d %-9s normal within %s rounds, legitimate within %s\n", net.name, l, variant,
		rounds(0, n), rounds(1, bound(n, l))), isRefuted
}

// TestRounds: Theorem 4.1 and Lemma 4.12 on every network of up to 3 processes. They hold for the corrected algorithm;
// what is printed does not even stay normal.
func TestRounds(t *testing.T) {
	var table strings.Builder
	for _, net := range upTo(t, 3) {
		for l := 1; l <= 3; l++ {
			line, isRefuted := claim(t, net, "corrected", l)
			table.WriteString(line)
			if isRefuted {
				t.Error(line)
			}
		}
	}
	for _, net := range upTo(t, 3) {
		line, _ := claim(t, net, "printed", 1)
		table.WriteString(line)
	}
	compare(t, "rounds_up_to_3", table.String())
}

// TestRoundsWithoutSteps: on path:4 an unfair daemon never gets there, so steps have no bound; rounds have one.
func TestRoundsWithoutSteps(t *testing.T) {
	r := ask(t, instance(t, named(t, "path:4")[0].graph, "corrected", 1, "claims", "paper"), check.Options{Arbitrary: true,
		Daemon: check.Central, Fairness: check.Weak, Rounds: true, Properties: []string{"stabilizes", "normal"}})
	for i, want := range []int{12, 3} {
		f := r.Findings[i]
		if f.Verdict != check.Proved || f.WorstRounds == nil || *f.WorstRounds != want {
			t.Errorf("%s: %s, %v rounds, not %d", f.Property, f.Verdict, f.WorstRounds, want)
		}
	}
}

// TestFullRounds: the same for 4 processes.
func TestFullRounds(t *testing.T) {
	long(t)
	var table strings.Builder
	for _, variant := range []string{"corrected", "repaired"} {
		for _, net := range connected(t, 4) {
			for l := 1; l <= 3; l++ {
				line, isRefuted := claim(t, net, variant, l)
				table.WriteString(line)
				if isRefuted && variant == "corrected" {
					t.Error(line)
				}
			}
		}
	}
	compare(t, "rounds_4_full", table.String())
}

// TestAllAtOnce: the Notes on Liveness say that for ℓ ≤ ⌈n/3⌉ there are configurations with ℓ privileges at once, on
// various topologies. A star is not one of them: the root holds one token out at a time, and nobody passes any on.
func TestAllAtOnce(t *testing.T) {
	var table strings.Builder
	for _, net := range named(t, "path:4", "star:4", "ring:4", "complete:4", "path:5", "star:5", "ring:5", "complete:5", "binary:6",
		"grid:2x3", "star:6,root=1", "path:7", "path:7,root=3", "binary:7", "star:7", "ring:7") {
		n := net.graph.Len()
		for l := 2; l <= (n+2)/3; l++ {
			r := ask(t, instance(t, net.graph, "corrected", l, "claims", "paper"), check.Options{Daemon: check.Distributed,
				Properties: []string{"all-at-once"}})
			fmt.Fprintf(&table, "%-15s l=%d %6d states: %s\n", net.name, l, r.States, r.Verdict)
		}
	}
	compare(t, "all_at_once", table.String())
}
