// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"
	"strconv"
	"strings"
)

// label is the text at a tick: 1,000 or 2.5×10 with the exponent 9.
type label struct{ text, exponent string }

func (l label) width(size float64) float64 {
	return textWidth(l.text, size) + textWidth(l.exponent, size*exponentSize)
}

// linearLabels writes the multiples of a step with as many digits as the step needs. Very large and very small values
// share one power of ten, so that the labels of an axis can be compared.
func linearLabels(values []float64, step float64) []label {
	size := 0.0
	for _, v := range values {
		size = math.Max(size, math.Abs(v))
	}
	if size == 0 {
		size = step
	}
	power, unit := 0, 1.0
	if size >= 1e7 || size < 1e-3 {
		power = int(math.Floor(math.Log10(size) + 1e-9))
		unit = math.Pow(10, float64(power))
	}
	decimals := min(max(0, -int(math.Floor(math.Log10(step/unit)+1e-9))), 12)
	labels := make([]label, len(values))
	for i, v := range values {
		if math.Abs(v) < step/2 {
			labels[i] = label{text: "0"}
			continue
		}
		labels[i] = label{text: separate(strconv.FormatFloat(v/unit, 'f', decimals, 64))}
		if power != 0 {
			labels[i].text += "×10"
			labels[i].exponent = minus(strconv.Itoa(power))
		}
	}
	return labels
}

// powerLabel writes m·10^k.
func powerLabel(m, k int, plain bool) label {
	if plain {
		return label{text: separate(strconv.FormatFloat(float64(m)*math.Pow(10, float64(k)), 'f', max(0, -k), 64))}
	}
	text := "10"
	if m != 1 {
		text = strconv.Itoa(m) + "×10"
	}
	return label{text, minus(strconv.Itoa(k))}
}

// separate puts commas between thousands.
func separate(number string) string {
	sign := ""
	if strings.HasPrefix(number, "-") {
		sign, number = "-", number[1:]
	}
	whole, rest, hasPoint := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if hasPoint {
		whole += "." + rest
	}
	return minus(sign + whole)
}

// minus uses the sign that is as wide as a plus; a hyphen before a small digit is easily missed.
func minus(number string) string { return strings.Replace(number, "-", "−", 1) }
