// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"allot/chart"
	"allot/internal/golden"
)

const pictures = "../../docs/pictures"

// draw holds a picture against the one that was measured before.
func draw(t *testing.T, name string, c chart.Chart) {
	t.Helper()
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, filepath.Join(pictures, name), string(svg))
}

var kinds = []string{"majority", "grid", "plane", "tree", "wall"}

// spec writes a kind of quorums for n processes; votes are 1, 2, 3, 1, 2, 3, and so on.
func spec(kind string, n int) string {
	if kind != "votes" {
		return kind
	}
	votes := make([]string, n)
	for p := range votes {
		votes[p] = fmt.Sprint(1 + p%3)
	}
	return "votes:" + strings.Join(votes, ",")
}

// sizes of networks, for planes those that exist.
func sizes(kind string) []int {
	if kind == "plane" {
		return []int{7, 21, 57, 133, 307, 993}
	}
	return []int{9, 25, 64, 150, 400, 1000}
}

// TestMessages: Lemma 3 and Theorem 4, O(|Q|) messages for leaving and entering again. Nobody else asks, so the number is
// exact: 8|Q| for one gadget, 4|Q| for a lean one, less what a process sends to itself; twice that for both gadgets.
func TestMessages(t *testing.T) {
	var lines []string
	picture := chart.Chart{Title: "Messages for leaving and entering again", Subtitle: "both bounds, nobody else asking; n messages for comparison",
		XLabel: "processes n", YLabel: "messages", LogX: true, LogY: true}
	for _, variant := range []string{"corrected", "lean"} {
		for _, kind := range append(kinds[:len(kinds):len(kinds)], "votes") {
			series := chart.Series{Name: kind + ", " + variant}
			for _, n := range sizes(kind) {
				if n > 400 && testing.Short() {
					continue
				}
				r := newTimed(t, question{object: "gcs", n: n, l: n / 3, k: n - n/3, inside: halfOf(n), coterie: spec(kind, n), times: 1 << 20, variant: variant}, 1, unit)
				p := n / 4
				messages, leave, enter := r.alone(p)
				others := r.members(p)
				each := 16
				if variant == "lean" {
					each = 8
				}
				if messages != each*others {
					t.Errorf("%s:%d %s: %d messages with %d other members", kind, n, variant, messages, others)
				}
				// With votes of different weight a process may know enough by itself, and then it is faster.
				if want := map[string]float64{"corrected": 6, "lean": 2}[variant]; kind != "votes" && (leave != want || enter != want) || leave > want || enter > want {
					t.Errorf("%s:%d %s: leaving took %v, entering %v, not %v", kind, n, variant, leave, enter, want)
				}
				lines = append(lines, fmt.Sprintf("%-9s n=%-5d others=%-4d %-9s messages=%-6d leave=%v enter=%v", kind, n, others, variant, messages, leave, enter))
				series.X, series.Y = append(series.X, float64(n)), append(series.Y, float64(messages))
			}
			if variant == "lean" && kind != "votes" || kind == "majority" || kind == "grid" {
				picture.Series = append(picture.Series, series)
			}
		}
	}
	bound := chart.Series{Name: "n", Dashed: true}
	for _, n := range []float64{9, 1000} {
		bound.X, bound.Y = append(bound.X, n), append(bound.Y, n)
	}
	picture.Series = append(picture.Series, bound)
	if testing.Short() {
		return
	}
	compare(t, "messages.txt", strings.Join(lines, "\n")+"\n")
	draw(t, "band-messages.svg", picture)
}

// halfOf lists half of the processes, every second one, process n/4 among them.
func halfOf(n int) string {
	var list []string
	for p := n / 4 % 2; p < n; p += 2 {
		list = append(list, fmt.Sprint(p))
	}
	return strings.Join(list, "+")
}

// members counts the members of a process's quorum besides itself, from the messages that it would send.
func (r *timed) members(p int) int {
	before := r.buf.Sent
	r.ask(p, r.now)
	r.step()
	sent := r.buf.Sent
	r.settle()
	r.ask(p, r.now)
	r.settle()
	r.buf.Sent = before
	return sent
}

// TestWaiting: Theorems 2 and 4 say that nobody waits longer than 7 and 9 time units. Alone that holds; with everybody
// asking the wait grows with the number of processes, in the unit time of section 3.3 too, since the mutual exclusion serves
// one after the other.
func TestWaiting(t *testing.T) {
	var lines []string
	picture := chart.Chart{Title: "Waiting when everybody asks", Subtitle: "grid, l = n/3, k = 2n/3, every message takes one time unit; the paper's bound is 9",
		XLabel: "processes n", YLabel: "time units", LogX: true, LogY: true}
	series := map[string]*chart.Series{}
	add := func(name string, n, y float64) {
		if series[name] == nil {
			series[name] = &chart.Series{Name: name}
		}
		series[name].X, series[name].Y = append(series[name].X, n), append(series[name].Y, y)
	}
	for _, delay := range []string{"unit", "heavy"} {
		for _, variant := range []string{"corrected", "lean"} {
			for _, n := range []int{4, 9, 16, 25, 49, 100} {
				law := unit
				if delay == "heavy" {
					law = heavy
				}
				r := newTimed(t, question{object: "gcs", n: n, l: n / 3, k: n - n/3, inside: halfOf(n), coterie: "grid", times: 1 << 20, variant: variant}, 1, law)
				c := r.crowd(20 * n)
				lines = append(lines, fmt.Sprintf("%-5s %-9s n=%-4d changes=%-5d mean=%-8.2f longest=%-8.2f messages/pair=%-8.1f handled/pair: busiest=%.2f mean=%.2f",
					delay, variant, n, c.changes, c.mean, c.longest, c.messages, c.busiest, c.busyMean))
				if delay == "unit" {
					add("mean, "+variant, float64(n), c.mean)
					add("longest, "+variant, float64(n), c.longest)
				}
			}
		}
	}
	for _, name := range []string{"mean, corrected", "longest, corrected", "mean, lean", "longest, lean"} {
		picture.Series = append(picture.Series, *series[name])
	}
	picture.Series = append(picture.Series, chart.Series{Name: "the paper's 9", Dashed: true, X: []float64{4, 100}, Y: []float64{9, 9}})
	compare(t, "waiting.txt", strings.Join(lines, "\n")+"\n")
	draw(t, "band-waiting.svg", picture)
}

// TestLoad: how the messages spread over the members, with everybody asking.
func TestLoad(t *testing.T) {
	var lines []string
	for _, kind := range kinds {
		n := 21
		r := newTimed(t, question{object: "gcs", n: n, l: 7, k: 14, inside: halfOf(n), coterie: kind, times: 1 << 20, variant: "lean"}, 1, unit)
		c := r.crowd(40 * n)
		lines = append(lines, fmt.Sprintf("%-9s n=%d messages/pair=%-8.1f handled/pair: busiest=%.2f mean=%.2f ratio=%.2f", kind, n, c.messages, c.busiest, c.busyMean, c.busiest/c.busyMean))
	}
	compare(t, "load.txt", strings.Join(lines, "\n")+"\n")
}
