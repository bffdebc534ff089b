// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"allot"
	"allot/allocator"
	"allot/api"
	"allot/api/access"
	"allot/api/apitest"
)

// proxy stands between a client and a node, and can break or stop what runs through it.
type proxy struct {
	Address string

	mu      sync.Mutex
	target  string
	isShut  bool // nobody gets in
	isDeaf  bool // nothing gets through, and nobody notices
	heal    chan struct{}
	conns   map[net.Conn]bool
	entered int
}

func newProxy(t testing.TB, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Address: l.Addr().String(), target: target, conns: map[net.Conn]bool{}, heal: make(chan struct{})}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.carry(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.shut(true)
		p.deafen(false)
		p.cut()
		all.Wait()
	})
	return p
}

func (p *proxy) carry(in net.Conn) {
	defer func() { _ = in.Close() }()
	p.mu.Lock()
	target, isShut := p.target, p.isShut
	p.mu.Unlock()
	if isShut {
		return
	}
	out, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer func() { _ = out.Close() }()
	p.mu.Lock()
	p.conns[in], p.conns[out] = true, true
	p.entered++
	p.mu.Unlock()
	var both sync.WaitGroup
	for from, to := range map[net.Conn]net.Conn{in: out, out: in} {
		both.Go(func() {
			_, _ = io.Copy(&gate{p, to}, from)
			_ = to.Close()
			_ = from.Close()
		})
	}
	both.Wait()
	p.mu.Lock()
	delete(p.conns, in)
	delete(p.conns, out)
	p.mu.Unlock()
}

// gate holds bytes back while the proxy is deaf.
type gate struct {
	p *proxy
	w io.Writer
}

func (g *gate) Write(data []byte) (int, error) {
	g.p.mu.Lock()
	isDeaf, heal := g.p.isDeaf, g.p.heal
	g.p.mu.Unlock()
	if isDeaf {
		<-heal
	}
	return g.w.Write(data)
}

// cut breaks every connection.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *proxy) shut(is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isShut = is
}

func (p *proxy) deafen(is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isDeaf && !is {
		close(p.heal)
		p.heal = make(chan struct{})
	}
	p.isDeaf = is
}

func (p *proxy) passed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.entered
}

// TestResume breaks the connection while a grant is held, another is asked for and a third is released: the session goes on,
// and each is done once.
func TestResume(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		b, s := network(t, apitest.Options{})
		p := newProxy(t, s.Address)
		c := dial(t, allot.Options{Addresses: []string{p.Address}, TTL: time.Minute, Streams: streams})
		ctx := background(t)
		held, err := c.Acquire(ctx, "gpus", 3)
		if err != nil {
			t.Fatal(err)
		}
		second, err := c.Acquire(ctx, "gpus", 3)
		if err != nil {
			t.Fatal(err)
		}
		third, err := c.Acquire(ctx, "gpus", 1)
		if err != nil {
			t.Fatal(err)
		}
		waited := make(chan *allot.Grant, 1)
		go func() {
			g, err := c.Acquire(ctx, "gpus", 3)
			if err != nil {
				t.Error(err)
			}
			waited <- g
		}()
		short, cancel := context.WithCancel(ctx)
		cancelled := make(chan error, 1)
		eventually(t, "one waits", func() bool { p, _ := b.Pool("gpus"); return p.Waiting == 1 })
		go func() {
			_, err := c.Acquire(short, "gpus", 2)
			cancelled <- err
		}()
		eventually(t, "two wait", func() bool { p, _ := b.Pool("gpus"); return p.Waiting == 2 })

		p.shut(true)
		p.cut()
		third.LetGo()
		cancel()
		if err := <-cancelled; !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled one: %v", err)
		}
		released := make(chan error, 1)
		go func() { released <- second.Release(ctx) }()
		before := p.passed()
		p.shut(false)
		if err := <-released; err != nil {
			t.Errorf("released during the break: %v", err)
		}
		g := <-waited
		if p.passed() == before {
			t.Error("the connection was never broken")
		}
		if held.Err() != nil || g.Err() != nil || g.Session != held.Session {
			t.Errorf("the grants say %v and %v", held.Err(), g.Err())
		}
		eventually(t, "only the two grants are left", func() bool { p, _ := b.Pool("gpus"); return p.Held == 6 && p.Waiting == 0 })
		if b.Sessions() != 1 {
			t.Errorf("%d sessions, want one", b.Sessions())
		}
	})
}

// TestAnotherAddress goes on with the session at another address of the same node when the first no longer answers.
func TestAnotherAddress(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		b, s := network(t, apitest.Options{})
		first, second := newProxy(t, s.Address), newProxy(t, s.Address)
		b.SetMembers(allocator.Member{Name: "memory", Address: second.Address})
		c := dial(t, allot.Options{Addresses: []string{first.Address}, TTL: time.Minute, Streams: streams})
		ctx := background(t)
		g, err := c.Acquire(ctx, "gpus", 3)
		if err != nil {
			t.Fatal(err)
		}
		first.shut(true)
		first.cut()
		if err := g.Release(ctx); err != nil {
			t.Error(err)
		}
		if second.passed() == 0 || b.Sessions() != 1 {
			t.Errorf("%d connections at the second address, %d sessions", second.passed(), b.Sessions())
		}
	})
}

// TestAnotherNode begins a new session at another node when the first is gone and nothing was held.
func TestAnotherNode(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		_, one := network(t, apitest.Options{Node: "one"})
		b, two := network(t, apitest.Options{Node: "two"})
		p := newProxy(t, one.Address)
		c := dial(t, allot.Options{Addresses: []string{p.Address, two.Address}, TTL: time.Minute, Streams: streams})
		ctx := background(t)
		g, err := c.Acquire(ctx, "gpus", 3)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Release(ctx); err != nil || g.Node != "one" {
			t.Fatal(g.Node, err)
		}
		p.shut(true)
		p.cut()
		g, err = c.Acquire(ctx, "gpus", 2)
		if err != nil || g.Node != "two" {
			t.Fatal(g, err)
		}
		if p, _ := b.Pool("gpus"); p.Held != 2 {
			t.Errorf("%d units are held at the second node", p.Held)
		}
	})
}

// TestRelay goes on with a session through another node when the client no longer reaches the one where it lives.
func TestRelay(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		keep := api.Options{Access: keeper(t, access.Options{Tokens: []access.Token{{Name: "me", Hash: access.Hash("secret")}}})}
		ctx := background(t)
		one, two := apitest.New(apitest.Options{Node: "one"}), apitest.New(apitest.Options{Node: "two"})
		if _, err := one.CreatePool(ctx, allocator.Pool{Name: "gpus", Units: 8, Most: 3}); err != nil {
			t.Fatal(err)
		}
		first, second := apitest.Serve(t, one, keep), apitest.Serve(t, two, keep)
		p := newProxy(t, first.Address)
		members := []allocator.Member{{Name: "one", Address: first.Address}, {Name: "two", Address: second.Address}}
		two.SetMembers(members...)
		one.SetMembers(members[1]) // or the client would find the direct way by itself
		c := dial(t, allot.Options{Addresses: []string{p.Address}, Token: "secret", TTL: time.Minute, Streams: streams})
		held, err := c.Acquire(ctx, "gpus", 3)
		if err != nil {
			t.Fatal(err)
		}
		p.shut(true)
		p.cut()
		g, err := c.Acquire(ctx, "gpus", 2)
		if err != nil || g.Node != "one" || g.Session != held.Session || held.Err() != nil {
			t.Fatalf("%+v, %v, %v", g, err, held.Err())
		}
		if err := held.Release(ctx); err != nil {
			t.Error(err)
		}
		one.LoseAll(allocator.ErrEvicted)
		select {
		case <-g.Lost():
		case <-ctx.Done():
			t.Error("a loss did not get through")
		}
		c.Close()
		eventually(t, "the goodbye gets through", func() bool { return one.Sessions() == 0 })
		if two.Sessions() != 0 {
			t.Error("the second node has a session")
		}
	})
}

// TestSilence lets a node fall silent without a word: the client declares its grants lost by its own clock, not later than the
// node does, and what waits is asked anew when the node is back.
func TestSilence(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		b, s := network(t, apitest.Options{Good: 300 * time.Millisecond})
		p := newProxy(t, s.Address)
		c := dial(t, allot.Options{Addresses: []string{p.Address}, TTL: time.Minute, Streams: streams})
		ctx := background(t)
		g, err := c.Acquire(ctx, "gpus", 3)
		if err != nil {
			t.Fatal(err)
		}
		p.deafen(true)
		select {
		case <-g.Lost():
		case <-ctx.Done():
			t.Fatal("the grant was never lost")
		}
		if err := g.Err(); !errors.Is(err, allot.ErrSessionEnded) || !errors.Is(err, allot.ErrLost) {
			t.Errorf("the loss is %v", err)
		}
		if pool, _ := b.Pool("gpus"); pool.Held != 3 {
			t.Errorf("%d units are held: the node gave up before the client", pool.Held)
		}
		p.deafen(false)
		if g, err = c.Acquire(ctx, "gpus", 3); err != nil || g.Err() != nil {
			t.Error(err)
		}
	})
}

// TestKeepAlive holds a grant for longer than the TTL.
func TestKeepAlive(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		b, s := network(t, apitest.Options{})
		c := dial(t, allot.Options{Addresses: []string{s.Address}, TTL: time.Second, Streams: streams})
		g, err := c.Acquire(background(t), "gpus", 3)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "five keepalives", func() bool { return b.Beats() >= 5 })
		if g.Err() != nil {
			t.Error(g.Err())
		}
	})
}

// TestSessionEndsAtTheNode has the node forget the session: the grants are lost, and the next request is served in a new one.
func TestSessionEndsAtTheNode(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		b, s := network(t, apitest.Options{})
		p := newProxy(t, s.Address)
		c := dial(t, allot.Options{Addresses: []string{p.Address}, TTL: time.Minute, Streams: streams})
		ctx := background(t)
		g, err := c.Acquire(ctx, "gpus", 3)
		if err != nil {
			t.Fatal(err)
		}
		p.shut(true)
		p.cut()
		b.EndSessions()
		p.shut(false)
		select {
		case <-g.Lost():
		case <-ctx.Done():
			t.Fatal("the grant was never lost")
		}
		if !errors.Is(g.Err(), allot.ErrSessionEnded) {
			t.Errorf("the loss is %v", g.Err())
		}
		if g, err = c.Acquire(ctx, "gpus", 3); err != nil || g.Err() != nil {
			t.Error(err)
		}
	})
}

// TestNodeRestarts stops the node while one request waits, and starts it again at the same address.
func TestNodeRestarts(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		b, s := network(t, apitest.Options{})
		c := dial(t, allot.Options{Addresses: []string{s.Address}, TTL: time.Minute, Streams: streams})
		ctx := background(t)
		g, err := c.Acquire(ctx, "gpus", 3)
		if err != nil {
			t.Fatal(err)
		}
		s.Stop()
		short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		if _, err := c.Acquire(short, "gpus", 1); !errors.Is(err, allot.ErrNotNow) {
			t.Errorf("while the node is down: %v", err)
		}
		waited := make(chan error, 1)
		go func() {
			_, err := c.Acquire(ctx, "gpus", 1)
			waited <- err
		}()
		apitest.ServeAt(t, b, api.Options{}, s.Address)
		if err := <-waited; err != nil {
			t.Error(err)
		}
		if g.Err() != nil {
			t.Errorf("the session did not survive: %v", g.Err())
		}
	})
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	if _, err := allot.Dial(background(t), address); !errors.Is(err, allot.ErrUnreachable) {
		t.Errorf("Dial: %v", err)
	}
	for _, bad := range []string{"nowhere", "", ":", "http://", "host"} {
		var value *allot.ValueError
		if _, err := allot.Dial(background(t), bad); !errors.As(err, &value) && !errors.Is(err, allot.ErrUnreachable) {
			t.Errorf("Dial(%q): %v", bad, err)
		}
	}
	_, s := network(t, apitest.Options{})
	c, err := allot.Dial(background(t), address+", "+s.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Acquire(background(t), "gpus", 1); err != nil {
		t.Error(err)
	}
}
