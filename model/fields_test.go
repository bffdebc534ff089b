// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"allot/model"
)

// TestChooseListsEachValueOnce: over random domains, Count is the number of different values that Choose gives, all of
// them are inside their bounds, and each survives encoding and decoding.
func TestChooseListsEachValueOnce(t *testing.T) {
	const most = 3000
	tried := map[shapeKind]int{}
	for seed := range uint64(900) {
		s := randomShape(seeded(seed), 3)
		want := s.count(most + 1)
		if want > most {
			continue
		}
		tried[s.kind]++
		var none content
		if got := model.Count(s.visit(&none)); got != want {
			t.Fatalf("seed %d: count %d, want %d: %+v", seed, got, want, s)
		}
		seen := map[string]bool{}
		for rank := range want {
			var v, back content
			model.Choose(rank, s.visit(&v))
			if !s.isInside(&v) {
				t.Fatalf("seed %d: value %d is outside: %+v of %+v", seed, rank, v, s)
			}
			data := model.Encode(nil, s.visit(&v))
			seen[string(data)] = true
			if err := model.Decode(data, s.visit(&back)); err != nil {
				t.Fatalf("seed %d: value %d: %v", seed, rank, err)
			}
			if again := model.Encode(nil, s.visit(&back)); !bytes.Equal(again, data) {
				t.Fatalf("seed %d: value %d is encoded as %x and then as %x", seed, rank, data, again)
			}
			if a, b := model.Describe(s.visit(&v)), model.Describe(s.visit(&back)); !slices.Equal(a, b) {
				t.Fatalf("seed %d: value %d: %v became %v", seed, rank, a, b)
			}
		}
		if uint64(len(seen)) != want {
			t.Fatalf("seed %d: %d different values, want %d: %+v", seed, len(seen), want, s)
		}
	}
	for kind := range ghostShape + 1 {
		if tried[kind] < 20 {
			t.Errorf("kind %d: only %d domains were tried", kind, tried[kind])
		}
	}
}

// wide is a state whose values cannot be counted.
type wide struct {
	all   int64
	fence int
	tags  []int16
	kind  uint8
	inner []uint32
	on    bool
}

func (w *wide) visit(f *model.Fields) {
	model.Int(f, "all", &w.all, math.MinInt64, math.MaxInt64)
	model.Int(f, "fence", &w.fence, 1, 1<<40)
	model.List(f, "tags", &w.tags, 300, func(f *model.Fields, name string, tag *int16) {
		model.Int(f, name, tag, -300, 300)
	})
	model.Union(f, "kind", &w.kind, []string{"off", "on"}, func(f *model.Fields, kind uint8) {
		if kind == 1 {
			model.Bool(f, "on", &w.on)
			model.List(f, "inner", &w.inner, 2, func(f *model.Fields, name string, n *uint32) {
				model.Int(f, name, n, 0, math.MaxUint32)
			})
		}
	})
}

func TestChooseFromAnUncountableDomain(t *testing.T) {
	var none wide
	if n := model.Count(none.visit); n != model.Uncountable {
		t.Fatalf("count %d", n)
	}
	seen, kinds, lengths := map[string]bool{}, map[uint8]int{}, map[int]bool{}
	for rank := range uint64(500) {
		var v, again, back wide
		rank *= 0x1234567890abcdef // large numbers are as good as small ones
		model.Choose(rank, v.visit)
		model.Choose(rank, again.visit)
		if !reflect.DeepEqual(v, again) {
			t.Fatalf("rank %d gives %+v and then %+v", rank, v, again)
		}
		// Encode refuses what is outside, but look as well.
		if v.fence < 1 || v.fence > 1<<40 || len(v.tags) > 300 || v.kind > 1 || len(v.inner) > 2 {
			t.Fatalf("rank %d is outside: %+v", rank, v)
		}
		for _, tag := range v.tags {
			if tag < -300 || tag > 300 {
				t.Fatalf("rank %d: tag %d", rank, tag)
			}
		}
		data := model.Encode(nil, v.visit)
		if err := model.Decode(data, back.visit); err != nil {
			t.Fatal(err)
		}
		seen[string(data)], lengths[len(v.tags)] = true, true
		kinds[v.kind]++
	}
	if len(seen) != 500 || kinds[0] < 100 || kinds[1] < 100 || len(lengths) < 100 {
		t.Errorf("%d different values of 500, kinds %v, %d lengths", len(seen), kinds, len(lengths))
	}
}

// TestLargeVariablesAreListedInPart: of a variable with more than 2^16 values, the lowest 2^16 are chosen.
func TestLargeVariablesAreListedInPart(t *testing.T) {
	v := 0
	visit := func(f *model.Fields) { model.Int(f, "v", &v, -5, 1<<30) }
	if n := model.Count(visit); n != model.MaxListed {
		t.Fatalf("count %d", n)
	}
	for _, rank := range []uint64{0, 1, model.MaxListed - 1} {
		if model.Choose(rank, visit); v != int(rank)-5 {
			t.Errorf("rank %d gives %d", rank, v)
		}
	}
	v = 1 << 30 // not listed, but inside
	data := model.Encode(nil, visit)
	v = 0
	if err := model.Decode(data, visit); err != nil || v != 1<<30 {
		t.Errorf("%d, %v", v, err)
	}
}

func TestEncodeRefusesToLeaveTheDomain(t *testing.T) {
	for name, visit := range map[string]func(*model.Fields){
		"above": func(f *model.Fields) { v := 4; model.Int(f, "v", &v, 0, 3) },
		"below": func(f *model.Fields) { v := -1; model.Int(f, "v", &v, 0, 3) },
		"kind":  func(f *model.Fields) { v := uint8(2); model.Enum(f, "v", &v, "a", "b") },
		"ghost": func(f *model.Fields) { v := 2; model.Ghost(f, "v", &v, 0, 1) },
		"list": func(f *model.Fields) {
			v := []int{1, 1, 1}
			model.List(f, "v", &v, 2, func(f *model.Fields, name string, e *int) { model.Int(f, name, e, 0, 1) })
		},
	} {
		func() {
			defer func() {
				if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "variable v holds") {
					t.Errorf("%s: %v", name, p)
				}
			}()
			model.Encode(nil, visit)
		}()
		caught := func() (err error) {
			defer model.CatchDomain(&err)
			model.Encode(nil, visit)
			return nil
		}()
		if left := new(model.DomainError); !errors.As(caught, &left) || left.Variable != "v" {
			t.Errorf("%s: caught %v", name, caught)
		}
	}
	defer func() {
		if p := recover(); p != "another" {
			t.Errorf("another panic is swallowed: %v", p)
		}
	}()
	var err error
	defer model.CatchDomain(&err)
	panic("another")
}

func TestDescribe(t *testing.T) {
	v := wide{all: -7, fence: 3, tags: []int16{5, -6}, kind: 1, on: true}
	var text []string
	for _, x := range model.Describe(v.visit) {
		text = append(text, x.Name+"="+x.Value)
	}
	if got := strings.Join(text, " "); got != "all=-7 fence=3 tags[0]=5 tags[1]=-6 kind=on on=true" {
		t.Error(got)
	}
	odd := uint8(9)
	if vs := model.Describe(func(f *model.Fields) { model.Enum(f, "v", &odd, "a") }); vs[0].Value != "9" {
		t.Errorf("a kind without a name is shown as %q", vs[0].Value)
	}
}
