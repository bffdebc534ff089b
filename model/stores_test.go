// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"allot/model"
	"allot/protocol"
)

// TestLiveAndInternedAgree takes the same random walks through both stores, over links that keep the order, and looks at
// everything that can be seen.
func TestLiveAndInternedAgree(t *testing.T) {
	var networks []subject
	for _, links := range []model.Links{{}, {Lossy: true}, {Lossy: true, Duplicating: true, Capacity: 3}, {Garbage: 2}} {
		networks = append(networks, subject{name: "peers over " + links.String(), inst: newPeers(t, "random:5,seed=3", 4, 3, links, model.Budget{})})
	}
	for _, a := range protocol.All {
		links, err := model.ParseLinks(a.Links)
		if err != nil {
			t.Fatal(err)
		}
		inst, err := a.Make(model.Options{Graph: graphOf(t, a.Topology), Links: links})
		if err != nil {
			t.Fatal(err)
		}
		// Stamps are renamed where values are interned, so there they look different.
		if n, ok := inst.System.(*model.Network); ok && !links.Unordered && !model.IsStamped(n) {
			networks = append(networks, subject{a.Name, inst, true, 0})
		}
	}
	for _, s := range networks {
		t.Run(s.name, func(t *testing.T) {
			for seed := range uint64(6) {
				guard(t, s.mayLeave, func() { compareStores(t, networkOf(s.inst), seed) })
			}
		})
	}
}

func compareStores(t *testing.T, n *model.Network, seed uint64) {
	t.Helper()
	live := n.Live()
	c, d := n.Clean(), live.Clean()
	r := seeded(seed)
	if seed%2 == 1 {
		for word := range c {
			if size, value := n.Domain(word); !n.IsStatus(word) {
				rank := r.Uint64N(size)
				c[word] = value(rank)
				_, value = live.Domain(word)
				d[word] = value(rank)
			}
		}
	}
	faulty := &walker{T: t, sys: n, r: r, c: c}
	var b, e model.Buffer
	b.CountBytes, e.CountBytes = true, true
	for step := range 120 {
		var enabled []model.Move
		for site := range n.Sites() {
			moves := n.Enabled(c, site, nil)
			if other := live.Enabled(d, site, nil); !slices.Equal(moves, other) {
				t.Fatalf("seed %d, step %d: site %d has %v, live %v", seed, step, site, moves, other)
			}
			if vs, other := n.Variables(c, site), live.Variables(d, site); !slices.Equal(vs, other) {
				t.Fatalf("seed %d, step %d: site %d is %v, live %v", seed, step, site, vs, other)
			}
			enabled = append(enabled, moves...)
		}
		m, ok := faulty.randomFault()
		if len(enabled) > 0 && (!ok || r.IntN(8) > 0) {
			m = enabled[r.IntN(len(enabled))]
		}
		if err := live.Check(d, m); err != nil {
			t.Fatalf("seed %d, step %d: %v: live: %v", seed, step, m, err)
		}
		if text, other := n.Describe(c, m), live.Describe(d, m); text != other {
			t.Fatalf("seed %d, step %d: %s, live %s", seed, step, text, other)
		}
		n.Apply(c, []model.Move{m}, &b)
		live.Apply(d, []model.Move{m}, &e)
		if !slices.Equal(b.Touched, e.Touched) || b.Sent != e.Sent || b.SentBytes != e.SentBytes || b.Overflow != e.Overflow {
			t.Fatalf("seed %d, step %d: %v: touched %v, sent %d (%d bytes), overflow %v; live %v, %d (%d), %v", seed, step, m,
				b.Touched, b.Sent, b.SentBytes, b.Overflow, e.Touched, e.Sent, e.SentBytes, e.Overflow)
		}
	}
}

// TestLiveQueueKeepsItsOrder: a link that stays long keeps its order and its memory while much passes over it.
func TestLiveQueueKeepsItsOrder(t *testing.T) {
	n := networkOf(newPeers(t, "path:2", 8, 1, model.Links{}, model.Budget{})).Live()
	for _, long := range []int{1, 2, 3, 7, 8, 9, 31, 100} {
		c := n.Clean()
		pings(t, n, c, long)
		next := uint8(0)
		for range 300 {
			apply(t, n, c, model.Move{Kind: model.Act})
			apply(t, n, c, model.Move{Kind: model.Deliver})
			if got := peerOf(n, c, 1).got[0]; got != next {
				t.Fatalf("length %d: received %d, want %d", long, got, next)
			}
			next = (next + 1) % 8
		}
		if n.Length(c, 0) != long {
			t.Fatalf("length %d is %d now", long, n.Length(c, 0))
		}
	}
}

// picture is a configuration in words: it does not depend on the order in which handles were given.
func picture(s model.System, c model.Configuration) string {
	var b strings.Builder
	for site := range s.Sites() {
		fmt.Fprintln(&b, site, s.Variables(c, site))
	}
	return b.String()
}

// TestForksShareHandles: several goroutines search together through Forks of one table, each going on from what others
// found, and find what a search alone finds.
func TestForksShareHandles(t *testing.T) {
	for _, links := range []model.Links{{Lossy: true, Capacity: 1}, {Unordered: true, Lossy: true, Capacity: 2}} {
		plain := networkOf(newPeers(t, "path:2", 2, 1, links, model.Budget{}))
		shared := plain.Share(&sync.Mutex{})
		if plain.Table() == shared.Table() || plain.Live().Table() != nil || shared.Fork().Table() != shared.Table() {
			t.Error("a table is shared that should not be, or not one that should")
		}
		const most = 1200
		alone := explore(plain, []*model.Network{plain}, most)
		together := explore(shared, []*model.Network{shared.Fork(), shared.Fork(), shared.Fork(), shared.Fork()}, most)
		if len(alone) != len(together) || len(alone) < 100 || len(alone) >= most {
			t.Fatalf("%s: alone %d configurations, together %d", links, len(alone), len(together))
		}
		for text := range alone {
			if !together[text] {
				t.Fatalf("%s: not found together:\n%s", links, text)
			}
		}
		states, messages, contents := plain.Table().Len()
		if s, m, l := shared.Table().Len(); s != states || m != messages || l != contents {
			t.Errorf("%s: tables of %d %d %d and %d %d %d", links, states, messages, contents, s, m, l)
		}
	}
}

// explore reaches all configurations, level by level, with one goroutine for each network.
func explore(start *model.Network, workers []*model.Network, most int) map[string]bool {
	var lock sync.Mutex
	seen := map[string]bool{} // by words
	texts := map[string]bool{}
	level := []model.Configuration{start.Clean()}
	seen[fmt.Sprint(level[0])] = true
	for len(level) > 0 && len(seen) < most {
		var next []model.Configuration
		var wait sync.WaitGroup
		for i, n := range workers {
			wait.Go(func() {
				var b model.Buffer
				for at := i; at < len(level); at += len(workers) {
					c := level[at]
					text := picture(n, c)
					var found []model.Configuration
					for site := range n.Sites() {
						for _, m := range n.Enabled(c, site, nil) {
							n.Apply(c, []model.Move{m}, &b)
							found = append(found, clone(c))
							b.Undo(c)
						}
					}
					lock.Lock()
					texts[text] = true
					for _, f := range found {
						if key := fmt.Sprint(f); !seen[key] {
							seen[key] = true
							next = append(next, f)
						}
					}
					lock.Unlock()
				}
			})
		}
		wait.Wait()
		level = next
	}
	return texts
}
