// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"strconv"
	"strings"
)

// Links is what the links of a network do to messages. The zero value is reliable, first in first out, unbounded.
type Links struct {
	Unordered   bool // any message may be delivered next
	Lossy       bool // any message may be lost, without a budget
	Duplicating bool // any message may be repeated, without a budget; needs a Capacity to stay finite
	// Capacity bounds the messages on one link, 0 means unbounded. A lossy link that is full loses what is sent. A
	// reliable one cannot: the step overflows, the simulator stops and the checker answers unknown.
	Capacity int
	// Garbage is how many arbitrary messages a link may hold in an arbitrary start.
	Garbage int
	// Litter, if it is not 0, is how many arbitrary messages all links together may hold in an arbitrary start. The
	// starts of a search are then not all combinations of what single links may hold.
	Litter int
}

// ParseLinks reads "fifo" or "unordered" followed by any of lossy, duplicating, capacity=N, garbage=N, litter=N.
func ParseLinks(spec string) (Links, error) {
	var l Links
	if spec == "" {
		return l, nil
	}
	for _, word := range strings.Split(spec, ",") {
		name, number, hasNumber := strings.Cut(word, "=")
		n, err := strconv.Atoi(number)
		isNumber := hasNumber && err == nil && n >= 0 && n <= 1<<16
		switch {
		case word == "fifo":
			l.Unordered = false
		case word == "unordered":
			l.Unordered = true
		case word == "lossy":
			l.Lossy = true
		case word == "duplicating":
			l.Duplicating = true
		case name == "capacity" && isNumber:
			l.Capacity = n
		case name == "garbage" && isNumber:
			l.Garbage = n
		case name == "litter" && isNumber:
			l.Litter = n
		default:
			return l, fmt.Errorf("links %q: allowed are fifo, unordered, lossy, duplicating, capacity=N, garbage=N, litter=N", word)
		}
	}
	if l.Duplicating && l.Capacity == 0 {
		return l, fmt.Errorf("links %q: duplicating needs capacity=N, or there is no end to it", spec)
	}
	if l.Capacity > 0 && l.Garbage > l.Capacity {
		return l, fmt.Errorf("links %q: garbage=%d does not fit in capacity=%d", spec, l.Garbage, l.Capacity)
	}
	return l, nil
}

// String is the form that ParseLinks reads.
func (l Links) String() string {
	words := []string{"fifo"}
	if l.Unordered {
		words[0] = "unordered"
	}
	if l.Lossy {
		words = append(words, "lossy")
	}
	if l.Duplicating {
		words = append(words, "duplicating")
	}
	if l.Capacity > 0 {
		words = append(words, fmt.Sprintf("capacity=%d", l.Capacity))
	}
	if l.Garbage > 0 {
		words = append(words, fmt.Sprintf("garbage=%d", l.Garbage))
	}
	if l.Litter > 0 {
		words = append(words, fmt.Sprintf("litter=%d", l.Litter))
	}
	return strings.Join(words, ",")
}

// IsStart tells whether a configuration with values of the domains is an arbitrary start: its links hold no more than the
// Litter.
func (n *Network) IsStart(c Configuration) bool {
	if n.links.Litter == 0 {
		return true
	}
	length := 0
	for link := range n.graph.Links() {
		length += n.Length(c, link)
	}
	return length <= n.links.Litter
}
