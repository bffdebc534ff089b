// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"
	"slices"
)

// markGap is how far apart the marks of a long line are, in pixels.
const markGap = 36.0

// series draws in layers: bars and bands lie below all lines, and lines below all marks, so that no series hides
// the measurements of another.
func (d *canvas) series() {
	for i, s := range d.chart.Series {
		if s.Bars {
			d.bars(i, s)
		} else if s.Low != nil && !s.Points {
			d.band(i, s)
		}
	}
	for i, s := range d.chart.Series {
		switch {
		case s.Low != nil && (s.Points || s.Bars):
			d.whiskers(i, d.points(s.X, s.Low), d.points(s.X, s.High))
		case !s.Points && !s.Bars && len(s.X) > 1:
			d.stroke(i, d.points(s.X, s.Y))
		}
	}
	for i, s := range d.chart.Series {
		if s.Bars || !d.isMarked(i) {
			continue
		}
		points := d.points(s.X, s.Y)
		if !s.Points {
			points = spread(points)
		}
		d.marks(i, points)
	}
}

func (d *canvas) points(xs, ys []float64) []point {
	points := make([]point, len(xs))
	for i := range xs {
		points[i] = point{d.px(xs[i]), d.py(ys[i])}
	}
	return points
}

// spread keeps the marks of a line apart when there are too many to tell. Only the horizontal distance counts: a line
// that jumps up and down would otherwise have a mark at every jump. The first point always has one.
func spread(points []point) []point {
	if len(points) <= 25 {
		return points
	}
	kept := points[:1:1]
	for _, p := range points[1:] {
		last := kept[len(kept)-1]
		if math.Abs(p.x-last.x) >= markGap {
			kept = append(kept, p)
		}
	}
	return kept
}

func (d *canvas) stroke(i int, points []point) {
	d.WriteString(`<path fill="none" stroke="` + colour(i) + `" stroke-width="2" stroke-linejoin="round"`)
	if d.chart.Series[i].Dashed {
		d.WriteString(` stroke-dasharray="` + dashes[d.dashedBefore(i)%len(dashes)] + `"`)
	}
	d.WriteString(` d="`)
	d.path(points)
	d.WriteString("\"/>\n")
}

// isMarked tells whether series i has marks. A dashed line has none, unless it is a single point, which would be
// invisible, or the patterns are used up and colour would be the only sign.
func (d *canvas) isMarked(i int) bool {
	s := d.chart.Series[i]
	return !s.Dashed || s.Points || len(s.X) == 1 || d.dashedBefore(i) >= len(dashes)
}

// dashedBefore counts the dashed lines before series i, which has the next pattern.
func (d *canvas) dashedBefore(i int) int {
	n := 0
	for _, s := range d.chart.Series[:i] {
		if s.Dashed {
			n++
		}
	}
	return n
}

func (d *canvas) marks(i int, points []point) {
	d.WriteString("<g " + markStyle(i) + ">\n")
	for _, p := range points {
		d.mark(i, p)
	}
	d.WriteString("</g>\n")
}

func (d *canvas) band(i int, s Series) {
	around := d.points(s.X, s.High)
	below := d.points(s.X, s.Low)
	slices.Reverse(below)
	if len(s.X) == 1 { // a band has no width there
		d.whiskers(i, below, around)
		return
	}
	d.WriteString(`<path fill="` + colour(i) + `" fill-opacity="0.18" d="`)
	d.path(append(around, below...))
	d.WriteString("Z\"/>\n")
}

func (d *canvas) whiskers(i int, low, high []point) {
	d.WriteString(`<g stroke="` + colour(i) + `" stroke-width="1.4">` + "\n")
	for j := range low {
		d.line(low[j].x, low[j].y, high[j].x, high[j].y)
		d.line(low[j].x-3.5, low[j].y, low[j].x+3.5, low[j].y)
		d.line(high[j].x-3.5, high[j].y, high[j].x+3.5, high[j].y)
	}
	d.WriteString("</g>\n")
}

func (d *canvas) bars(i int, s Series) {
	half := barWidth(s.X) / 2
	d.WriteString(`<g fill="` + colour(i) + `" fill-opacity="0.55">` + "\n")
	for j, x := range s.X {
		left, right := d.px(x-half), d.px(x+half)
		gap := math.Min(1, (right-left)*0.1) // so that equal bars side by side are seen as two
		top, bottom := d.py(math.Max(s.Y[j], 0)), d.py(math.Min(s.Y[j], 0))
		d.rect(left+gap/2, top, right-left-gap, bottom-top, "")
	}
	d.WriteString("</g>\n")
}

// barWidth is the smallest distance between two values, so that no bar covers another.
func barWidth(xs []float64) float64 {
	sorted := slices.Sorted(slices.Values(xs))
	width := math.Inf(1)
	for i := 1; i < len(sorted); i++ {
		if gap := sorted[i] - sorted[i-1]; gap > 0 {
			width = math.Min(width, gap)
		}
	}
	if math.IsInf(width, 1) { // a single bar, whose width means nothing
		return math.Max(1, math.Abs(sorted[0])/10)
	}
	return width
}
