// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// patience is how long a condition may take before a test fails. Nothing waits that long when all is well.
const patience = 25 * time.Second

func ctxFor(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	end := time.Now().Add(patience)
	for !holds() {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", patience, what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// freePorts finds ports on loopback that nobody listens on.
func freePorts(t testing.TB, n int) []string {
	t.Helper()
	var all []string
	for len(all) < n {
		// Below the range from which the kernel takes the ports of outgoing connections, and none twice.
		address := fmt.Sprintf("127.0.0.1:%d", 20000+(os.Getpid()*97+int(nextPort.Add(1)))%12000)
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			all = append(all, address)
		}
	}
	return all
}

var nextPort atomic.Int32

// testLog shows everything with ALLOT_TEST_LOG=1.
func testLog() *slog.Logger {
	if os.Getenv("ALLOT_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// cluster is a network of nodes with a server each.
type cluster struct {
	t     testing.TB
	base  string
	ports []string
	buses []*Bus
}

func newCluster(t testing.TB, n, room int) *cluster {
	t.Helper()
	c := &cluster{t: t, base: t.TempDir(), ports: freePorts(t, room), buses: make([]*Bus, room)}
	t.Cleanup(func() {
		for _, b := range c.buses {
			if b != nil {
				_ = b.Close()
			}
		}
	})
	for i := range n {
		c.start(i, c.ports[:n])
	}
	return c
}

func (c *cluster) start(i int, join []string) *Bus {
	c.t.Helper()
	name := fmt.Sprintf("n%d", i)
	b, err := Open(ctxFor(c.t), Options{
		Node:    name,
		Timeout: time.Second,
		Log:     testLog(),
		Embed: ServerOptions{
			Dir:     filepath.Join(c.base, name),
			Cluster: c.ports[i],
			Join:    join,
		},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.buses[i] = b
	return b
}

func (c *cluster) stop(i int) {
	c.t.Helper()
	if err := c.buses[i].Close(); err != nil {
		c.t.Fatal(err)
	}
	c.buses[i] = nil
}

// ready waits until the store works at every node.
func (c *cluster) ready() {
	c.t.Helper()
	for _, b := range c.buses {
		if b == nil {
			continue
		}
		if err := b.Ready(ctxFor(c.t)); err != nil {
			c.t.Fatal(err)
		}
	}
}

func openAlone(t testing.TB, o Options) *Bus {
	t.Helper()
	if o.Log == nil {
		o.Log = testLog()
	}
	b, err := Open(ctxFor(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// TestMain lets more tests run at a time than there are cores: those with clusters mostly wait for elections.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
