// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"allot/chart"
	"allot/model"
	"allot/sim"
)

// TestFaultPicture draws one run: links that lose a third of what they carry, a partition, stops, and restarts without memory.
func TestFaultPicture(t *testing.T) {
	const n, low, high = 7, 3, 5
	q := question{object: "gcs", n: n, l: low, k: high, inside: "most", coterie: "majority", times: 40, variant: "tolerant", crashes: 1, crashers: 3,
		more: "--clocks 1 --step-in 1 --links unordered,lossy,duplicating,capacity=4"}
	inst := q.make(t)
	var text strings.Builder
	for a := range 3 { // 0, 1, 2 are cut off from the rest
		for b := 3; b < n; b++ {
			fmt.Fprintf(&text, "at 6000 cut %d-%d\nat 12000 heal %d-%d\n", a, b, a, b)
		}
	}
	text.WriteString("at 16000 crash 5\nat 16000 crash 6\nat 22000 resume 5\nat 22000 resume 6\n")
	script, err := sim.ParseScript([]byte(text.String()), inst.System.Graph())
	if err != nil {
		t.Fatal(err)
	}
	report, err := sim.Run(context.Background(), inst, sim.Options{Seed: 3, Steps: 28_000, Script: script, TickEvery: 100, Record: true})
	if err != nil {
		t.Fatal(err)
	}
	if report.Verdict != sim.Held {
		t.Fatalf("%s: %+v", report.Verdict, report.Properties)
	}
	live, fell := chart.Series{Name: "inside"}, chart.Series{Name: "inside or fallen"}
	step, add := 0, func(s *chart.Series, x, y float64) {
		if k := len(s.Y); k > 0 && s.Y[k-1] != y {
			s.X, s.Y = append(s.X, x), append(s.Y, s.Y[k-1])
		} else if k > 0 {
			return
		}
		s.X, s.Y = append(s.X, x), append(s.Y, y)
	}
	_, err = sim.Replay(inst, report.Run, func(_ int, v *model.View, _ []model.Move) {
		inside, fallen := float64(v.Sum(0)), float64(v.Sum(3))
		add(&live, float64(step), inside)
		add(&fell, float64(step), inside+fallen)
		step++
	})
	if err != nil {
		t.Fatal(err)
	}
	end := float64(step)
	for _, s := range []*chart.Series{&live, &fell} {
		s.X, s.Y = append(s.X, end), append(s.Y, s.Y[len(s.Y)-1])
	}
	draw(t, "band-faults.svg", chart.Chart{Title: "Seven members through crashes and a partition",
		Subtitle: "at least 3, at most 5; three crash once and lose their memory; whoever has fallen is not back inside yet",
		XLabel:   "moves of the run", YLabel: "members", Series: []chart.Series{live, fell,
			{Name: "floor", Dashed: true, X: []float64{0, end}, Y: []float64{low, low}},
			{Name: "ceiling", Dashed: true, X: []float64{0, end}, Y: []float64{high, high}}}})
	last := report.Gauges[0]
	if last.Max > high || last.Last < low {
		t.Errorf("%+v", last)
	}
	t.Logf("%d steps, %d messages, inside %d to %d, at the end %d", report.Steps, report.Messages, last.Min, last.Max, last.Last)
}
