// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"allot/allocator"
)

// three starts three nodes that make one network.
func three(t *testing.T) (*world, [3]*member) {
	t.Helper()
	w := newWorld()
	m := [3]*member{w.start(t, "a"), w.start(t, "b"), w.start(t, "c")}
	until(t, 10*time.Second, "three members", func() bool {
		for _, n := range m {
			if s := n.Network(); !s.Ready || len(s.Members) != 3 {
				return false
			}
		}
		return true
	})
	return w, m
}

func until(t *testing.T, most time.Duration, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(most); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v: not %s", most, what)
		}
	}
}

func TestOneNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newWorld().start(t, "a")
		until(t, time.Second, "ready", func() bool { return n.Network().Ready })
		if _, err := n.CreatePool(context.Background(), allocator.Pool{Name: "gpus", Units: 3, Most: 2}); err != nil {
			t.Fatal(err)
		}
		c, d := n.client(t, "c"), n.client(t, "d")
		g := c.acquire(t, "gpus", "1", 2, time.Second)
		if len(g.Units) != 2 || g.Fence == 0 {
			t.Fatalf("grant %+v", g)
		}
		if err := d.Acquire(allocator.Request{ID: "2", Pool: "gpus", Units: 2}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		d.wait(t, 0, "waiting", func() bool { return len(d.grants) == 0 })
		if err := c.Release("1"); err != nil {
			t.Fatal(err)
		}
		d.wait(t, time.Second, "granted", func() bool { return len(d.grants["2"].Units) == 2 })
		if err := d.Acquire(allocator.Request{ID: "3", Pool: "gpus", Units: 2, Wait: -1}); err != nil {
			t.Fatal(err)
		}
		d.wait(t, time.Second, "refused", func() bool { return errors.Is(d.refused["3"], allocator.ErrNotNow) })
		n.kill()
	})
}

func TestThreeNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := three(t)
		if _, err := m[0].CreatePool(context.Background(), allocator.Pool{Name: "gpus", Units: 4}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
		clients := [3]*client{}
		for i, n := range m {
			clients[i] = n.client(t, "c")
			clients[i].acquire(t, "gpus", "1", 1, time.Second)
		}
		// Everything: it has to wait for all others.
		big := m[2].client(t, "big")
		if err := big.Acquire(allocator.Request{ID: "all", Pool: "gpus", Units: 4}); err != nil {
			t.Fatal(err)
		}
		for _, c := range clients {
			if err := c.Release("1"); err != nil {
				t.Fatal(err)
			}
		}
		big.wait(t, time.Second, "granted", func() bool { return len(big.grants["all"].Units) == 4 })
		for _, n := range m {
			n.kill()
		}
	})
}

// TestNodeCrashes: the units of a node that crashes come back when its lease has run out, and not before.
func TestNodeCrashes(t *testing.T) {
	for victim := range 3 {
		synctest.Test(t, func(t *testing.T) {
			_, m := three(t)
			lease := 5 * time.Second
			if _, err := m[0].CreatePool(context.Background(), allocator.Pool{Name: "gpus", Units: 2, Lease: lease}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
			other := (victim + 1) % 3
			lost := m[victim].client(t, "victim")
			first := lost.acquire(t, "gpus", "1", 1, time.Second)
			kept := m[other].client(t, "kept")
			kept.acquire(t, "gpus", "1", 1, time.Second)
			began := time.Now()
			m[victim].kill()
			next := m[other].client(t, "next")
			g := next.acquire(t, "gpus", "2", 1, 20*time.Second)
			if d := time.Since(began); d < lease/2 {
				t.Errorf("the unit of a dead node went to another after %v", d)
			}
			if g.Fence <= first.Fence {
				t.Errorf("fence %d after %d", g.Fence, first.Fence)
			}
			if len(kept.wasLost()) > 0 {
				t.Errorf("a grant elsewhere was lost: %v", kept.wasLost())
			}
			for _, n := range m {
				n.kill()
			}
		})
	}
}
