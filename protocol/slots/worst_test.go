// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"encoding/binary"
	"os"
	"testing"

	"allot/model"
)

// Time is measured as the paper does: every process that has to act does so at least once in every unit l. A unit ends
// when everybody who had to act at its beginning has acted. The worst case over all runs is the longest path in the
// graph of configurations and of who has still to act in this unit; where a unit ends the path grows by one.

// graph is every reachable configuration of an instance and the step of each process from it.
type graph struct {
	n      int
	next   []int32  // by configuration and process: where its step leads; -1 if it has none
	owes   []uint32 // by configuration: the processes that have to act
	trying []uint32 // by configuration: those on their way in
	inside []uint32
}

// reach lists the reachable configurations. A process has at most one step here.
func reach(t testing.TB, inst *model.Instance) *graph {
	t.Helper()
	sys := inst.System
	g := &graph{n: sys.Graph().Len()}
	ids := map[string]int32{}
	var queue []model.Configuration
	identify := func(c model.Configuration) int32 {
		var key []byte
		for _, w := range c {
			key = binary.AppendUvarint(key, w)
		}
		id, ok := ids[string(key)]
		if !ok {
			id = int32(len(ids))
			ids[string(key)] = id
			queue = append(queue, append(model.Configuration(nil), c...))
		}
		return id
	}
	identify(sys.Clean())
	var buffer model.Buffer
	for id := 0; id < len(queue); id++ {
		c := queue[id]
		queue[id] = nil
		view := inst.View(c)
		var owes, trying, inside uint32
		for p := range g.n {
			moves := sys.Enabled(c, p, nil)
			if len(moves) > 1 {
				t.Fatal("a process has several steps")
			}
			g.next = append(g.next, -1)
			if len(moves) == 1 {
				if sys.Class(c, moves[0]) != model.NoClass {
					owes |= 1 << p
				}
				sys.Apply(c, moves, &buffer)
				g.next[id*g.n+p] = identify(c)
				buffer.Undo(c)
			}
			switch inst.Phase(&view, p) {
			case model.Waiting:
				trying |= 1 << p
			case model.Inside:
				inside |= 1 << p
			case model.Idle:
			}
		}
		g.owes, g.trying, g.inside = append(g.owes, owes), append(g.trying, trying), append(g.inside, inside)
	}
	return g
}

// worst is the largest number of units from when process p leaves the remainder region until it is inside; -1 if there is
// no bound.
func (g *graph) worst(p int) int {
	w := &longest{graph: g, p: p, order: make([]int32, len(g.owes)<<g.n), value: make([]int32, len(g.owes)<<g.n)}
	most := int32(0)
	for id := range g.owes {
		to := g.next[id*g.n+p]
		if g.trying[id]>>p&1 != 0 || g.inside[id]>>p&1 != 0 || to < 0 || g.trying[to]>>p&1 == 0 {
			continue
		}
		node := int64(to)<<g.n | int64(g.owes[to])
		if !w.visit(node) {
			return -1
		}
		most = max(most, w.value[node])
	}
	return int(most) + 1 // the step by which it leaves the remainder region
}

// longest finds longest paths by Tarjan's algorithm: configurations of one component have the same value, since going
// round in it must take no time.
type longest struct {
	*graph
	p     int
	order []int32 // 0 if not seen, -1 when its component is complete
	value []int32
	stack []int64
	path  []frame
	count int32
}

type frame struct {
	node int64
	next int
	low  int32
	best int32
}

// step is where a node leads when process q acts, and how much time ends with that; ok is false if q has nothing to do.
func (w *longest) step(node int64, q int) (to int64, cost int32, isInside, ok bool) {
	id, pending := node>>w.n, uint32(node)&(1<<w.n-1)
	next := w.next[id*int64(w.n)+int64(q)]
	if next < 0 {
		return 0, 0, false, false
	}
	if w.inside[next]>>w.p&1 != 0 {
		return 0, 1, true, true
	}
	pending &= w.owes[next] &^ (1 << q)
	if pending == 0 {
		pending, cost = w.owes[next], 1
	}
	return int64(next)<<w.n | int64(pending), cost, false, true
}

func (w *longest) enter(node int64) {
	w.count++
	w.order[node] = w.count
	w.stack = append(w.stack, node)
	w.path = append(w.path, frame{node: node, low: w.count})
}

func (w *longest) visit(root int64) bool {
	if w.order[root] != 0 {
		return true
	}
	w.enter(root)
	for len(w.path) > 0 {
		top := &w.path[len(w.path)-1]
		if top.next < w.n {
			to, cost, isInside, ok := w.step(top.node, top.next)
			top.next++
			switch {
			case !ok:
			case isInside:
				top.best = max(top.best, cost)
			case w.order[to] == 0:
				top.next-- // looked at again when its value is known
				w.enter(to)
			case w.order[to] == -1:
				top.best = max(top.best, cost+w.value[to])
			default:
				if cost > 0 {
					return false // time passes while going round
				}
				top.low = min(top.low, w.order[to])
			}
			continue
		}
		if !w.leave() {
			return false
		}
	}
	return true
}

// leave completes the node on top of the path. It tells whether going round takes no time.
func (w *longest) leave() bool {
	done := w.path[len(w.path)-1]
	w.path = w.path[:len(w.path)-1]
	if done.low == w.order[done.node] {
		for {
			node := w.stack[len(w.stack)-1]
			w.stack = w.stack[:len(w.stack)-1]
			w.order[node], w.value[node] = -1, done.best
			if node == done.node {
				break
			}
		}
		return true
	}
	// It belongs to the same component as the one above: its steps count as that one's, and the step to it takes no time.
	above := &w.path[len(w.path)-1]
	_, cost, _, _ := w.step(above.node, above.next)
	above.low, above.best = min(above.low, done.low), max(above.best, done.best)
	above.next++
	return cost == 0
}

// theorem3 is the bound in the proof of theorem 3, with l = 1.
func theorem3(n, k, c int) int {
	sum := 4*n + 7 + c
	for s := 1; s < n-k; s++ {
		sum += (n-k-s+2)*(2*n+3) + 1 + c
	}
	return sum
}

// TestWorstCaseFull compares EXCL and GTEX for (4,1): section 7 calls the worst case of GTEX the worse one.
func TestWorstCaseFull(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("this takes a minute; set ALLOT_FULL=1")
	}
	for algorithm, want := range map[string]int{EXCL: 66, GTEX: 39} {
		g := reach(t, question{algorithm: algorithm, n: 4, k: 1}.instance(t))
		most := 0
		for p := range 4 {
			most = max(most, g.worst(p))
		}
		if most != want {
			t.Errorf("%s: the worst case is %d units, was %d", algorithm, most, want)
		}
	}
}

// TestWorstCase pins the exact worst case of the time in the trying region and compares it with theorem 3.
func TestWorstCase(t *testing.T) {
	for _, w := range []struct {
		question
		stay  int
		units int // -1: not bounded
	}{
		{question{algorithm: EXCL, n: 2, k: 1, variant: "whole-scan"}, 0, 10},
		{question{algorithm: EXCL, n: 2, k: 1, variant: "whole-scan", more: "stay=10"}, 10, 20},
		{question{algorithm: EXCL, n: 3, k: 1, variant: "whole-scan"}, 0, 32},
		{question{algorithm: EXCL, n: 3, k: 1, variant: "whole-scan", more: "stay=10"}, 10, 52},
		{question{algorithm: EXCL, n: 3, k: 1, variant: "whole-scan", more: "stay=15"}, 15, 62},
		{question{algorithm: EXCL, n: 3, k: 2, variant: "whole-scan"}, 0, 12},
		{question{algorithm: EXCL, n: 3, k: 2, variant: "whole-scan", more: "stay=10"}, 10, 22},
		{question{algorithm: EXCL, n: 4, k: 3, variant: "whole-scan"}, 0, 14},
		{question{algorithm: EXCL, n: 4, k: 2}, 0, 36},
		{question{algorithm: GTEX, n: 4, k: 1, variant: "whole-scan"}, 0, 44},
		{question{algorithm: GTEX, n: 4, k: 1, variant: "whole-scan", more: "stay=10"}, 10, 74},
		{question{algorithm: EXCL, n: 2, k: 1}, 0, 10},
		{question{algorithm: EXCL, n: 3, k: 1}, 0, 31},
		{question{algorithm: EXCL, n: 3, k: 2}, 0, 12},
		{question{algorithm: EXCL, n: 4, k: 3}, 0, 14},
		{question{algorithm: GTEX, n: 4, k: 1}, 0, 39},
		{question{algorithm: NAIVE, n: 3, k: 1, variant: "whole-scan"}, 0, 39},
		{question{algorithm: NAIVE, n: 3, k: 2, variant: "whole-scan"}, 0, 14},
	} {
		g := reach(t, w.instance(t))
		most := 0
		for p := range w.n {
			if units := g.worst(p); units < 0 {
				most = -1
				break
			} else {
				most = max(most, units)
			}
		}
		if most != w.units {
			t.Errorf("%s: the worst case is %d units, was %d", w.question, most, w.units)
		}
		if bound := theorem3(w.n, w.k, w.stay); w.algorithm == EXCL && (most < 0 || most > bound) {
			t.Errorf("%s: the worst case is %d units, theorem 3 says at most %d", w.question, most, bound)
		} else {
			t.Logf("%s: %d units, bound %d", w.question, most, bound)
		}
	}
}
