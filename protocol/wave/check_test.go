// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"allot/check"
	"allot/internal/golden"
	"allot/model"
	"allot/protocol/wave"
)

// compare holds a text against what a person has read and found right.
func compare(t *testing.T, name, got string) {
	t.Helper()
	golden.Compare(t, filepath.Join("testdata", name+".txt"), got)
}

// row asks everything of one instance from every configuration, and makes a line of a table of the answer.
func row(t *testing.T, net network, variant string, l int, daemon check.Daemon, fairness check.Fairness) string {
	t.Helper()
	r := ask(t, instance(t, net.graph, variant, l), check.Options{Arbitrary: true, Daemon: daemon, Fairness: fairness})
	f := r.Findings[0]
	steps := "-"
	if f.WorstSteps != nil {
		steps = fmt.Sprint(*f.WorstSteps)
	}
	verdict := "proved"
	if list := failed(r); len(list) > 0 {
		verdict = "fails: " + strings.Join(list, ", ")
	}
	return fmt.Sprintf("%-30s l=%d %-15s %-4s %9d states %10d transitions %6d legitimate, at most %s steps; %s\n",
		net.name, l, daemon, fairness, r.States, r.Transitions, f.Legitimate, steps, verdict)
}

// TestUpToThree: every connected network of 2 and 3 processes, ℓ from 1 to beyond n, every daemon, fair and unfair.
func TestUpToThree(t *testing.T) {
	var table strings.Builder
	for _, net := range upTo(t, 3) {
		for l := 1; l <= 4; l++ {
			for _, daemon := range check.Daemons {
				for _, fairness := range fairnesses {
					table.WriteString(row(t, net, "corrected", l, daemon, fairness))
				}
			}
		}
	}
	compare(t, "verdicts_up_to_3", table.String())
	if strings.Contains(table.String(), "fails") {
		t.Error("there is a counterexample")
	}
}

// TestFour: every connected network of 4 processes under the strongest daemon that the paper claims, weakly fair.
func TestFour(t *testing.T) {
	var table strings.Builder
	for _, net := range connected(t, 4) {
		table.WriteString(row(t, net, "corrected", 2, check.Distributed, check.Weak))
	}
	compare(t, "verdicts_4", table.String())
	if strings.Contains(table.String(), "fails") {
		t.Error("there is a counterexample")
	}
}

// TestFullFour: the same for every ℓ and daemon. Under the unfair daemon two networks have counterexamples; the table
// names them.
func TestFullFour(t *testing.T) {
	long(t)
	var table strings.Builder
	for _, net := range connected(t, 4) {
		for l := 1; l <= 3; l++ {
			for _, daemon := range check.Daemons {
				for _, fairness := range fairnesses {
					line := row(t, net, "corrected", l, daemon, fairness)
					table.WriteString(line)
					if fairness == check.Weak && strings.Contains(line, "fails") {
						t.Error(line)
					}
				}
			}
		}
	}
	compare(t, "verdicts_4_full", table.String())
}

// TestFullFive: some networks of 5 processes.
func TestFullFive(t *testing.T) {
	long(t)
	var table strings.Builder
	for i, net := range named(t, "star:5", "binary:5", "path:5,root=2") {
		for l := 1; l <= max(1, 3-2*i); l++ {
			line := row(t, net, "corrected", l, check.Distributed, check.Weak)
			table.WriteString(line)
			if strings.Contains(line, "fails") {
				t.Error(line)
			}
		}
	}
	compare(t, "verdicts_5_full", table.String())
}

// TestFullFiveMore: larger ones, each of which takes minutes. What is proved of the distributed daemon is proved of the others, whose steps
// are among its steps.
func TestFullFiveMore(t *testing.T) {
	long(t)
	var table strings.Builder
	for _, ask := range []struct {
		topology string
		l        int
	}{{"complete:5", 1}, {"star:5,root=1", 1}, {"ring:5", 1}, {"path:5", 1}, {"complete:5", 2}} {
		line := row(t, named(t, ask.topology)[0], "corrected", ask.l, check.Distributed, check.Weak)
		table.WriteString(line)
		if strings.Contains(line, "fails") {
			t.Error(line)
		}
	}
	compare(t, "verdicts_5_more_full", table.String())
}

// TestCleanStart: from the clean start there are never more than ℓ privileges, tree or no tree.
func TestCleanStart(t *testing.T) {
	var table strings.Builder
	for _, net := range append(upTo(t, 4), named(t, "path:6", "ring:6", "grid:2x3", "binary:7", "star:6,root=1")...) {
		for l := 1; l <= 3; l++ {
			r := ask(t, instance(t, net.graph, "corrected", l), check.Options{Daemon: check.Distributed, Fairness: check.Weak})
			fmt.Fprintf(&table, "%-30s l=%d %6d states %7d transitions; %s %v\n", net.name, l, r.States, r.Transitions, r.Verdict, failed(r))
			if r.Verdict != check.Proved {
				t.Errorf("%s l=%d: %v", net.name, l, failed(r))
			}
		}
	}
	compare(t, "clean_start", table.String())
}

// caught names for every mutant the smallest network and the claims that the checker refutes on it.
var caught = []struct {
	mutant, topology string
	l                int
	properties       string
}{
	{"repaired-without-r1", "path:2", 1, "service"},
	{"repaired-without-r2", "path:3", 1, "stabilizes service"},
	{"repaired-without-r3", "complete:3", 1, "delivery no-deadlock service"},
	{"repaired-literal-a5", "path:2", 1, "stabilizes no-deadlock service"},
	{"repaired-without-r4", "path:2", 2, "no-deadlock service"},
	{"repaired-without-r5", "path:3", 1, "stabilizes no-deadlock service"},
	{"repaired-without-r3-r6", "complete:3", 1, "kept delivery"},
	{"repaired-without-r6", "ring:4", 1, "stabilizes safety kept delivery"},
	{"repaired-without-r7", "star:4,root=1", 1, "stabilizes"},
	{"without-r1", "path:2", 1, "service"},
	{"without-r2", "path:3", 1, "stabilizes service"},
	{"without-r3", "path:2", 1, "stabilizes no-deadlock service"},
	{"without-r4", "path:2", 2, "no-deadlock service"},
	{"without-r5", "star:3", 1, "stabilizes no-deadlock service"},
	{"without-r7", "star:4,root=1", 1, "stabilizes"},
	{"without-a1-clean", "path:2", 1, "stabilizes delivery"},
	{"without-a2-taken", "path:2", 2, "kept delivery"},
	{"without-a2-clean", "path:2", 2, "delivery"},
	{"without-a3-taken", "path:2", 1, "kept delivery"},
	{"without-a4-clean", "path:2", 1, "stabilizes"},
	{"without-a5-fed", "path:2", 1, "stabilizes"},
	{"without-a6-offered", "path:2", 1, "stabilizes safety kept delivery service"},
	{"without-a6-sent", "star:3", 1, "safety kept delivery"},
	{"without-a6-clean", "path:3", 1, "delivery"},
	{"without-a7-parent", "path:2", 1, "stabilizes kept delivery service"},
	{"without-a7-clean", "path:3", 1, "stabilizes"},
	{"without-a8-fed", "path:3", 1, "stabilizes"},
	{"without-a8-free", "path:3", 1, "stabilizes service"},
	{"without-a9-f", "path:2", 1, "service"},
	{"without-a9-sent", "path:2", 1, "delivery service"},
	{"without-a9-passed", "path:3", 1, "kept delivery"},
	{"without-normal", "path:4", 1, "stabilizes service"},
	{"without-normal-alone", "path:4", 1, "stabilizes no-deadlock service"},
	{"without-normal-path", "path:4", 1, "stabilizes service"},
	{"without-normal-level", "path:4", 1, "stabilizes service"},
	{"without-normal-f", "path:2", 1, "stabilizes no-deadlock service"},
	{"without-normal-tok", "path:2", 1, "stabilizes no-deadlock service"},
	{"without-rotor", "star:4,root=1", 1, "service"},
}

// survivors are the mutants that nothing up to four processes refutes, and why what they lack is kept.
var survivors = map[string]string{
	"without-a6-normal":   "the four Normal guards stand in for one another; without all of them (without-normal) path:4 never heals",
	"without-a7-normal":   "as without-a6-normal",
	"without-a8-normal":   "as without-a6-normal",
	"without-a9-normal":   "as without-a6-normal",
	"without-join-parent": "a process does not join its own child: the loop of two would be seen by the levels and cost a wave more",
	"without-join-clean":  "join is a7 for processes without a parent, and a7 needs the guard: what hangs below may hold tokens",
	"without-normal-b":    "a B below a C heals by feeding back; with the part of Normal it heals in the first rounds (Theorem 4.1)",
}

func TestEveryMutantIsJudged(t *testing.T) {
	judged := map[string]bool{}
	for _, m := range caught {
		judged[m.mutant] = true
		g := named(t, m.topology)[0].graph
		r := ask(t, instance(t, g, m.mutant, m.l), check.Options{Arbitrary: true, Daemon: check.Distributed, Fairness: check.Weak})
		if got := strings.Join(failed(r), " "); got != m.properties {
			t.Errorf("%s on %s, l=%d: refuted are %q, not %q", m.mutant, m.topology, m.l, got, m.properties)
		}
	}
	for mutant := range survivors {
		judged[mutant] = true
		for _, net := range named(t, "path:3", "complete:3", "star:4,root=1") {
			r := ask(t, instance(t, net.graph, mutant, 2), check.Options{Arbitrary: true, Daemon: check.Distributed, Fairness: check.Weak})
			if r.Verdict != check.Proved {
				t.Errorf("%s is caught on %s: %v", mutant, net.name, failed(r))
			}
		}
	}
	for _, mutant := range wave.Algorithm.Mutants {
		if !judged[mutant] && !strings.HasPrefix(mutant, "keeping-") { // for those see TestKeepingMutants
			t.Errorf("nobody judges %s", mutant)
		}
	}
}

// TestFullSurvivors puts the survivors to every network of up to four processes.
func TestFullSurvivors(t *testing.T) {
	long(t)
	for mutant := range survivors {
		for _, net := range upTo(t, 4) {
			for l := 1; l <= 2; l++ {
				r := ask(t, instance(t, net.graph, mutant, l), check.Options{Arbitrary: true, Daemon: check.Distributed, Fairness: check.Weak})
				if r.Verdict != check.Proved {
					t.Errorf("%s is caught on %s, l=%d: %v", mutant, net.name, l, failed(r))
				}
			}
		}
	}
}

// TestStories compares shortest counterexamples with what a person has read and found right.
func TestStories(t *testing.T) {
	for _, test := range []struct {
		name, variant, topology string
		l                       int
		property                string
		o                       check.Options
	}{
		{"printed_cleaning_for_ever_instead_of_taking", "printed", "path:2", 1, "service", check.Options{Fairness: check.Weak}},
		{"printed_root_of_degree_one_gives_one_token", "printed", "path:2", 2, "no-deadlock", check.Options{}},
		{"printed_a5_waits_for_a_process_without_a_parent", "repaired-literal-a5", "star:3", 1, "no-deadlock", check.Options{}},
		{"r2_leaving_no_parent_for_ever", "repaired-without-r2", "path:3", 1, "service", check.Options{Arbitrary: true, Fairness: check.Weak}},
		{"r3_two_neighbours_of_the_root", "repaired-without-r3", "complete:3", 1, "no-deadlock", check.Options{}},
		{"r5_waiting_for_somebody_elses_child", "repaired-without-r5", "path:3", 1, "no-deadlock", check.Options{Arbitrary: true}},
		{"r6_a_privilege_is_taken_away", "repaired-without-r6", "complete:3", 1, "kept", check.Options{Arbitrary: true}},
		{"r6_normality_is_left", "repaired-without-r6", "ring:4", 1, "normal", check.Options{Arbitrary: true, Fairness: check.Weak}},
		{"r7_normality_is_left", "repaired-without-r7", "star:4,root=1", 1, "normal", check.Options{Arbitrary: true, Fairness: check.Weak}},
		{"unfair_daemon_forgets_a_process", "corrected", "path:4", 1, "service", check.Options{Arbitrary: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			inst := instance(t, named(t, test.topology)[0].graph, test.variant, test.l, "claims", "paper")
			test.o.Daemon, test.o.Properties = check.Central, []string{test.property}
			r := ask(t, inst, test.o)
			if r.Verdict != check.Counterexample {
				t.Fatalf("%s: %s", test.property, r.Verdict)
			}
			story, err := model.Tell(inst, r.Findings[0].Run)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, test.name, story.String())
		})
	}
}
