// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"encoding/xml"
	"strings"
)

// textWidth estimates the width of a text in Helvetica or one of its many likes.
func textWidth(text string, size float64) float64 {
	em := 0.0
	for _, r := range text {
		switch {
		case strings.ContainsRune("ijl.,:;'|!I ", r):
			em += 0.28
		case strings.ContainsRune("ftr()[]{}-/\\\"`*", r):
			em += 0.35
		case strings.ContainsRune("mwMW%@", r):
			em += 0.87
		case r >= 'A' && r <= 'Z':
			em += 0.69
		case r >= 0x1100: // mostly scripts and signs as wide as they are high
			em += 1
		default:
			em += 0.56
		}
	}
	return em * size
}

// fit shortens a text to a width and ends it in an ellipsis where something is missing.
func fit(text string, size, width float64) string {
	text = oneLine(text)
	if textWidth(text, size) <= width {
		return text
	}
	room := width - textWidth("…", size)
	for i, r := range text {
		if room -= textWidth(string(r), size); room < 0 {
			return strings.TrimRight(text[:i], " ") + "…"
		}
	}
	return text
}

// wrap breaks a text between words into lines of at most the width. What does not fit the last line is cut.
func wrap(text string, size, width float64, lines int) []string {
	var wrapped []string
	words := strings.Fields(text)
	for len(words) > 0 {
		if len(wrapped) == lines-1 {
			return append(wrapped, fit(strings.Join(words, " "), size, width))
		}
		n, room := 1, width-textWidth(words[0], size)
		for ; n < len(words); n++ {
			if room -= textWidth(" "+words[n], size); room < 0 {
				break
			}
		}
		wrapped = append(wrapped, fit(strings.Join(words[:n], " "), size, width))
		words = words[n:]
	}
	return wrapped
}

// oneLine turns line breaks and runs of spaces into single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// escape makes any text safe inside an element or attribute. Characters that XML forbids become U+FFFD.
func escape(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer never fails
	return b.String()
}
