// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"allot/node"
)

// shared starts one server with several nodes.
func shared(t testing.TB, names ...string) (*Server, []*Bus) {
	t.Helper()
	s, err := StartServer(ctxFor(t), ServerOptions{Log: testLog()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	var all []*Bus
	for _, n := range names {
		all = append(all, openAlone(t, Options{Node: n, Server: s}))
	}
	return s, all
}

// TestStore goes through the contract of node.Store with two nodes.
func TestStore(t *testing.T) {
	_, buses := shared(t, "n1", "n2")
	ctx, one, two := ctxFor(t), buses[0].Store(), buses[1].Store()

	if _, err := one.Get(ctx, "a"); !errors.Is(err, node.ErrNotFound) {
		t.Errorf("reading what is not there: %v", err)
	}
	r1, err := one.Create(ctx, "a", []byte("first"))
	if err != nil || r1 == 0 {
		t.Fatalf("revision %d, %v", r1, err)
	}
	if e, err := two.Get(ctx, "a"); err != nil || string(e.Value) != "first" || e.Revision != r1 || e.Key != "a" || e.IsDeleted {
		t.Errorf("the other node reads %+v, %v", e, err)
	}
	if _, err := two.Create(ctx, "a", nil); !errors.Is(err, node.ErrConflict) {
		t.Errorf("creating what is there: %v", err)
	}
	r2, err := two.Update(ctx, "a", []byte("second"), r1)
	if err != nil || r2 <= r1 {
		t.Fatalf("revision %d after %d, %v", r2, r1, err)
	}
	for name, write := range map[string]func() error{
		"update with an old revision": func() error { _, err := one.Update(ctx, "a", []byte("x"), r1); return err },
		"update with no revision":     func() error { _, err := one.Update(ctx, "a", []byte("x"), 0); return err },
		"update of what is not there": func() error { _, err := one.Update(ctx, "b", []byte("x"), r1); return err },
		"removal with an old one":     func() error { return one.Delete(ctx, "a", r1) },
		"removal with no revision":    func() error { return one.Delete(ctx, "a", 0) },
	} {
		if err := write(); !errors.Is(err, node.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := one.Delete(ctx, "a", r2); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Get(ctx, "a"); !errors.Is(err, node.ErrNotFound) {
		t.Errorf("reading what was removed: %v", err)
	}
	r3, err := two.Create(ctx, "a", []byte("third"))
	if err != nil || r3 <= r2 {
		t.Fatalf("creating what was removed: revision %d after %d, %v", r3, r2, err)
	}
	if r4, err := one.Update(ctx, "a", nil, r3); err != nil || r4 <= r3 {
		t.Fatal(err)
	}
	if e, err := one.Get(ctx, "a"); err != nil || e.Value == nil || len(e.Value) != 0 {
		t.Errorf("an empty value is read as %+v, %v", e, err)
	}
}

// TestCreateAfterTheMarkerIsGone makes a copy that remembers a removal of which NATS knows nothing any more.
func TestCreateAfterTheMarkerIsGone(t *testing.T) {
	b := openAlone(t, Options{Node: "n1"})
	ctx, s := ctxFor(t), b.store
	r, err := s.Create(ctx, "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(ctx, "a", r); err != nil {
		t.Fatal(err)
	}
	if err := s.sync(ctx); err != nil {
		t.Fatal(err)
	}
	stream, err := b.js.Stream(ctx, s.bucket.stream)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(ctx); err != nil {
		t.Fatal(err)
	}
	if e, _ := s.replica.get("a"); !e.IsDeleted {
		t.Fatalf("the copy has %+v", e)
	}
	if _, err := s.Create(ctx, "a", []byte("again")); err != nil {
		t.Error(err)
	}
	if _, err := s.Create(ctx, "a", []byte("again")); !errors.Is(err, node.ErrConflict) {
		t.Error(err)
	}
}

func TestOddKeys(t *testing.T) {
	b := openAlone(t, Options{Node: "n1"})
	ctx, s := ctxFor(t), b.Store()
	keys := []string{"a.b", "a b", "*", ">", "é", "=sync/n1", "a//b", "/", "\x00", strings.Repeat("k", MaxKey)}
	for i, key := range keys {
		if _, err := s.Create(ctx, key, []byte{byte(i)}); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
	for i, key := range keys {
		if e, err := s.Get(ctx, key); err != nil || e.Key != key || len(e.Value) != 1 || e.Value[0] != byte(i) {
			t.Errorf("%q: %+v, %v", key, e, err)
		}
	}
	if _, err := s.Create(ctx, "", nil); err == nil {
		t.Error("an empty key was taken")
	}
	if _, err := s.Create(ctx, strings.Repeat("k", MaxKey+1), nil); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := s.Create(ctx, "large", make([]byte, MaxValue+1)); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	if _, err := s.Create(ctx, "large", make([]byte, MaxValue)); err != nil {
		t.Error(err)
	}
}

// watching collects what a watch tells.
type watching struct {
	mu   sync.Mutex
	told []string
	end  chan error
}

func watch(ctx context.Context, s node.Store, prefix string) *watching {
	w := &watching{end: make(chan error, 1)}
	go func() {
		w.end <- s.Watch(ctx, prefix, func(e node.Entry) {
			w.mu.Lock()
			defer w.mu.Unlock()
			switch {
			case e.Key == "":
				w.told = append(w.told, "present")
			case e.IsDeleted:
				w.told = append(w.told, "-"+e.Key)
			default:
				w.told = append(w.told, e.Key+"="+string(e.Value))
			}
		})
	}()
	return w
}

func (w *watching) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.told, " ")
}

func TestWatch(t *testing.T) {
	_, buses := shared(t, "n1", "n2")
	ctx, s := ctxFor(t), buses[0].Store()
	for _, key := range []string{"a/1", "b/1", "a/2"} {
		if _, err := s.Create(ctx, key, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	e, err := s.Get(ctx, "a/1")
	if err != nil {
		t.Fatal(err)
	}
	watchCtx, cancel := context.WithCancel(ctx)
	w := watch(watchCtx, buses[1].Store(), "a/")
	eventually(t, "the watch tells what is there", func() bool { return w.text() == "a/1=x a/2=x present" })
	all := watch(ctx, buses[1].Store(), "")
	eventually(t, "the watch of everything tells what is there", func() bool { return all.text() == "a/1=x b/1=x a/2=x present" })
	if _, err := s.Update(ctx, "a/1", []byte("y"), e.Revision); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch tells of a change", func() bool { return strings.HasSuffix(w.text(), "present a/1=y") })
	if e, err = s.Get(ctx, "b/1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(ctx, "b/1", e.Revision); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch tells of a removal", func() bool { return strings.HasSuffix(all.text(), "present a/1=y -b/1") })
	if w.text() != "a/1=x a/2=x present a/1=y" {
		t.Errorf("the watch of a/ told %q", w.text())
	}
	cancel()
	if err := <-w.end; !errors.Is(err, context.Canceled) {
		t.Errorf("the watch ended with %v", err)
	}
	if err := buses[1].Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-all.end; !errors.Is(err, ErrClosed) {
		t.Errorf("the watch of a closed bus ended with %v", err)
	}
}

// TestResync makes the copy read everything anew after removals whose records are gone.
func TestResync(t *testing.T) {
	b := openAlone(t, Options{Node: "n1"})
	ctx, s := ctxFor(t), b.store
	for _, key := range []string{"a", "b"} {
		if _, err := s.Create(ctx, key, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	w := watch(ctx, s, "")
	eventually(t, "the watch tells what is there", func() bool { return w.text() == "a=x b=x present" })
	// Another bucket takes the place of the first.
	if err := b.js.DeleteStream(ctx, s.bucket.stream); err != nil {
		t.Fatal(err)
	}
	if err := b.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch tells that everything is gone", func() bool { return len(w.text()) == len("a=x b=x present -a -b") })
	if _, err := s.Create(ctx, "b", []byte("z")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch goes on", func() bool { return strings.HasSuffix(w.text(), " b=z") })
}

// TestContention has two nodes count in one key.
func TestContention(t *testing.T) {
	_, buses := shared(t, "n1", "n2")
	ctx := ctxFor(t)
	const each = 25
	if _, err := buses[0].Store().Create(ctx, "n", []byte{0}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, b := range buses {
		wg.Go(func() {
			for done := 0; done < each; {
				e, err := b.Store().Get(ctx, "n")
				if err != nil {
					t.Error(err)
					return
				}
				_, err = b.Store().Update(ctx, "n", []byte{e.Value[0] + 1}, e.Revision)
				if err == nil {
					done++
				} else if !errors.Is(err, node.ErrConflict) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if e, err := buses[0].Store().Get(ctx, "n"); err != nil || e.Value[0] != 2*each {
		t.Errorf("%+v, %v, want %d", e, err, 2*each)
	}
}

// TestRestartAlone closes a node and starts it on the same folder, and refuses what would lose its store.
func TestRestartAlone(t *testing.T) {
	o := Options{Node: "n1", Embed: ServerOptions{Dir: t.TempDir()}}
	b := openAlone(t, o)
	ctx := ctxFor(t)
	r, err := b.Store().Create(ctx, "a", []byte("kept"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, o); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second server on the folder: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = openAlone(t, o)
	if e, err := b.Store().Get(ctx, "a"); err != nil || string(e.Value) != "kept" || e.Revision != r {
		t.Errorf("after a restart: %+v, %v", e, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	other := o
	other.Node = "n2"
	if _, err := Open(ctx, other); err == nil || !strings.Contains(err.Error(), `belongs to the server "n1"`) {
		t.Errorf("under another name: %v", err)
	}
	ports := freePorts(t, 2)
	o.Embed.Cluster, o.Embed.Join = ports[0], ports
	if _, err := Open(ctx, o); err == nil || !strings.Contains(err.Error(), "was alone") {
		t.Errorf("in a cluster: %v", err)
	}
}

// TestClosed uses a closed bus.
func TestClosed(t *testing.T) {
	b := openAlone(t, Options{Node: "n1"})
	if err := b.Receive(func(string, []byte) {}); err != nil {
		t.Fatal(err)
	}
	if err := b.Receive(func(string, []byte) {}); err == nil {
		t.Error("Receive was allowed twice")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Send("n2", nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	ctx := ctxFor(t)
	start := time.Now()
	for name, err := range map[string]error{
		"Get":    func() error { _, err := b.Store().Get(ctx, "a"); return err }(),
		"Create": func() error { _, err := b.Store().Create(ctx, "a", nil); return err }(),
		"Ready":  b.Ready(ctx),
	} {
		if !errors.Is(err, node.ErrUnavailable) || !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := b.Store().Watch(ctx, "", func(node.Entry) {}); !errors.Is(err, ErrClosed) {
		t.Errorf("Watch: %v", err)
	}
	if time.Since(start) > defaultTimeout {
		t.Error("a closed bus made its callers wait")
	}
}

func TestFramesInOrder(t *testing.T) {
	_, buses := shared(t, "n1", "n2", "n3")
	const frames = 20000
	inOrder(t, buses, frames)
	if m := buses[0].Metrics(); m.MessagesOut >= m.FramesOut {
		t.Errorf("%d frames needed %d messages: nothing travelled together", m.FramesOut, m.MessagesOut)
	}
}

// inOrder has every node send to every other, and compares what arrives.
func inOrder(t *testing.T, buses []*Bus, frames int) {
	t.Helper()
	var mu sync.Mutex
	heard := map[string]bool{}
	got := map[string]int{} // frames by link
	for _, b := range buses {
		if err := b.Receive(func(from string, frame []byte) {
			mu.Lock()
			defer mu.Unlock()
			link := from + ">" + b.Self()
			if string(frame) == "hello" {
				heard[link] = true
				return
			}
			if want := fmt.Sprintf("%s %d ", link, got[link]); !bytes.HasPrefix(frame, []byte(want)) && !t.Failed() {
				t.Errorf("%.40q, want %q", frame, want)
			}
			got[link]++
		}); err != nil {
			t.Fatal(err)
		}
	}
	links := func(do func(a, b *Bus)) {
		var wg sync.WaitGroup
		for _, a := range buses {
			for _, b := range buses {
				if a != b {
					wg.Go(func() { do(a, b) })
				}
			}
		}
		wg.Wait()
	}
	all := len(buses) * (len(buses) - 1)
	// Interest in a subject takes a moment to reach other servers.
	eventually(t, "all links work", func() bool {
		links(func(a, b *Bus) { _ = a.Send(b.Self(), []byte("hello")) })
		mu.Lock()
		defer mu.Unlock()
		return len(heard) == all
	})
	links(func(a, b *Bus) {
		for i := range frames {
			frame := fmt.Appendf(nil, "%s>%s %d ", a.Self(), b.Self(), i)
			if i%100 == 0 {
				frame = append(frame, make([]byte, 5000)...)
			}
			if err := a.Send(b.Self(), frame); err != nil {
				t.Error(err)
				return
			}
		}
	})
	eventually(t, "all frames arrive", func() bool {
		mu.Lock()
		defer mu.Unlock()
		sum := 0
		for _, n := range got {
			sum += n
		}
		return sum == all*frames
	})
	for _, b := range buses {
		if m := b.Metrics(); m.Missing+m.Late+m.Unreadable+m.Unknown+m.Overflow+m.Failed > 0 {
			t.Errorf("%s: %+v", b.Self(), m)
		}
	}
}

func TestOddFrames(t *testing.T) {
	_, buses := shared(t, "n1", "n2")
	got := make(chan int, 10)
	if err := buses[1].Receive(func(_ string, frame []byte) { got <- len(frame) }); err != nil {
		t.Fatal(err)
	}
	if err := buses[0].Send("n2", make([]byte, MaxFrame+1)); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	for _, name := range []string{"", "n1", "a b", "n2.>", "*", strings.Repeat("n", 1000)} {
		if err := buses[0].Send(name, []byte("x")); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	// What a stranger puts on the subject is dropped and counted.
	subject := buses[1].linkSubject("n2")
	good := appendFrame(appendHeader(nil, "n7", 1, 1), []byte("frame"))
	strange := [][]byte{nil, []byte("hello"), good[:len(good)-1], appendFrame(appendHeader(nil, "n2", 1, 1), nil)}
	for _, data := range strange {
		if err := buses[0].nc.Publish(subject, data); err != nil {
			t.Fatal(err)
		}
	}
	for _, size := range []int{MaxFrame, 0, 7} {
		if err := buses[0].Send("n2", make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{MaxFrame, 0, 7} {
		select {
		case n := <-got:
			if n != want {
				t.Errorf("a frame of %d bytes, want %d", n, want)
			}
		case <-time.After(patience):
			t.Fatal("frames are missing")
		}
	}
	eventually(t, "the strange messages are counted", func() bool {
		return buses[1].Metrics().Unreadable == uint64(len(strange))
	})
}

// TestOverflow makes sure that a node that reads nothing neither holds up its sender nor grows without end.
func TestOverflow(t *testing.T) {
	_, buses := shared(t, "n1", "n2")
	release := make(chan struct{})
	if err := buses[1].Receive(func(string, []byte) { <-release }); err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, MaxFrame)
	eventually(t, "frames are dropped", func() bool {
		_ = buses[0].Send("n2", frame)
		return buses[1].Metrics().Overflow > 0 || buses[1].Metrics().Disconnects > 0
	})
	close(release)
	before := buses[1].Metrics().FramesIn
	eventually(t, "the link works again", func() bool {
		_ = buses[0].Send("n2", []byte("x"))
		return buses[1].Metrics().FramesIn > before+100
	})
}
