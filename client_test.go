// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"allot"
	"allot/allocator"
	"allot/api"
	"allot/api/apitest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

func background(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits for a condition, with a deadline.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !is() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("it never happened: %s", what)
		}
	}
}

func dial(t testing.TB, o allot.Options) *allot.Client {
	t.Helper()
	c, err := o.Dial(background(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// network is a backend with one pool, "gpus", of 8 units, at most 3 each.
func network(t testing.TB, o apitest.Options) (*apitest.Backend, *apitest.Server) {
	t.Helper()
	b := apitest.New(o)
	if _, err := b.CreatePool(background(t), allocator.Pool{Name: "gpus", Units: 8, Most: 3}); err != nil {
		t.Fatal(err)
	}
	return b, apitest.Serve(t, b, api.Options{})
}

// both runs a test over both ways to carry a session.
func both(t *testing.T, test func(t *testing.T, streams bool)) {
	t.Run("upgrade", func(t *testing.T) { test(t, false) })
	t.Run("stream", func(t *testing.T) { test(t, true) })
}

func TestAcquireAndRelease(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		b, s := network(t, apitest.Options{})
		c := dial(t, allot.Options{Addresses: []string{s.Address}, Owner: "me", Streams: streams})
		ctx := background(t)
		g, err := c.Acquire(ctx, "gpus", 3, allot.WithReason("a test"))
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Units) != 3 || len(g.Fences) != 3 || g.Fence != 1 || g.Err() != nil || g.GoodFor() <= 0 {
			t.Errorf("the grant is %+v", g)
		}
		holders, err := c.Holders(ctx, "gpus")
		if err != nil || len(holders) != 1 || holders[0].ID != g.Name() || holders[0].Owner != "me" || holders[0].Reason != "a test" {
			t.Errorf("the holders are %+v, %v", holders, err)
		}
		if err := g.Release(ctx); err != nil {
			t.Fatal(err)
		}
		if err := g.Release(ctx); err != nil {
			t.Errorf("released again: %v", err)
		}
		if !errors.Is(g.Err(), allot.ErrUnknownGrant) {
			t.Errorf("after release: %v", g.Err())
		}
		if p, _ := b.Pool("gpus"); p.Held != 0 {
			t.Errorf("%d units are held after Release", p.Held)
		}
		g, err = c.Acquire(ctx, "gpus", 2)
		if err != nil || g.Fence != 2 {
			t.Errorf("%+v, %v", g, err)
		}
		g.LetGo()
		eventually(t, "the units are back", func() bool { p, _ := b.Pool("gpus"); return p.Held == 0 })
	})
}

func TestRefusals(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		_, s := network(t, apitest.Options{})
		c := dial(t, allot.Options{Addresses: []string{s.Address}, Streams: streams})
		ctx := background(t)
		for _, v := range []struct {
			pool   string
			units  int
			option allot.AcquireOption
			want   error
		}{
			{"gpus", 0, nil, allot.ErrBadValue},
			{"gpus", -1, nil, allot.ErrBadValue},
			{"gpus", 4, nil, allot.ErrBadValue},
			{"gpus", 1 << 40, nil, allot.ErrBadValue},
			{"cpus", 1, nil, allot.ErrUnknownPool},
			{"", 1, nil, allot.ErrBadValue},
			{"<b>\x1b[31m", 1, nil, allot.ErrBadValue},
			{"gpus", 1, allot.WithReason(string(make([]byte, 513))), allot.ErrBadValue},
		} {
			var options []allot.AcquireOption
			if v.option != nil {
				options = append(options, v.option)
			}
			_, err := c.Acquire(ctx, v.pool, v.units, options...)
			var value *allot.ValueError
			if !errors.Is(err, v.want) || errors.Is(v.want, allot.ErrBadValue) && (!errors.As(err, &value) || value.Allowed == "") {
				t.Errorf("Acquire(%q, %d): %v, want %v", v.pool, v.units, err, v.want)
			}
		}
		// Nothing was lost by all that.
		if g, err := c.TryAcquire(ctx, "gpus", 3); err != nil || g.Err() != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

func TestTryWaitAndCancel(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		b, s := network(t, apitest.Options{})
		c := dial(t, allot.Options{Addresses: []string{s.Address}, Streams: streams})
		ctx := background(t)
		var held []*allot.Grant
		for range 8 {
			g, err := c.TryAcquire(ctx, "gpus", 1)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, g)
		}
		if _, err := c.TryAcquire(ctx, "gpus", 1); !errors.Is(err, allot.ErrNotNow) {
			t.Errorf("TryAcquire: %v", err)
		}
		if _, err := c.Acquire(ctx, "gpus", 1, allot.WithWait(10*time.Millisecond)); !errors.Is(err, allot.ErrNotNow) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("WithWait: %v", err)
		}
		short, cancel := context.WithCancel(ctx)
		failed := make(chan error, 1)
		go func() {
			_, err := c.Acquire(short, "gpus", 2)
			failed <- err
		}()
		waiting := func(n int) func() bool { return func() bool { p, _ := b.Pool("gpus"); return p.Waiting == n } }
		eventually(t, "it waits", waiting(1))
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		eventually(t, "the node has cancelled it", waiting(0))
		short, cancel = context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if _, err := c.Acquire(short, "gpus", 2); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, allot.ErrNotNow) {
			t.Errorf("timed out: %v", err)
		}
		places := make(chan int, 100)
		granted := make(chan error, 1)
		go func() {
			_, err := c.Acquire(ctx, "gpus", 1, allot.WithPlace(func(p int) { places <- p }))
			granted <- err
		}()
		if p := <-places; p != 1 {
			t.Errorf("the place is %d", p)
		}
		held[0].LetGo()
		if err := <-granted; err != nil {
			t.Error(err)
		}
	})
}

func TestLoss(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		b, s := network(t, apitest.Options{})
		c := dial(t, allot.Options{Addresses: []string{s.Address}, Streams: streams})
		ctx := background(t)
		for _, why := range []struct{ said, want error }{
			{allocator.ErrLeaseLost, allot.ErrLeaseLost}, {allocator.ErrRepaired, allot.ErrRepaired}, {allocator.ErrEvicted, allot.ErrEvicted},
		} {
			g, err := c.Acquire(ctx, "gpus", 3)
			if err != nil {
				t.Fatal(err)
			}
			b.LoseAll(why.said)
			select {
			case <-g.Lost():
			case <-ctx.Done():
				t.Fatal("the loss was not told")
			}
			var lost *allot.LostError
			if err := g.Err(); !errors.Is(err, why.want) || !errors.Is(err, allot.ErrLost) || !errors.As(err, &lost) || lost.Pool != "gpus" {
				t.Errorf("the loss is %v", err)
			}
			if err := g.Release(ctx); !errors.Is(err, why.want) {
				t.Errorf("Release after a loss: %v", err)
			}
		}
		g, err := c.Acquire(ctx, "gpus", 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Evict(ctx, g.Name(), "making room"); err != nil {
			t.Fatal(err)
		}
		<-g.Lost()
		if err := c.Evict(ctx, g.Name(), "again"); !errors.Is(err, allot.ErrUnknownGrant) {
			t.Errorf("evicted twice: %v", err)
		}
		g, err = c.Acquire(ctx, "gpus", 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.DeletePool(ctx, "gpus"); err != nil {
			t.Fatal(err)
		}
		<-g.Lost()
		if !errors.Is(g.Err(), allot.ErrPoolDeleted) {
			t.Errorf("after the pool was deleted: %v", g.Err())
		}
	})
}

func TestClose(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		b, s := network(t, apitest.Options{})
		c := dial(t, allot.Options{Addresses: []string{s.Address}, Streams: streams})
		ctx := background(t)
		g, err := c.Acquire(ctx, "gpus", 3)
		if err != nil {
			t.Fatal(err)
		}
		other := dial(t, allot.Options{Addresses: []string{s.Address}, Streams: streams})
		for range 5 {
			if _, err := other.Acquire(ctx, "gpus", 1); err != nil {
				t.Fatal(err)
			}
		}
		failed := make(chan error, 1)
		go func() {
			_, err := c.Acquire(ctx, "gpus", 1)
			failed <- err
		}()
		eventually(t, "it waits", func() bool { p, _ := b.Pool("gpus"); return p.Waiting == 1 })
		c.Close()
		if err := <-failed; !errors.Is(err, allot.ErrClosed) {
			t.Errorf("the one that waited got %v", err)
		}
		<-g.Lost()
		if !errors.Is(g.Err(), allot.ErrClosed) {
			t.Errorf("the grant says %v", g.Err())
		}
		eventually(t, "the session is over", func() bool { return b.Sessions() == 1 })
		if _, err := c.Acquire(ctx, "gpus", 1); !errors.Is(err, allot.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		c.Close()
	})
}
