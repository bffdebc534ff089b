// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"allot/model"
)

// naive measures a recorded run by looking at everything after every step.
type naive struct {
	rounds, entered   int64
	steps, others     []int64 // waits, in the order of time
	services, longest []int64
	gaugeMin          []int64
	gaugeMax          []int64
}

func measure(t *testing.T, inst *model.Instance, run *model.Run) naive {
	n := inst.System.Graph().Len()
	m := naive{services: make([]int64, n), longest: slices.Repeat([]int64{-1}, n)}
	type start struct{ time, entered int64 }
	since := make([]start, n)
	phases := make([]model.Phase, n)
	open := map[int]bool{}
	var lastMoves []model.Move
	now := int64(0)
	replayed(t, inst, run, func(step int, v *model.View, moves []model.Move) {
		isTimed := len(lastMoves) > 0 && !lastMoves[0].Kind.IsFault() && lastMoves[0].Kind != model.Tick
		if isTimed {
			now++
		}
		bare := inst.With(v.System).View(v.C)
		for g := range inst.Gauges {
			sum := bare.Sum(g)
			if sum != v.Sum(g) {
				t.Fatalf("step %d: gauge %d is kept as %d and is %d", step, g, v.Sum(g), sum)
			}
			if step == 0 {
				m.gaugeMin, m.gaugeMax = append(m.gaugeMin, sum), append(m.gaugeMax, sum)
			}
			m.gaugeMin[g], m.gaugeMax[g] = min(m.gaugeMin[g], sum), max(m.gaugeMax[g], sum)
		}
		// Phases.
		before := m.entered
		for p := 0; inst.Phase != nil && p < n; p++ {
			phase := inst.Phase(&bare, p)
			if step > 0 && phase == phases[p] {
				continue
			}
			if phase == model.Waiting {
				since[p] = start{now, before}
			}
			if phase == model.Inside && step > 0 {
				m.entered++
				m.services[p]++
				var steps, others int64
				if phases[p] == model.Waiting {
					steps, others = now-since[p].time, before-since[p].entered
				}
				m.steps, m.others = append(m.steps, steps), append(m.others, others)
				m.longest[p] = max(m.longest[p], steps)
			}
			phases[p] = phase
		}
		// Rounds.
		owed := map[int]bool{}
		for _, site := range enabledSites(v) {
			for _, e := range v.System.Enabled(v.C, site, nil) {
				if v.System.Class(v.C, e) != model.NoClass {
					owed[site] = true
				}
			}
		}
		wasOpen := len(open) > 0
		for site := range open {
			hasMoved := isTimed && slices.ContainsFunc(lastMoves, func(e model.Move) bool {
				return e.Kind == model.Act && int(e.At) == site || e.Kind == model.Deliver && int(e.At)+n == site
			})
			if hasMoved || !owed[site] {
				delete(open, site)
			}
		}
		if len(open) == 0 {
			if wasOpen {
				m.rounds++
			}
			open = owed
		}
		lastMoves = moves
	})
	return m
}

func (m naive) compare(t *testing.T, name string, r *Report) {
	t.Helper()
	if m.rounds != r.Rounds {
		t.Errorf("%s: %d rounds, counted %d", name, r.Rounds, m.rounds)
	}
	for g, report := range r.Gauges {
		if report.Min != m.gaugeMin[g] || report.Max != m.gaugeMax[g] {
			t.Errorf("%s: gauge %+v, recounted %d to %d", name, report, m.gaugeMin[g], m.gaugeMax[g])
		}
	}
	w := r.Waiting
	if w == nil {
		return
	}
	// A recording does not show time that passed while nobody could move.
	isTimed := r.Idle == 0
	if w.Entered != m.entered || !slices.Equal(w.Services, m.services) || isTimed && !slices.Equal(w.LongestSteps, m.longest) {
		t.Errorf("%s: entered %d, recounted %d; services %v and %v; longest %v and %v",
			name, w.Entered, m.entered, w.Services, m.services, w.LongestSteps, m.longest)
	}
	for _, c := range []struct {
		got    Distribution
		values []int64
	}{{w.Steps, m.steps}, {w.Entries, m.others}} {
		slices.Sort(c.values)
		if len(c.values) == 0 || !isTimed && c.got == w.Steps {
			continue
		}
		var sum float64
		for _, v := range c.values {
			sum += float64(v)
		}
		at := func(part float64) int64 { return c.values[int(math.Ceil(part*float64(len(c.values))))-1] }
		near := func(a, b int64) bool { return math.Abs(float64(a-b)) <= float64(b)/50 }
		if c.got.Count != int64(len(c.values)) || c.got.Max != c.values[len(c.values)-1] ||
			math.Abs(c.got.Mean-sum/float64(len(c.values))) > 1e-6 || !near(c.got.P50, at(0.5)) || !near(c.got.P99, at(0.99)) {
			t.Errorf("%s: %+v, recounted %d with sum %v, median %d, p99 %d", name, c.got, len(c.values), sum, at(0.5), at(0.99))
		}
	}
}

func TestMeasuresAgainstARecount(t *testing.T) {
	for seed := range uint64(4) {
		for _, spec := range []string{"central", "distributed:0.4", "synchronous", "locally-central", "round-robin", "unfair:1"} {
			for name, inst := range map[string]*model.Instance{
				"ring": ringOf(t, 11, 11, ""), "pair": newPair(t, "grid:4x3"), "spinner": newSpinner(t, "ring:5"),
			} {
				o := Options{Start: Arbitrary, Seed: seed, Steps: 600, Daemon: daemonOf(t, spec), Record: true}
				if seed%2 == 0 {
					o.Script = scriptOf(t, inst, "every 50 corrupt random 2\nat 100 crash 1\nat 180 resume 1\nat 200 crash 0\nat 230 restart 0")
				}
				r := mustRun(t, inst, o)
				measure(t, inst, r.Run).compare(t, fmt.Sprintf("%s, %s, seed %d", name, spec, seed), r)
			}
		}
		for _, links := range []model.Links{{}, {Unordered: true}, {Lossy: true}, {Garbage: 2}} {
			inst := newCourier(t, "ring:6", links)
			o := Options{Start: Arbitrary, Seed: seed, Steps: 1500, Record: true}
			if seed%2 == 1 && !links.Lossy {
				measure(t, inst, mustRun(t, inst, o).Run).compare(t, "courier alone", mustRun(t, inst, o))
			}
			o.Script = scriptOf(t, inst, "every 40 forge 0->1\nevery 33 drop 1->2\nat 300 crash 1\nat 400 restart 1\nat 500 cut 2-3\nat 550 heal 2-3\nevery 100 corrupt 4")
			r := mustRun(t, inst, o)
			if links.Lossy {
				continue // a link that loses moves too, which the recount does not tell from a fault
			}
			measure(t, inst, r.Run).compare(t, fmt.Sprintf("courier %s, seed %d", links, seed), r)
		}
	}
}

// TestWaitingOnTheStableRing: everybody is served in turn, so each waits for the n-1 others.
func TestWaitingOnTheStableRing(t *testing.T) {
	const n = 20
	r := mustRun(t, ringOf(t, n, n, ""), Options{Steps: 100 * n})
	w := r.Waiting
	if w.Steps.Max != n-1 || w.Entries.Max != n-1 || w.Entries.P50 != n-1 || w.Jain < 0.999 || w.Served != n || r.Rounds != r.Moves {
		t.Errorf("%+v", w)
	}
}

func TestHistogramIsExactToASixtyFourth(t *testing.T) {
	for v := int64(0); v < 1<<62; v += 1 + v/7 {
		h := histogram{}
		h.add(v)
		h.max = 1 << 62
		if got := h.quantile(0.5); math.Abs(float64(got-v)) > float64(v)/64 {
			t.Fatalf("%d is kept as %d", v, got)
		}
	}
}

func TestTimersComeInOrder(t *testing.T) {
	chance := newChance(1, 1)
	heap, plain := newTimers(50), map[int32]int64{}
	for range 20_000 {
		switch number := int32(chance.Below(50)); chance.Below(4) {
		case 0, 1:
			time := int64(chance.Below(1000))
			heap.set(number, time)
			plain[number] = time
		case 2:
			heap.drop(number)
			delete(plain, number)
		case 3:
			want := timer{never, -1}
			for number, time := range plain {
				if time < want.time || time == want.time && number < want.number {
					want = timer{time, number}
				}
			}
			if heap.next() != want.time {
				t.Fatalf("next is %d, not %d", heap.next(), want.time)
			}
			if number, ok := heap.due(500); ok != (want.time <= 500) || ok && number != want.number {
				t.Fatalf("due is %d %v, want %+v", number, ok, want)
			} else if ok {
				delete(plain, number)
			}
		}
	}
}
