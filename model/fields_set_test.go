// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"slices"
	"testing"

	"allot/model"
)

func TestSet(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 64, 70} {
		words := make([]uint64, (n+63)/64)
		words[(n-1)/64] |= 1 << ((n - 1) % 64)
		words[0] |= 1
		var back []uint64
		data := model.Encode(nil, func(f *model.Fields) { model.Set(f, "s", &words, n) })
		if err := model.Decode(data, func(f *model.Fields) { model.Set(f, "s", &back, n) }); err != nil || !slices.Equal(words, back) {
			t.Errorf("n = %d: %v came back as %v: %v", n, words, back, err)
		}
		if len(data) != (n+7)/8 {
			t.Errorf("n = %d: %d bytes", n, len(data))
		}
	}
	var none, some []uint64
	empty := []uint64{0}
	visit := func(v *[]uint64) func(*model.Fields) { return func(f *model.Fields) { model.Set(f, "s", v, 5) } }
	if !slices.Equal(model.Encode(nil, visit(&none)), model.Encode(nil, visit(&empty))) {
		t.Error("a set without words and an empty one differ")
	}
	if got := model.Count(visit(&none)); got != 32 {
		t.Errorf("a set of 5 has %d values", got)
	}
	if model.Choose(0b10010, visit(&some)); some[0] != 0b10010 || model.Describe(visit(&some))[0].Value != "{1, 4}" {
		t.Errorf("chosen %b, %v", some, model.Describe(visit(&some)))
	}
	if err := model.Decode([]byte{0b100000}, visit(&some)); err == nil {
		t.Error("a member outside the set was decoded")
	}
}

func TestTextParameter(t *testing.T) {
	a := model.Algorithm{Name: "x", Variants: []string{"v"}, Parameters: []model.Parameter{{Name: "form", Default: "n", IsText: true}}}
	o, err := a.Resolve(model.Options{})
	if err != nil || o.Values["form"] != "n" {
		t.Errorf("%v, %v: a text must stay as it is", o.Values, err)
	}
	if o, err = a.Resolve(model.Options{Values: map[string]string{"form": "grid:25"}}); err != nil || o.Values["form"] != "grid:25" {
		t.Errorf("%v, %v", o.Values, err)
	}
}
