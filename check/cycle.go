// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"maps"
	"slices"

	"allot/model"
)

// walker makes a cycle of real steps through a component.
type walker struct {
	*tarjan
	members bitset
	at      uint64
	run     *model.Run
	pending classes // what has not had its due yet
}

// walk makes a run that reaches root and then goes round inside a fair component in such a way that every owed class
// gets its due: by a step of it or, under weak fairness, in a configuration where it is not enabled. Those that have stopped
// get nothing.
func (t *tarjan) walk(root uint64, members bitset, owed, stopped classes) (*model.Run, string) {
	s, e := t.s, t.e
	if s.o.Fairness == None {
		cycle := s.shortestWay(e, root, 1<<30, members.has, func(k int) bool { return e.to[k] == root })
		cycle = s.shortenCycle(e, cycle, members.has)
		run := s.lasso(e, cycle[0], cycle)
		return run, fmt.Sprintf("the last %d steps can be repeated for ever", len(cycle))
	}
	w := &walker{tarjan: t, members: members, at: root, run: s.pathTo(e, root), pending: owed}
	w.run.Loop = len(w.run.Steps)
	if s.o.Fairness == Weak {
		// Whatever is not enabled at the root has its due there.
		e.expand(s.sp, root)
		w.pending = t.enabled()
	}
	maps.DeleteFunc(w.pending, func(c int, _ struct{}) bool { _, is := stopped[c]; return is })
	for len(w.pending) > 0 {
		c := first(w.pending, nil)
		w.hop(func(k int) bool { return w.serves(k, c) })
	}
	if w.at != root || len(w.run.Steps) == w.run.Loop {
		w.hop(func(k int) bool { return e.to[k] == root })
	}
	why := fmt.Sprintf("the last %d steps can be repeated for ever, and everybody to whom %s fairness owes something gets it",
		len(w.run.Steps)-w.run.Loop, s.o.Fairness)
	for _, c := range slices.Sorted(maps.Keys(stopped)) {
		why += fmt.Sprintf("; %s has stopped", e.sys.ClassName(c))
	}
	return w.run, why
}

// serves tells whether step k of the expanded configuration gives a class its due.
func (w *walker) serves(k, class int) bool {
	if w.s.o.Fairness == Weak {
		if _, isEnabled := w.enabled()[class]; !isEnabled {
			return true
		}
	}
	taken := classes{}
	w.classesOf(k, taken)
	_, isTaken := taken[class]
	return isTaken
}

// hop goes on by the shortest way that ends with a step of which isGoal holds.
func (w *walker) hop(isGoal func(k int) bool) {
	goal := func(k int) bool {
		to := w.e.to[k]
		return !w.e.isFault(k) && to != nowhere && w.members.has(to) && isGoal(k)
	}
	way := w.s.shortestWay(w.e, w.at, 1<<30, w.members.has, goal)
	for n, id := range way {
		w.e.expand(w.s.sp, id)
		k := 0
		if n+1 < len(way) {
			k = slices.Index(w.e.to, way[n+1])
		} else {
			for !goal(k) {
				k++
			}
		}
		w.take(k)
	}
}

// take appends step k and strikes off what had its due.
func (w *walker) take(k int) {
	taken := classes{}
	w.classesOf(k, taken)
	here := w.enabled()
	for c := range w.pending {
		_, isTaken := taken[c]
		_, isEnabled := here[c]
		if isTaken || w.s.o.Fairness == Weak && !isEnabled {
			delete(w.pending, c)
		}
	}
	w.run.Steps = append(w.run.Steps, w.e.step(k))
	w.at = w.e.to[k]
}
