// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"testing"

	"allot/model"
	"allot/topology"
)

// contentRank is the number of a link's content in its domain, given the numbers of its messages, first one first, and how
// many different messages there are. Shorter contents come first.
func contentRank(content []uint64, messages uint64) uint64 {
	rank, power := uint64(0), uint64(1)
	for _, m := range content {
		rank += power + m*power
		power *= messages
	}
	return rank
}

// messageCount is how many different messages the corrected protocol has.
func messageCount(counters, units int) uint64 {
	return 3 + uint64(counters)*2*uint64(units+2)*3*2
}

// TestCounter: with too few values of the counter the protocol need not stabilize. Two old controllers with the numbers 0
// and 1 and the one of the timer chase each other round a tree of two: with two values each comes to the root just when the
// root has its number. The run repeats itself, everybody who owes something acts in it, and it is never legitimate. With
// as many values as the paper asks for the same run stabilizes.
func TestCounter(t *testing.T) {
	const old = 2
	for counters, want := range map[int]bool{2: false, 2*(old+1) + 1: true} {
		if got := chase(t, counters, old); got != want {
			t.Errorf("%d values of the counter: stable is %v, want %v", counters, got, want)
		}
	}
}

// chase lets the timer run out and then delivers on both links in turn, until a configuration comes back.
func chase(t *testing.T, counters, old int) (isStable bool) {
	g, err := topology.Parse("path:2")
	if err != nil {
		t.Fatal(err)
	}
	inst, err := Algorithm.Make(model.Options{Graph: g, Links: model.Links{Garbage: old}, Values: values("l", 1, "counter", counters)})
	if err != nil {
		t.Fatal(err)
	}
	sys := inst.System
	ranks := make([]uint64, sys.Words())
	back := g.FindLink(1, 0)
	const firstController = 3 // the messages of other kinds have smaller numbers
	ranks[sys.Words()-g.Links()+back] = contentRank([]uint64{firstController, firstController + 1}, messageCount(counters, 1))
	c, err := model.StartAt(sys, ranks)
	if err != nil {
		t.Fatal(err)
	}
	var b model.Buffer
	legitimate := inst.Properties[len(inst.Properties)-1]
	timer := sys.Enabled(c, 0, nil)
	sys.Apply(c, timer[len(timer)-1:], &b)
	seen := map[string]bool{}
	for {
		key := fmt.Sprint(c)
		if seen[key] {
			return isStable
		}
		seen[key] = true
		view := inst.View(c)
		isStable = legitimate.Holds(&view)
		for _, link := range []int{back, g.FindLink(0, 1)} {
			if sys.(*model.Network).Length(c, link) > 0 {
				sys.Apply(c, []model.Move{{Kind: model.Deliver, At: int32(link)}}, &b)
			}
		}
	}
}
