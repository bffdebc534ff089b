// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import "math"

// extent is the range of the values that an axis has to show.
type extent struct {
	low, high float64
	whole     bool // every value is a whole number, so ticks between them would be odd
	used      bool
}

func (e *extent) add(values ...float64) {
	for _, v := range values {
		if !e.used {
			*e = extent{v, v, true, true}
		}
		e.low, e.high = math.Min(e.low, v), math.Max(e.high, v)
		// Above 2^53 every float is a whole number by accident.
		e.whole = e.whole && v == math.Trunc(v) && math.Abs(v) < 1<<53
	}
}

// isPoint tells whether the values are too close to one another for an axis between them.
func (e *extent) isPoint() bool {
	size := math.Max(math.Abs(e.low), math.Abs(e.high))
	return e.high-e.low <= size*1e-10 || size < 1e-290
}

// axis turns values into places from 0 (left, bottom) to 1.
type axis struct {
	log       bool
	low, high float64 // the ends of the axis; their logarithms on a logarithmic axis
	ticks     []tick
	minor     []float64 // small ticks without a label, as places
}

type tick struct {
	place float64
	label label
}

func (a *axis) place(v float64) float64 {
	if a.log {
		v = math.Log10(v)
	}
	return (v - a.low) / (a.high - a.low)
}

// newAxis shows the extent with about the given number of ticks. A snapped axis is lengthened to end at ticks.
func newAxis(e extent, log bool, count int, snap bool) axis {
	if log {
		return logAxis(e, count, snap)
	}
	return linearAxis(e, count, snap)
}

func linearAxis(e extent, count int, snap bool) axis {
	if e.isPoint() {
		margin := math.Max(math.Abs(e.low)/10, 1)
		if math.Abs(e.low) < 1e-290 {
			e.low, e.high = 0, 0
		}
		if !e.whole && math.Abs(e.low) > 1e-290 {
			margin = math.Abs(e.low) / 10
		}
		e.low, e.high = e.low-margin, e.high+margin
	}
	step := niceStep((e.high - e.low) / float64(count))
	if e.whole {
		step = math.Max(step, 1)
	}
	a := axis{low: e.low, high: e.high}
	if snap {
		a.low, a.high = math.Floor(e.low/step)*step, math.Ceil(e.high/step)*step
	}
	values := stepsWithin(a.low, a.high, step)
	labels := linearLabels(values, step)
	for i, v := range values {
		a.ticks = append(a.ticks, tick{a.place(v), labels[i]})
	}
	return a
}

// niceStep is 1, 2 or 5 times a power of ten, not below the given step.
func niceStep(atLeast float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(atLeast)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= atLeast*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// stepsWithin lists the multiples of step from low to high. They are counted, not added up, so that errors of rounding
// neither grow nor make the loop endless.
func stepsWithin(low, high, step float64) []float64 {
	first, last := math.Ceil(low/step-1e-6), math.Floor(high/step+1e-6)
	var values []float64
	for i := range int(math.Min(last-first, 100)) + 1 {
		values = append(values, (first+float64(i))*step)
	}
	return values
}

func logAxis(e extent, count int, snap bool) axis {
	if e.high <= e.low*(1+1e-10) {
		e.low, e.high = e.low/2, e.high*2
	}
	a := axis{log: true, low: math.Log10(e.low), high: math.Log10(e.high)}
	if snap {
		a.low, a.high = snapDown(a.low), snapUp(a.high)
	}
	decades := a.high - a.low
	if decades < 1 {
		// Too short for powers of ten: round numbers instead, which lie closer together towards the high end.
		low, high := math.Pow(10, a.low), math.Pow(10, a.high)
		step := niceStep((high - low) / float64(count))
		if e.whole {
			step = math.Max(step, 1)
		}
		values := stepsWithin(low, high, step)
		labels := linearLabels(values, step)
		for i, v := range values {
			a.ticks = append(a.ticks, tick{a.place(v), labels[i]})
		}
		return a
	}
	every := int(math.Ceil(decades / float64(count)))
	first, last := int(math.Floor(a.low-1e-9)), int(math.Ceil(a.high+1e-9))
	plain := a.low > -3.5 && a.high < 6.5 // within this, 0.001 and 1,000,000 read better than powers
	for k := first; k <= last; k++ {
		for m := 1; m <= 9; m++ {
			place := (float64(k) + math.Log10(float64(m)) - a.low) / decades
			if place < -1e-9 || place > 1+1e-9 {
				continue
			}
			isLabelled := m == 1 && k%every == 0 || decades < 2 && (m == 2 || m == 5)
			if isLabelled {
				a.ticks = append(a.ticks, tick{place, powerLabel(m, k, plain)})
			} else if every == 1 || m == 1 && every < 10 { // beyond that they would run into one another
				a.minor = append(a.minor, place)
			}
		}
	}
	return a
}

// logs of 1, 2, 5 and 10: the values at which a snapped logarithmic axis ends.
var snaps = []float64{0, math.Log10(2), math.Log10(5), 1}

func snapDown(v float64) float64 {
	whole := math.Floor(v)
	for i := len(snaps) - 1; i > 0; i-- {
		if whole+snaps[i] <= v+1e-9 {
			return whole + snaps[i]
		}
	}
	return whole
}

func snapUp(v float64) float64 {
	whole := math.Floor(v)
	for _, s := range snaps {
		if whole+s >= v-1e-9 {
			return whole + s
		}
	}
	return whole + 1
}
