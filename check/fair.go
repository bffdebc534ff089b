// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"
	"sync/atomic"

	"allot/model"
)

// recur answers a Recurs property: for each process, whether a run can stay for ever where HoldsFor is false. The
// processes are shared out among the workers.
func (s *search) recur(i int) {
	if s.isCut() {
		return
	}
	var next atomic.Int64
	asked := s.properties[i].Ask
	if asked == nil {
		for p := range s.workers[0].sys.Graph().Len() {
			asked = append(asked, p)
		}
	}
	s.fan(func(_ int, e *explorer) {
		for !s.interrupted() {
			n := int(next.Add(1)) - 1
			if n >= len(asked) || s.isFound(i) {
				return
			}
			p := asked[n]
			s.fairCycleOf(e, i, p, s.properties[i].Stops, func(e *explorer, id uint64) bool {
				s.sp.load(id, e.c)
				return !s.properties[i].HoldsFor(&e.view, p)
			})
		}
	})
}

func (s *search) isFound(i int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.found[i].is
}

// fairCycle looks for a fair run inside a region, with one worker.
func (s *search) fairCycle(i, p int, inside func(e *explorer, id uint64) bool) {
	s.fairCycleOf(s.workers[0], i, p, 0, inside)
}

// fairCycleOf looks for a run that the fairness allows and that stays inside a region for ever, and notes it as the
// counterexample of property i. Up to so many processes other than p may stop.
func (s *search) fairCycleOf(e *explorer, i, p, stops int, inside func(e *explorer, id uint64) bool) {
	limit := s.sp.limit()
	region := newBitset(limit)
	for id := range limit {
		if id%(1<<14) == 0 && s.interrupted() {
			return
		}
		if s.sp.has(id) && inside(e, id) {
			region.set(id)
		}
	}
	t := &tarjan{s: s, e: e, region: region, order: make([]uint32, limit), process: p, stops: stops}
	t.run()
	if t.found == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := &s.found[i]; !d.is {
		*d = discovery{is: true, run: t.found, process: p, why: t.why}
	}
}

// tarjan finds the strongly connected components of a region and asks of each whether a fair run can stay in it.
type tarjan struct {
	s      *search
	e      *explorer
	region bitset
	// order is the number under which the depth-first search met a configuration, 0 if it has not, closed when its
	// component is complete.
	order   []uint32
	counter uint32
	path    []tarjanEntry
	ahead   []uint64
	open    []uint64 // configurations whose component is not complete
	found   *model.Run
	why     string
	process int    // the one that the question is about
	stops   int    // how many others may stop
	members bitset // scratch of judge: the component; empty between two of them, as filling it is what takes long
	here    []int  // scratch of judge
}

type tarjanEntry struct {
	id    uint64
	ahead int
	low   uint32
	loops bool // a step leads from the configuration to itself
}

const closed = ^uint32(0)

func (t *tarjan) run() {
	limit := t.s.sp.limit()
	for id := range limit {
		if !t.region.has(id) || t.order[id] != 0 {
			continue
		}
		t.enter(id)
		for len(t.path) > 0 {
			if t.found != nil || t.counter%(1<<12) == 0 && t.s.interrupted() {
				return
			}
			t.advance()
		}
	}
}

// enter begins with a configuration.
func (t *tarjan) enter(id uint64) {
	t.counter++
	t.order[id] = t.counter
	t.open = append(t.open, id)
	t.e.expand(t.s.sp, id)
	entry := tarjanEntry{id: id, ahead: len(t.ahead), low: t.counter}
	if !t.e.owes() {
		run := t.s.pathTo(t.e, id)
		run.Loop = len(run.Steps)
		t.found, t.why = run, "nobody has to do anything any more, so the run may end here"
		return
	}
	for k, to := range t.e.to {
		if t.e.isFault(k) || to == nowhere || !t.region.has(to) {
			continue
		}
		entry.loops = entry.loops || to == id
		t.ahead = append(t.ahead, to)
	}
	t.path = append(t.path, entry)
}

// advance takes the next step of the depth-first search.
func (t *tarjan) advance() {
	top := &t.path[len(t.path)-1]
	if len(t.ahead) > top.ahead {
		to := t.ahead[len(t.ahead)-1]
		t.ahead = t.ahead[:len(t.ahead)-1]
		switch order := t.order[to]; order {
		case 0:
			t.enter(to)
		case closed:
		default:
			top.low = min(top.low, order)
		}
		return
	}
	entry := *top
	t.path = t.path[:len(t.path)-1]
	if len(t.path) > 0 {
		above := &t.path[len(t.path)-1]
		above.low = min(above.low, entry.low)
	}
	if entry.low != t.order[entry.id] {
		return
	}
	first := len(t.open) - 1
	for t.open[first] != entry.id {
		first--
	}
	component := append([]uint64(nil), t.open[first:]...)
	t.open = t.open[:first]
	for _, id := range component {
		t.order[id] = closed
	}
	if len(component) > 1 || entry.loops {
		t.judge(component)
	}
}

// classes are fairness classes of a system.
type classes map[int]struct{}

// judge asks whether a fair run can stay in a component, by going round all of it.
func (t *tarjan) judge(component []uint64) {
	if t.members == nil {
		t.members = newBitset(t.s.sp.limit())
	}
	for _, id := range component {
		t.members.set(id)
	}
	defer func() {
		for _, id := range component {
			t.members.clear(id)
		}
	}()
	var always []int // enabled in every configuration
	ever, taken := classes{}, classes{}
	for n, id := range component {
		if n%(1<<12) == 0 && t.s.interrupted() {
			return
		}
		t.e.expand(t.s.sp, id)
		t.here = t.appendEnabled(t.here[:0])
		if n == 0 {
			always = slices.Clone(t.here)
		}
		always = slices.DeleteFunc(always, func(c int) bool { return !slices.Contains(t.here, c) })
		if t.s.o.Fairness == Strong {
			for _, c := range t.here {
				ever[c] = struct{}{}
			}
		}
		for k, to := range t.e.to {
			if !t.e.isFault(k) && to != nowhere && t.members.has(to) {
				t.classesOf(k, taken)
			}
		}
	}
	owed := classes{}
	switch t.s.o.Fairness {
	case Weak:
		for _, c := range always {
			owed[c] = struct{}{}
		}
	case Strong:
		owed = ever
	case None:
	}
	stopped := t.stopped(owed, taken)
	if missing := first(owed, taken); missing >= 0 && stopped == nil {
		if t.s.o.Fairness == Strong {
			t.without(component, missing)
		}
		return
	}
	t.found, t.why = t.walk(t.s.nearest(component), t.members, owed, stopped)
}

// stopped lists the classes that get nothing of what they are owed in a component, if a run that goes round all of it is
// one in which these have stopped. No part of the component has a run in which fewer have: there, no more is taken and no
// less is owed.
func (t *tarjan) stopped(owed, taken classes) classes {
	if t.stops == 0 || t.s.o.Fairness != Weak {
		return nil
	}
	stopped := classes{}
	for c := range owed {
		if _, ok := taken[c]; !ok {
			stopped[c] = struct{}{}
		}
	}
	if _, isOwn := stopped[t.process]; isOwn || len(stopped) > t.stops {
		return nil
	}
	return stopped
}

// first is the smallest class of a that is not in b, or -1.
func first(a, b classes) int {
	least := -1
	for c := range a {
		if _, ok := b[c]; !ok && (least < 0 || c < least) {
			least = c
		}
	}
	return least
}

// enabled lists the classes that are owed a move in the configuration that e has expanded.
func (t *tarjan) enabled() classes {
	set := classes{}
	for _, c := range t.appendEnabled(nil) {
		set[c] = struct{}{}
	}
	return set
}

// appendEnabled is enabled as a list, which is far cheaper where the classes are few.
func (t *tarjan) appendEnabled(list []int) []int {
	for _, m := range t.e.moves[:t.e.faults] {
		if c := t.e.sys.Class(t.e.c, m); c != model.NoClass && !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// classesOf adds the classes of step k.
func (t *tarjan) classesOf(k int, set classes) {
	for _, pick := range t.e.picks[t.e.steps[k].from:t.e.steps[k].to] {
		if c := t.e.sys.Class(t.e.c, t.e.moves[pick]); c != model.NoClass {
			set[c] = struct{}{}
		}
	}
}

// without looks for fair runs in the part of a component where a class is never enabled: a strongly fair run that stays
// in the component but cannot take the class must in the end avoid every configuration that enables it.
func (t *tarjan) without(component []uint64, class int) {
	sub := &tarjan{s: t.s, e: t.e, region: newBitset(t.s.sp.limit()), order: t.order}
	var rest []uint64
	for _, id := range component {
		t.e.expand(t.s.sp, id)
		if _, ok := t.enabled()[class]; !ok {
			sub.region.set(id)
			t.order[id] = 0
			rest = append(rest, id)
		}
	}
	for _, id := range rest {
		if sub.found == nil && sub.order[id] == 0 {
			sub.enter(id)
			for len(sub.path) > 0 && sub.found == nil && !t.s.stop.Load() {
				sub.advance()
			}
		}
	}
	for _, id := range component {
		t.order[id] = closed
	}
	t.found, t.why = sub.found, sub.why
}
