// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"context"
	"strings"
	"testing"

	"allot/check"
	"allot/model"
)

var done = model.Property{
	Name: "stabilizes", Claim: model.Stabilizes, Text: "process 1 is done",
	Holds: func(v *model.View) bool { return v.C[1] == 1 },
}

// onlyWeak: process 0 turns for ever, process 1 can act at any time. An unfair daemon may ignore it.
func onlyWeak(t *testing.T) *model.Instance {
	return newToy(t, "path:2", 2,
		func(p int, c model.Configuration) uint64 { return bit(p == 0 || c[1] == 0) },
		func(p, _ int, c model.Configuration) uint64 {
			if p == 0 {
				return 1 - c[0]
			}
			return 1
		}, done)
}

// onlyStrong: process 0 turns for ever, process 1 can act every other time only. Weak fairness owes it nothing.
func onlyStrong(t *testing.T) *model.Instance {
	return newToy(t, "path:2", 2,
		func(p int, c model.Configuration) uint64 { return bit(p == 0 || c[1] == 0 && c[0] == 1) },
		func(p, _ int, c model.Configuration) uint64 {
			if p == 0 {
				return 1 - c[0]
			}
			return 1
		}, done)
}

func TestFairnessMatters(t *testing.T) {
	for _, test := range []struct {
		name     string
		make     func(*testing.T) *model.Instance
		fairness check.Fairness
		want     check.Verdict
	}{
		{"weak is needed", onlyWeak, check.None, check.Counterexample},
		{"weak is needed", onlyWeak, check.Weak, check.Proved},
		{"weak is needed", onlyWeak, check.Strong, check.Proved},
		{"strong is needed", onlyStrong, check.None, check.Counterexample},
		{"strong is needed", onlyStrong, check.Weak, check.Counterexample},
		{"strong is needed", onlyStrong, check.Strong, check.Proved},
	} {
		t.Run(test.name+", with "+string(test.fairness), func(t *testing.T) {
			for _, keep := range []check.Keep{check.Direct, check.Exact} {
				r := ask(t, test.make(t), check.Options{Arbitrary: true, Fairness: test.fairness, Keep: keep})
				if r.Verdict != test.want {
					t.Errorf("%s: %s, want %s", keep, r.Verdict, test.want)
				}
				if f := r.Findings[0]; f.WorstSteps != nil {
					t.Errorf("%s: a worst case of %d steps, although there are cycles outside the set", keep, *f.WorstSteps)
				}
			}
		})
	}
}

// TestFairWalkServesSeveral lets three processes turn for ever while the fourth waits for two of them at once, which
// strong fairness alone does not give it.
func TestFairWalkServesSeveral(t *testing.T) {
	inst := newToy(t, "star:4", 2,
		func(p int, c model.Configuration) uint64 { return bit(p != 0 || c[1] == 1 && c[2] == 1 && c[0] == 0) },
		func(p, _ int, c model.Configuration) uint64 { return 1 - c[p] },
		model.Property{Name: "stabilizes", Claim: model.Stabilizes, Holds: func(v *model.View) bool { return v.C[0] == 1 }})
	for _, fairness := range []check.Fairness{check.Weak, check.Strong} {
		r := ask(t, inst, check.Options{Arbitrary: true, Fairness: fairness})
		if r.Verdict != check.Counterexample {
			t.Errorf("%s: %s", fairness, r.Verdict)
		}
		if run := r.Findings[0].Run; len(run.Steps)-run.Loop < 4 {
			t.Errorf("%s: a loop of %d steps cannot serve three processes", fairness, len(run.Steps)-run.Loop)
		}
	}
}

func TestClosureIsChecked(t *testing.T) {
	inst := newToy(t, "path:2", 3,
		func(p int, c model.Configuration) uint64 { return bit(p == 0) },
		func(_, _ int, c model.Configuration) uint64 { return (c[0] + 1) % 3 },
		model.Property{Name: "stabilizes", Claim: model.Stabilizes, Holds: func(v *model.View) bool { return v.C[0] == 1 }})
	if f := ask(t, inst, check.Options{Arbitrary: true}).Findings[0]; f.Verdict != check.Counterexample || len(f.Run.Steps) != 1 {
		t.Errorf("a set that every step leaves: %s", f.Verdict)
	}
}

// TestUnknownWhenCut: whatever cuts a search, it does not say proved.
func TestUnknownWhenCut(t *testing.T) {
	interrupted, cancel := context.WithCancel(context.Background())
	cancel()
	for _, test := range []struct {
		name string
		ctx  context.Context
		inst *model.Instance
		o    check.Options
		cut  string
	}{
		{"states, all of them starts", context.Background(), ringOf(t, 6, 6, "", model.Budget{}), check.Options{Arbitrary: true, MaxStates: 1000}, "1000 configurations"},
		{"states, reached", context.Background(), ringOf(t, 6, 6, "", model.Budget{Corrupt: 2}), check.Options{MaxStates: 1000, Properties: []string{"stabilizes", "no-deadlock", "service"}}, "1000 configurations"},
		{"states, kept exactly", context.Background(), ringOf(t, 6, 6, "", model.Budget{}), check.Options{Arbitrary: true, MaxStates: 1000, Keep: check.Exact}, "1000 configurations"},
		{"states, fingerprints", context.Background(), ringOf(t, 6, 6, "", model.Budget{}), check.Options{Arbitrary: true, MaxStates: 1000, Keep: check.Fingerprint, Properties: []string{"no-deadlock"}}, "1000 configurations"},
		{"memory", context.Background(), ringOf(t, 6, 6, "", model.Budget{}), check.Options{Arbitrary: true, MaxMemory: 1 << 20, Keep: check.Exact}, "bytes"},
		{"interrupted", interrupted, ringOf(t, 6, 6, "", model.Budget{}), check.Options{Arbitrary: true}, "interrupted"},
		{"a link that overflows", context.Background(), instance(t, "abp", "", model.Options{Links: model.Links{Capacity: 2}}), check.Options{}, "capacity"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := check.Run(test.ctx, test.inst, test.o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != check.Unknown || !strings.Contains(r.Cut, test.cut) {
				t.Errorf("%s, cut by %q; want unknown, cut by %q", r.Verdict, r.Cut, test.cut)
			}
			for _, f := range r.Findings {
				if f.Verdict == check.Proved && f.Claim != model.Sometimes {
					t.Errorf("%s is called proved", f.Property)
				}
			}
		})
	}
}

// TestStoresAgree asks the same of every way to keep configurations and of one and several workers.
func TestStoresAgree(t *testing.T) {
	budget := model.Budget{Corrupt: 2, Resume: 1}
	safety := []string{"no-deadlock", "exclusion"}
	want := ask(t, ringOf(t, 5, 5, "", budget), check.Options{Keep: check.Direct, Workers: 1, Properties: safety})
	if want.Verdict != check.Counterexample || want.States < 500 {
		t.Fatalf("%s after %d states", want.Verdict, want.States)
	}
	for _, keep := range []check.Keep{check.Direct, check.Exact, check.Fingerprint} {
		for _, workers := range []int{1, 2, 5} {
			got := ask(t, ringOf(t, 5, 5, "", budget), check.Options{Keep: keep, Workers: workers, Properties: safety})
			if got.States != want.States || got.Transitions != want.Transitions || got.Depth != want.Depth {
				t.Errorf("%s, %d workers: %d states, %d transitions, depth %d; want %d, %d, %d", keep, workers,
					got.States, got.Transitions, got.Depth, want.States, want.Transitions, want.Depth)
			}
			for i, f := range got.Findings {
				if w := want.Findings[i]; f.Verdict != w.Verdict || steps(f) != steps(w) {
					t.Errorf("%s, %d workers, %s: %s in %d steps, want %s in %d", keep, workers, f.Property, f.Verdict, steps(f), w.Verdict, steps(w))
				}
			}
			if (got.Collision > 0) != (keep == check.Fingerprint) {
				t.Errorf("%s: the probability of a collision is said to be %g", keep, got.Collision)
			}
		}
	}
}

// TestFaults: what the adversary may do changes the answers as it must.
func TestFaults(t *testing.T) {
	for _, test := range []struct {
		budget   model.Budget
		property string
		fairness check.Fairness
		want     check.Verdict
	}{
		{model.Budget{}, "exclusion", check.None, check.Proved},
		{model.Budget{Corrupt: 1}, "exclusion", check.None, check.Counterexample},
		{model.Budget{Corrupt: 1}, "stabilizes", check.None, check.Proved},
		{model.Budget{Corrupt: 3}, "stabilizes", check.None, check.Proved},
		{model.Budget{Crash: 1}, "exclusion", check.None, check.Proved},
		{model.Budget{Crash: 1}, "no-deadlock", check.None, check.Counterexample},
		{model.Budget{Crash: 1}, "service", check.Strong, check.Counterexample},
		{model.Budget{Crash: 1, Restart: 1}, "exclusion", check.None, check.Counterexample},
	} {
		t.Run(test.budget.String()+" "+test.property, func(t *testing.T) {
			r := ask(t, ringOf(t, 4, 4, "", test.budget), check.Options{Properties: []string{test.property}, Fairness: test.fairness})
			if r.Verdict != test.want {
				t.Errorf("%s, want %s", r.Verdict, test.want)
			}
		})
	}
}

// TestSometimes: a claim that something can happen is refuted when it cannot.
func TestSometimes(t *testing.T) {
	inst := onlyWeak(t)
	inst.Properties = []model.Property{
		{Name: "both", Claim: model.Sometimes, Holds: func(v *model.View) bool { return v.C[0] == 1 && v.C[1] == 1 }},
		{Name: "never", Claim: model.Sometimes, Holds: func(v *model.View) bool { return v.C[0] == 7 }},
	}
	r := ask(t, inst, check.Options{})
	if verdict(t, r, "both") != check.Proved || len(finding(t, r, "both").Run.Steps) != 2 {
		t.Errorf("both: %s", verdict(t, r, "both"))
	}
	if verdict(t, r, "never") != check.Counterexample {
		t.Errorf("never: %s", verdict(t, r, "never"))
	}
}

// TestStepProperty: the shortest run ends with the step that breaks the claim.
func TestStepProperty(t *testing.T) {
	inst := newToy(t, "path:2", 5,
		func(p int, c model.Configuration) uint64 { return bit(p == 0) },
		func(_, _ int, c model.Configuration) uint64 { return (c[0] + 1) % 5 },
		model.Property{Name: "grows", Claim: model.AlwaysStep, HoldsStep: func(before, after *model.View, _ []model.Move) bool {
			return after.C[0] > before.C[0]
		}})
	if f := ask(t, inst, check.Options{}).Findings[0]; f.Verdict != check.Counterexample || len(f.Run.Steps) != 5 {
		t.Errorf("%s", f.Verdict)
	}
}

func TestQuestionsThatMakeNoSense(t *testing.T) {
	ring := ringOf(t, 3, 3, "", model.Budget{})
	peterson := instance(t, "peterson", "", model.Options{})
	abp := instance(t, "abp", "", model.Options{})
	for _, test := range []struct {
		inst *model.Instance
		o    check.Options
		want string
	}{
		{ring, check.Options{Daemon: "bad"}, "unknown daemon"},
		{ring, check.Options{Fairness: "bad"}, "unknown fairness"},
		{ring, check.Options{Keep: "bad"}, "unknown way"},
		{ring, check.Options{MaxStates: 1 << 40}, "can be kept"},
		{ring, check.Options{Properties: []string{"bad"}}, "unknown property"},
		{ring, check.Options{Keep: check.Fingerprint, Properties: []string{"service"}}, "use exact"},
		{peterson, check.Options{Daemon: check.Distributed}, "one after the other"},
		{abp, check.Options{Keep: check.Direct}, "cannot be listed"},
		{ringOf(t, 3, 1<<30, "", model.Budget{}), check.Options{Arbitrary: true}, "more arbitrary starts"},
	} {
		if _, err := check.Run(context.Background(), test.inst, test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want one with %q", test.o, err, test.want)
		}
	}
}

// TestProgressIsReported, and the numbers in it grow.
func TestProgressIsReported(t *testing.T) {
	var calls int
	var last uint64
	ask(t, ringOf(t, 6, 6, "", model.Budget{}), check.Options{Arbitrary: true, Progress: func(p check.Progress) {
		calls++
		if p.States < last || p.Phase == "" {
			t.Errorf("%+v after %d states", p, last)
		}
		last = p.States
	}})
	if calls == 0 {
		t.Error("nobody was told anything")
	}
}

// steps is the length of a counterexample, -1 if there is none.
func steps(f check.Finding) int {
	if f.Run == nil {
		return -1
	}
	return len(f.Run.Steps)
}

// leaky is a machine whose only variable outgrows its domain.
type leaky struct{}

func (leaky) Clean(int) int { return 0 }
func (leaky) Step(_ int, s *int, _ model.Event[int], _ *model.Outbox[int]) {
	*s++
}
func (leaky) Inputs(_ int, _ *int, in []model.Input) []model.Input {
	return append(in, model.Input{Name: "grow"})
}
func (leaky) VisitState(_ int, s *int, f *model.Fields) { model.Int(f, "size", s, 0, 3) }
func (leaky) VisitMessage(m *int, f *model.Fields)      { model.Int(f, "nothing", m, 0, 0) }

// TestLeavingTheDomain is an error that names the variable, not a crash of the checker.
func TestLeavingTheDomain(t *testing.T) {
	inst := &model.Instance{System: model.NewNetwork(parse(t, "path:2"), leaky{}, model.Links{}, model.Budget{}),
		Properties: []model.Property{{Name: "fine", Claim: model.Always, Holds: func(*model.View) bool { return true }}}}
	if _, err := check.Run(context.Background(), inst, check.Options{}); err == nil || !strings.Contains(err.Error(), "variable size") {
		t.Errorf("error %v", err)
	}
}

// TestStops: process 0 opens a gate once, process 1 turns for ever. That the gate opens is owed to process 1 unless process 0
// may stop; to process 0 itself it is owed in any case, because it is the others that stop.
func TestStops(t *testing.T) {
	gate := func(about, stops int) *model.Instance {
		return newToy(t, "path:2", 2,
			func(p int, c model.Configuration) uint64 { return bit(p == 1 || c[0] == 0) },
			func(p, _ int, c model.Configuration) uint64 { return 1 - c[p] },
			model.Property{
				Name: "open", Claim: model.Recurs, Stops: stops,
				HoldsFor: func(v *model.View, p int) bool { return p != about || v.C[0] == 1 },
			})
	}
	for _, test := range []struct {
		about, stops int
		want         check.Verdict
	}{
		{1, 0, check.Proved}, {1, 1, check.Counterexample}, {0, 1, check.Proved}, {0, 2, check.Proved},
	} {
		r := ask(t, gate(test.about, test.stops), check.Options{Fairness: check.Weak})
		if got := verdict(t, r, "open"); got != test.want {
			t.Errorf("asked about process %d, %d may stop: %s, want %s", test.about, test.stops, got, test.want)
		}
		if test.want == check.Counterexample && !strings.Contains(finding(t, r, "open").Why, "process 0 has stopped") {
			t.Errorf("the reason is %q", finding(t, r, "open").Why)
		}
	}
	if _, err := check.Run(context.Background(), gate(1, 1), check.Options{Fairness: check.Strong}); err == nil {
		t.Error("processes that stop were accepted under strong fairness")
	}
	asked := gate(1, 1)
	asked.Properties[0].Ask = []int{0} // process 1, which it fails for, is not asked about
	if got := verdict(t, ask(t, asked, check.Options{Fairness: check.Weak}), "open"); got != check.Proved {
		t.Errorf("asked about process 0 alone: %s", got)
	}
}

// TestLitter: of the starts with up to one message on each link, those count that have no more than the litter in all.
func TestLitter(t *testing.T) {
	count := func(links string) uint64 {
		l, err := model.ParseLinks(links)
		if err != nil || l.String() != links {
			t.Fatal(l, err)
		}
		g, err := model.NewGraph(2, [][2]int{{0, 1}})
		if err != nil {
			t.Fatal(err)
		}
		inst := &model.Instance{System: model.NewNetwork(g, mute{}, l, model.Budget{}),
			Properties: []model.Property{{Name: "any", Claim: model.Always, Holds: func(*model.View) bool { return true }}}}
		return ask(t, inst, check.Options{Arbitrary: true}).States
	}
	// A link holds nothing or one of three messages. Delivering them adds no configuration.
	for links, want := range map[string]uint64{"fifo,garbage=1": 16, "fifo,garbage=1,litter=1": 7, "fifo,garbage=1,litter=2": 16} {
		if got := count(links); got != want {
			t.Errorf("%s: %d configurations, want %d", links, got, want)
		}
	}
}

// TestStarts: starts that are given are the only ones.
func TestStarts(t *testing.T) {
	g, err := model.NewGraph(2, [][2]int{{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	inst := &model.Instance{System: model.NewNetwork(g, mute{}, model.Links{Garbage: 1}, model.Budget{}),
		Properties: []model.Property{{Name: "any", Claim: model.Always, Holds: func(*model.View) bool { return true }}}}
	one := make([]uint64, inst.System.Words())
	one[len(one)-1] = 2 // one message on the last link
	r := ask(t, inst, check.Options{Arbitrary: true, Starts: [][]uint64{one}})
	if r.States != 2 {
		t.Errorf("%d configurations, want the start and the one after the delivery", r.States)
	}
}

// mute is a machine that takes messages and does nothing.
type mute struct{}

func (mute) Clean(int) struct{}                                            { return struct{}{} }
func (mute) Step(int, *struct{}, model.Event[uint8], *model.Outbox[uint8]) {}
func (mute) Inputs(_ int, _ *struct{}, in []model.Input) []model.Input     { return in }
func (mute) VisitState(int, *struct{}, *model.Fields)                      {}
func (mute) VisitMessage(m *uint8, f *model.Fields)                        { model.Int(f, "m", m, 0, 2) }
