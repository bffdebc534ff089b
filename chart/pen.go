// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// pen writes SVG elements. Coordinates are rounded to a tenth of a pixel, which keeps files small and hides the last
// digits, in which processors may differ.
type pen struct{ bytes.Buffer }

func (p *pen) printf(format string, args ...any) { fmt.Fprintf(&p.Buffer, format, args...) }

func (p *pen) number(v float64) {
	v = math.Round(v*10) / 10
	if v == 0 {
		v = 0 // and not -0
	}
	p.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
}

// attribute writes name="value" with a rounded number.
func (p *pen) attribute(name string, v float64) {
	p.WriteString(" " + name + `="`)
	p.number(v)
	p.WriteByte('"')
}

func (p *pen) line(x1, y1, x2, y2 float64) {
	p.WriteString("<line")
	p.attribute("x1", x1)
	p.attribute("y1", y1)
	p.attribute("x2", x2)
	p.attribute("y2", y2)
	p.WriteString("/>\n")
}

func (p *pen) rect(x, y, width, height float64, more string) {
	p.WriteString("<rect")
	p.attribute("x", x)
	p.attribute("y", y)
	p.attribute("width", width)
	p.attribute("height", height)
	p.WriteString(more + "/>\n")
}

func (p *pen) text(x, y float64, more, text string) {
	p.WriteString("<text")
	p.attribute("x", x)
	p.attribute("y", y)
	p.WriteString(more + ">" + escape(text) + "</text>\n")
}

const exponentSize = 0.75

// tickLabel is a text whose exponent, if any, is raised by hand: baseline-shift is not understood everywhere.
func (p *pen) tickLabel(x, y float64, more string, l label) {
	p.WriteString("<text")
	p.attribute("x", x)
	p.attribute("y", y)
	p.WriteString(more + ">" + l.text)
	if l.exponent != "" {
		p.printf(`<tspan dy="-4" font-size="%g">%s</tspan>`, exponentSize*tickSize, l.exponent)
	}
	p.WriteString("</text>\n")
}

type point struct{ x, y float64 }

// path writes the points as the data of a path, without the element around it.
func (p *pen) path(points []point) {
	for i, q := range points {
		switch i {
		case 0:
			p.WriteByte('M')
		case 1:
			p.WriteByte('L')
		default:
			p.WriteByte(' ')
		}
		p.number(q.x)
		p.WriteByte(',')
		p.number(q.y)
	}
}

// palette is that of Okabe and Ito without yellow, the best separated ones first.
var palette = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#000000", "#56b4e9"}

func colour(i int) string { return palette[i%len(palette)] }

// markStyle fills the marks of the first round of colours and leaves those of the second round open, and so on. A thin
// white rim keeps filled marks apart where they overlap.
func markStyle(i int) string {
	if i/len(palette)%2 == 1 {
		return `fill="#ffffff" stroke="` + colour(i) + `" stroke-width="1.5"`
	}
	return `fill="` + colour(i) + `" stroke="#ffffff" stroke-width="0.8"`
}

// dashes are for the lines that were not measured. Those have no marks, which stand for measurements.
var dashes = []string{"8 4", "2 3", "12 3 2 3", "16 6"}

// marks differ in outline, so that series are told apart without colour. There is one more mark than there are
// colours, so the pairs repeat only after 56 series.
var marks = [][]point{
	nil, // a circle
	{{-3.5, -3.5}, {3.5, -3.5}, {3.5, 3.5}, {-3.5, 3.5}},
	{{0, -4.6}, {4.4, 3.2}, {-4.4, 3.2}},
	{{0, -4.9}, {4.9, 0}, {0, 4.9}, {-4.9, 0}},
	{{0, 4.6}, {4.4, -3.2}, {-4.4, -3.2}},
	{{-1.3, -4.6}, {1.3, -4.6}, {1.3, -1.3}, {4.6, -1.3}, {4.6, 1.3}, {1.3, 1.3}, {1.3, 4.6}, {-1.3, 4.6}, {-1.3, 1.3},
		{-4.6, 1.3}, {-4.6, -1.3}, {-1.3, -1.3}},
	{{-4.2, -2.4}, {-2.4, -4.2}, {0, -1.8}, {2.4, -4.2}, {4.2, -2.4}, {1.8, 0}, {4.2, 2.4}, {2.4, 4.2}, {0, 1.8},
		{-2.4, 4.2}, {-4.2, 2.4}, {-1.8, 0}},
	{{-4.4, -4.2}, {4.4, -4.2}, {-4.4, 4.2}, {4.4, 4.2}}, // an hourglass
}

// mark draws the mark of series i.
func (p *pen) mark(i int, at point) {
	shape := marks[i%len(marks)]
	if shape == nil {
		p.WriteString("<circle")
		p.attribute("cx", at.x)
		p.attribute("cy", at.y)
		p.WriteString(` r="3.8"/>` + "\n")
		return
	}
	moved := make([]point, len(shape))
	for j, q := range shape {
		moved[j] = point{at.x + q.x, at.y + q.y}
	}
	p.WriteString(`<path d="`)
	p.path(moved)
	p.WriteString("Z\"/>\n")
}
