// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"allot/model"
)

func ringSweep(t *testing.T, workers int) SweepOptions {
	over, err := ParseOver("n=8,16,32,64")
	if err != nil {
		t.Fatal(err)
	}
	return SweepOptions{Over: []Over{over}, Repeat: 6, Seed: 10, Workers: workers, Make: func(p Point) (*model.Instance, Options, error) {
		n, _ := p.Get("n")
		return ringOf(t, int(n), int(n), ""), Options{Start: Arbitrary, StopWhenStable: true, Daemon: &Central{}}, nil
	}}
}

func TestASweepIsTheSameOnAnyNumberOfCores(t *testing.T) {
	var texts []string
	for _, workers := range []int{1, 7} {
		o := ringSweep(t, workers)
		last := 0
		o.Progress = func(done, total int) {
			if done != last+1 || total != 24 {
				t.Errorf("progress %d of %d after %d", done, total, last)
			}
			last = done
		}
		table, err := Sweep(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		var csv bytes.Buffer
		if err := table.WriteCSV(&csv); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(table)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, csv.String()+string(text))
		if len(table.Rows) != 24 || len(table.Points) != 4 || table.IsCut || strings.Count(csv.String(), "\n") != 25 {
			t.Fatalf("%d rows, %d points", len(table.Rows), len(table.Points))
		}
		if g := float64(table.Growth["stabilized_moves"]); g < 1 || g > 2.5 {
			t.Errorf("moves grow with exponent %v", g)
		}
		// A row can be run again by its seed.
		row := table.Rows[8]
		r := mustRun(t, ringOf(t, int(row.Values[0]), int(row.Values[0]), ""), Options{Start: Arbitrary, StopWhenStable: true, Seed: row.Seed})
		if r.Trace != row.Trace || row.Seed != 12 || row.Values[0] != 16 {
			t.Errorf("row %+v, run again %s", row, r.Trace)
		}
	}
	if texts[0] != texts[1] {
		t.Error("one worker and seven give different tables")
	}
}

func TestASweepStopsAtTheFirstError(t *testing.T) {
	o := ringSweep(t, 2)
	wrong := errors.New("wrong")
	o.Make = func(p Point) (*model.Instance, Options, error) { return nil, Options{}, wrong }
	if _, err := Sweep(context.Background(), o); !errors.Is(err, wrong) || !strings.Contains(err.Error(), "n=8") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o = ringSweep(t, 1)
	o.Progress = func(done, _ int) {
		if done == 5 {
			cancel()
		}
	}
	table, err := Sweep(ctx, o)
	if err != nil || !table.IsCut || len(table.Rows) < 5 || len(table.Rows) > 6 {
		t.Errorf("%v, %+v", err, table)
	}
	for _, bad := range []SweepOptions{{}, {Make: o.Make}, {Make: o.Make, Over: []Over{{Name: "n"}}},
		{Make: o.Make, Over: []Over{{"n", []int64{1}}, {"n", []int64{1}}}},
		{Make: o.Make, Over: []Over{{"n", make([]int64, 200)}, {"k", make([]int64, 200)}}},
		{Make: o.Make, Over: []Over{{"n", []int64{1}}}, Repeat: -1}} {
		if _, err := Sweep(context.Background(), bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestPointsAreEveryCombination(t *testing.T) {
	o := SweepOptions{Over: []Over{{"n", []int64{1, 2}}, {"k", []int64{3, 4}}}}
	var got []string
	for _, p := range o.points() {
		got = append(got, p.String())
	}
	if want := []string{"n=1, k=3", "n=1, k=4", "n=2, k=3", "n=2, k=4"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestStats(t *testing.T) {
	var values []float64
	for i := range 100 {
		values = append(values, float64(100-i))
	}
	if s := statsOf(values); s != (Stats{100, 50.5, 1, 100, 50, 99}) {
		t.Errorf("%+v", s)
	}
	if s := statsOf(nil); s.Count != 0 || s.Mean.String() != "" {
		t.Errorf("%+v", s)
	}
	table := Table{}
	for _, n := range []int64{1, 10, 100} {
		table.Points = append(table.Points, Summary{Values: []int64{n}, Stats: []Stats{{Mean: Number(3 * math.Pow(float64(n), 1.5))}}})
	}
	if slope, ok := table.growth(0); !ok || math.Abs(slope-1.5) > 1e-9 {
		t.Errorf("slope %v, %v", slope, ok)
	}
}

func TestParseOver(t *testing.T) {
	for spec, want := range map[string][]int64{
		"n=10..1000,steps=3": {10, 100, 1000},
		"n=1..5":             {1, 2, 3, 4, 5},
		"k=10..20,steps=3":   {10, 15, 20},
		"n=10,20,50":         {10, 20, 50},
		"n=7":                {7},
		"n=3..3":             {3},
		"n=0..4,steps=2":     {0, 4},
		"n=5..9,steps=1":     {5},
		"n=10..1000":         {10, 19, 37, 72, 139, 268, 518, 1000},
	} {
		if o, err := ParseOver(spec); err != nil || !slices.Equal(o.Values, want) {
			t.Errorf("%s: %v, %v", spec, o.Values, err)
		}
	}
	for _, spec := range []string{"", "n", "=1", "n=", "n=x", "n=1..", "n=..2", "n=5..1", "n=1..9,steps=0", "n=1..9,steps=x", "n=1..9,3", "n=1,2..3",
		"n=-1", "n=1..9,steps=3,4", "n=99999999999999999999", "a b=1", "n=1..9,steps=1000000", strings.Repeat("x", 9999)} {
		if o, err := ParseOver(spec); err == nil || len(err.Error()) > 300 {
			t.Errorf("%.40q: %v, %v", spec, o, err)
		}
	}
}

func FuzzParseOver(f *testing.F) {
	f.Add("n=10..1000")
	f.Add("n=1..9,steps=4")
	f.Add("k=1,2,3")
	f.Fuzz(func(t *testing.T, spec string) {
		o, err := ParseOver(spec)
		if err != nil {
			return
		}
		if len(o.Values) == 0 || len(o.Values) > MaxPoints || o.Name == "" {
			t.Errorf("%q: %+v", spec, o)
		}
		for _, v := range o.Values {
			if v < 0 || v > maxOverValue {
				t.Errorf("%q: value %d", spec, v)
			}
		}
	})
}
