// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"allot/node"
)

// arrival is a frame and when it came.
type arrival struct {
	from, frame string
	at          time.Duration
}

// listen collects what arrives at a node. It is read when everything has come to rest.
func listen(t *testing.T, f *Fabric) *[]arrival {
	t.Helper()
	var all []arrival
	start := time.Now()
	if err := f.Receive(func(from string, frame []byte) {
		all = append(all, arrival{from, string(frame), time.Since(start)})
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return &all
}

func send(t *testing.T, f *Fabric, to string, frames ...string) {
	t.Helper()
	for _, frame := range frames {
		if err := f.Send(to, []byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
}

func texts(all []arrival) string {
	var b strings.Builder
	for _, a := range all {
		b.WriteString(a.frame + " ")
	}
	return strings.TrimSpace(b.String())
}

// TestChance sends through a bad network: the same frames get lost and late in every run, and order is kept.
func TestChance(t *testing.T) {
	run := func(seed uint64) (got []arrival) {
		synctest.Test(t, func(t *testing.T) {
			n := New(Options{Seed: seed, Delay: 5 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.2})
			a, b, c := n.Open("a"), n.Open("b"), n.Open("c")
			all := listen(t, b)
			for i := range 200 {
				send(t, a, "b", fmt.Sprintf("%03d", i))
				send(t, c, "b", fmt.Sprintf("%03d", i))
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			got = *all
			if s := n.Stats(); s.Sent != 400 || s.Sent != s.Delivered+s.Lost || s.Delivered != len(got) || s.Lost < 40 || s.Lost > 160 {
				t.Errorf("%+v, and %d arrived", s, len(got))
			}
		})
		return got
	}
	one := run(1)
	if !slices.Equal(one, run(1)) {
		t.Error("the same seed gave two runs")
	}
	if slices.Equal(one, run(2)) {
		t.Error("two seeds gave the same run")
	}
	late := false
	for _, from := range []string{"a", "c"} {
		last := ""
		for _, a := range one {
			if a.from == from {
				if a.frame <= last {
					t.Errorf("from %s came %s after %s", from, a.frame, last)
				}
				last = a.frame
			}
			late = late || a.at > 200*time.Millisecond
		}
	}
	if !late {
		t.Error("nothing was delayed")
	}
}

// TestFaults makes each fault by hand and sees that it fired.
func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{Delay: time.Millisecond})
		a, b := n.Open("a"), n.Open("b")
		all := listen(t, b)
		back := listen(t, a)
		rest := func() { time.Sleep(10 * time.Millisecond); synctest.Wait() }

		send(t, a, "b", "1")
		n.Cut("a", "b") // while 1 is under way
		send(t, a, "b", "2")
		send(t, b, "a", "2")
		rest()
		n.Heal("a", "b")
		n.CutOneWay("b", "a")
		send(t, a, "b", "3")
		send(t, b, "a", "3")
		rest()
		n.Rejoin("a")
		n.Drop("a", "b", 2)
		send(t, a, "b", "4", "5", "6")
		send(t, b, "a", "6")
		rest()
		n.Hold("a", "b")
		send(t, a, "b", "7", "8")
		rest()
		if got := texts(*all); got != "3 6" {
			t.Errorf("arrived: %s", got)
		}
		if held := n.Release("a", "b"); held != 2 {
			t.Errorf("%d frames had waited", held)
		}
		send(t, a, "b", "9")
		rest()
		if got := texts(*all); got != "3 6 7 8 9" {
			t.Errorf("arrived: %s", got)
		}
		if got := texts(*back); got != "6" {
			t.Errorf("arrived on the way back: %s", got)
		}
		if s := n.LinkStats("a", "b"); s != (Stats{Sent: 9, Delivered: 5, Lost: 4}) {
			t.Errorf("%+v", s)
		}

		// A crash loses what is under way, and a restart begins anew.
		send(t, a, "b", "10")
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		send(t, a, "b", "11")
		if err := b.Send("a", nil); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		again := listen(t, n.Open("b"))
		send(t, a, "b", "12")
		rest()
		if texts(*all) != "3 6 7 8 9" || texts(*again) != "12" {
			t.Errorf("before the crash %s, after it %s", texts(*all), texts(*again))
		}
		if err := a.Send("a", nil); !errors.Is(err, ErrName) {
			t.Error(err)
		}
		if err := a.Send("b", make([]byte, 5<<20)); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	})
}

// TestStore goes through the contract of node.Store.
func TestStore(t *testing.T) {
	n := New(Options{})
	one, two := n.Open("a").Store(), n.Open("b").Store()
	ctx := t.Context()
	if _, err := one.Get(ctx, "k"); !errors.Is(err, node.ErrNotFound) {
		t.Error(err)
	}
	r1, err := one.Create(ctx, "k", []byte("1"))
	if err != nil || r1 == 0 {
		t.Fatal(r1, err)
	}
	if e, err := two.Get(ctx, "k"); err != nil || string(e.Value) != "1" || e.Revision != r1 || e.Key != "k" {
		t.Errorf("%+v, %v", e, err)
	}
	r2, err := two.Update(ctx, "k", nil, r1)
	if err != nil || r2 <= r1 {
		t.Fatal(r2, err)
	}
	for name, write := range map[string]func() error{
		"create of what is there":     func() error { _, err := one.Create(ctx, "k", nil); return err },
		"update with an old revision": func() error { _, err := one.Update(ctx, "k", nil, r1); return err },
		"update with no revision":     func() error { _, err := one.Update(ctx, "none", nil, 0); return err },
		"removal with an old one":     func() error { return one.Delete(ctx, "k", r1) },
		"removal with no revision":    func() error { return one.Delete(ctx, "none", 0) },
	} {
		if err := write(); !errors.Is(err, node.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := one.Delete(ctx, "k", r2); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Get(ctx, "k"); !errors.Is(err, node.ErrNotFound) {
		t.Error(err)
	}
	if r3, err := two.Create(ctx, "k", nil); err != nil || r3 <= r2 {
		t.Error(r3, err)
	}
	n.LoseAnswers("a", 1)
	if _, err := one.Create(ctx, "lost", []byte("x")); !errors.Is(err, node.ErrUnavailable) {
		t.Error(err)
	}
	if e, err := one.Get(ctx, "lost"); err != nil || string(e.Value) != "x" {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestMajority cuts nodes off from the store, and a watch goes on where it was.
func TestMajority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Options{})
		a, b, c := n.Open("a"), n.Open("b"), n.Open("c")
		ctx, cancel := context.WithCancel(t.Context())
		var told []string
		ended := make(chan error, 1)
		r, err := a.Store().Create(ctx, "x/1", []byte("1"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Store().Create(ctx, "y", nil); err != nil {
			t.Fatal(err)
		}
		go func() {
			ended <- c.Store().Watch(ctx, "x/", func(e node.Entry) {
				told = append(told, fmt.Sprintf("%s=%s %v", e.Key, e.Value, e.IsDeleted))
			})
		}()
		synctest.Wait()
		n.Partition([]string{"a", "b"}, []string{"c"})
		if got := b.Peers(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("b is connected to %v", got)
		}
		if _, err := c.Store().Get(ctx, "x/1"); !errors.Is(err, node.ErrUnavailable) {
			t.Errorf("in the minority: %v", err)
		}
		if err := a.Store().Delete(ctx, "x/1", r); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Store().Create(ctx, "x/2", []byte("2")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		want := []string{"x/1=1 false", "= false"}
		if !slices.Equal(told, want) {
			t.Errorf("told in the minority: %q", told)
		}
		n.Rejoin("c")
		synctest.Wait()
		want = append(want, "x/1= true", "x/2=2 false")
		if !slices.Equal(told, want) {
			t.Errorf("told in the end: %q", told)
		}
		// Two crashes leave no majority, until the dead are removed.
		_ = a.Close()
		_ = b.Close()
		if _, err := c.Store().Get(ctx, "x/2"); !errors.Is(err, node.ErrUnavailable) {
			t.Errorf("alone of three: %v", err)
		}
		n.Remove("a")
		n.Remove("b")
		if _, err := c.Store().Get(ctx, "x/2"); err != nil {
			t.Error(err)
		}
		n.SetStore("c", false)
		if _, err := c.Store().Create(ctx, "z", nil); !errors.Is(err, node.ErrUnavailable) {
			t.Error(err)
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		_ = c.Close()
		if err := c.Store().Watch(t.Context(), "", func(node.Entry) {}); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}
