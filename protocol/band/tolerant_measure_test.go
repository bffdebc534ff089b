// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestTolerantCost: what tolerance costs where nothing fails. Alone, 6 messages for each other member and 4 time units for each change of
// sides; with everybody asking, what is recalled adds to it.
func TestTolerantCost(t *testing.T) {
	var lines []string
	for _, kind := range kinds {
		for _, n := range sizes(kind) {
			if n > 400 && testing.Short() {
				continue
			}
			r := newTimed(t, question{object: "gcs", n: n, l: n / 3, k: n - n/3, inside: halfOf(n), coterie: kind, times: 1 << 20, variant: "tolerant"}, 1, unit)
			p := n / 4
			messages, leave, enter := r.alone(p)
			others := r.members(p)
			if messages != 12*others || leave != 4 || enter != 4 {
				t.Errorf("%s:%d: %d messages with %d other members, leaving took %v, entering %v", kind, n, messages, others, leave, enter)
			}
			lines = append(lines, fmt.Sprintf("%-9s n=%-5d others=%-4d messages=%-6d leave=%v enter=%v", kind, n, others, messages, leave, enter))
		}
	}
	for _, n := range []int{4, 9, 16, 25, 49} {
		r := newTimed(t, question{object: "gcs", n: n, l: n / 3, k: n - n/3, inside: halfOf(n), coterie: "grid", times: 1 << 20, variant: "tolerant"}, 1, unit)
		c := r.crowd(20 * n)
		lines = append(lines, fmt.Sprintf("everybody asks, grid n=%-4d changes=%-5d mean=%-8.2f longest=%-8.2f messages/pair=%-8.1f", n, c.changes, c.mean, c.longest, c.messages))
	}
	if testing.Short() {
		return
	}
	compare(t, "tolerant_cost.txt", strings.Join(lines, "\n")+"\n")
}
