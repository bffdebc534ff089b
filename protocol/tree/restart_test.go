// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"

	"allot/model"
)

// TestRestart: a process other than the root that crashes and comes back with its memory lost costs no safety. The
// adversary of the checker strikes everywhere, and a root that forgets everything is more than the protocol can bear, so
// this search leaves the root out. Without the number that nobody uses it finds two users of the only unit.
func TestRestart(t *testing.T) {
	x := withFaults(q("path:3", 1, 1), "crash=1,restart=1")
	if states, isSafe := exploreRestarts(x.make(t)); !isSafe {
		t.Errorf("%s: two use the only unit (%d states)", x, states)
	}
	x.variant = "restart-numbered"
	if states, isSafe := exploreRestarts(x.make(t)); isSafe {
		t.Errorf("%s: nothing is wrong in %d states, want two users of the only unit", x, states)
	}
}

func exploreRestarts(inst *model.Instance) (states int, isSafe bool) {
	w := &waitingGraph{inst: inst, ids: map[string]int32{}}
	w.id(inst.System.Clean())
	var b model.Buffer
	var moves []model.Move
	root := inst.System.Graph().Root
	for i := 0; i < len(w.list); i++ {
		c := w.list[i]
		view := inst.View(c)
		if view.Sum(gaugeUsed) > 1 {
			return len(w.list), false
		}
		moves = moves[:0]
		for site := range inst.System.Sites() {
			moves = inst.System.Enabled(c, site, moves)
		}
		for j, m := range moves {
			if m.Kind.IsFault() && int(m.At) == root {
				continue
			}
			next := append(model.Configuration(nil), c...)
			inst.System.Apply(next, moves[j:j+1], &b)
			w.id(next)
		}
	}
	return len(w.list), true
}
