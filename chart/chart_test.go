// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pictures in testdata anew; look at them before you commit")

// sweep is the typical use: three daemons, a band, a bound.
func sweep() Chart {
	sizes := []float64{10, 18, 32, 56, 100, 178, 316, 562, 1000}
	grow := func(factor, power float64) []float64 {
		ys := make([]float64, len(sizes))
		for i, x := range sizes {
			ys[i] = math.Round(factor * math.Pow(x, power))
		}
		return ys
	}
	return Chart{
		Title:    "Dijkstra's K-state ring: steps until stable",
		Subtitle: "K = n, arbitrary start, 20 runs for each size; band from the fastest to the slowest run",
		XLabel:   "processes n", YLabel: "steps", LogX: true, LogY: true,
		Series: []Series{
			{Name: "central", X: sizes, Y: grow(1, 1.7), Low: grow(0.6, 1.7), High: grow(1.6, 1.7)},
			{Name: "distributed, p = ½", X: sizes, Y: grow(1, 1.3), Low: grow(0.7, 1.3), High: grow(1.4, 1.3)},
			{Name: "synchronous", X: sizes, Y: grow(1.1, 1)},
			{Name: "bound 3n²/2", X: sizes, Y: grow(1.5, 2), Dashed: true},
		},
	}
}

func TestPicturesAreAsTheyWereApproved(t *testing.T) {
	many := Chart{Title: "Nine series on linear axes, and a title that is too long for one line and goes on in a second one",
		XLabel: "processes", YLabel: "messages for each entry"}
	for k := range 9 {
		s := Series{Name: fmt.Sprintf("algorithm %d", k+1)}
		for n := 1.0; n <= 8; n++ {
			s.X, s.Y = append(s.X, 100*n), append(s.Y, 40*n*(n+float64(k)))
		}
		many.Series = append(many.Series, s)
	}
	points := sweep()
	points.LogX, points.LogY = false, false
	points.Series = points.Series[:1]
	points.Series[0].Points = true
	bars, err := Histogram("runs", []float64{3, 4, 4, 5, 5, 5, 6, 6, 6, 6, 7, 7, 8, 12}, 10)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]Chart{
		"sweep": sweep(), "many": many, "points": points,
		"histogram": {Title: "Waiting", XLabel: "rounds", YLabel: "runs", Series: []Series{bars}},
		"one_point": {XLabel: "n", YLabel: "steps", Series: []Series{{X: []float64{5}, Y: []float64{3}}}},
		"small": {Title: `Small <&> "quoted"`, XLabel: "x", YLabel: "a long label", Width: 320, Height: 240, Series: []Series{
			{Name: "a", X: []float64{2, 3, 4, 5}, Y: []float64{-1e-5, 2e-5, 3e-5, 1e-5}},
			{Name: "a name that is too long for a chart this small", X: []float64{2, 5}, Y: []float64{1e-5, 2e-5}}}},
	} {
		got, err := c.SVG()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, _ := c.SVG()
		if !bytes.Equal(got, again) {
			t.Errorf("%s: the same chart gave other bytes", name)
		}
		requireDrawable(t, c, got)
		file := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not as approved; run go test ./chart -update, look at %s, and commit it", name, file)
		}
	}
}

// requireDrawable checks that a picture is well-formed and that nothing lies outside of the page.
func requireDrawable(t *testing.T, c Chart, svg []byte) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		element, isElement := token.(xml.StartElement)
		if !isElement {
			continue
		}
		for _, a := range element.Attr {
			for _, v := range coordinates(t, a) {
				if limit := float64(max(c.Width, c.Height, defaultWidth)) + 60; math.IsNaN(v) || v < -60 || v > limit {
					t.Fatalf("<%s %s=%q> lies outside of the page", element.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

func coordinates(t *testing.T, a xml.Attr) []float64 {
	t.Helper()
	names := []string{"x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height", "d"}
	if !slices.Contains(names, a.Name.Local) {
		return nil
	}
	var values []float64
	for _, field := range strings.FieldsFunc(a.Value, func(r rune) bool { return strings.ContainsRune("MLZ ,", r) }) {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			t.Fatalf("%s=%q is not a number", a.Name.Local, a.Value)
		}
		values = append(values, v)
	}
	return values
}

func TestWhatCannotBeDrawnIsRefused(t *testing.T) {
	one := []float64{1}
	with := func(s Series) Chart { return Chart{Series: []Series{s}} }
	for _, test := range []struct {
		chart Chart
		want  string
	}{
		{Chart{}, "chart: there is no series to draw"},
		{Chart{Width: 10, Series: []Series{{X: one, Y: one}}}, "chart: width and height must be 200 to 10000 pixels, not 10 by 500"},
		{Chart{Height: -1, Series: []Series{{X: one, Y: one}}}, "chart: width and height must be 200 to 10000 pixels, not 800 by -1"},
		{with(Series{Name: "a"}), `chart: series 1 ("a"): there are no points`},
		{with(Series{X: one, Y: []float64{1, 2}}), `chart: series 1 (""): 1 values of X but 2 of Y`},
		{with(Series{X: one, Y: one, Low: one}), `chart: series 1 (""): a band needs as many values of Low and High as of Y: 1 and 0, not 1`},
		{with(Series{X: one, Y: one, Low: []float64{2}, High: one}), `chart: series 1 (""): the band is upside down: Low[0] is 2 and High[0] is 1`},
		{with(Series{X: one, Y: []float64{math.NaN()}}), `chart: series 1 (""): Y[0] is NaN, which cannot be drawn`},
		{with(Series{X: []float64{math.Inf(-1)}, Y: one}), `chart: series 1 (""): X[0] is -Inf, which cannot be drawn`},
		{with(Series{X: one, Y: one, Low: one, High: []float64{math.Inf(1)}}), `chart: series 1 (""): High[0] is +Inf, which cannot be drawn`},
		{Chart{LogX: true, Series: []Series{{X: []float64{0}, Y: one}}}, `chart: series 1 (""): X[0] is 0, but a logarithmic axis shows positive values only`},
		{Chart{LogY: true, Series: []Series{{X: one, Y: one, Low: []float64{-1}, High: one}}}, `chart: series 1 (""): Low[0] is -1, but a logarithmic axis shows positive values only`},
		{Chart{LogY: true, Series: []Series{{X: one, Y: one, Bars: true}}}, "chart: bars need linear axes; the length of a bar means nothing on a logarithmic one"},
		{Chart{Series: []Series{{X: one, Y: one, Bars: true}, {X: one, Y: one, Bars: true}}}, "chart: only one series can have bars; they would hide one another"},
	} {
		if _, err := test.chart.SVG(); err == nil || err.Error() != test.want {
			t.Errorf("\n got %v\nwant %s", err, test.want)
		}
	}
}

// Without colour, lines must still differ: by mark, by its filling, or by dashes.
func TestColourIsNeverTheOnlySign(t *testing.T) {
	met := map[string]int{}
	for i := range 14 {
		var p pen
		p.mark(i, point{})
		sign := p.String() + fmt.Sprint(strings.Contains(markStyle(i), `fill="#ffffff"`))
		if before, isTwice := met[sign]; isTwice {
			t.Errorf("series %d and %d have the same mark", before, i)
		}
		met[sign] = i
	}
	c := Chart{}
	for range 9 {
		c.Series = append(c.Series, Series{X: []float64{1, 2}, Y: []float64{1, 2}, Dashed: true})
	}
	d := canvas{chart: c}
	for i := range c.Series {
		if isLate := i >= len(dashes); d.isMarked(i) != isLate {
			t.Errorf("dashed line %d: marked is %v", i, !isLate)
		}
	}
}

func TestMarksOfALongLineAreSpread(t *testing.T) {
	s := Series{Name: "long"}
	for i := range 5000 {
		s.X, s.Y = append(s.X, float64(i)), append(s.Y, float64(i%7))
	}
	svg, err := Chart{Series: []Series{s}}.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(svg, []byte("<circle")); n < 5 || n > 200 {
		t.Errorf("%d marks", n)
	}
}

func FuzzTextsStayWellFormed(f *testing.F) {
	f.Add("a <b> & \"c\" 'd'", "]]>", "\x00\xff\u2028", "x\ny")
	f.Add(strings.Repeat("long ", 60), strings.Repeat("w", 200), "", "ℓ")
	f.Fuzz(func(t *testing.T, title, subtitle, label, name string) {
		c := Chart{Title: title, Subtitle: subtitle, XLabel: label, YLabel: label,
			Series: []Series{{Name: name, X: []float64{1, 2}, Y: []float64{3, 4}}, {Name: label, X: []float64{1}, Y: []float64{2}}}}
		svg, err := c.SVG()
		if err != nil {
			t.Fatal(err)
		}
		requireDrawable(t, c, svg)
	})
}

func FuzzNumbersStayOnThePage(f *testing.F) {
	f.Add(1.0, 1000.0, 0.0, 1e-9, uint8(0), 800, 500)
	f.Add(1e-320, 1e299, 5e-324, 1e-300, uint8(3), 200, 200)
	f.Add(1e15, 1e15+1, -1e300, 1e300, uint8(4), 201, 10000)
	f.Add(0.0, 0.0, -0.1, -0.3, uint8(8), 640, 480)
	f.Fuzz(func(t *testing.T, x1, x2, y1, y2 float64, flags uint8, width, height int) {
		s := Series{Name: "s", X: []float64{x1, x2}, Y: []float64{y1, y2}, Bars: flags&4 != 0, Points: flags&16 != 0}
		if flags&8 != 0 {
			s.Low, s.High = []float64{min(y1, y2), y2}, []float64{max(y1, y2), y2}
		}
		c := Chart{Title: "t", XLabel: "x", YLabel: "y", LogX: flags&1 != 0, LogY: flags&2 != 0, Width: width, Height: height,
			Series: []Series{s}}
		svg, err := c.SVG()
		if err != nil {
			return
		}
		requireDrawable(t, c, svg)
		if n := bytes.Count(svg, []byte("\n")); n > 600 {
			t.Fatalf("%d lines for two points", n)
		}
	})
}
