// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		values []float64
		log    bool
		count  int
		snap   bool
		want   string
	}{
		{[]float64{0, 100}, false, 5, true, "0 20 40 60 80 100"},
		{[]float64{0, 1}, false, 5, true, "0 1"}, // whole numbers get whole ticks
		{[]float64{2, 5}, false, 8, false, "2 3 4 5"},
		{[]float64{0, 0.9}, false, 4, true, "0 0.5 1.0"},
		{[]float64{0, 0.75, 1}, false, 5, true, "0 0.2 0.4 0.6 0.8 1.0"},
		{[]float64{-30, 70}, false, 5, true, "−40 −20 0 20 40 60 80"},
		{[]float64{0, 123456}, false, 3, true, "0 50,000 100,000 150,000"},
		{[]float64{0, 7.7e9}, false, 4, true, "0 2×10^9 4×10^9 6×10^9 8×10^9"},
		{[]float64{0, 1.5e7}, false, 3, true, "0 0.5×10^7 1.0×10^7 1.5×10^7"},
		{[]float64{0, 3.1e-5}, false, 3, true, "0 2×10^−5 4×10^−5"},
		{[]float64{5, 5}, false, 4, true, "4 5 6"},
		{[]float64{0, 0}, false, 4, true, "−1 0 1"},
		{[]float64{0.5, 0.5}, false, 4, true, "0.45 0.50 0.55"},
		{[]float64{1e15, 1e15 + 1}, false, 2, true, "0.9×10^15 1.0×10^15 1.1×10^15 1.2×10^15"},
		{[]float64{10, 1000}, true, 5, false, "10 100 1,000"},
		{[]float64{0.001, 1e6}, true, 9, true, "0.001 0.01 0.1 1 10 100 1,000 10,000 100,000 1,000,000"},
		{[]float64{1, 1e9}, true, 5, true, "10^0 10^2 10^4 10^6 10^8"},
		{[]float64{10, 300}, true, 5, true, "10 20 50 100 200 500"},
		{[]float64{20, 160}, true, 4, false, "50 100 150"},
		{[]float64{7, 7}, true, 4, true, "2 5 10 20"},
		{[]float64{1e-5, 1e-2}, true, 4, true, "10^−5 10^−4 10^−3 10^−2"},
	} {
		var e extent
		e.add(test.values...)
		a := newAxis(e, test.log, test.count, test.snap)
		var got []string
		for _, tick := range a.ticks {
			text := tick.label.text
			if tick.label.exponent != "" {
				text += "^" + tick.label.exponent
			}
			got = append(got, text)
			if tick.place < -1e-6 || tick.place > 1+1e-6 {
				t.Errorf("%v: the tick %s lies at %g", test.values, text, tick.place)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%v: got %s, want %s", test.values, strings.Join(got, " "), test.want)
		}
		for _, v := range test.values {
			if place := a.place(v); place < -1e-9 || place > 1+1e-9 {
				t.Errorf("%v: %g lies at %g", test.values, v, place)
			}
		}
	}
}

func TestHistogram(t *testing.T) {
	for _, test := range []struct {
		values []float64
		bins   int
		want   string
	}{
		{[]float64{1, 2, 2, 3}, 3, "[1 2 3] [1 2 1]"},
		{[]float64{1, 2, 2, 3}, 100, "[1 2 3] [1 2 1]"},
		{[]float64{0, 1, 2, 3, 4, 5}, 3, "[0.5 2.5 4.5] [2 2 2]"},
		{[]float64{0, 1, 2, 3, 4}, 4, "[0.5 2.5 4.5] [2 2 1]"},
		{[]float64{0.25, 0.5, 1, 2.25}, 2, "[0.75 1.75] [3 1]"},
		{[]float64{7, 7, 7}, 0, "[7] [3]"},
		{[]float64{0.5, 0.5}, 0, "[0.5] [2]"},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 0, "[2 5 8] [3 3 3]"},
	} {
		s, err := Histogram("h", test.values, test.bins)
		if err != nil {
			t.Errorf("%v: %v", test.values, err)
			continue
		}
		if got := fmt.Sprint(s.X, s.Y); got != test.want {
			t.Errorf("%v in %d: got %s, want %s", test.values, test.bins, got, test.want)
		}
		if _, err := (Chart{Series: []Series{s}}).SVG(); err != nil {
			t.Errorf("%v: %v", test.values, err)
		}
	}
	for _, values := range [][]float64{nil, {math.NaN()}, {math.Inf(1)}} {
		if _, err := Histogram("h", values, 0); err == nil {
			t.Errorf("%v was accepted", values)
		}
	}
	if _, err := Histogram("h", []float64{1}, -1); err == nil {
		t.Error("-1 bins were accepted")
	}
}

func TestFitAndWrap(t *testing.T) {
	if got := fit("a\n  b", 10, 100); got != "a b" {
		t.Errorf("got %q", got)
	}
	if got := fit("processes", 10, 30); got != "pro…" {
		t.Errorf("got %q", got)
	}
	if got := fmt.Sprintf("%q", wrap("one two three four", 10, 40, 3)); got != `["one two" "three" "four"]` {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprintf("%q", wrap("one two three four", 10, 40, 2)); got != `["one two" "three…"]` {
		t.Errorf("got %s", got)
	}
	if got := wrap("  ", 10, 50, 2); got != nil {
		t.Errorf("got %q", got)
	}
}
