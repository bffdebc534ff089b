// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"allot/check"
	"allot/model"
)

// rotate gives every process the number after its own, in its place and wherever it stands written.
func rotate(m *Machine, s *model.Registers, c model.Configuration) model.Configuration {
	r := append(model.Configuration(nil), c...)
	registers := len(c) - len(m.registers)
	number := func(v uint64) uint64 {
		if v == 0 {
			return 0
		}
		return v%uint64(m.N) + 1
	}
	for p := range m.N {
		r[(p+1)%m.N] = c[p]
		r[registers+(p+1)%m.N] = s.Register(c, p)
	}
	for i := m.N; i < len(m.registers); i++ {
		if m.Express && i == m.Lane() {
			continue
		}
		r[registers+i] = number(s.Register(c, i))
	}
	return r
}

// TestAlike: in one group, whatever a process can do another can do that is one number further on, if everybody is. So what holds for
// process 0 holds for all (model.Property.Ask).
func TestAlike(t *testing.T) {
	for _, c := range []Config{
		{Algorithm: EXCL, N: 3, K: 1, Cancel: true}, {Algorithm: EXCL, N: 4, K: 2}, {Algorithm: NAIVE, N: 4, K: 2}, {Algorithm: GTEX, N: 3, K: 1},
		{Algorithm: EXCL, N: 3, K: 2, Express: true, Names: true, Cancel: true, Try: true},
	} {
		m, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		g, err := model.NewGraph(m.N, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := model.NewRegisters(g, m, model.Budget{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.unlike(), []int{0}) {
			t.Fatalf("%+v: not all are alike", c)
		}
		if n := walkAlike(t, m, s); n < 1000 {
			t.Errorf("%+v: only %d steps were looked at", c, n)
		}
	}
	if m, err := New(Config{Algorithm: GTEX, N: 4, K: 1}); err != nil || m.unlike() != nil {
		t.Error("processes of different leaves are taken for alike")
	}
}

// walkAlike takes every step from every configuration, and the step of the next process from the rotated one.
func walkAlike(t *testing.T, m *Machine, s *model.Registers) (steps int) {
	t.Helper()
	seen := map[string]bool{}
	queue := []model.Configuration{s.Clean()}
	var buffer model.Buffer
	for len(queue) > 0 {
		c := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for p := range m.N {
			for _, move := range s.Enabled(c, p, nil) {
				after := append(model.Configuration(nil), c...)
				s.Apply(after, []model.Move{move}, &buffer)
				rotated := rotate(m, s, c)
				twin := move
				twin.At = int32((p + 1) % m.N)
				if (s.Class(c, move) == model.NoClass) != (s.Class(rotated, twin) == model.NoClass) {
					t.Fatalf("(%d,%d): what process %d owes, process %d does not", m.N, m.K, p, twin.At)
				}
				s.Apply(rotated, []model.Move{twin}, &buffer)
				if !rotated.Equal(rotate(m, s, after)) {
					t.Fatalf("(%d,%d): process %d and process %d are not alike", m.N, m.K, p, twin.At)
				}
				steps++
				if key := fmt.Sprint(after); !seen[key] {
					seen[key] = true
					queue = append(queue, after)
				}
			}
		}
	}
	return steps
}

// TestStopping: that a process stops because nothing is owed to it any more, asked about process 0 alone, gives the same
// verdicts as the fault crash, which has configurations of its own, asked about everybody: for the algorithms and for the
// mutants of the rounds.
func TestStopping(t *testing.T) {
	refuted := 0
	for _, size := range []struct{ n, k, crashes int }{{3, 2, 1}, {3, 3, 2}, {4, 3, 1}, {4, 3, 2}} {
		for _, algorithm := range Algorithms {
			for _, variant := range []string{"corrected", "whole-scan", "no-turn", "no-escape", "threshold", "same-level", "fewer-rounds", "stay-up"} {
				if variant == "whole-scan" && size.n > 3 {
					continue
				}
				q := question{algorithm: algorithm, variant: variant, n: size.n, k: size.k, crashes: size.crashes}
				_, stops := q.ask(t, "no-lockout")
				q.crashes, q.faults = 0, fmt.Sprintf("crash=%d", size.crashes)
				crashes := askAll(t, q)
				if stops.Verdict != crashes.Verdict || stops.States >= crashes.States {
					t.Errorf("%s: %s with %d states, %s with %d if processes stop because nothing is owed", q, crashes.Verdict, crashes.States, stops.Verdict, stops.States)
				}
				if stops.Verdict == check.Counterexample {
					refuted++
				}
			}
		}
	}
	if refuted < 10 {
		t.Errorf("only %d of the verdicts were counterexamples: the test looks at one side only", refuted)
	}
}

// askAll asks whether anybody can be locked out, of every process.
func askAll(t *testing.T, q question) *check.Result {
	t.Helper()
	inst := q.instance(t)
	for i := range inst.Properties {
		inst.Properties[i].Ask = nil
	}
	r, err := check.Run(t.Context(), inst, check.Options{Fairness: check.Weak, Workers: 1, Properties: []string{"no-lockout"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCountedAlike: processes of a Counted can change places, as long as both or neither may stay inside for ever.
func TestCountedAlike(t *testing.T) {
	m, err := NewCounted(Config{Algorithm: EXCL, N: 4, K: 2, Seats: 2, Bits: 1, Cancel: true, Holders: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.layout.Size() {
		local := m.layout.Value(i)
		for _, twins := range [][2]int{{0, 1}, {2, 3}} {
			a, b := m.Accesses(twins[0], local, nil), m.Accesses(twins[1], local, nil)
			if !slices.Equal(a, b) {
				t.Fatalf("%v: %v and %v can do different things", m.layout.Variables(local), a, b)
			}
			for choice, access := range a {
				for found := range m.registers[access.Register].Size {
					if m.After(twins[0], local, choice, found) != m.After(twins[1], local, choice, found) {
						t.Fatalf("%v: the same step leads to different states", m.layout.Variables(local))
					}
				}
			}
		}
	}
}

// swapped is a configuration of an Interval in which a process and the next one have changed places.
func swapped(s *Interval, c model.Configuration, p int) model.Configuration {
	bits := func(set uint64) uint64 {
		both := (set>>p ^ set>>(p+1)) & 1
		return set ^ both<<p ^ both<<(p+1)
	}
	r := append(model.Configuration(nil), c...)
	r[p], r[p+1] = c[p+1], c[p]
	for q := range s.N {
		r[q] = s.high.Set(s.low.Set(r[q], bits(s.low.Get(r[q]))), bits(s.high.Get(r[q])))
	}
	for i := s.N; i < len(r); i++ {
		switch r[i] {
		case uint64(p) + 1:
			r[i]++
		case uint64(p) + 2:
			r[i]--
		}
	}
	return r
}

// TestIntervalAlike: where the order of reads is free, two processes of one leaf can change places.
func TestIntervalAlike(t *testing.T) {
	for _, c := range []struct {
		Config
		ask []int
	}{
		{Config{Algorithm: EXCL, N: 4, K: 1, Cancel: true}, []int{0}}, {Config{Algorithm: GTEX, N: 4, K: 1, Cancel: true}, []int{0, 2}},
		{Config{Algorithm: GTEX, N: 5, K: 1}, []int{0, 3}}, {Config{Algorithm: NAIVE, N: 4, K: 2}, []int{0}},
	} {
		s, err := NewInterval(c.Config)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(s.unlike(), c.ask) {
			t.Errorf("%+v: %v are asked about, want %v", c.Config, s.unlike(), c.ask)
		}
		chance := rand.New(rand.NewPCG(9, 10))
		var buffer model.Buffer
		for d, step := s.Clean(), 0; step < 20000; step++ {
			p := chance.IntN(s.N)
			moves := s.Enabled(d, p, nil)
			move := moves[chance.IntN(len(moves))]
			first := chance.IntN(s.N - 1)
			if s.plan.rounds[first][0].from != s.plan.rounds[first+1][0].from {
				continue
			}
			twin := move
			switch p {
			case first:
				twin.At++
			case first + 1:
				twin.At--
			}
			other := swapped(s, d, first)
			if err := s.Check(other, twin); err != nil || s.Class(d, move) == model.NoClass != (s.Class(other, twin) == model.NoClass) {
				t.Fatalf("%+v: process %d cannot do what process %d does: %v", c.Config, twin.At, p, err)
			}
			s.Apply(other, []model.Move{twin}, &buffer)
			s.Apply(d, []model.Move{move}, &buffer)
			if !other.Equal(swapped(s, d, first)) {
				t.Fatalf("%+v: processes %d and %d are not alike", c.Config, first, first+1)
			}
		}
	}
}

// unforgetting is a Machine that keeps every number in turn.
type unforgetting struct {
	model.Shared
	model.Indexed
}

// TestForget: replacing numbers in turn that mean nothing any more changes no verdict.
func TestForget(t *testing.T) {
	refuted := 0
	for _, variant := range []string{"corrected", "no-turn", "no-escape", "threshold", "same-level", "fewer-rounds", "stay-up", "turn-first", "cancel-early"} {
		for _, c := range []Config{
			{Algorithm: EXCL, N: 2, K: 1}, {Algorithm: EXCL, N: 3, K: 1, Cancel: true}, {Algorithm: GTEX, N: 3, K: 2}, {Algorithm: EXCL, N: 3, K: 2, Express: true, Cancel: true},
		} {
			c.Variant = variant
			m, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			g, err := model.NewGraph(m.N, nil)
			if err != nil {
				t.Fatal(err)
			}
			var verdicts [2]string
			for i, shared := range []model.Shared{m, unforgetting{m, m}} {
				s, err := model.NewRegisters(g, shared, model.Budget{})
				if err != nil {
					t.Fatal(err)
				}
				inst := &model.Instance{System: s, Gauges: m.gauges(), Properties: m.properties(s, m.K-1), Phase: m.phase}
				r, err := check.Run(t.Context(), inst, check.Options{Fairness: check.Weak, Workers: 1})
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range r.Findings {
					verdicts[i] += fmt.Sprintln(f.Property, f.Verdict)
				}
				if r.Verdict == check.Counterexample {
					refuted++
				}
			}
			if verdicts[0] != verdicts[1] {
				t.Errorf("%+v: %s, and with every number kept %s", c, verdicts[0], verdicts[1])
			}
		}
	}
	if refuted < 20 {
		t.Errorf("only %d counterexamples: the test looks at one side only", refuted)
	}
}
