// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"allot/check"
	"allot/protocol/pool"
	"allot/sim"
)

// question is an instance with what the checker must answer.
type question struct {
	flags   string // as on the command line
	variant string
	refuted string // the property that does not hold; empty if all are proved
	states  uint64
}

// safe is what the questions about leases and generations have in common: two members and one unit, clocks that differ by a
// tick, links that lose, and timers that run out whenever they like. The second generation begins as soon as the reign
// of the first root is over, or at any time if it is the same one.
const safe = "--timers any --skew 1 --lease 1 --margin 2 --generations 2 --takeover exact --calls prompt --burst 1 --turns 0 --passes 0 " +
	"--asks 1 --links fifo,lossy,capacity=1 --property exclusive,one-reign,used"

// The second generation is without the other member, or without the root, or with both.
const (
	sameAlone  = safe + " --next same-alone"
	otherAlone = safe + " --next other-alone"
)

// questions are answered within seconds each.
var questions = []question{
	// Promise 1.
	{flags: sameAlone, states: 96153},
	{flags: otherAlone, states: 70716},
	{flags: otherAlone + " --crashes 1 --restarts 1", states: 105495},
	{flags: "--timers any --calls prompt --burst 1 --links unordered,lossy,duplicating,capacity=2 --property exclusive,one-reign,used", states: 13561},
	// Promises 2, 3 and 8.
	{flags: "--l 2 --k 2", states: 9382},
	{flags: "--l 3 --k 2 --calls prompt", states: 17214},
	{flags: "--l 1 --limit 2", states: 9478},
	{flags: "--l 2 --k 2 --cancel yes --calls prompt", states: 46943},
	{flags: "--topology complete:4 --l 1 --calls prompt --burst 1", states: 4803},
	{flags: "--topology complete:4 --l 2 --forever 2 --calls prompt --burst 1", states: 9976},
	{flags: "--l 4 --k 2 --forever 2 --calls prompt --burst 1", states: 736},
	{flags: "--l 2 --resizes 2 --calls prompt", states: 40833},
	// One tick less is too early, and every guard is needed.
	{flags: sameAlone + " --margin 1", refuted: "exclusive"},
	{flags: sameAlone, variant: "minted-early", refuted: "exclusive"},
	{flags: otherAlone, variant: "minted-early", refuted: "exclusive"},
	{flags: otherAlone, variant: "minted-at-once", refuted: "exclusive"},
	{flags: otherAlone, variant: "taken-over-early", refuted: "one-reign"},
	{flags: sameAlone, variant: "renewed-late", refuted: "exclusive"},
	{flags: sameAlone, variant: "renewed-from-now", refuted: "exclusive"},
	{flags: sameAlone, variant: "taken-without-lease", refuted: "exclusive"},
	{flags: sameAlone, variant: "call-ignored", refuted: "exclusive"},
	{flags: "--l 2 --k 2", variant: "no-priority", refuted: "served"},
	{flags: "--l 2 --k 2", variant: "lack-ignored", refuted: "served"},
	{flags: "--l 2 --k 2", variant: "turns-renewed", refuted: "served"},
}

// long are questions that take longer.
var long = []question{
	{flags: safe + " --next same"},
	{flags: safe + " --next other"},
	{flags: safe + " --next same", variant: "present-ignored", refuted: "exclusive"},
	{flags: sameAlone + " --links fifo,lossy,capacity=2"},
	{flags: sameAlone + " --links fifo,lossy,capacity=2", variant: "renewed-by-lost", refuted: "exclusive"},
	{flags: sameAlone + " --asks 0"},
	{flags: otherAlone + " --asks 0"},
	{flags: sameAlone + " --lease 2"},
	{flags: otherAlone + " --lease 2"},
	{flags: sameAlone + " --calls travel"},
	{flags: otherAlone + " --calls travel"},
	{flags: otherAlone + " --takeover timed"},
	{flags: otherAlone + " --takeover timed", variant: "taken-over-early", refuted: "one-reign"},
	{flags: otherAlone + " --crashes 1 --restarts 1", variant: "life-forgotten", refuted: "exclusive"},
	{flags: "--topology complete:4 --l 2 --k 2 --calls prompt --burst 1"},
	{flags: "--l 2 --k 2 --resizes 2 --calls prompt"},
}

func (q question) ask(t *testing.T) {
	t.Helper()
	values := map[string]string{}
	topology, links := "complete:3", "fifo"
	var properties []string
	words := strings.Fields(q.flags)
	for i := 0; i+1 < len(words); i += 2 {
		switch name := strings.TrimPrefix(words[i], "--"); name {
		case "topology":
			topology = words[i+1]
		case "links":
			links = words[i+1]
		case "property":
			properties = strings.Split(words[i+1], ",")
		default:
			values[name] = words[i+1]
		}
	}
	if q.variant == "" {
		q.variant = "corrected"
	}
	inst := makePool(t, topology, links, q.variant, values)
	result, err := check.Run(context.Background(), inst, check.Options{Fairness: check.Weak, Properties: properties, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	isRefuted := false
	for _, p := range result.Findings {
		switch {
		case p.Verdict == check.Proved:
		case p.Verdict == check.Counterexample && p.Property == q.refuted:
			isRefuted = true
		case q.refuted == "" || p.Verdict != check.Counterexample:
			t.Errorf("%s: %s", p.Property, p.Verdict)
		}
	}
	if q.refuted != "" && !isRefuted {
		t.Errorf("%s is not refuted", q.refuted)
	}
	if q.states > 0 && result.States != q.states {
		t.Errorf("%d states, want %d", result.States, q.states)
	}
}

// TestQuestions: what is claimed is proved where it can be explored, and refuted where a mutant lacks a guard.
func TestQuestions(t *testing.T) {
	for _, q := range questions {
		t.Run(q.variant+" "+q.flags, q.ask)
	}
}

// TestFullQuestions asks the larger ones.
func TestFullQuestions(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("searches of up to a minute each; set ALLOT_FULL=1")
	}
	for _, q := range long {
		t.Run(q.variant+" "+q.flags, q.ask)
	}
}

// TestEveryMutantIsCaught: here, in a story, or in a storm.
func TestEveryMutantIsCaught(t *testing.T) {
	caught := map[string]string{
		"generation-unchecked": "a story", "kept-without-lease": "a story", "sent-without-reign": "a story", "twice-kept": "a story",
		"minted-without-reign": "a test of its own", "priority-kept": "a test of its own",
		"fence-not-raised": "a storm", "burst-ignored": "a storm", "old-visit-taken": "a storm",
	}
	for _, q := range append(append([]question{}, questions...), long...) {
		if q.refuted != "" {
			caught[q.variant] = "a question"
		}
	}
	for _, name := range pool.Algorithm.Mutants {
		if caught[name] == "" {
			t.Errorf("nobody catches %s", name)
		}
	}
	for name, how := range caught {
		if how != "a storm" {
			continue
		}
		isCaught := false
		for seed := uint64(0); seed < 400 && !isCaught; seed++ {
			isCaught = drawStorm(seed).run(t, name, seed).Verdict == sim.Violated
		}
		if !isCaught {
			t.Errorf("no storm catches %s", name)
		}
	}
}
