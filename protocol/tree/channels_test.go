// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"testing"

	"allot/check"
	"allot/model"
	"allot/topology"
)

// TestChannels: from every state of both processes of path:2 and one message on one of the links, ℓ=1 and k=1. All messages
// together are too large a question, so each is asked by itself: what holds from each set of starts holds from all. Unless
// ALLOT_FROM and ALLOT_RUNS choose a part, only a resource token is asked about, on either link.
func TestChannels(t *testing.T) {
	const counters = 2
	g, err := topology.Parse("path:2")
	if err != nil {
		t.Fatal(err)
	}
	messages := int(messageCount(counters, 1))
	first, last := number("ALLOT_FROM", 0), 2
	if count := runs(0); count > 0 {
		last = min(first+count, 2*messages)
	}
	var states uint64
	for content := first; content < last; content++ {
		inst, err := Algorithm.Make(model.Options{Graph: g, Links: model.Links{Garbage: 1}, Values: values("l", 1, "counter", counters)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := check.Run(context.Background(), inst, check.Options{Arbitrary: true, Starts: startsWith(inst.System, content%2, uint64(content/2)),
			Fairness: check.Weak, Properties: []string{"legitimate"}, Workers: 1, MaxMemory: 6 << 30})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != check.Proved {
			t.Errorf("message %d on link %d: %s %s", content/2, content%2, r.Verdict, r.Findings[0].Why)
		}
		states += r.States
	}
	t.Logf("contents %d to %d of %d: %d states", first, last-1, 2*messages, states)
}

// startsWith lists all memories with one message on one link.
func startsWith(sys model.System, link int, message uint64) [][]uint64 {
	roots, _ := sys.Domain(0)
	leaves, _ := sys.Domain(1)
	var list [][]uint64
	for i := range roots {
		for j := range leaves {
			ranks := make([]uint64, sys.Words())
			ranks[0], ranks[1] = i, j
			ranks[sys.Words()-2+link] = 1 + message // 0 is the empty link
			list = append(list, ranks)
		}
	}
	return list
}
