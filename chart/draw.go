// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"
	"slices"
	"strings"
)

// Sizes in pixels. Text of 12 is the smallest that stays readable when a chart is scaled to a column of a page.
const (
	titleSize, subtitleSize, labelSize, legendSize, tickSize = 17.0, 13.0, 13.0, 13.0, 12.0

	margin     = 18.0
	inset      = 10.0 // between the ends of the horizontal axis and the data, so that no mark is cut
	sampleWide = 34.0 // a piece of line in the legend

	ink, grey, gridline = "#222222", "#595959", "#e4e4e4"
)

// canvas is a chart while it is drawn: the page and, on it, the rectangle of the data.
type canvas struct {
	pen
	chart Chart
	x, y  axis

	left, right, top, bottom float64
}

func draw(c Chart) []byte {
	d := &canvas{chart: c, top: margin}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" `+
		`font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif" fill="%s">`+"\n",
		c.Width, c.Height, c.Width, c.Height, ink)
	if c.Title != "" {
		d.WriteString("<title>" + escape(oneLine(c.Title)) + "</title>\n")
	}
	if c.Subtitle != "" {
		d.WriteString("<desc>" + escape(oneLine(c.Subtitle)) + "</desc>\n")
	}
	d.rect(0, 0, float64(c.Width), float64(c.Height), ` fill="#ffffff"`)
	d.heading()
	d.legend()
	d.measure()
	d.axes()
	d.series()
	d.WriteString("</svg>\n")
	return d.Bytes()
}

func (d *canvas) heading() {
	width := float64(d.chart.Width) - 2*margin
	for _, line := range wrap(d.chart.Title, titleSize*1.05, width, 3) { // bold is wider
		d.text(margin, d.top+titleSize*0.8, ` font-size="17" font-weight="bold"`, line)
		d.top += titleSize * 1.3
	}
	for _, line := range wrap(d.chart.Subtitle, subtitleSize, width, 3) {
		d.text(margin, d.top+subtitleSize*0.85, ` font-size="13" fill="`+grey+`"`, line)
		d.top += subtitleSize * 1.4
	}
}

// legend writes the names in rows above the data. Each row takes as many as fit.
func (d *canvas) legend() {
	width := float64(d.chart.Width) - 2*margin
	x, hasRow := 0.0, false
	for i, s := range d.chart.Series {
		if oneLine(s.Name) == "" {
			continue
		}
		if !hasRow {
			d.top += 8
			hasRow = true
		}
		name := fit(s.Name, legendSize, width-sampleWide-6)
		wide := sampleWide + 6 + textWidth(name, legendSize)
		if x > 0 && x+wide > width {
			x = 0
			d.top += 20
		}
		d.WriteString("<g>")
		if name != oneLine(s.Name) {
			d.WriteString("<title>" + escape(oneLine(s.Name)) + "</title>")
		}
		d.WriteString("\n")
		d.sample(i, s, margin+x, d.top+8)
		d.text(margin+x+sampleWide+6, d.top+8+legendSize*0.36, ` font-size="13"`, name)
		d.WriteString("</g>\n")
		x += wide + 22
	}
	if hasRow {
		d.top += 20
	}
}

// sample draws a small piece of the series for the legend.
func (d *canvas) sample(i int, s Series, x, y float64) {
	middle := point{x + sampleWide/2, y}
	if s.Bars {
		d.rect(x+6, y-6, sampleWide-12, 12, ` fill="`+colour(i)+`" fill-opacity="0.55"`)
		return
	}
	if s.Low != nil && !s.Points {
		d.rect(x, y-7, sampleWide, 14, ` fill="`+colour(i)+`" fill-opacity="0.18"`)
	}
	if s.Low != nil && s.Points {
		d.whiskers(i, []point{{middle.x, y + 8}}, []point{{middle.x, y - 8}})
	}
	if !s.Points {
		d.stroke(i, []point{{x, y}, {x + sampleWide, y}})
	}
	if d.isMarked(i) {
		d.marks(i, []point{middle})
	}
}

// measure chooses the axes and the rectangle of the data. The space on the left depends on the labels of the vertical
// axis, so that axis comes first.
func (d *canvas) measure() {
	var ex, ey extent
	hasBars := false
	for _, s := range d.chart.Series {
		ex.add(s.X...)
		ey.add(s.Y...)
		ey.add(s.Low...)
		ey.add(s.High...)
		if s.Bars {
			hasBars = true
			half := barWidth(s.X) / 2
			whole := ex.whole
			ex.add(slices.Min(s.X)-half, slices.Max(s.X)+half)
			ex.whole = whole // the edges of bars are not values
		}
	}
	if !d.chart.LogY && ey.low > 0 && (hasBars || ey.low < ey.high/2) {
		ey.low = 0
	}
	if !d.chart.LogY && ey.high < 0 && (hasBars || ey.high > ey.low/2) {
		ey.high = 0
	}
	d.top += 14
	d.bottom = float64(d.chart.Height) - margin - tickSize - 8
	if d.chart.XLabel != "" {
		d.bottom -= labelSize + 8
	}
	// A page too small for its texts still gets a picture, if a flat one.
	d.bottom = math.Max(d.bottom, d.top+40)

	d.y = newAxis(ey, d.chart.LogY, max(2, int((d.bottom-d.top)/45)), true)
	widest := 0.0
	for _, t := range d.y.ticks {
		widest = math.Max(widest, t.label.width(tickSize))
	}
	d.left = margin + widest + 10
	if d.chart.YLabel != "" {
		d.left += labelSize + 8
	}
	d.right = math.Max(float64(d.chart.Width)-margin-8, d.left+40)
	d.x = newAxis(ex, d.chart.LogX, max(2, int((d.right-d.left)/90)), false)
}

// px and py turn values into pixels, across and up do so for places on an axis.
func (d *canvas) px(v float64) float64 { return d.across(d.x.place(v)) }
func (d *canvas) py(v float64) float64 { return d.up(d.y.place(v)) }

func (d *canvas) across(place float64) float64 {
	return d.left + inset + place*(d.right-d.left-2*inset)
}
func (d *canvas) up(place float64) float64 { return d.bottom - place*(d.bottom-d.top) }

// sharp moves a line of one pixel onto the raster, where it is not smeared over two.
func sharp(v float64) float64 { return math.Floor(v) + 0.5 }

func (d *canvas) axes() {
	d.WriteString(`<g stroke="` + gridline + `">` + "\n")
	for _, t := range d.y.ticks {
		d.line(d.left, sharp(d.up(t.place)), d.right, sharp(d.up(t.place)))
	}
	for _, t := range d.x.ticks {
		d.line(sharp(d.across(t.place)), d.top, sharp(d.across(t.place)), d.bottom)
	}
	d.WriteString("</g>\n" + `<g stroke="` + grey + `">` + "\n")
	d.line(d.left, sharp(d.bottom), d.right, sharp(d.bottom))
	d.line(sharp(d.left), d.top, sharp(d.left), d.bottom)
	for _, t := range d.x.ticks {
		d.line(sharp(d.across(t.place)), d.bottom, sharp(d.across(t.place)), d.bottom+6)
	}
	for _, place := range d.x.minor {
		d.line(sharp(d.across(place)), d.bottom, sharp(d.across(place)), d.bottom+3)
	}
	for _, t := range d.y.ticks {
		d.line(d.left-5, sharp(d.up(t.place)), d.left, sharp(d.up(t.place)))
	}
	for _, place := range d.y.minor {
		d.line(d.left-3, sharp(d.up(place)), d.left, sharp(d.up(place)))
	}
	d.WriteString("</g>\n" + `<g font-size="12" fill="` + grey + `">` + "\n")
	d.tickLabels()
	d.WriteString("</g>\n")
	if label := fit(d.chart.XLabel, labelSize, d.right-d.left); label != "" {
		d.text((d.left+d.right)/2, d.bottom+6+tickSize+8+labelSize, ` font-size="13" text-anchor="middle"`, label)
	}
	if label := fit(d.chart.YLabel, labelSize, d.bottom-d.top); label != "" {
		d.text(0, 0, ` font-size="13" text-anchor="middle" transform="translate(`+
			d.pair(margin+labelSize*0.8, (d.top+d.bottom)/2)+`) rotate(-90)"`, label)
	}
}

// tickLabels leaves out a label that would touch the one before it.
func (d *canvas) tickLabels() {
	free := math.Inf(-1)
	for _, t := range d.x.ticks {
		x, half := d.across(t.place), t.label.width(tickSize)/2
		if x-half < free {
			continue
		}
		d.tickLabel(x, d.bottom+8+tickSize, ` text-anchor="middle"`, t.label)
		free = x + half + 8
	}
	free = math.Inf(1)
	for _, t := range d.y.ticks {
		y := d.up(t.place)
		if y > free {
			continue
		}
		d.tickLabel(d.left-9, y+tickSize*0.35, ` text-anchor="end"`, t.label)
		free = y - tickSize*1.1
	}
}

// pair writes two coordinates into a text of their own.
func (d *canvas) pair(x, y float64) string {
	var p pen
	p.path([]point{{x, y}})
	return strings.TrimPrefix(p.String(), "M")
}
