// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"encoding/binary"
	"math/bits"
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
// no bound. The processes of a set may stop anywhere: nobody waits for them to act, whatever they do.
func (g *graph) worst(p int, stopped uint32) int {
	w := &longest{graph: g, p: p, stopped: stopped, order: make([]int32, len(g.owes)<<g.n), value: make([]int32, len(g.owes)<<g.n)}
	most := int32(0)
	for id := range g.owes {
		to := g.next[id*g.n+p]
		if g.trying[id]>>p&1 != 0 || g.inside[id]>>p&1 != 0 || to < 0 || g.trying[to]>>p&1 == 0 {
			continue
		}
		node := int64(to)<<g.n | int64(g.owes[to]&^stopped)
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
	p       int
	stopped uint32
	order   []int32 // 0 if not seen, -1 when its component is complete
	value   []int32
	stack   []int64
	path    []frame
	count   int32
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
		pending, cost = w.owes[next]&^w.stopped, 1
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

// theorem9 is what the recursion in the proof of theorem 9 gives, with l = 1. The proof has a constant in it that it does not
// name; the smallest that fits (2,1) is taken, and no other instance has a say in it.
func theorem9(n, k, c int) int {
	const d = 6
	depth := depthOf(n, k)
	t := 2*n + d + c // at the last round of the root
	for p := depth; p >= 0; p-- {
		for q := k; q >= 1; q-- {
			if p < depth || q < k {
				t = 2*t + 2*n>>(depth-p) + 2*d + c
			}
		}
	}
	return t
}

// isPrintedSize tells whether theorem 9 is about (n,k): n = 2^t·2k.
func isPrintedSize(n, k int) bool {
	size := 2 * k
	for size < n {
		size *= 2
	}
	return size == n
}

// worstOf is the worst case of a question over all processes, and over all that may stop.
func worstOf(t *testing.T, q question) int {
	t.Helper()
	g := reach(t, question{algorithm: q.algorithm, n: q.n, k: q.k, variant: q.variant, more: q.more}.instance(t))
	most := 0
	for p := range q.n {
		for stopped := range uint32(1) << q.n {
			if stopped>>p&1 != 0 || bits.OnesCount32(stopped) != q.crashes {
				continue
			}
			units := g.worst(p, stopped)
			if units < 0 {
				return -1
			}
			most = max(most, units)
		}
		if q.algorithm != GTEX {
			break // all are alike
		}
	}
	return most
}

// TestWorstCaseFull compares EXCL and GTEX for (4,1), where section 7 calls the worst case of GTEX the worse one, and looks at
// (4,2) with all reads made and a process that stops.
func TestWorstCaseFull(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("this takes minutes; set ALLOT_FULL=1")
	}
	for _, w := range []struct {
		question
		stay, units int
	}{
		{question{algorithm: EXCL, n: 4, k: 1}, 0, 66},
		{question{algorithm: EXCL, n: 4, k: 1, variant: "whole-scan"}, 0, 70},
		{question{algorithm: EXCL, n: 4, k: 2, variant: "whole-scan"}, 0, 37},
		{question{algorithm: EXCL, n: 4, k: 2, variant: "whole-scan", crashes: 1}, 0, 40},
		{question{algorithm: EXCL, n: 4, k: 3, variant: "whole-scan", crashes: 2, more: "stay=10"}, 10, 26},
	} {
		t.Run(w.String(), func(t *testing.T) { checkWorst(t, w.question, w.stay, w.units) })
	}
}

func checkWorst(t *testing.T, q question, stay, units int) {
	t.Helper()
	most := worstOf(t, q)
	if most != units {
		t.Errorf("%s: the worst case is %d units, was %d", q, most, units)
	}
	bound := theorem3(q.n, q.k, stay)
	if q.algorithm == GTEX {
		bound = theorem9(q.n, q.k, stay)
	}
	if q.algorithm != NAIVE && (most < 0 || most > bound) {
		t.Errorf("%s: the worst case is %d units, the theorem says at most %d", q, most, bound)
	}
	t.Logf("%s: %d units, bound %d", q, most, bound)
}

// TestWorstCase pins the exact worst case of the time in the trying region and compares it with theorems 3 and 9: alone, with
// somebody who stays inside for a while, and with up to k-1 that stop anywhere. NAIVE has no bound once somebody stops.
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
		{question{algorithm: EXCL, n: 3, k: 2, variant: "whole-scan", crashes: 1}, 0, 13},
		{question{algorithm: EXCL, n: 3, k: 2, variant: "whole-scan", more: "stay=10"}, 10, 22},
		{question{algorithm: EXCL, n: 3, k: 2, variant: "whole-scan", crashes: 1, more: "stay=10"}, 10, 23},
		{question{algorithm: EXCL, n: 4, k: 3, variant: "whole-scan"}, 0, 14},
		{question{algorithm: EXCL, n: 4, k: 3, variant: "whole-scan", crashes: 2}, 0, 16},
		{question{algorithm: EXCL, n: 4, k: 2}, 0, 36},
		{question{algorithm: EXCL, n: 4, k: 2, crashes: 1}, 0, 39},
		{question{algorithm: GTEX, n: 4, k: 1, variant: "whole-scan"}, 0, 44},
		{question{algorithm: GTEX, n: 4, k: 1, variant: "whole-scan", more: "stay=10"}, 10, 74},
		{question{algorithm: EXCL, n: 2, k: 1}, 0, 10},
		{question{algorithm: EXCL, n: 3, k: 1}, 0, 31},
		{question{algorithm: EXCL, n: 3, k: 2}, 0, 12},
		{question{algorithm: EXCL, n: 3, k: 2, crashes: 1}, 0, 13},
		{question{algorithm: EXCL, n: 4, k: 3}, 0, 14},
		{question{algorithm: EXCL, n: 4, k: 3, crashes: 2}, 0, 16},
		{question{algorithm: GTEX, n: 4, k: 1}, 0, 39},
		{question{algorithm: NAIVE, n: 3, k: 1, variant: "whole-scan"}, 0, 39},
		{question{algorithm: NAIVE, n: 3, k: 2, variant: "whole-scan"}, 0, 14},
		{question{algorithm: NAIVE, n: 3, k: 2, variant: "whole-scan", crashes: 1}, 0, -1},
	} {
		checkWorst(t, w.question, w.stay, w.units)
	}
}
