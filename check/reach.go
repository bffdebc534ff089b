// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"

	"allot/model"
)

// starts lists the starts of a search under ordinal numbers: the clean one, or every combination of values.
type starts struct {
	count  uint64
	sys    model.System
	words  []int // the words that vary
	sizes  []uint64
	values [][]uint64
	given  [][]uint64 // the ranks of the starts where they are given
}

// What can be listed: the values of one word, and the starts.
const (
	maxListed = 1 << 24
	maxStarts = 1 << 40
)

func newStarts(sys model.System, o Options) (*starts, error) {
	st := &starts{count: 1, sys: sys}
	if !o.Arbitrary {
		return st, nil
	}
	for w := range sys.Words() {
		if sys.IsStatus(w) {
			continue
		}
		size, value := sys.Domain(w)
		if size == 0 || size > maxListed || st.count > maxStarts/size {
			return nil, fmt.Errorf("there are more arbitrary starts than can be listed: take smaller parameters, a smaller network, or simulate")
		}
		st.count *= size
		if size == 1 {
			continue
		}
		values := make([]uint64, size)
		for i := range values {
			values[i] = value(uint64(i))
		}
		st.words, st.sizes, st.values = append(st.words, w), append(st.sizes, size), append(st.values, values)
	}
	if o.Starts != nil {
		st.given, st.count = o.Starts, uint64(len(o.Starts))
	}
	return st, nil
}

// fill makes c the start with an ordinal number; clean is the clean start.
func (st *starts) fill(clean, c model.Configuration, ordinal uint64) {
	copy(c, clean)
	for i, w := range st.words {
		if st.given != nil {
			c[w] = st.values[i][st.given[ordinal][w]%st.sizes[i]]
			continue
		}
		c[w] = st.values[i][ordinal%st.sizes[i]]
		ordinal /= st.sizes[i]
	}
}

// ranks is the start with an ordinal number as a recorded run writes it: nil for the clean start.
func (st *starts) ranks(ordinal uint64) []uint64 {
	if len(st.words) == 0 {
		return nil
	}
	if st.given != nil {
		return st.given[ordinal]
	}
	ranks := make([]uint64, st.sys.Words())
	clean := st.sys.Clean()
	for w := range ranks {
		if st.sys.IsStatus(w) {
			size, value := st.sys.Domain(w)
			for i := range size {
				if value(i) == clean[w] {
					ranks[w] = i
				}
			}
		}
	}
	for i, w := range st.words {
		ranks[w] = ordinal % st.sizes[i]
		ordinal /= st.sizes[i]
	}
	return ranks
}

// frontier is a level of the breadth-first search: ids, and with fingerprints also the keys of the configurations.
type frontier struct {
	ids  []uint64
	keys []byte
}

// breadthFirst reaches every configuration level by level, so that what it discovers is as near to a start as it can
// be.
func (s *search) breadthFirst() {
	level := s.addStarts()
	for s.depth = 0; len(level.ids) > 0 && !s.stop.Load(); s.depth++ {
		if level = s.expandLevel(level); len(level.ids) == 0 {
			return
		}
		if s.isDecided() {
			return
		}
	}
}

// isDecided tells whether every property asked is one that the breadth-first search decides and has failed already.
func (s *search) isDecided() bool {
	for i, p := range s.properties {
		if p.Claim == model.Recurs || p.Claim == model.Stabilizes || !s.found[i].is {
			return false
		}
	}
	return len(s.properties) > 0
}

func (s *search) addStarts() frontier {
	levels := make([]frontier, len(s.workers))
	clean := s.workers[0].sys.Clean()
	s.parallel(s.starts.count, func(e *explorer, from, to uint64) {
		level := &levels[s.indexOf(e)]
		for ordinal := from; ordinal < to; ordinal++ {
			s.starts.fill(clean, e.c, ordinal)
			if n, ok := e.sys.(*model.Network); ok && !n.IsStart(e.c) {
				continue
			}
			if id, isNew := s.sp.addStart(e, e.c, ordinal); isNew {
				s.states.Add(1)
				s.push(level, e, id, e.c)
			}
		}
		s.checkLimits()
		s.report(e, "listing the starts", s.starts.count)
	})
	return merge(levels)
}

func (s *search) indexOf(e *explorer) int {
	for i, w := range s.workers {
		if w == e {
			return i
		}
	}
	panic("check: unknown worker")
}

func (s *search) push(f *frontier, e *explorer, id uint64, c model.Configuration) {
	f.ids = append(f.ids, id)
	if x, ok := s.sp.(*prints); ok {
		f.keys = x.pack(c, f.keys)
	}
}

func merge(levels []frontier) frontier {
	all := levels[0]
	for _, l := range levels[1:] {
		all.ids, all.keys = append(all.ids, l.ids...), append(all.keys, l.keys...)
	}
	return all
}

// expandLevel examines the configurations of a level and returns the next level.
func (s *search) expandLevel(level frontier) frontier {
	next := make([]frontier, len(s.workers))
	x, isPrints := s.sp.(*prints)
	s.parallel(uint64(len(level.ids)), func(e *explorer, from, to uint64) {
		out := &next[s.indexOf(e)]
		for i := from; i < to; i++ {
			id := level.ids[i]
			if isPrints {
				x.unpack(level.keys[i*uint64(x.length):(i+1)*uint64(x.length)], e.c)
			} else {
				s.sp.load(id, e.c)
			}
			s.expandOne(e, id, out)
		}
		s.checkLimits()
		s.report(e, "reaching configurations", 0)
	})
	return merge(next)
}

func (s *search) expandOne(e *explorer, id uint64, out *frontier) {
	e.look()
	s.examine(e, id, s.depth)
	e.measure()
	e.combine()
	s.sp.prepare(e)
	for k := range e.steps {
		to, isNew := s.sp.add(e, id, k)
		if isNew {
			s.states.Add(1)
			s.push(out, e, to, e.next)
		}
	}
	s.transitions.Add(uint64(len(e.steps)))
	if e.cut {
		e.cut = false
		s.overflow.Store(true)
	}
}

func (s *search) checkLimits() {
	if n := s.states.Load(); n > s.o.MaxStates {
		s.cutBy(fmt.Sprintf("the limit of %d configurations was reached", s.o.MaxStates))
	}
	if n := s.sp.bytes(); n > s.o.MaxMemory {
		s.cutBy(fmt.Sprintf("the limit of %d bytes was reached", s.o.MaxMemory))
	}
}

// bitset is a set of ids.
type bitset []uint64

func newBitset(size uint64) bitset { return make(bitset, (size+63)/64) }

func (b bitset) has(id uint64) bool { return b[id/64]>>(id%64)&1 != 0 }

func (b bitset) set(id uint64) { b[id/64] |= 1 << (id % 64) }

func (b bitset) clear(id uint64) { b[id/64] &^= 1 << (id % 64) }
