// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/bits"

	"allot/model"
)

// waits measures how long processes wait, in steps and in entries of others: what others were served between the moment
// in which a process began to wait and the step in which it got in.
type waits struct {
	each    []wait
	entries int64 // by anybody, up to now
	before  int64 // by anybody, up to the end of the last step
	steps   histogram
	others  histogram
}

type wait struct {
	since, entries          int64 // when the process began to wait, and the entries up to then
	longest, longestEntries int64 // -1 until it has waited
	services                int64
}

func newWaits(processes int) *waits { return &waits{each: make([]wait, processes)} }

// turn notes that a process has changed its phase. Entries of the same step do not count as before one another, so that
// the order in which a step's sites are looked at does not matter.
func (w *waits) turn(p int, from, to model.Phase, now int64) {
	e := &w.each[p]
	switch to {
	case model.Waiting:
		e.since, e.entries = now, w.before
	case model.Inside:
		w.entries++
		e.services++
		var steps, others int64
		if from == model.Waiting {
			steps, others = now-e.since, w.before-e.entries
		}
		e.longest, e.longestEntries = max(e.longest, steps), max(e.longestEntries, others)
		w.steps.add(steps)
		w.others.add(others)
	case model.Idle:
	}
}

// histogram counts numbers in buckets: numbers below 64 exactly, larger ones to within a sixty-fourth. It takes the same
// memory however long a run is.
type histogram struct {
	count, sum, max int64
	buckets         [64 + 32*58]int64
}

func (h *histogram) add(v int64) {
	h.count++
	h.sum += v
	h.max = max(h.max, v)
	h.buckets[bucket(uint64(v))]++
}

func bucket(v uint64) int {
	if v < 64 {
		return int(v)
	}
	shift := bits.Len64(v) - 6
	return 32 + 32*shift + int(v>>shift) - 32
}

// middle is the number that stands for a bucket.
func middle(bucket int) int64 {
	if bucket < 64 {
		return int64(bucket)
	}
	shift := (bucket - 32) / 32
	low := int64(bucket-32*shift) << shift
	return low + 1<<shift/2
}

// quantile is the smallest number that is not below the given part of all.
func (h *histogram) quantile(part float64) int64 {
	var seen int64
	for i, n := range h.buckets {
		seen += n
		if n > 0 && float64(seen) >= part*float64(h.count) {
			return min(middle(i), h.max)
		}
	}
	return h.max
}

func (h *histogram) distribution() Distribution {
	d := Distribution{Count: h.count, Max: h.max}
	if h.count > 0 {
		d.Mean = float64(h.sum) / float64(h.count)
		d.P50, d.P99 = h.quantile(0.5), h.quantile(0.99)
	}
	return d
}

// report sums up, at the end of a run.
func (w *waits) report(spots []spot, now int64) *Waiting {
	r := &Waiting{Steps: w.steps.distribution(), Entries: w.others.distribution(), Entered: w.entries, LongestOpen: -1}
	n := len(w.each)
	r.Services, r.LongestSteps, r.LongestEntries = make([]int64, n), make([]int64, n), make([]int64, n)
	var sum, squares float64
	for p, e := range w.each {
		r.Services[p], r.LongestSteps[p], r.LongestEntries[p] = e.services, e.longest, e.longestEntries
		sum += float64(e.services)
		squares += float64(e.services) * float64(e.services)
		if e.services > 0 {
			r.Served++
		}
		if spots[p].phase == model.Waiting {
			r.Open++
			r.LongestOpen = max(r.LongestOpen, now-e.since)
		}
	}
	if squares > 0 {
		r.Jain = sum * sum / (float64(n) * squares)
	}
	return r
}
