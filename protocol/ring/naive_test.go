// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"testing"

	"allot/check"
)

// naive is a second implementation of the ring and of everything that the checker says about it, as simple as it can be:
// configurations are slices, sets are maps, and nothing is shared with the rooms under test.
type naive struct {
	n, k   int
	daemon check.Daemon
	worst  map[string]int
	onPath map[string]bool
}

func (v *naive) privileged(x []int, p int) bool {
	if p == 0 {
		return x[0] == x[v.n-1]
	}
	return x[p] != x[p-1]
}

func (v *naive) count(x []int) int {
	count := 0
	for p := range x {
		if v.privileged(x, p) {
			count++
		}
	}
	return count
}

// successors lists what every set of privileged processes that the daemon may choose makes of x.
func (v *naive) successors(x []int) [][]int {
	var list [][]int
	for set := 1; set < 1<<v.n; set++ {
		if v.allows(x, set) {
			list = append(list, v.after(x, set))
		}
	}
	return list
}

func (v *naive) allows(x []int, set int) bool {
	chosen, last := 0, -1
	for p := range v.n {
		if set>>p&1 == 0 {
			continue
		}
		if !v.privileged(x, p) {
			return false
		}
		neighbour := last == p-1 && last >= 0 || p == v.n-1 && set&1 != 0 && v.n > 2
		if v.daemon == check.LocallyCentral && neighbour {
			return false
		}
		last = p
		chosen++
	}
	switch v.daemon {
	case check.Central:
		return chosen == 1
	case check.Synchronous:
		return chosen == v.count(x)
	case check.Distributed, check.LocallyCentral:
	}
	return true
}

func (v *naive) after(x []int, set int) []int {
	y := append([]int(nil), x...)
	for p := range v.n {
		switch {
		case set>>p&1 == 0:
		case p == 0:
			y[0] = (x[0] + 1) % v.k
		default:
			y[p] = x[p-1]
		}
	}
	return y
}

func key(x []int) string {
	b := make([]byte, len(x))
	for i, d := range x {
		b[i] = byte(d)
	}
	return string(b)
}

// longest is the largest number of steps to one privilege; -1 if there is a cycle on the way.
func (v *naive) longest(x []int) int {
	if v.count(x) == 1 {
		return 0
	}
	k := key(x)
	if d, ok := v.worst[k]; ok {
		return d
	}
	if v.onPath[k] {
		return -1
	}
	v.onPath[k] = true
	most := 0
	for _, y := range v.successors(x) {
		d := v.longest(y)
		if d < 0 {
			return -1
		}
		most = max(most, d+1)
	}
	delete(v.onPath, k)
	v.worst[k] = most
	return most
}

// all lists every configuration.
func (v *naive) all() [][]int {
	list := [][]int{{}}
	for range v.n {
		var longer [][]int
		for _, x := range list {
			for d := range v.k {
				longer = append(longer, append(append([]int(nil), x...), d))
			}
		}
		list = longer
	}
	return list
}

// TestAgainstNaive compares verdicts, worst cases, legitimate configurations and transitions, for every daemon and for
// too few and enough values.
func TestAgainstNaive(t *testing.T) {
	for _, daemon := range check.Daemons {
		for n := 2; n <= 5; n++ {
			for k := 1; k <= min(n+1, 5); k++ {
				v := &naive{n: n, k: k, daemon: daemon, worst: map[string]int{}, onPath: map[string]bool{}}
				worst, transitions, legitimate, isClosed := 0, 0, 0, true
				for _, x := range v.all() {
					next := v.successors(x)
					transitions += len(next)
					if v.count(x) == 1 {
						legitimate++
						for _, y := range next {
							isClosed = isClosed && v.count(y) == 1
						}
					}
					if d := v.longest(x); d < 0 {
						worst = -1
					} else if worst >= 0 {
						worst = max(worst, d)
					}
				}
				if !isClosed {
					t.Fatal("the naive ring is not closed")
				}
				r := ask(t, instance(t, n, k, ""), check.Options{Arbitrary: true, Daemon: daemon, Properties: []string{"stabilizes"}})
				f := r.Findings[0]
				if (r.Verdict == check.Proved) != (worst >= 0) {
					t.Errorf("n=%d K=%d %s: %s, naively %d", n, k, daemon, r.Verdict, worst)
					continue
				}
				if int(r.Transitions) != transitions || int(f.Legitimate) != legitimate {
					t.Errorf("n=%d K=%d %s: %d transitions and %d legitimate, naively %d and %d", n, k, daemon, r.Transitions, f.Legitimate, transitions, legitimate)
				}
				if worst >= 0 && *f.WorstSteps != worst {
					t.Errorf("n=%d K=%d %s: at most %d steps, naively %d", n, k, daemon, *f.WorstSteps, worst)
				}
			}
		}
	}
}

// longestRounds is the largest number of rounds to one privilege from x, with owed still to act in the present round. It
// is only asked where there are no cycles.
func (v *naive) longestRounds(x []int, owed int, known map[string]int) int {
	if v.count(x) == 1 {
		return 1
	}
	k := key(x) + string(rune(owed))
	if r, ok := known[k]; ok {
		return r
	}
	most := 0
	for set := 1; set < 1<<v.n; set++ {
		if !v.allows(x, set) {
			continue
		}
		y := v.after(x, set)
		can := v.enabled(y)
		rest := owed &^ set & can
		switch {
		case v.count(y) == 1:
			most = max(most, 1)
		case rest == 0:
			most = max(most, 1+v.longestRounds(y, can, known))
		default:
			most = max(most, v.longestRounds(y, rest, known))
		}
	}
	known[k] = most
	return most
}

func (v *naive) enabled(x []int) int {
	set := 0
	for p := range v.n {
		if v.privileged(x, p) {
			set |= 1 << p
		}
	}
	return set
}

func TestRoundsAgainstNaive(t *testing.T) {
	for _, daemon := range check.Daemons {
		for n := 3; n <= 5; n++ {
			v := &naive{n: n, k: n, daemon: daemon}
			worst, known := 0, map[string]int{}
			for _, x := range v.all() {
				if v.count(x) != 1 {
					worst = max(worst, v.longestRounds(x, v.enabled(x), known))
				}
			}
			r := ask(t, instance(t, n, n, ""), check.Options{Arbitrary: true, Daemon: daemon, Rounds: true, Properties: []string{"stabilizes"}})
			if got := r.Findings[0].WorstRounds; got == nil || *got != worst {
				t.Errorf("n=%d %s: %v rounds, naively %d", n, daemon, got, worst)
			}
		}
	}
}
