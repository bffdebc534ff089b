// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"strings"
	"testing"

	"allot/model"
)

func TestKinds(t *testing.T) {
	hasLink := "deliver lose duplicate forge cut heal"
	for k := model.Act; k <= model.Join; k++ {
		back, err := model.ParseKind(k.String())
		if err != nil || back != k {
			t.Errorf("%s is read as %s, %v", k, back, err)
		}
		if k.HasLink() != strings.Contains(hasLink, k.String()) || k.IsFault() != (k > model.Tick) {
			t.Errorf("%s: link %v, fault %v", k, k.HasLink(), k.IsFault())
		}
	}
	if odd := model.Join + 1; odd.String() != "kind 14" || odd.HasLink() {
		t.Errorf("%s", odd)
	}
	if _, err := model.ParseKind("explode"); err == nil || !strings.Contains(err.Error(), `unknown kind of move "explode" (there are [act deliver`) {
		t.Error(err)
	}
}

func TestParseBudget(t *testing.T) {
	for _, test := range []struct {
		spec string
		want model.Budget
		text string // what String makes of it, or of an error a part
	}{
		{"", model.Budget{}, ""},
		{"crash=1,lose=2", model.Budget{Crash: 1, Lose: 2}, "crash=1,lose=2"},
		{"forge=255,crash=0", model.Budget{Forge: 255}, "forge=255"},
		{"lose=2,crash=1", model.Budget{Crash: 1, Lose: 2}, "crash=1,lose=2"},
		{"resume=1,restart=2,duplicate=3,corrupt=4", model.Budget{Resume: 1, Restart: 2, Duplicate: 3, Corrupt: 4}, "resume=1,restart=2,duplicate=3,corrupt=4"},
		{"crash", model.Budget{}, "error: write each as KIND=COUNT"},
		{"crash=1,", model.Budget{}, "error: write each as KIND=COUNT"},
		{"cut=1", model.Budget{}, "error: the kinds are [crash resume restart lose duplicate corrupt forge]"},
		{"boom=1", model.Budget{}, `error: faults "boom=1": the kinds are`},
		{"crash=256", model.Budget{}, "error: the count must be 0 to 255"},
		{"crash=-1", model.Budget{}, "error: the count must be 0 to 255"},
	} {
		b, err := model.ParseBudget(test.spec)
		if want, isError := strings.CutPrefix(test.text, "error: "); isError {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %s", test.spec, err, want)
			}
		} else if err != nil || b != test.want || b.String() != test.text || b.IsZero() != (test.text == "") {
			t.Errorf("%q: %+v %s %v", test.spec, b, b, err)
		}
	}
}

func FuzzParseBudget(f *testing.F) {
	f.Add("crash=1,lose=2")
	f.Add("forge=255,forge=0")
	f.Fuzz(func(t *testing.T, spec string) {
		b, err := model.ParseBudget(spec)
		if err != nil {
			return
		}
		if again, err := model.ParseBudget(b.String()); err != nil || again != b {
			t.Errorf("%q is %+v, written %q, read %+v, %v", spec, b, b, again, err)
		}
	})
}

func TestParseLinks(t *testing.T) {
	for _, test := range []struct {
		spec string
		want model.Links
		text string
	}{
		{"", model.Links{}, "fifo"},
		{"fifo", model.Links{}, "fifo"},
		{"unordered", model.Links{Unordered: true}, "unordered"},
		{"lossy", model.Links{Lossy: true}, "fifo,lossy"},
		{"fifo,capacity=2,lossy,duplicating,garbage=1", model.Links{Lossy: true, Duplicating: true, Capacity: 2, Garbage: 1}, "fifo,lossy,duplicating,capacity=2,garbage=1"},
		{"capacity=65536", model.Links{Capacity: 1 << 16}, "fifo,capacity=65536"},
		{"garbage=3", model.Links{Garbage: 3}, "fifo,garbage=3"},
		{"capacity=65537", model.Links{}, `error: links "capacity=65537": allowed are fifo, unordered, lossy`},
		{"capacity=-1", model.Links{}, "error: allowed are"},
		{"capacity", model.Links{}, "error: allowed are"},
		{"capacity=x", model.Links{}, "error: allowed are"},
		{"fifo=1", model.Links{}, "error: allowed are"},
		{"fifo,,lossy", model.Links{}, `error: links "": allowed are`},
		{"duplicating", model.Links{}, "error: duplicating needs capacity=N"},
		{"capacity=2,garbage=3", model.Links{}, "error: garbage=3 does not fit in capacity=2"},
	} {
		l, err := model.ParseLinks(test.spec)
		if want, isError := strings.CutPrefix(test.text, "error: "); isError {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %s", test.spec, err, want)
			}
		} else if err != nil || l != test.want || l.String() != test.text {
			t.Errorf("%q: %+v %s %v", test.spec, l, l, err)
		}
	}
}

func FuzzParseLinks(f *testing.F) {
	f.Add("unordered,lossy,duplicating,capacity=3,garbage=2")
	f.Add("fifo")
	f.Fuzz(func(t *testing.T, spec string) {
		l, err := model.ParseLinks(spec)
		if err != nil {
			return
		}
		if again, err := model.ParseLinks(l.String()); err != nil || again != l {
			t.Errorf("%q is %+v, written %q, read %+v, %v", spec, l, l, again, err)
		}
	})
}
