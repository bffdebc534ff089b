// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKill kills, one after the other, a process of clients, a node that is not the root, the root, and two nodes in a row. After each,
// everybody who is left is served and the whole capacity comes back.
func TestKill(t *testing.T) {
	c := newCluster(t, 3, 5, 3)
	c.served()

	// Clients.
	c.work[1].kill()
	c.served()
	c.work[1].start()
	c.served()

	// A node that is not the root, with its clients in the middle of their work.
	root := c.root()
	victim := c.other(root)
	c.killNode(victim)
	c.served()
	c.revive(victim)
	c.served()

	// The root.
	root = c.root()
	c.killNode(root)
	c.served()
	c.revive(root)
	c.served()

	// Two in a row: the second while the network still deals with the first. One node of three is no majority, so all
	// that is promised is that nothing goes wrong, and that it goes on when they are back.
	root = c.root()
	second := c.other(root)
	c.killNode(root)
	time.Sleep(reign / 2)
	c.killNode(second)
	time.Sleep(reign + lease)
	c.revive(root)
	c.revive(second)
	c.served()

	c.whole(c.nodes[0])
	c.store.judge(t, c.units)
}

// TestStop stops a node, root or not, for longer than its lease, and lets it go on.
func TestStop(t *testing.T) {
	c := newCluster(t, 3, 5, 3)
	for _, isRoot := range []bool{false, true} {
		victim := c.root()
		if !isRoot {
			victim = c.other(victim)
		}
		victim.signal(syscall.SIGSTOP)
		victim.stopped = true
		time.Sleep(lease + 2*reign)
		c.servedExcept(victim)
		victim.signal(syscall.SIGCONT)
		victim.stopped = false
		c.served()
		c.until(recovery, "it is a member again", func() bool { return c.members() == 3 })
	}
	c.whole(c.nodes[0])
	c.store.judge(t, c.units)
}

// TestCorrupt overwrites the memory of nodes. While it heals, units may be used twice: that is what corruption does, and it is
// counted. Afterwards everything is as it was.
func TestCorrupt(t *testing.T) {
	c := newCluster(t, 3, 5, 3)
	for i := range 6 {
		victim := c.nodes[i%3]
		r, err := quick.PostForm("http://"+victim.address+"/test/corrupt", url.Values{"pool": {"p"}, "seed": {fmt.Sprint(i)}})
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != http.StatusNoContent {
			t.Fatalf("corrupt: %s", r.Status)
		}
		c.served()
	}
	// Healed: from here on nothing may go wrong any more.
	time.Sleep(2 * lease)
	c.store.mu.Lock()
	during, stale := len(c.store.certain), c.store.stale
	c.store.certain, c.store.most = nil, 0
	c.store.mu.Unlock()
	t.Logf("%d violations and %d old fences while it healed", during, stale)
	c.served()
	time.Sleep(2 * lease)
	c.served()
	c.whole(c.nodes[0])
	c.store.judge(t, c.units)
}

func (c *cluster) other(than *process) *process {
	for _, p := range c.nodes {
		if p != than && p.isUp() {
			return p
		}
	}
	c.t.Fatal("there is no other node")
	return nil
}

// killNode kills a node and the clients that it served.
func (c *cluster) killNode(p *process) {
	p.kill()
	for _, w := range c.work {
		if strings.Contains(strings.Join(w.env, ""), p.address) && w.isUp() {
			w.kill()
		}
	}
}

// revive starts a node and its clients again.
func (c *cluster) revive(p *process) {
	c.t.Helper()
	p.start()
	for _, w := range c.work {
		if strings.Contains(strings.Join(w.env, ""), p.address) && !w.isUp() {
			w.start()
		}
	}
	up := 0
	for _, q := range c.nodes {
		if q.isUp() {
			up++
		}
	}
	if up > len(c.nodes)/2 {
		c.until(recovery, p.name+" is a member again", func() bool { return c.members() == up })
	}
}

// servedExcept is served for the clients of all nodes but one.
func (c *cluster) servedExcept(p *process) {
	c.t.Helper()
	all := c.work
	defer func() { c.work = all }()
	c.work = nil
	for _, w := range all {
		if !strings.Contains(strings.Join(w.env, ""), p.address) {
			c.work = append(c.work, w)
		}
	}
	c.served()
}
