// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"sync/atomic"

	"allot/model"
)

// stabilization answers a Stabilizes property: whether its set is closed, whether every run reaches it, and how many
// steps that takes at the most.
type stabilization struct {
	property int
	holds    func(*model.View) bool
	// distance holds for every id one more than the exact largest number of steps to the set: 1 inside it, 0 unknown.
	distance   []uint32
	legitimate atomic.Uint64
	worst      *int
	rounds     *int
	worstRun   *model.Run
}

func newStabilization(s *search, property int) *stabilization {
	return &stabilization{
		property: property,
		holds:    s.properties[property].Holds,
		distance: make([]uint32, s.sp.limit()),
	}
}

// examine notes whether a configuration is legitimate, and if it is, that no step of the algorithm leaves the set.
func (t *stabilization) examine(s *search, e *explorer, id uint64) {
	if !t.holds(&e.view) {
		return
	}
	t.distance[id] = 1
	t.legitimate.Add(1)
	e.measure()
	e.combine()
	for k := range e.steps {
		if e.isFault(k) {
			continue
		}
		e.compose(k)
		if !t.holds(&e.nextView) {
			s.discover(e, t.property, id, 0, e.step(k))
			return
		}
	}
}

// converge decides whether every run from outside reaches the set.
func (t *stabilization) converge(s *search) {
	if s.isCut() || s.found[t.property].is {
		return
	}
	t.search(s)
	d := &s.found[t.property]
	switch {
	case s.isCut():
	case d.is && len(d.run.Steps) == d.run.Loop: // stuck: no fairness can help
	case d.is && s.o.Fairness != None:
		*d = discovery{}
		s.fairCycle(t.property, -1, func(_ *explorer, id uint64) bool { return t.distance[id] != 1 })
		if s.o.Rounds && !d.is {
			t.findWorstRounds(s) // steps have no bound, but rounds may have one
		}
	case !d.is:
		t.findWorst(s)
	}
}

// search looks for a cycle or a dead end outside the set, and otherwise for the longest way to it. Every worker runs
// the same depth-first search from other roots. What one has finished the others use; what one has only begun the
// others do not know of, and may do again. A configuration is finished when all its successors are, so its distance
// is right whoever finishes it, and a worker that meets its own path has found a cycle.
func (t *stabilization) search(s *search) {
	limit := s.sp.limit()
	s.stop.Store(false)
	s.fan(func(n int, e *explorer) {
		w := &diver{stabilization: t, s: s, e: e, backwards: n%2 == 1, onPath: newBitset(limit)}
		first := limit / uint64(len(s.workers)) * uint64(n)
		for i := range limit {
			id := (first + i) % limit
			if w.backwards {
				id = limit - 1 - i
			}
			if i%(1<<12) == 0 {
				s.report(e, "looking for the longest way to the legitimate set", limit)
				if s.interrupted() {
					return
				}
			}
			if s.sp.has(id) && atomic.LoadUint32(&t.distance[id]) == 0 && !w.dive(id) {
				return
			}
		}
	})
	s.mu.Lock()
	s.stop.Store(s.cut != "")
	s.mu.Unlock()
}

// diver is one worker's depth-first search.
type diver struct {
	*stabilization
	s         *search
	e         *explorer
	backwards bool
	path      []pathEntry
	ahead     []uint64 // successors still to be seen, of all path entries
	onPath    bitset
	steps     uint64
}

type pathEntry struct {
	id    uint64
	ahead int    // its successors start here
	best  uint32 // the largest distance among those seen
}

// dive finishes a configuration and everything below it. It returns false when the search is over.
func (w *diver) dive(root uint64) bool {
	if !w.enter(root) {
		return false
	}
	for len(w.path) > 0 {
		top := &w.path[len(w.path)-1]
		if len(w.ahead) == top.ahead {
			atomic.StoreUint32(&w.distance[top.id], top.best+1)
			w.onPath.clear(top.id)
			best := top.best + 1
			w.path = w.path[:len(w.path)-1]
			if len(w.path) > 0 {
				above := &w.path[len(w.path)-1]
				above.best = max(above.best, best)
			}
			continue
		}
		to := w.ahead[len(w.ahead)-1]
		w.ahead = w.ahead[:len(w.ahead)-1]
		if d := atomic.LoadUint32(&w.distance[to]); d > 0 {
			top.best = max(top.best, d)
			continue
		}
		if w.onPath.has(to) {
			w.foundCycle(to)
			return false
		}
		if !w.enter(to) {
			return false
		}
	}
	return true
}

// enter puts a configuration on the path and its successors ahead of it.
func (w *diver) enter(id uint64) bool {
	if w.steps++; w.steps%(1<<14) == 0 && w.s.interrupted() {
		return false
	}
	w.e.expand(w.s.sp, id)
	if !w.e.owes() {
		w.foundEnd(id)
		return false
	}
	w.path = append(w.path, pathEntry{id: id, ahead: len(w.ahead)})
	w.onPath.set(id)
	top := &w.path[len(w.path)-1]
	for _, to := range w.e.to {
		if d := atomic.LoadUint32(&w.distance[to]); d > 0 {
			top.best = max(top.best, d)
		} else {
			w.ahead = append(w.ahead, to)
		}
	}
	if w.backwards {
		slices.Reverse(w.ahead[top.ahead:])
	}
	return true
}

func (w *diver) foundCycle(to uint64) {
	i := slices.IndexFunc(w.path, func(p pathEntry) bool { return p.id == to })
	var cycle []uint64
	for _, p := range w.path[i:] {
		cycle = append(cycle, p.id)
	}
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.s.found[w.property].is {
		return
	}
	w.s.stop.Store(true)
	cycle = w.s.shortenCycle(w.e, cycle, func(id uint64) bool { return atomic.LoadUint32(&w.distance[id]) != 1 })
	run := w.s.lasso(w.e, cycle[0], cycle)
	w.s.found[w.property] = discovery{is: true, run: run, process: -1, why: fmt.Sprintf(
		"the last %d steps can be repeated for ever without reaching the legitimate set", len(run.Steps)-run.Loop)}
}

func (w *diver) foundEnd(id uint64) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.s.found[w.property].is {
		return
	}
	w.s.stop.Store(true)
	run := w.s.pathTo(w.e, id)
	run.Loop = len(run.Steps)
	w.s.found[w.property] = discovery{is: true, run: run, process: -1,
		why: "nobody has to do anything any more, outside the legitimate set"}
}

// findWorst takes the largest distance, and a run that takes so long.
func (t *stabilization) findWorst(s *search) {
	var far uint64
	for id, d := range t.distance {
		if d > t.distance[far] {
			far = uint64(id)
		}
	}
	if s.sp.limit() == 0 || t.distance[far] == 0 {
		return
	}
	worst := int(t.distance[far]) - 1
	t.worst = &worst
	e := s.workers[0]
	run := s.pathTo(e, far)
	for id := far; t.distance[id] > 1; {
		e.expand(s.sp, id)
		k := slices.IndexFunc(e.to, func(to uint64) bool { return t.distance[to] == t.distance[id]-1 })
		run.Steps = append(run.Steps, e.step(k))
		id = e.to[k]
	}
	t.worstRun = run
	if s.o.Rounds {
		t.findWorstRounds(s)
	}
}
