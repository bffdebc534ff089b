// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"allot/allocator"
)

// maxText is how much of a stranger's text is repeated in an error.
const maxText = 256

const allowedName = "1 to 128 letters, digits, dots, dashes or underscores, beginning with a letter or digit"

// checkPoolName refuses names that somebody would have to escape somewhere: in a command line, a file name, a subject, a page.
func checkPoolName(name string) error {
	ok := len(name) >= 1 && len(name) <= allocator.MaxName
	for i := 0; i < len(name) && ok; i++ {
		c := name[i]
		ok = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || i > 0 && (c == '.' || c == '-' || c == '_')
	}
	if !ok {
		return &allocator.ValueError{Field: "pool", Value: printable(name, maxText), Allowed: allowedName}
	}
	return nil
}

// checkID is for ids that clients choose. A slash parts the ids of nodes, sessions and requests, so it cannot be in one.
func checkID(field, id string) error {
	ok := len(id) >= 1 && len(id) <= allocator.MaxName
	for i := 0; i < len(id) && ok; i++ {
		ok = id[i] > ' ' && id[i] < 0x7f && id[i] != '/'
	}
	if !ok {
		return &allocator.ValueError{Field: field, Value: printable(id, maxText), Allowed: "1 to 128 visible ASCII characters without a slash"}
	}
	return nil
}

// checkText is for texts that people read in lists. What a terminal would obey is replaced, and what is too long refused.
func checkText(field, text string, most int) (string, error) {
	if len(text) > most {
		return "", &allocator.ValueError{Field: field, Value: printable(text, 32), Allowed: fmt.Sprintf("at most %d bytes, not %d", most, len(text))}
	}
	return printable(text, most), nil
}

// checkUnits is the part of the check that needs no pool.
func checkUnits(units int32) (int, error) {
	if units < 1 || units > allocator.MaxUnits {
		return 0, &allocator.ValueError{Field: "units", Value: strconv.Itoa(int(units)), Allowed: "1 up to what the pool allows for one request"}
	}
	return int(units), nil
}

// printable makes a text of at most so many bytes without control characters, in one line. Markup is left as it is: it is
// harmless where texts are shown as text, and a page has to escape it anyway.
func printable(text string, most int) string {
	clean := true
	for i := 0; i < len(text) && clean; i++ {
		clean = text[i] >= ' ' && text[i] < 0x7f
	}
	if !clean {
		text = strings.Map(func(r rune) rune {
			switch {
			case r == '\n' || r == '\t':
				return ' '
			case r == utf8.RuneError, !unicode.IsPrint(r):
				return '?'
			}
			return r
		}, text)
	}
	if len(text) <= most {
		return text
	}
	cut := most - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
