// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"slices"
	"strings"
	"testing"

	"allot/model"
)

// stores are a network as made, and its live twin: whatever links do, both do.
func stores(t *testing.T, spec string, links model.Links) map[string]*model.Network {
	n := networkOf(newPeers(t, spec, 8, 8, links, model.Budget{}))
	return map[string]*model.Network{"interned": n, "live": n.Live()}
}

// pings lets process 0 send so many pings by channel 0.
func pings(t *testing.T, n *model.Network, c model.Configuration, count int) {
	t.Helper()
	for range count {
		apply(t, n, c, model.Move{Kind: model.Act, At: 0})
	}
}

func tagsOn(n *model.Network, c model.Configuration, link int) (tags []uint8) {
	for _, note := range notesOn(n, c, link) {
		tags = append(tags, note.tag)
	}
	return tags
}

func TestFIFODeliversInOrder(t *testing.T) {
	for name, n := range stores(t, "path:2", model.Links{}) {
		c := n.Clean()
		pings(t, n, c, 5)
		if moves := movesOf(n, c, model.Deliver); len(moves) != 1 || moves[0].Arg != 0 {
			t.Errorf("%s: the deliveries are %v", name, moves)
		}
		if err := n.Check(c, model.Move{Kind: model.Deliver, Arg: 1}); err == nil || !strings.Contains(err.Error(), "first in, first out") {
			t.Errorf("%s: overtaking: %v", name, err)
		}
		for range 3 {
			b := apply(t, n, c, model.Move{Kind: model.Deliver})
			if b.Sent != 1 || b.SentBytes != 2 {
				t.Errorf("%s: %d messages of %d bytes are sent in answer", name, b.Sent, b.SentBytes)
			}
		}
		if got := peerOf(n, c, 1).got; !slices.Equal(got, []uint8{0, 1, 2}) {
			t.Errorf("%s: received %v", name, got)
		}
		if tags := tagsOn(n, c, 0); !slices.Equal(tags, []uint8{3, 4}) {
			t.Errorf("%s: still on the way are %v", name, tags)
		}
		if got := n.Variables(c, 2); !slices.Equal(got, []model.Variable{{Name: "0", Value: "ping(tag 3)"}, {Name: "1", Value: "ping(tag 4)"}}) {
			t.Errorf("%s: the link shows %v", name, got)
		}
		if text := n.Describe(c, model.Move{Kind: model.Deliver}); text != "process 1 receives ping(tag 3) from 0" {
			t.Errorf("%s: %s", name, text)
		}
	}
}

func TestUnorderedDeliversAny(t *testing.T) {
	for name, n := range stores(t, "path:2", model.Links{Unordered: true}) {
		for position := range uint64(4) {
			c := n.Clean()
			pings(t, n, c, 4)
			if moves := movesOf(n, c, model.Deliver); len(moves) != 4 {
				t.Errorf("%s: the deliveries are %v", name, moves)
			}
			want := tagsOn(n, c, 0)[position]
			apply(t, n, c, model.Move{Kind: model.Deliver, Arg: position})
			tags := tagsOn(n, c, 0)
			if got := peerOf(n, c, 1).got; !slices.Equal(got, []uint8{want}) || len(tags) != 3 || slices.Contains(tags, want) {
				t.Errorf("%s: position %d: received %v, still on the way are %v", name, position, got, tags)
			}
		}
	}
}

// TestEqualMessagesOnceOnUnorderedLinks: a set of messages is one configuration, however it came about, and equal
// messages are one move.
func TestEqualMessagesOnceOnUnorderedLinks(t *testing.T) {
	n := networkOf(newPeers(t, "path:2", 4, 0, model.Links{Unordered: true}, model.Budget{}))
	first, second := n.Clean(), n.Clean()
	for _, rank := range []uint64{3, 1, 3, 0, 0, 3} {
		apply(t, n, first, model.Move{Kind: model.Forge, Arg: rank})
	}
	for _, rank := range []uint64{0, 3, 3, 1, 0, 3} {
		apply(t, n, second, model.Move{Kind: model.Forge, Arg: rank})
	}
	if !first.Equal(second) {
		t.Errorf("%v and %v differ", tagsOn(n, first, 0), tagsOn(n, second, 0))
	}
	if moves := movesOf(n, first, model.Deliver); len(moves) != 3 {
		t.Errorf("the deliveries of %v are %v", tagsOn(n, first, 0), moves)
	}
	classes := map[string]bool{}
	for _, m := range movesOf(n, first, model.Deliver) {
		classes[n.ClassName(n.Class(first, m))] = true
	}
	if len(classes) != 3 || !classes["link 0→1, message ping(tag 3)"] {
		t.Errorf("the classes are %v", classes)
	}
	// The handles of a live network do not last, so there it is the link that owes.
	live := n.Live()
	c := live.Clean()
	apply(t, live, c, model.Move{Kind: model.Forge, Arg: 3})
	apply(t, live, c, model.Move{Kind: model.Forge, Arg: 1})
	for _, m := range movesOf(live, c, model.Deliver) {
		if name := live.ClassName(live.Class(c, m)); name != "link 0→1" {
			t.Errorf("live: %s", name)
		}
	}
}

func TestLossyLinks(t *testing.T) {
	for name, n := range stores(t, "path:2", model.Links{Lossy: true}) {
		c := n.Clean()
		pings(t, n, c, 3)
		if moves := movesOf(n, c, model.Lose); len(moves) != 3 {
			t.Errorf("%s: losses are %v", name, moves)
		}
		apply(t, n, c, model.Move{Kind: model.Lose, Arg: 1})
		if tags := tagsOn(n, c, 0); !slices.Equal(tags, []uint8{0, 2}) {
			t.Errorf("%s: left are %v", name, tags)
		}
	}
}

func TestDuplicatingLinks(t *testing.T) {
	for name, n := range stores(t, "path:2", model.Links{Duplicating: true, Capacity: 3}) {
		c := n.Clean()
		pings(t, n, c, 2)
		if moves := movesOf(n, c, model.Duplicate); len(moves) != 2 {
			t.Errorf("%s: %v", name, moves)
		}
		apply(t, n, c, model.Move{Kind: model.Duplicate, Arg: 0})
		if tags := tagsOn(n, c, 0); !slices.Equal(tags, []uint8{0, 0, 1}) {
			t.Errorf("%s: %v", name, tags)
		}
		if moves := movesOf(n, c, model.Duplicate); len(moves) != 0 {
			t.Errorf("%s: a full link repeats: %v", name, moves)
		}
		if moves := movesOf(n, c, model.Lose); len(moves) != 0 {
			t.Errorf("%s: a reliable link loses: %v", name, moves)
		}
	}
}

// TestFreeFaultsCostNothing: what the links do by themselves needs no budget and spends none.
func TestFreeFaultsCostNothing(t *testing.T) {
	budget := model.Budget{Lose: 1, Duplicate: 1, Forge: 1}
	n := networkOf(newPeers(t, "path:2", 4, 0, model.Links{Lossy: true, Duplicating: true, Capacity: 4}, budget))
	c := n.Clean()
	pings(t, n, c, 2)
	left := c[n.Words()-1]
	for _, m := range n.Enabled(c, n.Sites()-1, nil) {
		if m.Kind != model.Forge {
			t.Errorf("the adversary has %v, which the links do anyway", m)
		}
	}
	apply(t, n, c, model.Move{Kind: model.Duplicate})
	apply(t, n, c, model.Move{Kind: model.Lose})
	if c[n.Words()-1] != left {
		t.Errorf("the budget was %x and is %x", left, c[n.Words()-1])
	}
	apply(t, n, c, model.Move{Kind: model.Forge})
	if c[n.Words()-1] == left {
		t.Error("forging is free")
	}
}

func TestCapacity(t *testing.T) {
	for _, isLossy := range []bool{true, false} {
		for name, n := range stores(t, "path:2", model.Links{Lossy: isLossy, Capacity: 2}) {
			c := n.Clean()
			pings(t, n, c, 2)
			b := apply(t, n, c, model.Move{Kind: model.Act, At: 0})
			if b.Overflow == isLossy {
				t.Errorf("%s, lossy %v: overflow %v", name, isLossy, b.Overflow)
			}
			if tags := tagsOn(n, c, 0); !slices.Equal(tags, []uint8{0, 1}) || b.Sent != 1 {
				t.Errorf("%s, lossy %v: on the link are %v, %d sent", name, isLossy, tags, b.Sent)
			}
			if apply(t, n, c, model.Move{Kind: model.Deliver}).Overflow {
				t.Errorf("%s: the overflow is not forgotten", name)
			}
		}
	}
}

// TestClocksTick: only processes that have clocks do, and only while they have not crashed.
func TestClocksTick(t *testing.T) {
	for name, n := range stores(t, "path:3", model.Links{}) {
		c := n.Clean()
		if moves := movesOf(n, c, model.Tick); !slices.Equal(moves, []model.Move{{Kind: model.Tick}, {Kind: model.Tick, At: 2}}) {
			t.Errorf("%s: %v", name, moves)
		}
		apply(t, n, c, model.Move{Kind: model.Tick, At: 2})
		if peerOf(n, c, 2).ticks != 1 || peerOf(n, c, 0).ticks != 0 {
			t.Errorf("%s: the clocks show %d and %d", name, peerOf(n, c, 0).ticks, peerOf(n, c, 2).ticks)
		}
		apply(t, n, c, model.Move{Kind: model.Crash, At: 2})
		if err := n.Check(c, model.Move{Kind: model.Tick, At: 2}); err == nil || !strings.Contains(err.Error(), "has crashed") {
			t.Errorf("%s: %v", name, err)
		}
		if vs := n.Variables(c, n.Sites()-1); vs != nil {
			t.Errorf("%s: a clock shows %v", name, vs)
		}
	}
}
