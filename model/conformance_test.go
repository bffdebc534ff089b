// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"cmp"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"allot/model"
	"allot/protocol"
)

// subject is an instance that has to keep the contract of System.
type subject struct {
	name string
	inst *model.Instance
	// mayLeave tells that the algorithm may leave its domain when something happens for which it is not made. It must
	// say so then (DomainError) rather than go wrong in any other way.
	mayLeave bool
	walks    uint64
}

// everyFault is a budget with one fault of each kind.
var everyFault = model.Budget{Crash: 1, Resume: 1, Restart: 1, Lose: 1, Duplicate: 1, Corrupt: 1, Forge: 1}

// subjects are the systems of these tests and every variant of every algorithm of the list.
func subjects(t *testing.T) []subject {
	list := []subject{
		{name: "hops", inst: newHops(t, graphOf(t, "random:6,seed=1"), model.Budget{})},
		{name: "hops, faults", inst: newHops(t, graphOf(t, "ring:4,root=1"), everyFault)},
		{name: "hops, 70 processes", inst: newHops(t, graphOf(t, "ring:70"), model.Budget{Crash: 2})},
		{name: "ledger", inst: newLedger(t, "path:3", model.Budget{})},
		{name: "tickets", inst: newTickets(t, model.Links{Unordered: true, Capacity: 3, Lossy: true}, model.Budget{})},
		{name: "tickets, faults", inst: newTickets(t, model.Links{}, model.Budget{Crash: 1, Restart: 1, Lose: 2, Duplicate: 1})},
		{name: "ledger, faults", inst: newLedger(t, "complete:3", everyFault)},
	}
	for _, links := range []string{"fifo", "unordered", "fifo,lossy,capacity=2", "unordered,lossy,duplicating,capacity=3", "fifo,capacity=1,garbage=1"} {
		l, err := model.ParseLinks(links)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list,
			subject{name: "peers over " + links, inst: newPeers(t, "random:4,seed=2", 3, 2, l, model.Budget{})},
			subject{name: "peers over " + links + ", faults", inst: newPeers(t, "path:3", 2, 0, l, everyFault)})
	}
	for _, a := range protocol.All {
		for _, variant := range slices.Concat(a.Variants, a.Mutants) {
			links, err := model.ParseLinks(a.Links)
			if err != nil {
				t.Fatal(err)
			}
			budgets, walks := []model.Budget{{Crash: 1, Resume: 1, Restart: 1, Lose: 1, Duplicate: 1}, {}}, uint64(4)
			if slices.Contains(a.Mutants, variant) { // there are many, and they differ little
				budgets, walks = budgets[:1], 2
			}
			for _, budget := range budgets {
				inst, err := a.Make(model.Options{Graph: graphOf(t, a.Topology), Variant: variant, Links: links, Budget: budget})
				if err != nil {
					t.Errorf("%s, variant %s: %v", a.Name, variant, err)
					continue
				}
				list = append(list, subject{a.Name + " " + variant + " " + budget.String(), inst, true, walks})
			}
		}
	}
	return list
}

func TestSystemsKeepTheContract(t *testing.T) {
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			checkSites(t, s.inst.System)
			lists := checkDomains(t, s.inst.System)
			taken := 0
			for seed := range cmp.Or(s.walks, 6) {
				w := &walker{T: t, inst: s.inst, sys: s.inst.System, r: seeded(seed), lists: lists}
				guard(t, s.mayLeave, func() { w.walk(seed%2 == 1, seed/2%2 == 1 || s.walks == 2 && seed == 1) })
				taken += w.taken
			}
			if taken < 10 && s.walks != 2 || taken == 0 { // a broken variant may stop early
				t.Errorf("only %d steps were taken", taken)
			}
		})
	}
}

// guard makes a panic the failure of one subject rather than of the whole run.
func guard(t *testing.T, mayLeave bool, do func()) {
	defer func() {
		p := recover()
		if _, isLeaving := p.(*model.DomainError); p != nil && (!isLeaving || !mayLeave) {
			t.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	do()
}

// checkSites: sites are processes, then links, then clocks, then at most one adversary.
func checkSites(t *testing.T, s model.System) {
	t.Helper()
	for site := range s.Sites() {
		k := s.Site(site)
		if k.IsAdversary() && site != s.Sites()-1 || site < s.Graph().Len() && (k != model.Site{Process: site, Link: -1}) {
			t.Errorf("site %d is %+v", site, k)
		}
		if k.Process >= s.Graph().Len() || k.Link >= s.Graph().Links() || k.Process >= 0 && k.Link >= 0 {
			t.Errorf("site %d is %+v", site, k)
		}
	}
}

// checkDomains: a domain lists each value once, the same each time, and knows the clean one. It returns the values of
// the words of programs and registers, none of which a run may leave. The states of a machine need not be all listed
// (see Ghost and MaxListed), and different lists may make one state, so of these only some are looked at.
func checkDomains(t *testing.T, s model.System) []map[uint64]bool {
	t.Helper()
	clean := s.Clean()
	lists := make([]map[uint64]bool, s.Words())
	_, isNetwork := s.(*model.Network)
	for word := range s.Words() {
		size, value := s.Domain(word)
		if size == 0 || size > 1<<14 && !isNetwork {
			continue
		}
		if isNetwork && !s.IsStatus(word) {
			size = min(size, 100)
		}
		list := map[uint64]bool{}
		for i := range size {
			v := value(i)
			if v != value(i) {
				t.Fatalf("word %d: value %d changes", word, i)
			}
			list[v] = true
		}
		if isNetwork && !s.IsStatus(word) {
			continue
		}
		if uint64(len(list)) != size || !list[clean[word]] {
			t.Errorf("word %d: %d different values of %d, the clean one is listed: %v", word, len(list), size, list[clean[word]])
		}
		if !s.IsStatus(word) {
			lists[word] = list
		}
	}
	return lists
}

// walker takes a random walk through a system and looks whether each step keeps the contract.
type walker struct {
	*testing.T
	inst  *model.Instance
	sys   model.System
	r     *rand.Rand
	c     model.Configuration
	b     model.Buffer
	lists []map[uint64]bool
	moves [][]model.Move // by site
	taken int
}

func (w *walker) walk(withFaults, isArbitrary bool) {
	w.start(isArbitrary)
	for range 50 {
		w.lookAtMoves()
		if !w.takeStep(withFaults) {
			return
		}
		w.taken++
	}
}

// start begins in the clean start or in an arbitrary one.
func (w *walker) start(isArbitrary bool) {
	w.c = w.sys.Clean()
	if again := w.sys.Clean(); !w.c.Equal(again) || len(w.c) != w.sys.Words() {
		w.Fatalf("the clean start is %v and then %v, of %d words", w.c, again, w.sys.Words())
	}
	for word := range w.c {
		if size, value := w.sys.Domain(word); isArbitrary && size > 0 && !w.sys.IsStatus(word) {
			w.c[word] = value(w.r.Uint64N(size))
		}
	}
}

// lookAtMoves looks at all moves that are enabled here.
func (w *walker) lookAtMoves() {
	w.moves = w.moves[:0]
	before := clone(w.c)
	for site := range w.sys.Sites() {
		moves := w.sys.Enabled(w.c, site, nil)
		w.moves = append(w.moves, moves)
		w.sys.Variables(w.c, site)
		tried := 0
		for i, m := range moves {
			if !belongs(w.sys.Site(site), m) || slices.Contains(moves[:i], m) {
				w.Fatalf("site %d (%+v) has the moves %v", site, w.sys.Site(site), moves)
			}
			if err := w.sys.Check(w.c, m); err != nil {
				w.Fatalf("%v is enabled, but: %v", m, err)
			}
			if w.sys.Describe(w.c, m) == "" {
				w.Errorf("%v is not described", m)
			}
			class := w.sys.Class(w.c, m)
			if class != model.NoClass && (class < 0 || m.Kind.IsFault() || w.sys.ClassName(class) == "") {
				w.Fatalf("%v has class %d", m, class)
			}
			if tried < 4 || w.r.IntN(len(moves)) < 4 {
				tried++
				w.tryAndUndo(m)
			}
		}
	}
	if !w.c.Equal(before) {
		w.Fatal("looking changed the configuration")
	}
}

// belongs tells whether a move fits the site that lists it.
func belongs(s model.Site, m model.Move) bool {
	switch {
	case s.IsAdversary():
		return m.Kind.IsFault()
	case s.Clock:
		return m.Kind == model.Tick && int(m.At) == s.Process
	case s.Link >= 0:
		return (m.Kind == model.Deliver || m.Kind == model.Lose || m.Kind == model.Duplicate) && int(m.At) == s.Link
	}
	return m.Kind == model.Act && int(m.At) == s.Process
}

// tryAndUndo: a step writes what it says it writes, is a function, and can be taken back.
func (w *walker) tryAndUndo(step ...model.Move) model.Configuration {
	before := clone(w.c)
	w.sys.Apply(w.c, step, &w.b)
	after := clone(w.c)
	for word := range after {
		if after[word] != before[word] && !slices.Contains(w.b.Written, int32(word)) {
			w.Fatalf("%v changes word %d and does not say so", step, word)
		}
		if list := w.lists[word]; list != nil && !list[after[word]] {
			w.Fatalf("%v makes word %d %d, which is not in its domain", step, word, after[word])
		}
	}
	w.b.Undo(w.c)
	if !w.c.Equal(before) {
		w.Fatalf("%v is not undone: %v became %v", step, before, w.c)
	}
	w.sys.Apply(w.c, step, &w.b)
	if !w.c.Equal(after) {
		w.Fatalf("%v makes %v and then %v", step, after, w.c)
	}
	w.b.Undo(w.c)
	return after
}
