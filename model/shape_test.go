// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"fmt"
	"math/rand/v2"

	"allot/model"
)

// shape is a description of a domain, made up by chance: what VisitState is to an algorithm, a shape and a value are to
// these tests.
type shape struct {
	kind    shapeKind
	lo, hi  int64
	names   []string // of enumerations and unions
	longest int
	parts   []shape // of a list one, of a union one for each name
}

type shapeKind uint8

const (
	intShape shapeKind = iota
	enumShape
	boolShape
	listShape
	unionShape
	structShape
	ghostShape
)

// content is a value of a shape. Only what the shape has is used.
type content struct {
	number int64
	kind   uint8
	truth  bool
	parts  []content
}

func (s *shape) visit(v *content) func(*model.Fields) {
	return func(f *model.Fields) { s.walk(f, "v", v) }
}

func (s *shape) walk(f *model.Fields, name string, v *content) {
	switch s.kind {
	case intShape:
		model.Int(f, name, &v.number, s.lo, s.hi)
	case ghostShape:
		model.Ghost(f, name, &v.number, s.lo, s.hi)
	case enumShape:
		model.Enum(f, name, &v.kind, s.names...)
	case boolShape:
		model.Bool(f, name, &v.truth)
	case listShape:
		model.List(f, name, &v.parts, s.longest, s.parts[0].walk)
	case unionShape:
		model.Union(f, name, &v.kind, s.names, func(f *model.Fields, kind uint8) {
			v.fit(1)
			s.parts[kind].walk(f, name+"."+s.names[kind], &v.parts[0])
		})
	case structShape:
		v.fit(len(s.parts))
		for i := range s.parts {
			s.parts[i].walk(f, fmt.Sprintf("%s.%d", name, i), &v.parts[i])
		}
	}
}

// fit makes room, as the memory of a Go struct would be there from the start.
func (v *content) fit(n int) {
	for len(v.parts) < n {
		v.parts = append(v.parts, content{})
	}
}

// isInside tells whether every variable that a value has is inside its bounds.
func (s *shape) isInside(v *content) bool {
	switch s.kind {
	case intShape:
		return v.number >= s.lo && v.number <= s.hi
	case ghostShape:
		return v.number == s.lo // as it is chosen
	case enumShape:
		return int(v.kind) < len(s.names)
	case boolShape:
		return true
	case listShape:
		for i := range v.parts {
			if !s.parts[0].isInside(&v.parts[i]) {
				return false
			}
		}
		return len(v.parts) <= s.longest
	case unionShape:
		return int(v.kind) < len(s.names) && s.parts[v.kind].isInside(&v.parts[0])
	case structShape:
		for i := range s.parts {
			if !s.parts[i].isInside(&v.parts[i]) {
				return false
			}
		}
	}
	return true
}

// count is how many values there are, by the plainest means; at most limit.
func (s *shape) count(limit uint64) uint64 {
	total := uint64(1)
	switch s.kind {
	case intShape:
		total = uint64(s.hi-s.lo) + 1
	case enumShape:
		total = uint64(len(s.names))
	case boolShape:
		total = 2
	case ghostShape:
	case listShape:
		power := uint64(1)
		for range s.longest {
			power = min(power*s.parts[0].count(limit), limit)
			total += power
		}
	case unionShape:
		total = 0
		for i := range s.parts {
			total += s.parts[i].count(limit)
		}
	case structShape:
		for i := range s.parts {
			total = min(total*s.parts[i].count(limit), limit)
		}
	}
	return min(total, limit)
}

func randomShape(r *rand.Rand, depth int) shape {
	s := shape{kind: shapeKind(r.IntN(7))}
	if depth == 0 && s.kind >= listShape && s.kind <= structShape {
		s.kind = intShape
	}
	names := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint("k", i))
		}
		return list
	}
	parts := 0
	switch s.kind {
	case intShape, ghostShape:
		s.lo = r.Int64N(700) - 350
		s.hi = s.lo + r.Int64N([]int64{1, 3, 5, 260, 600}[r.IntN(5)])
	case enumShape:
		s.names = names(1 + r.IntN(4))
	case boolShape:
	case listShape:
		parts, s.longest = 1, r.IntN(4)
	case unionShape:
		parts = 1 + r.IntN(3)
		s.names = names(parts)
	case structShape:
		parts = r.IntN(4)
	}
	for range parts {
		s.parts = append(s.parts, randomShape(r, depth-1))
	}
	return s
}
