// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"allot/node"
)

// leader finds the node whose server leads the store.
func (c *cluster) leader() int {
	c.t.Helper()
	for i, b := range c.buses {
		if b != nil && b.server.nats.JetStreamIsStreamLeader("$G", b.store.bucket.stream) {
			return i
		}
	}
	return -1
}

// copies asks how many nodes keep the store, and how many of them are up to date.
func (c *cluster) copies(b *Bus) (all, current int) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s, err := b.js.Stream(ctx, b.store.bucket.stream)
	if err != nil || s.CachedInfo().Cluster == nil {
		return 0, 0
	}
	current = 1
	for _, r := range s.CachedInfo().Cluster.Replicas {
		if r.Current && !r.Offline {
			current++
		}
	}
	return s.CachedInfo().Config.Replicas, current
}

// TestThree follows a network of three servers through its life: it starts, works, loses one node and gets it back, loses
// two, and gets them back.
func TestThree(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 3)
	c.ready()
	ctx := ctxFor(t)
	if all, _ := c.copies(c.buses[0]); all != 3 {
		t.Errorf("%d copies of the store, want 3", all)
	}
	if got := c.buses[1].Peers(); !slices.Equal(got, []string{"n0", "n2"}) {
		t.Errorf("n1 is connected to %v", got)
	}
	inOrder(t, c.buses, 3000)
	r, err := c.buses[0].Store().Create(ctx, "a", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}

	// One that does not lead goes: the store works on.
	leader := c.leader()
	gone := (leader + 1) % 3
	rest := c.buses[(leader+2)%3]
	w := watch(ctx, rest.Store(), "")
	eventually(t, "the watch begins", func() bool { return w.text() == "a=1 present" })
	c.stop(gone)
	if r, err = rest.Store().Update(ctx, "a", []byte("2"), r); err != nil {
		t.Fatalf("with two of three: %v", err)
	}
	eventually(t, "two of three see that the third is gone", func() bool { return len(rest.Peers()) == 1 })

	// It comes back with its folder and sees what it missed.
	c.start(gone, c.ports)
	if e, err := get(ctx, c.buses[gone], "a"); err != nil || string(e.Value) != "2" {
		t.Fatalf("after its return it reads %+v, %v", e, err)
	}
	eventually(t, "its copy is up to date", func() bool { _, n := c.copies(rest); return n == 3 })

	// Without a majority the store says so, in bounded time; a watch waits.
	c.stop(gone)
	c.stop(leader)
	start := time.Now()
	_, err = rest.Store().Get(ctx, "a")
	if !errors.Is(err, node.ErrUnavailable) {
		t.Errorf("with one of three: %v", err)
	}
	if _, err = rest.Store().Update(ctx, "a", []byte("3"), r); !errors.Is(err, node.ErrUnavailable) {
		t.Errorf("with one of three: %v", err)
	}
	if took := time.Since(start); took > 3*rest.o.Timeout {
		t.Errorf("it took %s to find that out", took)
	}
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if err := rest.Ready(short); !errors.Is(err, node.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("not ready: %v", err)
	}

	c.start(gone, c.ports)
	c.ready()
	e, err := get(ctxFor(t), rest, "a")
	if err != nil || string(e.Value) != "2" && string(e.Value) != "3" {
		t.Fatalf("with a majority again: %+v, %v", e, err)
	}
	if _, err := c.buses[gone].Store().Update(ctxFor(t), "a", []byte("4"), e.Revision); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch went on", func() bool { return strings.HasSuffix(w.text(), " a=4") })
}

// get reads as soon as the store works.
func get(ctx context.Context, b *Bus, key string) (node.Entry, error) {
	if err := b.Ready(ctx); err != nil {
		return node.Entry{}, err
	}
	return b.Store().Get(ctx, key)
}

// TestJoin adds two servers to a network of three, each knowing only one of those that are there.
func TestJoin(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 5)
	c.ready()
	if _, err := c.buses[0].Store().Create(ctxFor(t), "a", []byte("1")); err != nil {
		t.Fatal(err)
	}
	c.start(3, c.ports[1:2])
	c.start(4, c.ports[2:3])
	for _, i := range []int{3, 4} {
		if e, err := get(ctxFor(t), c.buses[i], "a"); err != nil || string(e.Value) != "1" {
			t.Fatalf("n%d reads %+v, %v", i, e, err)
		}
	}
	eventually(t, "the new ones know the rest", func() bool {
		return len(c.buses[3].Peers()) == 4 && len(c.buses[4].Peers()) == 4
	})
	eventually(t, "five copies of the store", func() bool {
		all, current := c.copies(c.buses[0])
		return all == 5 && current == 5
	})
}

// TestLeaderLeaves closes the node that leads the store. The others choose another.
func TestLeaderLeaves(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 3)
	c.ready()
	r, err := c.buses[0].Store().Create(ctxFor(t), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	leader := c.leader()
	c.stop(leader)
	start := time.Now()
	rest := c.buses[(leader+1)%3]
	for {
		next, err := rest.Store().Update(ctxFor(t), "a", nil, r)
		if err == nil {
			if next <= r {
				t.Errorf("revision %d after %d", next, r)
			}
			break
		}
		// A write that was not answered may have happened.
		if !errors.Is(err, node.ErrUnavailable) && !errors.Is(err, node.ErrConflict) || time.Since(start) > patience {
			t.Fatal(err)
		}
		if e, err := get(ctxFor(t), rest, "a"); err == nil {
			r = e.Revision
		}
	}
	t.Logf("writable again after %s", time.Since(start))
}

// TestFounderIsLate starts two of three founders. A new network does not begin without the third.
func TestFounderIsLate(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 0, 3)
	c.start(0, c.ports)
	c.start(1, c.ports)
	eventually(t, "the two are connected", func() bool { return len(c.buses[0].Peers()) == 1 && len(c.buses[1].Peers()) == 1 })
	if _, err := c.buses[0].Store().Create(ctxFor(t), "a", nil); !errors.Is(err, node.ErrUnavailable) {
		t.Errorf("two of three founders: %v", err)
	}
	c.start(2, c.ports)
	c.ready()
	if all, _ := c.copies(c.buses[0]); all != 3 {
		t.Errorf("%d copies of the store, want 3", all)
	}
}

// TestLostFolder brings a server back that has lost everything but its name.
func TestLostFolder(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 3)
	c.ready()
	if _, err := c.buses[0].Store().Create(ctxFor(t), "a", []byte("1")); err != nil {
		t.Fatal(err)
	}
	c.stop(2)
	if err := os.RemoveAll(filepath.Join(c.base, "n2")); err != nil {
		t.Fatal(err)
	}
	c.start(2, c.ports)
	if e, err := get(ctxFor(t), c.buses[2], "a"); err != nil || string(e.Value) != "1" {
		t.Errorf("without its folder it reads %+v, %v", e, err)
	}
	eventually(t, "its copy is up to date", func() bool { _, n := c.copies(c.buses[0]); return n == 3 })
}

// TestForget removes a server for good, and a new one takes its place: then the loss of a third is survived.
func TestForget(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3, 4)
	c.ready()
	if _, err := c.buses[0].Store().Create(ctxFor(t), "a", []byte("1")); err != nil {
		t.Fatal(err)
	}
	c.stop(2)
	if err := c.buses[0].Forget(ctxFor(t), "nobody"); err == nil {
		t.Error("a server that never was is removed")
	}
	eventually(t, "n2 is removed", func() bool {
		err := c.buses[0].Forget(ctxFor(t), "n2")
		if err != nil {
			t.Log(err)
		}
		return err == nil
	})
	c.start(3, c.ports[:2])
	if e, err := get(ctxFor(t), c.buses[3], "a"); err != nil || string(e.Value) != "1" {
		t.Fatalf("the new one reads %+v, %v", e, err)
	}
	eventually(t, "three copies again", func() bool { all, n := c.copies(c.buses[0]); return all == 3 && n == 3 })
}
