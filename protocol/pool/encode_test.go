// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
)

var largest = Limits{Units: MostUnits, Members: MostMembers}

func randomVisit(r *rand.Rand, limits Limits) *Visit {
	v := &Visit{Generation: r.Int64N(1 << 20), Circ: r.Int64(), Done: r.Int64N(1 << 40), Units: r.Int32N(limits.Units + 1),
		Prio: r.Int32N(limits.Members+1) - 1, Lack: r.Int32N(limits.Units + 1), Seen: r.IntN(2) > 0, Moved: r.IntN(2) > 0, Odd: r.IntN(2) > 0}
	v.Top = v.Generation<<FenceBits + r.Int64N(1000)
	for _, n := range r.Perm(int(limits.Units))[:r.IntN(min(20, int(limits.Units)+1))] {
		v.Board = append(v.Board, Unit{Number: int32(n), Fence: r.Int64N(v.Generation<<FenceBits + 1000)})
	}
	for place := range limits.Members {
		if r.IntN(3) == 0 {
			v.Waiters = append(v.Waiters, Waiter{Place: place, Lack: 1 + r.Int32N(limits.Units), Call: r.Int64()})
		}
	}
	for range r.IntN(10) {
		v.Present.Add(r.Int32N(limits.Units))
	}
	return v
}

func TestVisitsAreReadAsTheyWereWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var got Visit
	for range 2000 {
		limits := Limits{Units: 1 + r.Int32N(200), Members: 1 + r.Int32N(20)}
		if r.IntN(100) == 0 {
			limits = largest
		}
		want := randomVisit(r, limits)
		data := AppendVisit(nil, want)
		if err := ParseVisit(&got, data, limits); err != nil {
			t.Fatalf("%v: %+v", err, want)
		}
		if !sameVisit(want, &got) {
			t.Fatalf("wrote %+v, read %+v", want, got)
		}
		for cut := range min(100, len(data)) {
			if err := ParseVisit(&got, data[:cut], limits); !errors.Is(err, ErrEncoding) {
				t.Fatalf("the first %d of %d bytes: %v", cut, len(data), err)
			}
		}
		if err := ParseVisit(&got, append(data, 0), limits); !errors.Is(err, ErrEncoding) {
			t.Fatalf("a byte too many: %v", err)
		}
	}
}

func sameVisit(a, b *Visit) bool {
	x, y := *a, *b
	for _, v := range []*Visit{&x, &y} {
		v.Board = append([]Unit{}, v.Board...)
		v.Waiters = append([]Waiter{}, v.Waiters...)
		v.Present = append(Set{}, v.Present...)
		for len(v.Present) > 0 && v.Present[len(v.Present)-1] == 0 {
			v.Present = v.Present[:len(v.Present)-1]
		}
	}
	return reflect.DeepEqual(x, y)
}

func TestWakesAreReadAsTheyWereWritten(t *testing.T) {
	want := Wake{Generation: 3, Waiter: Waiter{Place: 2, Lack: 5, Call: 1 << 40}}
	data := AppendWake(nil, want)
	var got Wake
	if err := ParseWake(&got, data, largest); err != nil || got != want {
		t.Fatalf("wrote %+v, read %+v, %v", want, got, err)
	}
	if err := ParseWake(&got, data, Limits{Units: 5, Members: 2}); !errors.Is(err, ErrEncoding) {
		t.Fatalf("place 2 of 2: %v", err)
	}
	if err := ParseWake(&got, data, Limits{Units: 4, Members: 3}); !errors.Is(err, ErrEncoding) {
		t.Fatalf("5 of 4 units: %v", err)
	}
}

func TestWrongVisitsAreRefused(t *testing.T) {
	small := Limits{Units: 4, Members: 3}
	for name, v := range map[string]*Visit{
		"more units than there can be": {Units: 5, Prio: -1},
		"a place beyond the last":      {Units: 4, Prio: 3},
		"a unit beyond the last":       {Units: 4, Prio: -1, Board: []Unit{{Number: 4}}},
		"a unit twice on board":        {Units: 4, Prio: -1, Board: []Unit{{Number: 1}, {Number: 1, Fence: 3}}},
		"a negative unit":              {Units: 4, Prio: -1, Board: []Unit{{Number: -1}}},
		"a negative fence":             {Units: 4, Prio: -1, Board: []Unit{{Number: 1, Fence: -1}}},
		"waiters out of order":         {Units: 4, Prio: -1, Waiters: []Waiter{{Place: 2, Lack: 1}, {Place: 1, Lack: 1}}},
		"a waiter twice":               {Units: 4, Prio: -1, Waiters: []Waiter{{Place: 2, Lack: 1}, {Place: 2, Lack: 1}}},
		"an unknown unit presented":    {Units: 4, Prio: -1, Present: Set{1 << 4}},
		"a negative circulation":       {Units: 4, Prio: -1, Circ: -1},
	} {
		var got Visit
		if err := ParseVisit(&got, AppendVisit(nil, v), small); !errors.Is(err, ErrEncoding) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var got Visit
	if err := ParseVisit(&got, AppendVisit(nil, &Visit{Units: 4, Prio: -1, Present: Set{15}}), small); err != nil {
		t.Errorf("a good one: %v", err)
	}
}

func TestParsingUsesTheSlicesThatItIsGiven(t *testing.T) {
	v := randomVisit(rand.New(rand.NewPCG(3, 4)), Limits{Units: 64, Members: 8})
	data := AppendVisit(nil, v)
	var got Visit
	buffer := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		if err := ParseVisit(&got, data, Limits{Units: 64, Members: 8}); err != nil {
			t.Fatal(err)
		}
		buffer = AppendVisit(buffer[:0], &got)
	}); n != 0 {
		t.Errorf("%v allocations to read and write a controller", n)
	}
}

func FuzzParseVisit(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 10 {
		f.Add(AppendVisit(nil, randomVisit(r, Limits{Units: 20, Members: 5})))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var v Visit
		if ParseVisit(&v, data, largest) != nil {
			return
		}
		if again := AppendVisit(nil, &v); !bytes.Equal(again, data) {
			t.Fatalf("read %x as %+v, which is written %x", data, v, again)
		}
	})
}

func FuzzParseWake(f *testing.F) {
	f.Add(AppendWake(nil, Wake{Generation: 3, Waiter: Waiter{Place: 2, Lack: 5, Call: 9}}))
	f.Add([]byte{wakeFormat})
	f.Fuzz(func(t *testing.T, data []byte) {
		var w Wake
		if ParseWake(&w, data, largest) != nil {
			return
		}
		if again := AppendWake(nil, w); !bytes.Equal(again, data) {
			t.Fatalf("read %x as %+v, which is written %x", data, w, again)
		}
	})
}
