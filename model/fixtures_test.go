// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"allot/model"
	"allot/topology"
)

func graphOf(t testing.TB, spec string) *model.Graph {
	t.Helper()
	g, err := topology.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func layoutOf(t testing.TB, fields ...*model.Field) model.Layout {
	t.Helper()
	l, err := model.NewLayout(fields...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func clone(c model.Configuration) model.Configuration { return slices.Clone(c) }

// apply takes one move that must be possible.
func apply(t testing.TB, s model.System, c model.Configuration, m model.Move) *model.Buffer {
	t.Helper()
	if err := s.Check(c, m); err != nil {
		t.Fatalf("%v: %v", m, err)
	}
	var b model.Buffer
	b.CountBytes = true
	s.Apply(c, []model.Move{m}, &b)
	return &b
}

// movesOf lists the enabled moves of a kind, site by site.
func movesOf(s model.System, c model.Configuration, kind model.Kind) []model.Move {
	var moves []model.Move
	for site := range s.Sites() {
		for _, m := range s.Enabled(c, site, nil) {
			if m.Kind == kind {
				moves = append(moves, m)
			}
		}
	}
	return moves
}

// hops is a program that counts the hops to the root over edges that are not cut. Besides, a process may forget its
// number whenever it likes.
type hops struct {
	graph  *model.Graph
	dist   *model.Field
	layout model.Layout
	isCut  func(c model.Configuration, link int) bool
}

const (
	mend = iota
	forget
)

func newHops(t testing.TB, g *model.Graph, budget model.Budget) *model.Instance {
	t.Helper()
	h := &hops{graph: g, dist: &model.Field{Name: "dist", Size: uint64(g.Len()) + 1}}
	h.layout = layoutOf(t, h.dist)
	s, err := model.NewGuarded(g, h, budget)
	if err != nil {
		t.Fatal(err)
	}
	return &model.Instance{System: s, Gauges: []model.Gauge{
		{Name: "dist", Of: func(v *model.View, site int) int64 {
			if site < g.Len() {
				return int64(v.C[site])
			}
			return 0
		}},
		{Name: "wrong", Of: func(v *model.View, site int) int64 {
			if site < g.Len() && h.Enabled(site, v.C)&1 != 0 {
				return 1
			}
			return 0
		}},
	}}
}

func (h *hops) Rewire(isCut func(c model.Configuration, link int) bool) { h.isCut = isCut }
func (h *hops) Layout(int) model.Layout                                 { return h.layout }
func (h *hops) Clean(int) uint64                                        { return h.dist.Size - 1 }
func (h *hops) Actions() []model.Action {
	return []model.Action{{Name: "mend"}, {Name: "forget", Environment: true}}
}

func (h *hops) right(p int, c model.Configuration) uint64 {
	if p == h.graph.Root {
		return 0
	}
	best := h.dist.Size - 1
	for i, q := range h.graph.Neighbours(p) {
		if !h.isCut(c, h.graph.Link(p, i)) {
			best = min(best, c[q]+1)
		}
	}
	return best
}

func (h *hops) Enabled(p int, c model.Configuration) (set uint64) {
	if c[p] != h.right(p, c) {
		set |= 1 << mend
	}
	if c[p] != h.Clean(p) {
		set |= 1 << forget
	}
	return set
}

func (h *hops) Next(p, action int, c model.Configuration) uint64 {
	if action == forget {
		return h.Clean(p)
	}
	return h.right(p, c)
}

// ledger is an algorithm over registers: whoever has swapped itself into the lock adds one to the sum.
type ledger struct {
	pc, seen *model.Field
	layout   model.Layout
	lock     *model.Field
	sum      *model.Field
}

const (
	resting = iota
	trying
	reading
	adding
	leaving
)

func newLedger(t testing.TB, n string, budget model.Budget) *model.Instance {
	t.Helper()
	g := graphOf(t, n)
	l := &ledger{
		pc: &model.Field{Name: "pc", Size: 5}, seen: &model.Field{Name: "seen", Size: 3},
		lock: &model.Field{Name: "lock", Size: uint64(g.Len()) + 1}, sum: &model.Field{Name: "sum", Size: 3},
	}
	l.layout = layoutOf(t, l.pc, l.seen)
	s, err := model.NewRegisters(g, l, budget)
	if err != nil {
		t.Fatal(err)
	}
	return &model.Instance{System: s, Gauges: []model.Gauge{{Name: "inside", Of: func(v *model.View, site int) int64 {
		if site < g.Len() && l.pc.Get(v.C[site]) >= reading {
			return 1
		}
		return 0
	}}}}
}

func (l *ledger) Registers() []*model.Field { return []*model.Field{l.lock, l.sum} }
func (l *ledger) Initial(int) uint64        { return 0 }
func (l *ledger) Layout(int) model.Layout   { return l.layout }
func (l *ledger) Clean(int) uint64          { return 0 }

func (l *ledger) Accesses(p int, local uint64, steps []model.Access) []model.Access {
	switch l.pc.Get(local) {
	case resting:
		return append(steps, model.Access{Name: "begin", Environment: true}, model.Access{Name: "glance", Op: model.Read, Register: 1, Environment: true})
	case trying:
		return append(steps, model.Access{Name: "try", Op: model.Swap, Old: 0, Value: uint64(p) + 1})
	case reading:
		return append(steps, model.Access{Name: "read", Op: model.Read, Register: 1})
	case adding:
		return append(steps, model.Access{Name: "add", Op: model.Write, Register: 1, Value: (l.seen.Get(local) + 1) % 3})
	}
	return append(steps, model.Access{Name: "leave", Op: model.Write})
}

func (l *ledger) After(_ int, local uint64, choice int, found uint64) uint64 {
	switch l.pc.Get(local) {
	case resting:
		if choice == 1 {
			return l.seen.Set(local, found)
		}
		return l.pc.Set(local, trying)
	case trying:
		if found != 0 {
			return local
		}
		return l.pc.Set(local, reading)
	case reading:
		return l.pc.Set(l.seen.Set(local, found), adding)
	case adding:
		return l.pc.Set(l.seen.Set(local, found), leaving) // a Write is told what it replaced
	}
	return l.pc.Set(local, resting)
}
