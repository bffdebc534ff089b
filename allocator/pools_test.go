// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"allot/allocator"
)

var background = context.Background()

// with runs a test at a network of three nodes with a pool of 4 units.
func with(t *testing.T, do func(t *testing.T, w *world, m [3]*member)) {
	synctest.Test(t, func(t *testing.T) {
		w, m := three(t)
		if _, err := m[0].CreatePool(background, allocator.Pool{Name: "p", Units: 4, Most: 4, Lease: 4 * time.Second}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		do(t, w, m)
		for _, n := range m {
			n.kill()
		}
	})
}

func TestResize(t *testing.T) {
	with(t, func(t *testing.T, _ *world, m [3]*member) {
		c, d := m[1].client(t, "c"), m[2].client(t, "d")
		c.acquire(t, "p", "all", 4, time.Second)
		// Growing takes effect at once.
		if _, err := m[2].ResizePool(background, "p", 6, 0); err != nil {
			t.Fatal(err)
		}
		g := d.acquire(t, "p", "two", 2, time.Second)
		for _, u := range g.Units {
			if u.Number < 4 {
				t.Errorf("unit %d is held by another", u.Number)
			}
		}
		// Shrinking revokes nothing and waits for units to come home.
		if _, err := m[0].ResizePool(background, "p", 1, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if len(c.wasLost())+len(d.wasLost()) > 0 {
			t.Errorf("shrinking revoked: %v %v", c.wasLost(), d.wasLost())
		}
		for _, err := range []error{c.Release("all"), d.Release("two")} {
			if err != nil {
				t.Fatal(err)
			}
		}
		until(t, 10*time.Second, "one unit is left", func() bool {
			p, err := m[0].Pool("p")
			return err == nil && p.Units == 1 && p.Free+p.InTransit == 1 && p.Held == 0
		})
		if g := c.acquire(t, "p", "one", 1, time.Second); g.Units[0].Number != 0 {
			t.Errorf("unit %d is left, want 0", g.Units[0].Number)
		}
		var bad *allocator.ValueError
		if err := d.Acquire(allocator.Request{ID: "x", Pool: "p", Units: 2}); !errors.As(err, &bad) {
			t.Errorf("2 of 1: %v", err)
		}
	})
}

func TestEvict(t *testing.T) {
	with(t, func(t *testing.T, _ *world, m [3]*member) {
		c, d := m[1].client(t, "c"), m[2].client(t, "d")
		c.acquire(t, "p", "1", 4, time.Second)
		if err := d.Acquire(allocator.Request{ID: "2", Pool: "p", Units: 4}); err != nil {
			t.Fatal(err)
		}
		list, err := m[0].Holdings(background, "p")
		if err != nil || len(list) != 1 || list[0].Owner != "c" || list[0].Node != "b" {
			t.Fatalf("holdings %+v, %v", list, err)
		}
		waiting, err := m[0].Waitings(background, "")
		if err != nil || len(waiting) != 1 || waiting[0].Owner != "d" || waiting[0].Place != 1 {
			t.Fatalf("waitings %+v, %v", waiting, err)
		}
		name := list[0].Node + "/" + list[0].Session + "/" + list[0].ID
		if err := m[0].Evict(background, name, "admin", "test"); err != nil {
			t.Fatal(err)
		}
		c.wait(t, time.Second, "evicted", func() bool { return errors.Is(c.lost["1"], allocator.ErrEvicted) })
		// The holder has been told and has not answered: its units stay with it for as long as it may believe in them.
		time.Sleep(200 * time.Millisecond)
		if len(d.granted()) > 0 {
			t.Error("the units went to another before the holder had answered")
		}
		if err := c.Release("1"); err != nil {
			t.Fatal(err)
		}
		d.wait(t, time.Second, "granted", func() bool { return len(d.grants["2"].Units) == 4 })
		for _, grant := range []string{name, "b", "b/x/y", "nobody/x/y"} {
			if err := m[0].Evict(background, grant, "admin", ""); err == nil {
				t.Errorf("evicting %q succeeded", grant)
			}
		}
	})
}

func TestDelete(t *testing.T) {
	with(t, func(t *testing.T, _ *world, m [3]*member) {
		c, d := m[1].client(t, "c"), m[2].client(t, "d")
		c.acquire(t, "p", "1", 4, time.Second)
		if err := d.Acquire(allocator.Request{ID: "2", Pool: "p", Units: 1}); err != nil {
			t.Fatal(err)
		}
		if err := m[0].DeletePool(background, "p"); err != nil {
			t.Fatal(err)
		}
		c.wait(t, time.Second, "lost", func() bool { return errors.Is(c.lost["1"], allocator.ErrPoolDeleted) })
		d.wait(t, time.Second, "refused", func() bool { return errors.Is(d.refused["2"], allocator.ErrPoolDeleted) })
		if err := c.Acquire(allocator.Request{ID: "3", Pool: "p", Units: 1}); !errors.Is(err, allocator.ErrUnknownPool) {
			t.Errorf("a deleted pool: %v", err)
		}
		if err := m[1].DeletePool(background, "p"); !errors.Is(err, allocator.ErrUnknownPool) {
			t.Errorf("deleting again: %v", err)
		}
		// Another pool of the same name is another pool.
		if _, err := m[2].CreatePool(background, allocator.Pool{Name: "p", Units: 1}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		c.acquire(t, "p", "4", 1, time.Second)
	})
}

func TestWaitLimitAndCancel(t *testing.T) {
	with(t, func(t *testing.T, _ *world, m [3]*member) {
		c, d := m[1].client(t, "c"), m[2].client(t, "d")
		c.acquire(t, "p", "1", 4, time.Second)
		began := time.Now()
		if err := d.Acquire(allocator.Request{ID: "2", Pool: "p", Units: 1, Wait: 3 * time.Second}); err != nil {
			t.Fatal(err)
		}
		d.wait(t, 10*time.Second, "refused", func() bool { return errors.Is(d.refused["2"], allocator.ErrNotNow) })
		if took := time.Since(began); took < 3*time.Second || took > 3100*time.Millisecond {
			t.Errorf("a limit of 3s took %v", took)
		}
		if err := d.Acquire(allocator.Request{ID: "3", Pool: "p", Units: 1}); err != nil {
			t.Fatal(err)
		}
		if err := d.Cancel("3"); err != nil {
			t.Fatal(err)
		}
		d.wait(t, time.Second, "cancelled", func() bool { return errors.Is(d.refused["3"], allocator.ErrCancelled) })
		if err := c.Release("1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if len(d.granted()) > 0 {
			t.Errorf("a cancelled request was granted: %v", d.granted())
		}
		// Trying finds what is free elsewhere.
		if err := d.Acquire(allocator.Request{ID: "4", Pool: "p", Units: 4, Wait: -1}); err != nil {
			t.Fatal(err)
		}
		d.wait(t, time.Second, "granted", func() bool { return len(d.grants["4"].Units) == 4 })
	})
}

// TestAgain: the same request again, after a lost reply, is the same request.
func TestAgain(t *testing.T) {
	with(t, func(t *testing.T, _ *world, m [3]*member) {
		c := m[1].client(t, "c")
		g := c.acquire(t, "p", "1", 2, time.Second)
		c.forget("1")
		h := c.acquire(t, "p", "1", 2, time.Second)
		if g.Fence != h.Fence || len(h.Units) != 2 {
			t.Errorf("again: %+v after %+v", h, g)
		}
		var bad *allocator.ValueError
		if err := c.Acquire(allocator.Request{ID: "1", Pool: "p", Units: 3}); !errors.As(err, &bad) {
			t.Errorf("another request with the same id: %v", err)
		}
		// A session that lost its connection goes on at the same node.
		c.Detach()
		e := &client{grants: map[string]allocator.Grant{}, refused: map[string]error{}, lost: map[string]error{}, change: make(chan struct{}, 1)}
		s, err := m[1].Resume(c.ID(), "", e)
		if err != nil || s.ID() != c.ID() {
			t.Fatal(err)
		}
		e.wait(t, time.Second, "told again", func() bool { return e.grants["1"].Fence == g.Fence })
		if _, err := m[1].Resume(c.ID(), "somebody else", e); !errors.Is(err, allocator.ErrUnknownSession) {
			t.Errorf("resumed by another principal: %v", err)
		}
	})
}

// TestSessionEnds: the units of a client that is not heard of come back after its TTL, and not before.
func TestSessionEnds(t *testing.T) {
	with(t, func(t *testing.T, _ *world, m [3]*member) {
		e := &client{grants: map[string]allocator.Grant{}, refused: map[string]error{}, lost: map[string]error{}, change: make(chan struct{}, 1)}
		s, err := m[1].Open(allocator.SessionOptions{Owner: "silent", TTL: 3 * time.Second}, e)
		if err != nil {
			t.Fatal(err)
		}
		e.Session = s
		e.acquire(t, "p", "1", 4, time.Second)
		began := time.Now()
		d := m[2].client(t, "d")
		d.acquire(t, "p", "1", 4, 10*time.Second)
		if took := time.Since(began); took < 2900*time.Millisecond || took > 4*time.Second {
			t.Errorf("the units of a silent client came back after %v, want 3s", took)
		}
		if !errors.Is(e.wasLost()["1"], allocator.ErrSessionEnded) {
			t.Errorf("lost: %v", e.wasLost())
		}
		if s.KeepAlive() != 0 {
			t.Error("a session that has ended was kept alive")
		}
	})
}

func TestBadInput(t *testing.T) {
	with(t, func(t *testing.T, _ *world, m [3]*member) {
		c := m[0].client(t, "c")
		for name, r := range map[string]allocator.Request{
			"no units":        {ID: "1", Pool: "p"},
			"negative":        {ID: "1", Pool: "p", Units: -1},
			"more than k":     {ID: "1", Pool: "p", Units: 5},
			"unknown pool":    {ID: "1", Pool: "q", Units: 1},
			"no id":           {Pool: "p", Units: 1},
			"long id":         {ID: strings.Repeat("x", 1000), Pool: "p", Units: 1},
			"long reason":     {ID: "1", Pool: "p", Units: 1, Reason: strings.Repeat("x", 1000)},
			"control in text": {ID: "1", Pool: "p", Units: 1, Reason: "\x1b[2J"},
			"no UTF-8":        {ID: "1", Pool: "p", Units: 1, Reason: "\xff"},
		} {
			if err := c.Acquire(r); err == nil {
				t.Errorf("%s was accepted", name)
			}
		}
		for _, p := range []allocator.Pool{
			{}, {Name: "a/b", Units: 1}, {Name: "ä", Units: 1}, {Name: "-x", Units: 1}, {Name: strings.Repeat("x", 200), Units: 1},
			{Name: "x"}, {Name: "x", Units: -1}, {Name: "x", Units: 1 << 20}, {Name: "x", Units: 1, Most: 2}, {Name: "x", Units: 1, Lease: time.Millisecond},
			{Name: "p", Units: 1},
		} {
			if _, err := m[0].CreatePool(background, p); err == nil {
				t.Errorf("pool %+v was made", p)
			}
		}
		if err := c.Release("nothing"); !errors.Is(err, allocator.ErrUnknownGrant) {
			t.Errorf("release of nothing: %v", err)
		}
		c.acquire(t, "p", "1", 4, time.Second) // and nothing is lost
	})
}

// FuzzFrame: whatever arrives on a link, the node goes on.
func FuzzFrame(f *testing.F) {
	for _, s := range []string{"", "V", "B{}", "A12345678{}", "a12345678{}", "V12345678\x10\x01", "W12345678\x20", "B{\"Member\":{\"Name\":\"b\"}}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		synctest.Test(t, func(t *testing.T) {
			n := newWorld().start(t, "a")
			until(t, time.Second, "ready", func() bool { return n.Network().Ready })
			if _, err := n.CreatePool(background, allocator.Pool{Name: "p", Units: 2}); err != nil {
				t.Fatal(err)
			}
			n.fabric.handle("b", frame)
			c := n.client(t, "c")
			c.acquire(t, "p", "1", 2, 30*time.Second)
			n.kill()
		})
	})
}

// TestFair: a client with many requests does not keep one with a single request waiting for all of them.
func TestFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newWorld().start(t, "a")
		until(t, time.Second, "ready", func() bool { return n.Network().Ready })
		if _, err := n.CreatePool(background, allocator.Pool{Name: "p", Units: 1}); err != nil {
			t.Fatal(err)
		}
		greedy, modest := n.client(t, "greedy"), n.client(t, "modest")
		for i := range 100 {
			if err := greedy.Acquire(allocator.Request{ID: strconv.Itoa(i), Pool: "p", Units: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if err := modest.Acquire(allocator.Request{ID: "1", Pool: "p", Units: 1}); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if len(modest.granted()) > 0 {
				return
			}
			for id := range greedy.granted() {
				greedy.forget(id)
				if err := greedy.Release(id); err != nil {
					t.Fatal(err)
				}
				break
			}
			time.Sleep(10 * time.Millisecond)
			if i == 2 {
				t.Errorf("after three grants to a client with 100 requests, one with a single request still waits")
			}
		}
		n.kill()
	})
}

// TestCutOff: a node that is cut off from the control plane says so, in answers and in its status, until it is back.
func TestCutOff(t *testing.T) {
	with(t, func(t *testing.T, w *world, m [3]*member) {
		w.setCut("c", true)
		_, err := m[2].CreatePool(t.Context(), allocator.Pool{Name: "late", Units: 1})
		if !errors.Is(err, allocator.ErrUnavailable) {
			t.Errorf("creating a pool without the control plane: %v", err)
		}
		until(t, time.Minute, "not ready", func() bool { return !m[2].Network().Ready })
		if s := m[0].Network(); !s.Ready || len(s.Members) != 2 {
			t.Errorf("the others: %+v", s)
		}
		w.setCut("c", false)
		until(t, time.Minute, "ready again", func() bool { return m[2].Network().Ready })
	})
}
