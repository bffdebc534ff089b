// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"math"
)

// maxBins bounds the bars of a histogram; more could not be told apart.
const maxBins = 1000

// Histogram counts the values in bins of equal width and returns the counts as a series of bars. With bins 0 it chooses
// about the square root of the number of values, at most 40. Whole numbers get bins that hold the same number
// of whole numbers each, and so perhaps fewer bins than asked for; otherwise some bars would stand out for no
// reason but rounding.
func Histogram(name string, values []float64, bins int) (Series, error) {
	if len(values) == 0 {
		return Series{}, fmt.Errorf("chart: histogram of no values")
	}
	if bins < 0 || bins > maxBins {
		return Series{}, fmt.Errorf("chart: a histogram has 1 to %d bins, or 0 to choose, not %d", maxBins, bins)
	}
	if bins == 0 {
		bins = min(int(math.Ceil(math.Sqrt(float64(len(values))))), 40)
	}
	var e extent
	for i, v := range values {
		if math.IsNaN(v) || math.Abs(v) > beyond {
			return Series{}, fmt.Errorf("chart: value %d of the histogram is %g, which cannot be drawn", i, v)
		}
		e.add(v)
	}
	low, width := e.low, (e.high-e.low)/float64(bins)
	switch {
	case e.whole:
		width = math.Ceil((e.high - e.low + 1) / float64(bins))
		bins = int(math.Ceil((e.high - e.low + 1) / width))
		low -= 0.5
	case e.isPoint():
		bins, width = 1, math.Max(math.Abs(e.low)/10, 1e-6)
		low -= width / 2
	}
	s := Series{Name: name, Bars: true, X: make([]float64, bins), Y: make([]float64, bins)}
	for i := range s.X {
		s.X[i] = low + (float64(i)+0.5)*width
	}
	for _, v := range values {
		i := int((v - low) / width)
		s.Y[min(max(i, 0), bins-1)]++ // the largest value belongs to the last bin
	}
	return s, nil
}
