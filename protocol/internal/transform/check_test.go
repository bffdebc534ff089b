// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"fmt"
	"strings"
	"testing"

	"allot/check"
	"allot/internal/golden"
	"allot/model"
	"allot/protocol/internal/transform"
	"allot/protocol/ring"
	"allot/protocol/wave"
)

// idle is a program of one state in which nobody ever acts. What is left is the transformer: who passes a token on when. Since
// the checker lets any time go by before a process that has its turn passes it on, one edge of it stands for an edge of
// any program in any network.
type idle struct{}

func (idle) Layout(int) model.Layout                   { l, _ := model.NewLayout(); return l }
func (idle) Clean(int) uint64                          { return 0 }
func (idle) Actions() []model.Action                   { return []model.Action{{Name: "never"}} }
func (idle) Enabled(int, model.Configuration) uint64   { return 0 }
func (idle) Next(int, int, model.Configuration) uint64 { return 0 }
func newIdle(o model.Options) (*model.Instance, error) {
	s, err := model.NewGuarded(o.Graph, idle{}, o.Budget)
	return &model.Instance{System: s}, err
}

var (
	idleAlgorithm = model.Algorithm{Name: "idle", Variants: []string{"corrected"}, New: newIdle}
	idleLinks     = transform.Over(&idleAlgorithm, "path:2")
)

type values = map[string]string

// question is one row of a table: what is asked of which instance, and what the answer must be.
type question struct {
	story
	variant  string
	faults   string
	clean    bool
	fairness check.Fairness // strong if empty
	asked    string         // properties; all if empty
	refuted  string         // those that have counterexamples
}

func (q question) ask(t *testing.T) string {
	t.Helper()
	budget, err := model.ParseBudget(q.faults)
	if err != nil {
		t.Fatal(err)
	}
	inst := q.instanceWith(t, q.variant, budget)
	o := check.Options{Arbitrary: !q.clean, Fairness: check.Strong, Properties: strings.Fields(q.asked)}
	if q.fairness != "" {
		o.Fairness = q.fairness
	}
	r := ask(t, inst, o)
	got := strings.Join(failed(r), " ")
	text := fmt.Sprintf("%-10s %-12s %-48s %s", q.algorithm.Name, q.topology, q.links, settings(q.values))
	for _, word := range []string{q.variant, q.faults} {
		if word != "" {
			text += " " + word
		}
	}
	start := "arbitrary"
	if q.clean {
		start = "clean"
	}
	verdict := "proved"
	if got != "" {
		verdict = "refuted: " + got
	}
	if got != q.refuted {
		t.Errorf("%s: refuted are %q, not %q", text, got, q.refuted)
	}
	return fmt.Sprintf("%s %s start, %s: %d states, %d transitions; %s\n", text, start, o.Fairness, r.States, r.Transitions, verdict)
}

func table(t *testing.T, name string, questions []question) {
	t.Helper()
	var text strings.Builder
	for _, q := range questions {
		text.WriteString(q.ask(t))
	}
	golden.Compare(t, "testdata/"+name+".txt", text.String())
}

const (
	one      = "fifo,lossy,capacity=1,garbage=1"
	empty    = "fifo,lossy,capacity=1"
	two      = "fifo,lossy,capacity=2,garbage=2"
	repeats  = "fifo,lossy,duplicating,capacity=2"
	reorders = "unordered,lossy,duplicating,capacity=2"
)

func edge(links string, v values) story { return story{&idleLinks, "path:2", links, v} }

// TestEdge: from every state of both ends and all contents of the links, an edge comes to have one token, and both ends
// get it again and again, if and only if there are more than twice as many numbers as a link holds messages.
func TestEdge(t *testing.T) {
	table(t, "edge", []question{
		{story: edge(one, values{"numbers": "2"}), refuted: "sound"},
		{story: edge(one, values{"numbers": "3"})},
		{story: edge(two, values{"numbers": "4"}), refuted: "sound"},
		{story: edge(two, values{"numbers": "5"})},
		{story: edge(two, nil), faults: "duplicate=1"},
		{story: edge(repeats, nil), clean: true, asked: "exact"},
		{story: edge(one, nil), fairness: check.Weak, refuted: "sound turns"}, // it may lose everything
	})
}

// TestReordering: links that do not keep the order need numbers that grow. With numbers that come again the holder of a
// token may be a second one, however many there are; with growing numbers there is never more than one.
func TestReordering(t *testing.T) {
	table(t, "reordering", []question{
		{story: edge(reorders, values{"handshake": "ordered", "numbers": "5"}), clean: true, asked: "exact", refuted: "exact"},
		{story: edge(reorders, values{"numbers": "6"}), clean: true, asked: "exact"},
		{story: story{&ring.OverLinks, "ring:2", reorders, values{"numbers": "5", "k": "3"}}, clean: true, asked: "exact exclusion"},
		{story: story{&ring.OverLinks, "ring:3", "unordered,lossy,capacity=1", values{"numbers": "3"}}, clean: true, asked: "exact exclusion"},
	})
}

// TestSmallest: the ring and the wave on the smallest networks.
func TestSmallest(t *testing.T) {
	table(t, "smallest", []question{
		{story: story{&ring.OverLinks, "ring:2", one, nil}},
		{story: story{&ring.OverLinks, "ring:2", empty, values{"k": "3"}}},
		{story: story{&ring.OverLinks, "ring:2", one, values{"work": "1"}}},
		{story: story{&wave.OverLinks, "path:2", empty, values{"l": "1"}}},
		{story: story{&wave.OverLinks, "path:2", empty, values{"l": "2"}}},
		{story: story{&wave.OverLinks, "path:2", empty, values{"l": "3"}}},
		{story: story{&wave.OverLinks, "path:2", two, values{"l": "1"}}, clean: true},
		{story: story{&wave.OverLinks, "path:2", two, values{"l": "2"}}, clean: true},
		{story: story{&wave.OverLinks, "path:2", two, values{"l": "3", "work": "2"}}, clean: true},
		{story: story{&wave.OverLinks, "path:2", one, values{"l": "2"}}, variant: "keeping", clean: true},
		{story: story{&ring.OverLinks, "ring:2", empty, nil}, clean: true, faults: "corrupt=1,forge=1", asked: "stabilizes sound faithful"},
		{story: story{&wave.OverLinks, "path:2", empty, values{"l": "1"}}, clean: true, faults: "corrupt=1", asked: "stabilizes sound faithful kept delivery"},
		{story: story{&ring.OverLinks, "ring:3", one, values{"numbers": "2", "k": "1"}}, clean: true, asked: "exact faithful turns"},
		{story: story{&wave.OverLinks, "path:3", one, values{"numbers": "2", "l": "1"}}, clean: true},
	})
}

// TestFullSmallest: larger ones.
func TestFullSmallest(t *testing.T) {
	long(t)
	table(t, "smallest_full", []question{
		{story: story{&ring.OverLinks, "ring:2", one, values{"k": "3"}}},
		{story: story{&ring.OverLinks, "ring:2", one, values{"work": "2"}}},
		{story: story{&ring.OverLinks, "ring:3", one, values{"numbers": "2", "k": "2"}}, clean: true},
		{story: story{&wave.OverLinks, "path:3", one, values{"numbers": "2", "l": "2"}}, clean: true},
	})
}

// TestMutants: every mechanism of the transformer is missed when it is gone.
func TestMutants(t *testing.T) {
	small := story{&ring.OverLinks, "ring:2", one, nil}
	questions := []question{
		{story: small, variant: "any-answer", refuted: "stabilizes sound"},
		{story: small, variant: "any-token", refuted: "stabilizes sound"},
		{story: small, variant: "keep-token", refuted: "stabilizes service sound turns"},
		{story: small, variant: "old-cache", refuted: "stabilizes service sound"},
		{story: small, variant: "same-number", refuted: "stabilizes service sound turns"},
		{story: small, variant: "send-before", refuted: "stabilizes sound"},
		{story: small, variant: "send-once", refuted: "stabilizes service sound turns"},
		{story: small, variant: "take-twice", refuted: "stabilizes sound"},
		{story: story{&ring.OverLinks, "ring:3", one, nil}, variant: "one-token-is-enough", clean: true, asked: "faithful exclusion", refuted: "faithful exclusion"},
	}
	judged := map[string]bool{
		"keep-all": true, // see TestStuck
		"no-jump":  true, // see TestStuck
	}
	for _, q := range questions {
		judged[q.variant] = true
	}
	for _, mutant := range ring.OverLinks.Mutants {
		if !judged[mutant] {
			t.Errorf("nobody judges %s", mutant)
		}
	}
	table(t, "mutants", questions)
}

// TestStories compares shortest counterexamples with what a person has read and found right.
func TestStories(t *testing.T) {
	for _, test := range []struct {
		name string
		question
	}{
		{"two_numbers_are_too_few", question{story: edge(one, values{"numbers": "2"}), asked: "sound"}},
		{"an_old_message_passes_for_a_new_one", question{story: edge(reorders, values{"handshake": "ordered", "numbers": "5"}), clean: true, asked: "exact"}},
		{"acting_with_one_token_of_two", question{story: story{&ring.OverLinks, "ring:3", one, nil}, variant: "one-token-is-enough", clean: true, asked: "faithful"}},
		{"a_token_that_is_lost_is_not_sent_again", question{story: edge(one, nil), variant: "send-once", clean: true, asked: "turns"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inst := test.instance(t, test.variant)
			r := ask(t, inst, check.Options{Arbitrary: !test.clean, Fairness: check.Strong, Properties: strings.Fields(test.asked)})
			if r.Verdict != check.Counterexample {
				t.Fatalf("%s: %s", test.asked, r.Verdict)
			}
			story, err := model.Tell(inst, r.Findings[0].Run)
			if err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "testdata/"+test.name+".txt", story.String())
		})
	}
}
