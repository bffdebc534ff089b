// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"slices"
	"strings"
	"testing"

	"allot/model"
)

// table is a program made of functions.
type table struct {
	layout  model.Layout
	actions []model.Action
	enabled func(p int, c model.Configuration) uint64
	next    func(p, action int, c model.Configuration) uint64
}

func (t *table) Layout(int) model.Layout                          { return t.layout }
func (t *table) Clean(int) uint64                                 { return 0 }
func (t *table) Actions() []model.Action                          { return t.actions }
func (t *table) Enabled(p int, c model.Configuration) uint64      { return t.enabled(p, c) }
func (t *table) Next(p, action int, c model.Configuration) uint64 { return t.next(p, action, c) }

// chain copies the value of the process before. It reads nobody else, whoever else its neighbours are.
type chain struct{ table }

func (*chain) Reads(p int) []int32 {
	if p == 0 {
		return nil
	}
	return []int32{int32(p - 1)}
}

func newChain(t *testing.T, spec string) *model.Guarded {
	t.Helper()
	c := &chain{table{
		layout:  layoutOf(t, &model.Field{Name: "x", Size: 2}),
		actions: []model.Action{{Name: "copy"}},
		enabled: func(p int, c model.Configuration) uint64 {
			if p == 0 || c[p] != c[p-1] {
				return 1
			}
			return 0
		},
		next: func(p, _ int, c model.Configuration) uint64 { return 1 - c[p] },
	}}
	s, err := model.NewGuarded(graphOf(t, spec), c, model.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOnlyReadersAreTouched(t *testing.T) {
	s := newChain(t, "ring:5")
	c := s.Clean()
	for p, want := range [][]int32{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4}} {
		b := apply(t, s, c, model.Move{Kind: model.Act, At: int32(p)})
		if !slices.Equal(b.Touched, want) {
			t.Errorf("process %d touches %v, want %v", p, b.Touched, want)
		}
	}
	// Without a Reader, all neighbours are readers.
	h := newHops(t, graphOf(t, "star:4"), model.Budget{}).System
	b := apply(t, h, h.Clean(), model.Move{Kind: model.Act, At: 0, Arg: mend})
	if !slices.Equal(b.Touched, []int32{0, 1, 2, 3}) {
		t.Errorf("the middle of a star touches %v", b.Touched)
	}
}

// TestStepsReadWhatWasBefore: in a synchronous step everybody copies what was there, and not what others just wrote.
func TestStepsReadWhatWasBefore(t *testing.T) {
	s := newChain(t, "path:4")
	c := s.Clean()
	c[0], c[2] = 1, 1 // 1 0 1 0
	var b model.Buffer
	s.Apply(c, []model.Move{{Kind: model.Act, At: 1}, {Kind: model.Act, At: 3}, {Kind: model.Act, At: 2}}, &b)
	if want := (model.Configuration{1, 1, 0, 1}); !c[:4].Equal(want) {
		t.Errorf("%v, want %v", c[:4], want)
	}
	b.Undo(c)
	if want := (model.Configuration{1, 0, 1, 0}); !c[:4].Equal(want) {
		t.Errorf("undone: %v, want %v", c[:4], want)
	}
}

func TestNewGuardedRefuses(t *testing.T) {
	for _, n := range []int{0, 65} {
		_, err := model.NewGuarded(graphOf(t, "path:2"), &table{actions: make([]model.Action, n)}, model.Budget{})
		if err == nil || !strings.Contains(err.Error(), "1 to 64 actions") {
			t.Errorf("%d actions: %v", n, err)
		}
	}
	program := &table{
		layout: layoutOf(t), actions: make([]model.Action, 64),
		enabled: func(int, model.Configuration) uint64 { return 1<<63 | 1 },
	}
	s, err := model.NewGuarded(graphOf(t, "path:2"), program, model.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	if moves := s.Enabled(s.Clean(), 1, nil); len(moves) != 2 || moves[1] != (model.Move{Kind: model.Act, At: 1, Arg: 63}) {
		t.Errorf("the last action of 64: %v", moves)
	}
	if s.Program() != program {
		t.Error("the program is another one")
	}
}

// TestCheckKnowsWhatIsEnabled: Check accepts exactly the actions that Enabled lists.
func TestCheckKnowsWhatIsEnabled(t *testing.T) {
	for _, inst := range []*model.Instance{newHops(t, graphOf(t, "path:3"), model.Budget{}), newLedger(t, "path:3", model.Budget{}),
		newPeers(t, "path:3", 3, 1, model.Links{}, model.Budget{})} {
		s, r := inst.System, seeded(1)
		c := s.Clean()
		for range 200 {
			var all []model.Move
			for site := range s.Sites() {
				all = s.Enabled(c, site, all)
			}
			for p := range int32(4) {
				for arg := range uint64(5) {
					m := model.Move{Kind: model.Act, At: p, Arg: arg}
					if err := s.Check(c, m); (err == nil) != slices.Contains(all, m) {
						t.Fatalf("%T: %v: %v, enabled are %v", s, m, err, all)
					}
				}
			}
			apply(t, s, c, all[r.IntN(len(all))])
		}
	}
}

func TestChecksSayWhatIsWrong(t *testing.T) {
	fixed := newChain(t, "path:3")
	hops := newHops(t, graphOf(t, "path:3"), model.Budget{}).System
	ledger := newLedger(t, "path:3", model.Budget{}).System
	peers := newPeers(t, "path:3", 2, 0, model.Links{}, model.Budget{}).System
	for _, test := range []struct {
		s    model.System
		m    model.Move
		want string
	}{
		{fixed, model.Move{Kind: model.Cut}, "not made for networks that change"},
		{fixed, model.Move{Kind: model.Leave}, "not made for networks that change"},
		{fixed, model.Move{Kind: model.Tick}, "tick: this algorithm has no messages and no clocks"},
		{fixed, model.Move{Kind: model.Forge}, "forge: this algorithm has no messages and no clocks"},
		{fixed, model.Move{Kind: model.Act, At: 1}, "action 0 of process 1 is not enabled"},
		{fixed, model.Move{Kind: model.Act, At: 0, Arg: 1 << 63}, "is not enabled"},
		{fixed, model.Move{Kind: model.Corrupt, Arg: 2}, "process 0 has 2 possible states, there is no number 2"},
		{fixed, model.Move{Kind: model.Crash, At: 3}, "crash: there is no process 3, the last one is 2"},
		{fixed, model.Move{Kind: model.Crash, At: -1}, "there is no process -1"},
		{fixed, model.Move{Kind: 99}, "unknown kind of move 99"},
		{hops, model.Move{Kind: model.Cut, At: 4}, "cut: there is no link 4, the last one is 3"},
		{ledger, model.Move{Kind: model.Cut}, "cut: this algorithm has no messages, links and clocks"},
		{ledger, model.Move{Kind: model.Act, Arg: 2}, "process 0 has 2 steps to choose from, there is no number 2"},
		{ledger, model.Move{Kind: model.Corrupt, Arg: 15}, "process 0 has 15 possible states"},
		{peers, model.Move{Kind: model.Act, Arg: 7}, "process 0 has 1 inputs to choose from, there is no number 7"},
		{peers, model.Move{Kind: model.Tick, At: 1}, "tick: process 1 has no clock"},
		{peers, model.Move{Kind: model.Deliver}, "link 0→1 holds 0 messages, there is no number 0"},
		{peers, model.Move{Kind: model.Forge, Arg: 5}, "there are 5 possible messages, there is no number 5"},
		{peers, model.Move{Kind: model.Corrupt, Arg: 1 << 40}, "possible states, there is no number"},
	} {
		if err := test.s.Check(test.s.Clean(), test.m); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%T, %v: %v, want %s", test.s, test.m, err, test.want)
		}
	}
}
