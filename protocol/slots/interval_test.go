// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"allot/check"
	"allot/model"
)

// follower takes in an Interval the steps that a run of Machine takes, with the reads left out and what nobody sees put
// together with the next access.
type follower struct {
	t       *testing.T
	machine *Machine
	steps   *model.Registers
	s       *Interval
	c, d    model.Configuration // of the machine and of the interval
	buffer  model.Buffer
}

func newFollower(t *testing.T, c Config) *follower {
	t.Helper()
	f := &follower{t: t}
	var err error
	if f.machine, err = New(c); err != nil {
		t.Fatal(err)
	}
	g, err := model.NewGraph(c.N, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.steps, err = model.NewRegisters(g, f.machine, model.Budget{}); err != nil {
		t.Fatal(err)
	}
	if f.s, err = NewInterval(c); err != nil {
		t.Fatal(err)
	}
	f.c, f.d = f.steps.Clean(), f.s.Clean()
	return f
}

// take makes a move of the interval, which must be possible.
func (f *follower) take(p int, arg uint64) {
	f.t.Helper()
	m := model.Move{Kind: model.Act, At: int32(p), Arg: arg}
	if err := f.s.Check(f.d, m); err != nil {
		f.t.Fatalf("(%d,%d): the machine goes on, the interval cannot: %v, %v", f.s.N, f.s.K, err, f.s.Variables(f.d, p))
	}
	f.s.Apply(f.d, []model.Move{m}, &f.buffer)
}

// follow takes a step of the machine, and what belongs to it.
func (f *follower) follow(p int, arg uint64) {
	m := f.machine
	before := f.c[p]
	f.steps.Apply(f.c, []model.Move{{Kind: model.Act, At: int32(p), Arg: arg}}, &f.buffer)
	was, is := m.at.Get(before), m.at.Get(f.c[p])
	switch {
	case arg > 0:
		f.take(p, intervalCancel)
	case was == out, was == yield, was == inside:
		f.take(p, intervalStep)
	case was == raise: // it has passed a round before, by its count or because it was not the last
		if f.s.mayPass(&f.s.plan.rounds[p][f.s.round.Get(f.d[p])], f.d[p]) {
			f.take(p, intervalStep)
		} else {
			f.take(p, intervalFail)
		}
	case was == scan && is == inside:
		f.take(p, intervalStep)
	case was == look && is != raise:
		f.take(p, intervalFail)
	}
}

// TestIntervalFollows: whatever a machine does that reads the others one by one, an Interval can do.
func TestIntervalFollows(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 6))
	entries := 0
	for _, algorithm := range Algorithms {
		for n := 2; n <= 7; n++ {
			for k := 1; k < n; k++ {
				f := newFollower(t, Config{Algorithm: algorithm, N: n, K: k, Cancel: true})
				for range 2000 {
					p := chance.IntN(n)
					arg := uint64(0)
					if f.machine.Choices(p, f.c[p]) > 1 && chance.IntN(20) == 0 {
						arg = 1
					}
					f.follow(p, arg)
					for q := range n {
						isIn := f.machine.IsInside(f.c[q])
						if isIn != (f.s.at.Get(f.d[q]) == inside) || f.steps.Register(f.c, q) != f.s.level(f.d, q) {
							t.Fatalf("%s(%d,%d): process %d is at %s with level %d, the interval has %v", algorithm, n, k, q,
								placeNames[f.machine.at.Get(f.c[q])], f.steps.Register(f.c, q), f.s.Variables(f.d, q))
						}
						if q == p && isIn {
							entries++
						}
					}
				}
			}
		}
	}
	if entries < 1000 {
		t.Errorf("only %d entries: the test looked at little", entries)
	}
}

// TestIntervalVerdicts: with the reads left out the verdicts are the same as with every read a step, for the algorithms and for
// the mutants of the rounds.
func TestIntervalVerdicts(t *testing.T) {
	isFull := os.Getenv("ALLOT_FULL") != "" // with the larger instances, too
	verdicts := map[check.Verdict]int{}
	for _, size := range []struct{ n, k, crashes int }{{2, 1, 0}, {3, 1, 0}, {3, 2, 1}, {4, 1, 0}, {4, 3, 2}} {
		for _, algorithm := range Algorithms {
			for _, variant := range []string{"corrected", "turn-first", "no-level", "no-turn", "no-escape", "threshold", "same-level", "same-height", "fewer-rounds", "printed-leaves"} {
				for _, cancel := range []string{"no", "yes"} {
					if size.n == 4 && !isFull && (algorithm != GTEX || size.k > 1 || cancel == "yes" || variant == "same-level") {
						continue // these are large
					}
					q := question{algorithm: algorithm, variant: variant, n: size.n, k: size.k, crashes: size.crashes, more: "cancel=" + cancel}
					_, steps := q.ask(t)
					q.more += " reads=interval"
					_, interval := q.ask(t)
					for i, f := range steps.Findings {
						if g := interval.Findings[i]; f.Property != g.Property || f.Verdict != g.Verdict {
							t.Errorf("%s: %s is %s, and %s with every read a step", q, g.Property, g.Verdict, f.Verdict)
						}
						verdicts[f.Verdict]++
					}
				}
			}
		}
	}
	if verdicts[check.Proved] < 50 || verdicts[check.Counterexample] < 50 {
		t.Errorf("the test looks at one side only: %v", verdicts)
	}
}

// TestIntervalCancelEarly: giving up too early is found here as well.
func TestIntervalCancelEarly(t *testing.T) {
	q := question{algorithm: EXCL, n: 2, k: 1, more: "cancel=yes reads=interval", variant: "cancel-early"}
	_, r := q.ask(t)
	want(t, q, r, "no-lockout", check.Counterexample)
}

// TestIntervalStory: a run in which three are inside a leaf that has the rounds of the listing.
func TestIntervalStory(t *testing.T) {
	q := question{algorithm: GTEX, n: 5, k: 2, variant: "printed", more: "reads=interval"}
	inst, r := q.ask(t, "exclusion")
	if r.Verdict != check.Counterexample {
		t.Fatal(r.Verdict)
	}
	compare(t, "printed_leaf_of_five_lets_three_in", tell(inst, q, r.Findings[0]))
}

// TestIntervalRefusals: what is not followed is refused.
func TestIntervalRefusals(t *testing.T) {
	for _, q := range []question{
		{algorithm: EXCL, n: 3, k: 1, more: "reads=interval express=yes"}, {algorithm: EXCL, n: 3, k: 1, more: "reads=interval names=yes"},
		{algorithm: EXCL, n: 3, k: 1, more: "reads=interval stay=2"}, {algorithm: EXCL, n: 17, k: 1, more: "reads=interval"},
		{algorithm: GTEX, n: 4, k: 1, more: "reads=interval", variant: "printed"}, {algorithm: EXCL, n: 3, k: 2, more: "reads=interval", faults: "crash=1"},
	} {
		if _, err := q.tryInstance(t); err == nil {
			t.Errorf("%s was accepted", q)
		}
	}
}

// TestIntervalAnyState: every configuration has moves that lead to configurations, however it was made.
func TestIntervalAnyState(t *testing.T) {
	s, err := NewInterval(Config{Algorithm: GTEX, N: 4, K: 1, Cancel: true})
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(7, 8))
	var buffer model.Buffer
	for range 20000 {
		c := make(model.Configuration, s.Words())
		for w := range c {
			size, value := s.Domain(w)
			c[w] = value(chance.Uint64N(size))
		}
		was := fmt.Sprint(c)
		for p := range s.N {
			for _, m := range s.Enabled(c, p, nil) {
				s.Apply(c, []model.Move{m}, &buffer)
				for q := range s.N {
					if !s.layout.Contains(c[q]) {
						t.Fatalf("%s goes to %v", was, c)
					}
				}
				buffer.Undo(c)
			}
		}
		if fmt.Sprint(c) != was {
			t.Fatalf("%s was not restored: %v", was, c)
		}
	}
}
