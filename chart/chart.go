// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"math"
)

// Chart is one picture. Its zero value has no series and cannot be drawn.
type Chart struct {
	Title, Subtitle string // wrapped where too long; may be empty
	XLabel, YLabel  string // with the unit, such as "waiting time (ms)"
	LogX, LogY      bool   // logarithmic axes; all values must be positive
	Series          []Series
	Width, Height   int // in pixels, 200 to 10,000; 800 by 500 when 0
}

// Series is a row of points. X and Y have the same length, at least one.
type Series struct {
	Name string // for the legend; without a name the series is not in it
	X, Y []float64
	// Low and High are the ends of a band around Y, such as the extremes of repeated runs: both or neither, as long
	// as Y.
	Low, High []float64
	Dashed    bool // a line that was not measured, such as a bound
	Points    bool // marks without a line
	Bars      bool // columns from zero, centred at X
}

const (
	defaultWidth, defaultHeight = 800, 500
	smallest, largest           = 200, 10_000
	// beyond is where differences of values overflow; nothing that is measured comes near.
	beyond = 1e300
)

// SVG draws the chart. The error is one line and names the series at fault.
func (c Chart) SVG() ([]byte, error) {
	if c.Width == 0 {
		c.Width = defaultWidth
	}
	if c.Height == 0 {
		c.Height = defaultHeight
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	return draw(c), nil
}

func (c Chart) validate() error {
	if c.Width < smallest || c.Width > largest || c.Height < smallest || c.Height > largest {
		return fmt.Errorf("width and height must be %d to %d pixels, not %d by %d", smallest, largest, c.Width, c.Height)
	}
	if len(c.Series) == 0 {
		return fmt.Errorf("there is no series to draw")
	}
	bars := 0
	for i, s := range c.Series {
		if err := c.validateSeries(s); err != nil {
			return fmt.Errorf("series %d (%.80q): %w", i+1, s.Name, err)
		}
		if s.Bars {
			bars++
		}
	}
	if bars > 1 {
		return fmt.Errorf("only one series can have bars; they would hide one another")
	}
	if bars > 0 && (c.LogX || c.LogY) {
		return fmt.Errorf("bars need linear axes; the length of a bar means nothing on a logarithmic one")
	}
	return nil
}

func (c Chart) validateSeries(s Series) error {
	if len(s.X) == 0 {
		return fmt.Errorf("there are no points")
	}
	if len(s.Y) != len(s.X) {
		return fmt.Errorf("%d values of X but %d of Y", len(s.X), len(s.Y))
	}
	if (s.Low != nil || s.High != nil) && (len(s.Low) != len(s.Y) || len(s.High) != len(s.Y)) {
		return fmt.Errorf("a band needs as many values of Low and High as of Y: %d and %d, not %d", len(s.Low), len(s.High), len(s.Y))
	}
	for _, column := range []struct {
		name   string
		values []float64
		log    bool
	}{{"X", s.X, c.LogX}, {"Y", s.Y, c.LogY}, {"Low", s.Low, c.LogY}, {"High", s.High, c.LogY}} {
		for i, v := range column.values {
			if math.IsNaN(v) || math.Abs(v) > beyond {
				return fmt.Errorf("%s[%d] is %g, which cannot be drawn", column.name, i, v)
			}
			if column.log && v <= 0 {
				return fmt.Errorf("%s[%d] is %g, but a logarithmic axis shows positive values only", column.name, i, v)
			}
		}
	}
	for i := range s.Low {
		if s.Low[i] > s.High[i] {
			return fmt.Errorf("the band is upside down: Low[%d] is %g and High[%d] is %g", i, s.Low[i], i, s.High[i])
		}
	}
	return nil
}
