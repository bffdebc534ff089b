// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"slices"
	"testing"

	"allot/model"
)

// status is what all systems tell of crashed processes and cut links.
type status interface {
	model.System
	IsCrashed(c model.Configuration, p int) bool
	IsCut(c model.Configuration, link int) bool
}

func systems(t *testing.T, budget model.Budget) []status {
	return []status{
		newHops(t, graphOf(t, "path:3"), budget).System.(status),
		newLedger(t, "path:3", budget).System.(status),
		newPeers(t, "path:3", 2, 0, model.Links{}, budget).System.(status),
	}
}

// TestCrashResumeRestart: a crashed process does nothing; it comes back with its memory, or from its clean state.
func TestCrashResumeRestart(t *testing.T) {
	for _, s := range systems(t, model.Budget{}) {
		c := s.Clean()
		apply(t, s, c, s.Enabled(c, 0, nil)[0])
		worked := clone(c)
		apply(t, s, c, model.Move{Kind: model.Crash, At: 0})
		if !s.IsCrashed(c, 0) || s.IsCrashed(c, 1) || c[0] != worked[0] {
			t.Fatalf("%T: the crash is not seen", s)
		}
		for site := range s.Sites() {
			if k := s.Site(site); k.Process == 0 && len(s.Enabled(c, site, nil)) > 0 {
				t.Errorf("%T: a crashed process can %v", s, s.Enabled(c, site, nil))
			}
		}
		if s.Check(c, model.Move{Kind: model.Act, At: 0}) == nil {
			t.Errorf("%T: a crashed process may act", s)
		}
		if vs := s.Variables(c, 0); !slices.Contains(vs, model.Variable{Name: "crashed", Value: "yes"}) {
			t.Errorf("%T: the crash is not shown: %v", s, vs)
		}
		resumed, restarted := clone(c), clone(c)
		apply(t, s, resumed, model.Move{Kind: model.Resume, At: 0})
		if !resumed.Equal(worked) {
			t.Errorf("%T: resumed with %v, want %v", s, resumed, worked)
		}
		apply(t, s, restarted, model.Move{Kind: model.Restart, At: 0})
		if s.IsCrashed(restarted, 0) || restarted[0] != s.Clean()[0] || restarted[0] == worked[0] {
			t.Errorf("%T: restarted with %v", s, restarted)
		}
	}
}

func TestCorruptTakesTheNumberedValue(t *testing.T) {
	for _, s := range systems(t, model.Budget{}) {
		c := s.Clean()
		size, value := s.Domain(1)
		for _, rank := range []uint64{0, size / 2, size - 1} {
			before := clone(c)
			apply(t, s, c, model.Move{Kind: model.Corrupt, At: 1, Arg: rank})
			before[1] = value(rank)
			if !c.Equal(before) {
				t.Errorf("%T: value %d: %v, want %v", s, rank, c, before)
			}
		}
	}
}

// TestStatusOfManyProcesses: the bits of crashed processes and cut links reach over several words.
func TestStatusOfManyProcesses(t *testing.T) {
	g := graphOf(t, "ring:130")
	for _, s := range []status{newHops(t, g, model.Budget{Crash: 9}).System.(status), newPeers(t, "ring:130", 2, 0, model.Links{}, model.Budget{}).System.(status)} {
		c := s.Clean()
		crashed, cut := map[int]bool{}, map[int]bool{}
		for _, p := range []int32{0, 63, 64, 127, 129} {
			apply(t, s, c, model.Move{Kind: model.Crash, At: p})
			crashed[int(p)] = true
		}
		for _, link := range []int32{1, 63, 64, 259} {
			apply(t, s, c, model.Move{Kind: model.Cut, At: link})
			cut[int(link)], cut[g.Back(int(link))] = true, true
		}
		for p := range g.Len() {
			if s.IsCrashed(c, p) != crashed[p] {
				t.Errorf("%T: process %d crashed: %v", s, p, s.IsCrashed(c, p))
			}
		}
		for link := range g.Links() {
			if s.IsCut(c, link) != cut[link] {
				t.Errorf("%T: link %d cut: %v", s, link, s.IsCut(c, link))
			}
		}
		for word := range s.Words() {
			size, _ := s.Domain(word)
			if size == 0 && (!s.IsStatus(word) || word > g.Len()+1) {
				t.Errorf("%T: word %d cannot be listed", s, word)
			}
		}
	}
}

// TestBudgetsRunOut: each fault of the adversary takes one off its kind and off no other, and then there are no more.
func TestBudgetsRunOut(t *testing.T) {
	budget := model.Budget{Crash: 3, Resume: 2, Restart: 1, Lose: 2, Duplicate: 1, Corrupt: 2, Forge: 3}
	for _, s := range systems(t, budget) {
		adversary := s.Sites() - 1
		if !s.Site(adversary).IsAdversary() || !s.IsStatus(s.Words()-1) {
			t.Fatalf("%T has no adversary", s)
		}
		for seed := range uint64(20) {
			r := seeded(seed)
			c := s.Clean()
			taken := map[model.Kind]int{}
			for {
				moves := s.Enabled(c, adversary, nil)
				if len(moves) == 0 {
					break
				}
				m := moves[r.IntN(len(moves))]
				m = moves[slices.IndexFunc(moves, func(o model.Move) bool { return o.Kind == m.Kind })]
				left := c[s.Words()-1]
				apply(t, s, c, m)
				taken[m.Kind]++
				if spent := left - c[s.Words()-1]; spent&(spent-1) != 0 || spent == 0 {
					t.Fatalf("%T: %v makes the budget %x of %x", s, m, c[s.Words()-1], left)
				}
			}
			total := 0
			for kind, n := range taken {
				total += n
				if most := map[model.Kind]int{model.Crash: 3, model.Resume: 2, model.Restart: 1, model.Lose: 2,
					model.Duplicate: 1, model.Corrupt: 2, model.Forge: 3}[kind]; n > most {
					t.Fatalf("%T: %d faults %s of %d", s, n, kind, most)
				}
			}
			if taken[model.Crash] != 3 || total < 5 {
				t.Fatalf("%T: the adversary stopped after %v", s, taken)
			}
		}
	}
}

// TestWithoutABudgetNothingIsSpent: scripts inject what they like, with a budget or without.
func TestWithoutABudgetNothingIsSpent(t *testing.T) {
	for i, s := range systems(t, model.Budget{}) {
		with := systems(t, model.Budget{Crash: 1})[i]
		c, d := s.Clean(), with.Clean()
		if len(d) != len(c)+1 || with.Sites() != s.Sites()+1 {
			t.Fatalf("%T: a budget takes %d words and %d sites", s, len(d)-len(c), with.Sites()-s.Sites())
		}
		for p := range int32(3) { // more crashes than the budget has
			apply(t, s, c, model.Move{Kind: model.Crash, At: p})
			apply(t, with, d, model.Move{Kind: model.Crash, At: p})
		}
		if d[len(c)] != 0 || !d[:len(c)].Equal(c) {
			t.Errorf("%T: %v, want %v and an empty budget", s, d, c)
		}
	}
}

func TestProgramsHeedCutsAndLeavers(t *testing.T) {
	g := graphOf(t, "path:3")
	s := newHops(t, g, model.Budget{}).System.(status)
	c := s.Clean()
	settle := func() {
		for range 20 {
			for p := range 3 {
				if s.Check(c, model.Move{Kind: model.Act, At: int32(p), Arg: mend}) == nil {
					apply(t, s, c, model.Move{Kind: model.Act, At: int32(p), Arg: mend})
				}
			}
		}
	}
	link := int32(g.FindLink(2, 1))
	for _, step := range []struct {
		m    model.Move
		want model.Configuration
		cut  bool
	}{
		{model.Move{Kind: model.Resume, At: 0}, model.Configuration{0, 1, 2}, false},
		{model.Move{Kind: model.Cut, At: link}, model.Configuration{0, 1, 3}, true},
		{model.Move{Kind: model.Heal, At: int32(g.Back(int(link)))}, model.Configuration{0, 1, 2}, false},
		{model.Move{Kind: model.Leave, At: 1}, model.Configuration{0, 1, 3}, true}, // its memory stays
		{model.Move{Kind: model.Join, At: 1}, model.Configuration{0, 1, 2}, false},
	} {
		b := apply(t, s, c, step.m)
		if step.m.Kind == model.Join && c[1] != 3 {
			t.Errorf("a process joins with %d and not with its clean state", c[1])
		}
		if step.m.Kind != model.Resume && !slices.Contains(b.Touched, 2) {
			t.Errorf("%v touches %v", step.m, b.Touched)
		}
		if settle(); !c[:3].Equal(step.want) {
			t.Errorf("after %s: %v, want %v", s.Describe(c, step.m), c[:3], step.want)
		}
		if s.IsCut(c, int(link)) != step.cut || s.IsCut(c, g.Back(int(link))) != step.cut {
			t.Errorf("after %s: cut %v and back %v", s.Describe(c, step.m), s.IsCut(c, int(link)), s.IsCut(c, g.Back(int(link))))
		}
	}
}
