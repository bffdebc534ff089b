// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package reign_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"allot/check"
	"allot/model"
	"allot/protocol/reign"
	"allot/topology"
)

func makeReign(t testing.TB, spec, variant string, values map[string]string) *model.Instance {
	t.Helper()
	g, err := topology.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	links, err := model.ParseLinks("fifo")
	if err != nil {
		t.Fatal(err)
	}
	inst, err := reign.Algorithm.Make(model.Options{Graph: g, Variant: variant, Values: values, Links: links})
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// question is an instance with what the checker must answer.
type question struct {
	flags   string // as on the command line
	variant string
	refuted string // the property that does not hold; empty if all are proved
	states  uint64
}

// slow is a store that answers and tells whenever it likes.
const slow = "--answers slow --crashes 0 --restarts 0"

// questions are answered within seconds each.
var questions = []question{
	// Safety, with a store as slow as it likes.
	{flags: slow, states: 124295},
	{flags: slow + " --generations 2 --skew 1 --margin 2", states: 182022},
	{flags: slow + " --generations 2 --losses 1", states: 120866},
	{flags: slow + " --generations 2 --leaves 1", states: 137504},
	{flags: slow + " --generations 2 --crashes 1 --restarts 1", states: 217368},
	// Life, with a store that answers in time.
	{flags: "", states: 52},
	{flags: "--skew 1 --margin 2", states: 330},
	{flags: "--leaves 2", states: 319},
	{flags: "--skew 1 --margin 2 --leaves 1 --stops 1", states: 22774},
	{flags: "--touch 4 --reign 8 --silence 6 --leaves 1 --skew 1 --margin 2", states: 11129},
	{flags: "--topology complete:4 --leaves 1 --stagger 1", states: 745},
	// One tick less is too early, and every guard is needed.
	{flags: slow + " --skew 1 --margin 1 --property handed-over", refuted: "handed-over"},
	{flags: slow + " --skew 1 --margin 1 --property one-reign", refuted: "one-reign"},
	{flags: slow + " --skew 2 --margin 3 --property one-reign", refuted: "one-reign"},
	{flags: slow + " --property one-reign", variant: "taken-over-early", refuted: "one-reign"},
	{flags: slow + " --property one-reign", variant: "counted-from-answer", refuted: "one-reign"},
	{flags: slow + " --property one-reign", variant: "quiet-kept", refuted: "one-reign"},
	{flags: slow + " --property one-reign", variant: "quiet-unread", refuted: "one-reign"},
	{flags: slow + " --property one-reign --generations 2", variant: "revision-ignored", refuted: "one-reign"},
	{flags: slow + " --property generations --generations 2", variant: "revision-ignored", refuted: "generations"},
	{flags: slow + " --property one-reign --losses 1", variant: "renewed-by-failed", refuted: "one-reign"},
	{flags: slow + " --property one-reign --leaves 1", variant: "kept-on-leaving", refuted: "one-reign"},
	{flags: slow + " --property one-reign --leaves 1", variant: "root-unchecked", refuted: "one-reign"},
	{flags: slow + " --property generations --news old --generations 2", variant: "old-record-taken", refuted: "generations"},
	{flags: slow + " --property new-life --crashes 1 --restarts 1", variant: "life-forgotten", refuted: "new-life"},
	{flags: "--skew 1 --margin 2", variant: "strangers-ignored", refuted: "member"},
	{flags: "--skew 1 --margin 2", variant: "silence-ignored", refuted: "member"},
	{flags: "--skew 1 --margin 2", variant: "never-takes-over", refuted: "ruled"},
	{flags: "--skew 1 --margin 2 --leaves 1", variant: "leaving-ignored", refuted: "out"},
	{flags: "--skew 1 --margin 2 --leaves 1", variant: "leaver-waits", refuted: "out"},
}

// long are questions that take longer.
var long = []question{
	{flags: slow + " --skew 1 --margin 2", states: 779614},
	{flags: slow + " --generations 2 --skew 2 --margin 4", states: 832792},
	{flags: slow + " --generations 2 --skew 1 --margin 2 --reign 2 --silence 3", states: 419722},
	{flags: slow + " --generations 2 --skew 1 --margin 2 --losses 1", states: 745210},
	{flags: slow + " --generations 2 --skew 1 --margin 2 --leaves 1", states: 848088},
	{flags: slow + " --generations 2 --skew 1 --margin 2 --stops 1", states: 1817050},
	{flags: slow + " --generations 2 --skew 1 --margin 2 --news old", states: 1548864},
	{flags: slow + " --generations 2 --skew 1 --margin 2 --crashes 1 --restarts 1", states: 1374660},
	{flags: slow + " --generations 2 --leaves 2", states: 214662},
	{flags: "--skew 1 --margin 2 --leaves 2 --stops 1 --renewals 1", states: 75128},
	{flags: "--topology complete:4 --skew 1 --margin 2 --leaves 2 --stagger 1", states: 29686},
	{flags: slow + " --leaves 1", states: 932323},
	{flags: slow + " --losses 1", states: 527901},
	{flags: slow + " --crashes 1 --restarts 1", states: 965689},
	{flags: slow + " --stops 1", states: 1075390},
	{flags: slow + " --news old", states: 2643478},
}

func (q question) ask(t *testing.T) {
	t.Helper()
	values := map[string]string{}
	spec := "complete:3"
	var properties []string
	words := strings.Fields(q.flags)
	for i := 0; i+1 < len(words); i += 2 {
		switch name := strings.TrimPrefix(words[i], "--"); name {
		case "topology":
			spec = words[i+1]
		case "property":
			properties = strings.Split(words[i+1], ",")
		default:
			values[name] = words[i+1]
		}
	}
	if q.variant == "" {
		q.variant = "corrected"
	}
	inst := makeReign(t, spec, q.variant, values)
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
	if q.refuted == "" {
		t.Logf("%d states", result.States)
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

// TestEveryMutantIsCaught: by a question, or by a test of its own.
func TestEveryMutantIsCaught(t *testing.T) {
	caught := map[string]bool{"rest-unchecked": true} // TestRestIsNotToldOfOthers
	for _, q := range questions {
		if q.refuted != "" {
			caught[q.variant] = true
		}
	}
	for _, name := range reign.Algorithm.Mutants {
		if !caught[name] {
			t.Errorf("nobody catches %s", name)
		}
	}
}
