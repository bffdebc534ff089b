// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band_test

import (
	"fmt"
	"strings"
	"testing"

	"allot/chart"
)

// TestSeveralAtOnce: the smallest case in which somebody waits longer than Theorem 2 says. Everybody is inside, some are asked
// to leave at the same moment, and every message takes one unit. Nobody has to wait for the floor.
func TestSeveralAtOnce(t *testing.T) {
	var lines []string
	for _, variant := range []string{"printed", "corrected", "lean"} {
		for _, n := range []int{3, 4} {
			for count := 1; count < n; count++ {
				q := question{object: "mutin", n: n, l: 1, coterie: "majority", inside: "most", times: 9, variant: variant}
				lines = append(lines, fmt.Sprintf("%-9s n=%d, %d leave at once: the last one %s", variant, n, count, lastOf(t, q, count)))
			}
		}
	}
	compare(t, "several_at_once.txt", strings.Join(lines, "\n")+"\n")
}

// lastOf says how long the last of so many processes waits that are asked at time 0. The printed variant can deadlock.
func lastOf(t *testing.T, q question, count int) string {
	r := newTimed(t, q, 1, unit)
	for p := range count {
		r.ask(p, 0)
	}
	for range count {
		r.step()
	}
	for p := range count {
		for r.isWaiting(p) {
			if _, ok := r.step(); !ok {
				if q.variant != "printed" {
					t.Errorf("%s: process %d waits for ever", q, p)
				}
				return "waits for ever"
			}
		}
	}
	return fmt.Sprintf("has waited %v time units", r.now)
}

// TestMaintenance is the worked use of docs/protocols/band.md: twelve replicas of a service, of which at least eight must serve
// and at most ten may be on. All are told to restart at the same moment. A time unit is what a message takes in the mean, and
// messages have a heavy tail; a restart takes 600 to 1,200 units.
func TestMaintenance(t *testing.T) {
	const n, low, high = 12, 8, 10
	var lines []string
	picture := chart.Chart{Title: "Rolling maintenance of twelve replicas", Subtitle: "all are told to restart at once; at least 8 serve, at most 10 are on",
		XLabel: "time (mean delays of a message)", YLabel: "replicas that serve"}
	for _, variant := range []string{"lean", "corrected", "tolerant"} {
		r := newTimed(t, question{object: "gcs", n: n, l: low, k: high, inside: "most", coterie: "grid", times: 1 << 20, variant: variant}, 4, heavy)
		series := chart.Series{Name: "serving"}
		var done [n]bool
		var finished float64
		restarts := 0
		isPlanned := map[int]bool{}
		for p := range n {
			if r.isInside(p) {
				r.ask(p, 0)
			} else {
				done[p], isPlanned[p] = true, true // a spare is restarted while it is out
				r.ask(p, 600+float64(r.chance.IntN(600)))
			}
		}
		inside := high
		for {
			e, ok := r.step()
			if !ok {
				break
			}
			p := e.process
			if now := r.count(); now != inside {
				series.X, series.Y = append(series.X, r.now, r.now), append(series.Y, float64(inside), float64(now))
				inside = now
				if now < low || now > high {
					t.Fatalf("%d serve", now)
				}
			}
			switch isIn := r.isInside(p); {
			case !isIn && !done[p] && !r.isWaiting(p):
				done[p], isPlanned[p] = true, true
				restarts++
				r.ask(p, r.now+600+float64(r.chance.IntN(600)))
			case isIn && isPlanned[p]:
				isPlanned[p] = false
				finished = r.now
			}
		}
		for p := range n {
			if !done[p] {
				t.Errorf("%s: replica %d was not restarted", variant, p)
			}
		}
		series.X, series.Y = append([]float64{0}, series.X...), append([]float64{high}, series.Y...)
		if variant == "lean" {
			picture.Series = append(picture.Series, series)
		}
		lines = append(lines, fmt.Sprintf("%-9s %d restarts of serving replicas and %d of spares, the last one finished at %.0f, %d serve at the end, %d messages",
			variant, restarts, n-high, finished, r.count(), r.messages))
	}
	end := picture.Series[0].X[len(picture.Series[0].X)-1]
	picture.Series = append(picture.Series,
		chart.Series{Name: "floor", Dashed: true, X: []float64{0, end}, Y: []float64{low, low}},
		chart.Series{Name: "ceiling", Dashed: true, X: []float64{0, end}, Y: []float64{high, high}})
	compare(t, "maintenance.txt", strings.Join(lines, "\n")+"\n")
	draw(t, "band-maintenance.svg", picture)
}

// count is how many are inside.
func (r *timed) count() int {
	v := r.inst.View(r.c)
	return int(v.Sum(0))
}
