// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"allot"
	"allot/api/apitest"
)

// ledger is a thing that is shared: it refuses a second holder of a unit, and a fence that does not grow.
type ledger struct {
	mu     sync.Mutex
	holder map[int]string
	fence  map[int]uint64

	sessions map[string]bool // that had a grant
}

func (l *ledger) enter(who string, g *allot.Grant) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions[g.Session] = true
	for i, u := range g.Units {
		if other, ok := l.holder[u]; ok {
			return fmt.Errorf("unit %d is held by %s and by %s", u, other, who)
		}
		if g.Fences[i] <= l.fence[u] {
			return fmt.Errorf("unit %d: the fence %d comes after %d", u, g.Fences[i], l.fence[u])
		}
		l.holder[u], l.fence[u] = who, g.Fences[i]
	}
	return nil
}

func (l *ledger) leave(g *allot.Grant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range g.Units {
		delete(l.holder, u)
	}
}

// TestFlaky has several clients take and give back over connections that break all the time. Sessions outlive the breaks, so no
// grant is lost, none is given twice, and in the end nothing is left behind.
func TestFlaky(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		const clients, goroutines = 4, 3
		rounds := 40
		if streams {
			rounds = 10 // to begin a stream anew costs more
		}
		b, s := network(t, apitest.Options{})
		p := newProxy(t, s.Address)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		book := &ledger{holder: map[int]string{}, fence: map[int]uint64{}, sessions: map[string]bool{}}
		var all, cutting sync.WaitGroup
		for i := range clients {
			c := dial(t, allot.Options{Addresses: []string{p.Address}, TTL: 2 * time.Minute, Streams: streams})
			for j := range goroutines {
				random := rand.New(rand.NewPCG(uint64(i), uint64(j)))
				all.Go(func() {
					for round := range rounds {
						if err := takeAndGive(ctx, c, book, fmt.Sprintf("%d/%d/%d", i, j, round), random); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
		}
		stop := make(chan struct{})
		cutting.Go(func() {
			ticker := time.NewTicker(15 * time.Millisecond)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					p.cut()
				case <-stop:
					return
				}
			}
		})
		all.Wait()
		close(stop)
		cutting.Wait()
		if p.passed() <= clients {
			t.Errorf("%d connections: none was ever broken", p.passed())
		}
		eventually(t, "everything is back", func() bool { p, _ := b.Pool("gpus"); return p.Held == 0 && p.Waiting == 0 })
		// A session whose answer to open was lost has no grants, and ends by itself.
		if len(book.sessions) != clients {
			t.Errorf("grants in %d sessions, want %d: some did not survive", len(book.sessions), clients)
		}
		t.Logf("%d connections", p.passed())
	})
}

// takeAndGive is one round: acquire, sometimes with too little patience, and release in one of the two ways.
func takeAndGive(ctx context.Context, c *allot.Client, book *ledger, who string, random *rand.Rand) error {
	asking, cancel := ctx, context.CancelFunc(func() {})
	if random.IntN(5) == 0 {
		asking, cancel = context.WithTimeout(ctx, time.Millisecond)
	}
	g, err := c.Acquire(asking, "gpus", 1+random.IntN(3))
	cancel()
	if err != nil {
		if asking.Err() != nil && ctx.Err() == nil {
			return nil
		}
		return err
	}
	if err := book.enter(who, g); err != nil {
		return err
	}
	if err := g.Err(); err != nil {
		return err
	}
	book.leave(g)
	if random.IntN(2) == 0 {
		g.LetGo()
		return nil
	}
	return g.Release(ctx)
}

// TestBurst asks for far more at once than the buffers of a connection hold, before and after the connection breaks.
func TestBurst(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		const burst = 3000
		b, s := network(t, apitest.Options{})
		p := newProxy(t, s.Address)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		c := dial(t, allot.Options{Addresses: []string{p.Address}, TTL: 2 * time.Minute, Streams: streams})
		reason := allot.WithReason(strings.Repeat("because ", 60))
		first, err := c.Acquire(ctx, "gpus", 3)
		if err != nil {
			t.Fatal(err)
		}
		second, err := c.Acquire(ctx, "gpus", 3)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range burst {
			all.Go(func() {
				g, err := c.Acquire(ctx, "gpus", 3, reason)
				if err != nil {
					t.Error(err)
					return
				}
				g.LetGo()
			})
		}
		eventually(t, "all wait", func() bool { p, _ := b.Pool("gpus"); return p.Waiting == burst })
		p.cut()
		first.LetGo()
		second.LetGo()
		all.Wait()
		eventually(t, "everything is back", func() bool { p, _ := b.Pool("gpus"); return p.Held == 0 && p.Waiting == 0 })
		if pool, _ := b.Pool("gpus"); pool.Grants != burst+2 {
			t.Errorf("%d grants, want %d", pool.Grants, burst+2)
		}
	})
}
