// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"

	"allot/model"
)

// pathTo is a shortest run from a start to a configuration.
func (s *search) pathTo(e *explorer, id uint64) *model.Run {
	ids := []uint64{id}
	for {
		from, isStart := s.sp.origin(ids[len(ids)-1])
		if isStart {
			break
		}
		ids = append(ids, from)
	}
	slices.Reverse(ids)
	run := &model.Run{}
	run.Loop, run.Process = -1, -1
	run.Start = s.startRanks(ids[0])
	if x, ok := s.sp.(*prints); ok {
		s.findPrint(e, x, ids[0])
	} else {
		s.sp.load(ids[0], e.c)
	}
	for i, to := range ids[1:] {
		run.Steps = append(run.Steps, s.stepTo(e, ids[i], to))
		copy(e.c, e.next)
	}
	return run
}

// nearest is that of some configurations which is fewest steps from a start. It looks at a part of them only: a short
// way is for the reader's comfort.
func (s *search) nearest(ids []uint64) uint64 {
	best, length := ids[0], 1<<30
	for _, id := range ids[:min(len(ids), shortenReach/64)] {
		n, at := 0, id
		for from, isStart := s.sp.origin(at); !isStart && n < length; from, isStart = s.sp.origin(at) {
			at = from
			n++
		}
		if n < length {
			best, length = id, n
		}
	}
	return best
}

// startRanks is how a recorded run writes the start with this id.
func (s *search) startRanks(id uint64) []uint64 {
	switch sp := s.sp.(type) {
	case *exact:
		ordinal, _ := sp.origin(id)
		return s.starts.ranks(ordinal)
	case *direct:
		if len(s.starts.words) == 0 {
			return nil
		}
		var ordinal, factor uint64 = 0, 1
		for i, w := range s.starts.words {
			ordinal += id / sp.words[w].weight % sp.words[w].radix * factor
			factor *= s.starts.sizes[i]
		}
		return s.starts.ranks(ordinal)
	}
	return s.starts.ranks(s.ordinalOfPrint(id))
}

// findPrint loads the start with a fingerprint.
func (s *search) findPrint(e *explorer, _ *prints, id uint64) {
	s.starts.fill(e.sys.Clean(), e.c, s.ordinalOfPrint(id))
}

// ordinalOfPrint looks for the start with a fingerprint; counterexamples are rare, so it simply tries them.
func (s *search) ordinalOfPrint(id uint64) uint64 {
	e := s.workers[0]
	c := make(model.Configuration, e.sys.Words())
	clean := e.sys.Clean()
	for ordinal := range s.starts.count {
		s.starts.fill(clean, c, ordinal)
		if s.sp.(*prints).print(e, c) == id {
			return ordinal
		}
	}
	panic("check: a start is missing")
}

// stepTo finds the step that leads from e.c, which has the id from, to another configuration, and makes e.next that one.
func (s *search) stepTo(e *explorer, from, to uint64) []model.Move {
	e.look()
	e.measure()
	e.combine()
	s.sp.prepare(e)
	for k := range e.steps {
		if s.sp.identify(e, from, k) == to {
			e.compose(k)
			return e.step(k)
		}
	}
	panic("check: there is no such step, so a system is not deterministic (map order is the usual cause)")
}

// lasso is a run that reaches a configuration and then goes round a cycle that begins with it.
func (s *search) lasso(e *explorer, first uint64, cycle []uint64) *model.Run {
	run := s.pathTo(e, first)
	run.Loop = len(run.Steps)
	s.sp.load(first, e.c)
	for i, id := range cycle {
		to := cycle[(i+1)%len(cycle)]
		run.Steps = append(run.Steps, s.stepTo(e, id, to))
		copy(e.c, e.next)
	}
	return run
}

// Limits of the search for a shorter cycle: it is for the reader's comfort, not for the verdict.
const (
	shortenTries = 64
	shortenReach = 1 << 17
)

// shortenCycle looks for a shorter cycle through one of the configurations of a cycle, all inside a region.
func (s *search) shortenCycle(e *explorer, cycle []uint64, inside func(id uint64) bool) []uint64 {
	best := cycle
	for i := range min(len(cycle), shortenTries) {
		root := cycle[i]
		if found := s.shortestWay(e, root, len(best)-1, inside, func(k int) bool { return e.to[k] == root }); found != nil {
			best = found
		}
	}
	return best
}

// shortestWay walks breadth-first from root inside a region until isGoal says that step k of the configuration that e
// has expanded is the last one. It returns the ids from root on, without where the last step leads; nil if there is no
// way of at most most steps.
func (s *search) shortestWay(e *explorer, root uint64, most int, inside func(uint64) bool, isGoal func(k int) bool) []uint64 {
	from := map[uint64]uint64{root: root}
	level := []uint64{root}
	for depth := 1; depth <= most && len(level) > 0 && len(from) < shortenReach; depth++ {
		var next []uint64
		for _, id := range level {
			e.expand(s.sp, id)
			for k, to := range e.to {
				if e.isFault(k) {
					continue
				}
				if isGoal(k) {
					return backTo(root, id, from)
				}
				if _, seen := from[to]; !seen && to != nowhere && inside(to) {
					from[to] = id
					next = append(next, to)
				}
			}
		}
		level = next
	}
	return nil
}

func backTo(root, id uint64, from map[uint64]uint64) []uint64 {
	way := []uint64{id}
	for id != root {
		id = from[id]
		way = append(way, id)
	}
	slices.Reverse(way)
	return way
}
