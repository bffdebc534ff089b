// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"slices"
	"strings"
	"testing"

	"allot/model"
)

// TestCutAndHeal: a cut edge loses what is on it and what is sent to it, in both directions; both ends are told; healed
// it carries again, from the first answer on.
func TestCutAndHeal(t *testing.T) {
	for name, n := range stores(t, "path:3", model.Links{}) {
		g := n.Graph()
		there := g.FindLink(0, 1)
		back, other := g.Back(there), g.FindLink(1, 2)
		c := n.Clean()
		pings(t, n, c, 2)
		apply(t, n, c, model.Move{Kind: model.Act, At: 1, Arg: 0})
		apply(t, n, c, model.Move{Kind: model.Act, At: 1, Arg: 1})
		apply(t, n, c, model.Move{Kind: model.Cut, At: int32(back)})
		if !n.IsCut(c, there) || !n.IsCut(c, back) || n.IsCut(c, other) {
			t.Errorf("%s: cut are %v %v %v", name, n.IsCut(c, there), n.IsCut(c, back), n.IsCut(c, other))
		}
		if n.Length(c, there) != 0 || n.Length(c, back) != 0 || n.Length(c, other) != 1 {
			t.Errorf("%s: %d, %d and %d messages are left", name, n.Length(c, there), n.Length(c, back), n.Length(c, other))
		}
		for p, want := range []uint8{1, 1, 0} {
			if got := peerOf(n, c, p).cuts; got != want {
				t.Errorf("%s: process %d was told of %d cuts", name, p, got)
			}
		}
		pings(t, n, c, 1)
		apply(t, n, c, model.Move{Kind: model.Forge, At: int32(there)})
		if n.Length(c, there) != 0 {
			t.Errorf("%s: a cut link carries %v", name, notesOn(n, c, there))
		}
		again := apply(t, n, c, model.Move{Kind: model.Cut, At: int32(there)})
		if peerOf(n, c, 0).cuts != 1 || len(again.Written) != 0 {
			t.Errorf("%s: a cut edge is cut again", name)
		}
		apply(t, n, c, model.Move{Kind: model.Heal, At: int32(back)})
		if n.IsCut(c, there) || n.IsCut(c, back) {
			t.Errorf("%s: not healed", name)
		}
		for _, link := range []int{there, back} {
			if got := notesOn(n, c, link); !slices.Equal(got, []note{{kind: hello}}) {
				t.Errorf("%s: on link %d is %v and not the greeting of an end that was told", name, link, got)
			}
		}
		apply(t, n, c, model.Move{Kind: model.Deliver, At: int32(there)})
		if peerOf(n, c, 1).hellos != 1 {
			t.Errorf("%s: the greeting did not arrive", name)
		}
	}
}

func TestLeaveAndJoin(t *testing.T) {
	for name, n := range stores(t, "star:4", model.Links{}) {
		g := n.Graph()
		c := n.Clean()
		for p := range int32(4) {
			apply(t, n, c, model.Move{Kind: model.Act, At: p})
		}
		apply(t, n, c, model.Move{Kind: model.Leave, At: 0})
		if !n.IsCrashed(c, 0) || peerOf(n, c, 0).next != 1 || peerOf(n, c, 0).cuts != 0 {
			t.Errorf("%s: who left is %+v", name, peerOf(n, c, 0))
		}
		for p := 1; p < 4; p++ {
			if peerOf(n, c, p).cuts != 1 || n.IsCrashed(c, p) || !n.IsCut(c, g.FindLink(0, p)) || n.Length(c, g.FindLink(p, 0)) != 0 {
				t.Errorf("%s: neighbour %d: %+v", name, p, peerOf(n, c, p))
			}
		}
		apply(t, n, c, model.Move{Kind: model.Join, At: 0})
		if n.IsCrashed(c, 0) || peerOf(n, c, 0).next != 0 {
			t.Errorf("%s: who joined is %+v", name, peerOf(n, c, 0))
		}
		for link := range g.Links() {
			if got := notesOn(n, c, link); n.IsCut(c, link) || !slices.Equal(got, []note{{kind: hello}}) {
				t.Errorf("%s: link %d, cut %v, carries %v", name, link, n.IsCut(c, link), got)
			}
		}
	}
}

func TestCrashedReceiversGetNothing(t *testing.T) {
	for name, n := range stores(t, "path:3", model.Links{Unordered: true}) {
		c := n.Clean()
		pings(t, n, c, 2)
		apply(t, n, c, model.Move{Kind: model.Crash, At: 1})
		if moves := movesOf(n, c, model.Deliver); len(moves) != 0 {
			t.Errorf("%s: delivered is %v", name, moves)
		}
		if err := n.Check(c, model.Move{Kind: model.Deliver}); err == nil || !strings.Contains(err.Error(), "process 1 has crashed") {
			t.Errorf("%s: %v", name, err)
		}
		apply(t, n, c, model.Move{Kind: model.Cut, At: int32(n.Graph().FindLink(1, 2))})
		if peerOf(n, c, 1).cuts != 0 || peerOf(n, c, 2).cuts != 1 {
			t.Errorf("%s: a crashed process is told of a cut", name)
		}
		apply(t, n, c, model.Move{Kind: model.Restart, At: 1})
		if moves := movesOf(n, c, model.Deliver); len(moves) != 2 {
			t.Errorf("%s: after the restart the deliveries are %v", name, moves)
		}
	}
}

// TestGarbage: the domain of a link is every content of up to so many messages, each listed once on an ordered link.
func TestGarbage(t *testing.T) {
	for _, isUnordered := range []bool{false, true} {
		n := networkOf(newPeers(t, "path:2", 2, 0, model.Links{Garbage: 2, Unordered: isUnordered}, model.Budget{}))
		word := n.Words() - n.Graph().Links() + 1
		size, value := n.Domain(word)
		if size != 1+5+25 {
			t.Fatalf("%d contents", size)
		}
		seen, lengths := map[uint64]bool{}, map[int]int{}
		c := n.Clean()
		for i := range size {
			c[word] = value(i)
			if i == 0 && n.Length(c, 1) != 0 {
				t.Error("the first content is not the empty one")
			}
			if seen[c[word]] = true; n.Length(c, 0) != 0 {
				t.Fatal("the other link is not empty")
			}
			lengths[n.Length(c, 1)]++
		}
		// Of an unordered link the 25 pairs are 15 sets, and a set of two different messages is listed in both orders.
		if want := map[bool]int{false: 31, true: 1 + 5 + 15}[isUnordered]; len(seen) != want {
			t.Errorf("unordered %v: %d different contents, want %d", isUnordered, len(seen), want)
		}
		if lengths[0] != 1 || lengths[1] != 5 || lengths[2] != 25 {
			t.Errorf("lengths %v", lengths)
		}
	}
}

func TestForgeTakesTheNumberedMessage(t *testing.T) {
	for name, n := range stores(t, "path:2", model.Links{}) {
		c := n.Clean()
		for rank := range uint64(17) {
			apply(t, n, c, model.Move{Kind: model.Forge, At: 1, Arg: rank})
		}
		if n.Check(c, model.Move{Kind: model.Forge, At: 1, Arg: 17}) == nil {
			t.Errorf("%s: there are more messages than 8 pings, 8 pongs and a hello", name)
		}
		seen := map[note]bool{}
		for _, got := range notesOn(n, c, 1) {
			seen[got] = true
		}
		if len(seen) != 17 || n.Length(c, 0) != 0 {
			t.Errorf("%s: %d different messages", name, len(seen))
		}
	}
}
