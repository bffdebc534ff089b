// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"fmt"
	"strings"
	"testing"

	"allot/model"
)

func fieldsOf(sizes ...uint64) []*model.Field {
	fields := make([]*model.Field, len(sizes))
	for i, size := range sizes {
		fields[i] = &model.Field{Name: fmt.Sprintf("f%d", i), Size: size}
	}
	return fields
}

func TestNewLayoutRefuses(t *testing.T) {
	for _, test := range []struct {
		sizes []uint64
		want  string // empty: it is allowed
	}{
		{nil, ""},
		{[]uint64{1}, ""},
		{[]uint64{1<<63 - 1}, ""},
		{[]uint64{1 << 31, 1<<32 - 1}, ""},
		{[]uint64{1<<62 + 1, 1, 1}, ""},
		{[]uint64{0}, "variable f0 has no value"},
		{[]uint64{3, 0}, "variable f1 has no value"},
		{[]uint64{1 << 63}, "variable f0: the variables of a process must have fewer than 2^63 combinations"},
		{[]uint64{1 << 32, 1 << 31}, "variable f1: the variables of a process must have fewer than 2^63 combinations"},
		{[]uint64{1 << 32, 1 << 33}, "variable f1 does not fit"},
		{[]uint64{^uint64(0)}, "fewer than 2^63"},
		// Each of these takes two bits for three values: the bits run out before the combinations do.
		{repeat(3, 33), "variable f32 does not fit: the variables of a process share 64 bits"},
		{repeat(3, 32), ""},
	} {
		_, err := model.NewLayout(fieldsOf(test.sizes...)...)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v: %v, want %q", test.sizes, err, test.want)
		}
	}
}

func repeat(size uint64, n int) []uint64 {
	sizes := make([]uint64, n)
	for i := range sizes {
		sizes[i] = size
	}
	return sizes
}

func TestFieldsOfALayoutAreIndependent(t *testing.T) {
	for seed := range uint64(150) {
		r := seeded(seed)
		var fields []*model.Field
		product := uint64(1)
		for range 1 + r.IntN(10) {
			size := 1 + r.Uint64N(1<<r.IntN(12))
			if product > 1<<40/size {
				break
			}
			product *= size
			fields = append(fields, fieldsOf(size)...)
		}
		l := layoutOf(t, fields...)
		if l.Size() != product {
			t.Fatalf("seed %d: %d combinations, want %d", seed, l.Size(), product)
		}
		values := make([]uint64, len(fields))
		var w uint64
		for range 200 {
			i := r.IntN(len(fields))
			values[i] = r.Uint64N(fields[i].Size)
			w = fields[i].Set(w, values[i])
			for j, f := range fields {
				if f.Get(w) != values[j] {
					t.Fatalf("seed %d: after setting field %d, field %d is %d, want %d", seed, i, j, f.Get(w), values[j])
				}
			}
			if !l.Contains(w) {
				t.Fatalf("seed %d: %x is not contained", seed, w)
			}
			vs := l.Variables(w)
			for j, v := range vs {
				if v.Name != fields[j].Name || v.Value != fmt.Sprint(values[j]) {
					t.Fatalf("seed %d: variable %d is shown as %v", seed, j, v)
				}
			}
		}
	}
}

func TestValueListsEachCombinationOnce(t *testing.T) {
	for _, sizes := range [][]uint64{{}, {1}, {2}, {3, 5}, {7, 1, 4, 2}, {1, 1, 1}, {6, 6, 6, 6}, {100, 3, 9}} {
		l := layoutOf(t, fieldsOf(sizes...)...)
		seen := map[uint64]bool{}
		for i := range l.Size() {
			w := l.Value(i)
			if seen[w] || !l.Contains(w) {
				t.Fatalf("%v: value %d is %x, seen %v, contained %v", sizes, i, w, seen[w], l.Contains(w))
			}
			seen[w] = true
		}
		want := uint64(1)
		for _, size := range sizes {
			want *= size
		}
		if uint64(len(seen)) != want {
			t.Errorf("%v: %d values, want %d", sizes, len(seen), want)
		}
		// Contains knows exactly these.
		for w := range uint64(1 << 14) {
			if l.Contains(w) != seen[w] {
				t.Fatalf("%v: contains %x is %v", sizes, w, l.Contains(w))
			}
		}
		if l.Contains(1 << 63) {
			t.Errorf("%v: contains a bit that belongs to no field", sizes)
		}
	}
}

func TestShowIsAsked(t *testing.T) {
	l := layoutOf(t, &model.Field{Name: "color", Size: 2, Show: func(v uint64) string { return []string{"red", "blue"}[v] }})
	if vs := l.Variables(1); len(vs) != 1 || vs[0] != (model.Variable{Name: "color", Value: "blue"}) {
		t.Errorf("%v", vs)
	}
}

// TestRankAndWord: the number of a combination is found again, and a word that is visited variable by variable has the
// same values, counted, chosen, encoded and described.
func TestRankAndWord(t *testing.T) {
	fields := fieldsOf(3, 1, 5, 2)
	fields[2].Show = func(v uint64) string { return fmt.Sprint("v", v) }
	l, err := model.NewLayout(fields...)
	if err != nil {
		t.Fatal(err)
	}
	visit := func(w *uint64) func(*model.Fields) {
		return func(f *model.Fields) { model.Word(f, "x.", l, w) }
	}
	var none uint64
	if got := model.Count(visit(&none)); got != l.Size() {
		t.Fatalf("%d values, the layout has %d", got, l.Size())
	}
	for i := range l.Size() {
		w := l.Value(i)
		var chosen, decoded uint64
		model.Choose(i, visit(&chosen))
		if err := model.Decode(model.Encode(nil, visit(&w)), visit(&decoded)); err != nil {
			t.Fatal(err)
		}
		if got := l.Rank(w); got != i || chosen != w || decoded != w {
			t.Fatalf("value %d is %x: its rank is %d, chosen %x, decoded %x", i, w, got, chosen, decoded)
		}
	}
	w := l.Value(l.Size() - 1)
	if got := fmt.Sprint(model.Describe(visit(&w))); got != "[{x.f0 2} {x.f1 0} {x.f2 v4} {x.f3 1}]" {
		t.Error(got)
	}
	if err := model.Decode([]byte{0, 0, 5, 0}, visit(&w)); err == nil {
		t.Error("a value outside its domain was decoded")
	}
}
