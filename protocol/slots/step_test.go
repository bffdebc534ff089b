// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"allot/check"
	"allot/internal/golden"
	"allot/model"
)

// question is an instance and what is asked of it.
type question struct {
	algorithm, variant, faults, more string // more: parameters, such as "cancel=yes names=yes"
	n, k, crashes                    int
}

func (q question) String() string {
	text := fmt.Sprintf("--algorithm %s --n %d --k %d", q.algorithm, q.n, q.k)
	if q.crashes > 0 {
		text += fmt.Sprintf(" --crashes %d", q.crashes)
	}
	for _, m := range strings.Fields(q.more) {
		text += " --" + strings.Replace(m, "=", " ", 1)
	}
	if q.faults != "" {
		text += " --faults " + q.faults
	}
	if q.variant != "" {
		text += " --variant " + q.variant
	}
	return text
}

func (q question) instance(t testing.TB) *model.Instance {
	t.Helper()
	inst, err := q.tryInstance(t)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return inst
}

func (q question) tryInstance(t testing.TB) (*model.Instance, error) {
	t.Helper()
	values := map[string]string{
		"algorithm": q.algorithm, "n": fmt.Sprint(q.n), "k": fmt.Sprint(q.k), "crashes": fmt.Sprint(q.crashes),
	}
	for _, m := range strings.Fields(q.more) {
		name, value, _ := strings.Cut(m, "=")
		values[name] = value
	}
	budget, err := model.ParseBudget(q.faults)
	if err != nil {
		t.Fatal(err)
	}
	g, err := model.NewGraph(2, [][2]int{{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	return Algorithm.Make(model.Options{Graph: g, Variant: q.variant, Values: values, Budget: budget})
}

func (q question) ask(t testing.TB, properties ...string) (*model.Instance, *check.Result) {
	t.Helper()
	inst := q.instance(t)
	r, err := check.Run(context.Background(), inst, check.Options{Fairness: check.Weak, Workers: 1, Properties: properties})
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return inst, r
}

// tell writes a run as lines.
func tell(inst *model.Instance, q question, f check.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "allot lab check slots %s\n%s: %s\n\n", q, f.Property, f.Why)
	c := inst.System.Clean()
	var buffer model.Buffer
	for i, step := range f.Run.Steps {
		if i == f.Run.Loop {
			b.WriteString("again and again:\n")
		}
		fmt.Fprintln(&b, inst.System.Describe(c, step[0]))
		inst.System.Apply(c, step, &buffer)
	}
	return b.String()
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	golden.Compare(t, filepath.Join("testdata", name+".txt"), got)
}

func TestStories(t *testing.T) {
	for name, story := range map[string]struct {
		question
		property string
	}{
		"naive_locks_out_after_one_crash":            {question{algorithm: NAIVE, n: 3, k: 2, crashes: 1}, "no-lockout"},
		"printed_leaf_of_three_lets_two_in":          {question{algorithm: GTEX, n: 3, k: 1, variant: "printed"}, "exclusion"},
		"printed_gcheck_reads_another_nodes_turn":    {question{algorithm: GTEX, n: 4, k: 1, variant: "printed-turn"}, "exclusion"},
		"nodes_of_one_height_share_turn":             {question{algorithm: GTEX, n: 4, k: 1, variant: "turn-by-height"}, "exclusion"},
		"turn_written_before_level":                  {question{algorithm: EXCL, n: 2, k: 1, variant: "turn-first"}, "exclusion"},
		"giving_up_before_turn_is_written":           {question{algorithm: EXCL, n: 2, k: 1, more: "cancel=yes", variant: "cancel-early"}, "no-lockout"},
		"express_lane_open_while_somebody_waits":     {question{algorithm: EXCL, n: 3, k: 2, more: "express=yes", variant: "express-blind"}, "no-lockout"},
		"express_lane_by_single_reads_of_levels":     {question{algorithm: GTEX, n: 4, k: 1, more: "express=yes cancel=yes", variant: "express-by-levels"}, "exclusion"},
		"express_lane_announced_before_a_look":       {question{algorithm: EXCL, n: 3, k: 1, more: "express=yes cancel=yes", variant: "express-hasty"}, "no-lockout"},
		"level_lowered_before_a_dead_ones_name_goes": {question{algorithm: EXCL, n: 3, k: 2, more: "names=yes", faults: "crash=1,restart=1", variant: "arrive-then-sweep"}, "one-pass"},
	} {
		t.Run(name, func(t *testing.T) {
			inst, r := story.ask(t, story.property)
			if r.Verdict != check.Counterexample {
				t.Fatalf("%s: %s", story.question, r.Verdict)
			}
			compare(t, name, tell(inst, story.question, r.Findings[0]))
		})
	}
}

// TestTree pins the tournament of the paper's example 2 (section 5) and the properties that every tree must have.
func TestTree(t *testing.T) {
	var got []string
	for _, nd := range newTree(Config{Algorithm: GTEX, N: 17, K: 3}) {
		got = append(got, fmt.Sprintf("%s:%d..%d", nd.label, nd.from, nd.to-1))
	}
	want := "00:0..4 01:5..8 10:9..12 11:13..16 0:0..8 1:9..16 :0..16"
	if strings.Join(got, " ") != want {
		t.Errorf("the tree of (17,3) is %v, want %s", got, want)
	}
	for n := 2; n <= 40; n++ {
		for k := 1; k < n; k++ {
			m, err := New(Config{Algorithm: GTEX, N: n, K: k})
			if err != nil {
				t.Fatal(err)
			}
			if m.Turns() != n-k {
				t.Fatalf("(%d,%d) has %d turn registers, want n-k", n, k, m.Turns())
			}
			for p := range n {
				checkRounds(t, m, p)
			}
		}
	}
}

func checkRounds(t *testing.T, m *Machine, p int) {
	t.Helper()
	code := uint64(0)
	for i, r := range m.plan.rounds[p] {
		if p < r.from || p >= r.to || r.code <= code || r.limit < m.K-1 {
			t.Fatalf("(%d,%d): round %d of process %d is %+v after code %d", m.N, m.K, i, p, r, code)
		}
		code = r.code
	}
	if n := len(m.plan.rounds[p]); m.plan.rounds[p][n-1].limit != m.K-1 {
		t.Fatalf("(%d,%d): the last round of process %d lets %d others be", m.N, m.K, p, m.plan.rounds[p][n-1].limit)
	}
}

// TestRefusals: what cannot be made is refused with a sentence, not a panic.
func TestRefusals(t *testing.T) {
	for _, c := range []Config{
		{N: 0, K: 1}, {N: 2, K: 0}, {N: MaxProcesses + 1, K: 1}, {N: 2, K: 1, Algorithm: "fifo"},
		{N: 2, K: 1, Variant: "other"}, {N: 2, K: 1, Stay: maxStay + 1},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

// TestAnyCountedState: the same for Counted.
func TestAnyCountedState(t *testing.T) {
	for _, variant := range []string{"corrected", "counted-glance-first", "counted-vacate-first", "counted-settle-first", "counted-drop-late"} {
		m, err := NewCounted(Config{Algorithm: GTEX, Variant: variant, N: 4, K: 2, Seats: 3, Bits: 1, Cancel: true, Holders: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.layout.Size() {
			local := m.layout.Value(i)
			for p := range m.N {
				for choice, a := range m.Accesses(p, local, nil) {
					if a.Op != model.Local && a.Value >= m.registers[a.Register].Size {
						t.Fatalf("%s: %+v is outside the domain of %s", variant, a, m.registers[a.Register].Name)
					}
					for found := range m.registers[a.Register].Size {
						if after := m.After(p, local, choice, found); !m.layout.Contains(after) {
							t.Fatalf("%s: %v goes to %x, outside its domain", variant, m.layout.Variables(local), after)
						}
					}
				}
			}
		}
	}
}

// TestAnyState: every combination of values of the own state gives accesses to registers that exist and a next state
// inside the domain, so that corrupted processes cannot bring the laboratory down.
func TestAnyState(t *testing.T) {
	for _, algorithm := range Algorithms {
		m, err := New(Config{Algorithm: algorithm, N: 4, K: 2, Express: true, Names: true, Cancel: true, Stay: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.layout.Size() {
			local := m.layout.Value(i)
			for p := range m.N {
				for choice, a := range m.Accesses(p, local, nil) {
					if a != m.Choice(p, local, choice) || choice >= m.Choices(p, local) {
						t.Fatalf("Choice differs from Accesses in %v", m.layout.Variables(local))
					}
					if a.Op != model.Local && a.Value >= m.registers[a.Register].Size {
						t.Fatalf("%+v is outside the domain of %s", a, m.registers[a.Register].Name)
					}
					for found := range m.registers[a.Register].Size {
						if after := m.After(p, local, choice, found); !m.layout.Contains(after) {
							t.Fatalf("%v goes to %x, outside its domain", m.layout.Variables(local), after)
						}
					}
				}
			}
		}
	}
}
