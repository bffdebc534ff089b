// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package chart draws series of numbers as an SVG that a person can read.
//
// The laboratory measures: steps until a ring is stable, against its size, for several daemons. A table of that is
// exact and a chart of it is understood. The smallest use is
//
//	svg, err := chart.Chart{
//		Title:  "Dijkstra's ring: steps until stable",
//		XLabel: "processes",
//		YLabel: "steps",
//		Series: []chart.Series{{Name: "central", X: sizes, Y: means, Low: fastest, High: slowest}},
//	}.SVG()
//
// # What is drawn
//
// A series is a line with a mark at its points. Low and High, when given, are a pale band around it. Points leaves out
// the line and draws the band as whiskers, for single measurements. Dashed is for what was not measured, a bound or a
// formula, and has no marks. Bars draws columns from zero; Histogram makes such a series from raw values. X is drawn in the order given.
//
// # Readability
//
// The colours are those of Okabe and Ito (2008), which people with the usual kinds of colour blindness tell apart,
// without the yellow, which is too pale on white. Colour is never the only sign: every line has its own mark, however
// long it is, or its own pattern of dashes. The legend stands between title and data and never covers them. A linear vertical axis begins at zero
// unless that would squeeze the data into less than half of it; whole numbers get whole ticks; thousands are separated.
// Long titles wrap, long names end in an ellipsis and are whole in the tooltip.
//
// # Guarantees
//
// The same chart gives the same bytes. The result is well-formed XML for any text, refers to no other file or font,
// and has no identifiers or style sheet, so that several charts can be put into one page. What cannot be
// drawn is refused with one line: no points, lengths that differ, NaN and infinity, values that are not positive on
// a logarithmic axis, a band whose low end lies above its high end.
//
// # Limits
//
// The width of a text is estimated from the proportions of Helvetica, since the font of the reader is not known. The
// size of the result grows with the number of points; thin out a series of more than some ten thousand first.
// Bars need linear axes, as the length of a bar means nothing on a logarithmic one, and there is one such series.
//
// # Why by hand
//
// gonum.org/v1/plot v0.17.0 was tried first and not taken. It draws its legend over the data, writes 1e+03 at its ticks,
// panics on a logarithmic axis with a zero, imports os, and brings nine modules (fonts, PDF, LaTeX, TIFF) and 9 MB of
// binary to write one SVG. This package imports only the standard library.
package chart
