// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"allot/allocator"
	"allot/node"
)

// world is a fabric in memory for several nodes, with a clock that a test of synctest owns.
type world struct {
	mu      sync.Mutex
	nodes   map[string]*fabric
	cut     map[string]bool // nodes that reach nobody, not even the store
	delay   time.Duration
	frames  int
	store   map[string]node.Entry
	rev     uint64
	watches []*watch
}

type watch struct {
	f      *fabric
	prefix string
	wake   chan struct{}
	queue  []node.Entry
}

func newWorld() *world {
	return &world{nodes: map[string]*fabric{}, cut: map[string]bool{}, store: map[string]node.Entry{}, delay: 100 * time.Microsecond}
}

// gate is a lock on which synctest sees that somebody waits.
type gate chan struct{}

func (g gate) Lock()   { g <- struct{}{} }
func (g gate) Unlock() { <-g }
func (g gate) TryLock() bool {
	select {
	case g <- struct{}{}:
		return true
	default:
		return false
	}
}

type fabric struct {
	w      *world
	name   string
	handle func(string, []byte)
	inbox  chan func()
	done   chan struct{}
	paused gate // held while the node is stopped
}

func (w *world) join(name string) *fabric {
	f := &fabric{w: w, name: name, paused: make(gate, 1), inbox: make(chan func(), 1<<16), done: make(chan struct{})}
	w.mu.Lock()
	w.nodes[name] = f
	w.mu.Unlock()
	go func() {
		for {
			select {
			case do := <-f.inbox:
				f.paused.Lock()
				do()
				f.paused.Unlock()
			case <-f.done:
				return
			}
		}
	}()
	return f
}

func (f *fabric) Self() string { return f.name }

func (f *fabric) Send(to string, frame []byte) error {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	f.w.frames++
	t := f.w.nodes[to]
	if t == nil || t.handle == nil || f.w.cut[to] || f.w.cut[f.name] {
		return nil
	}
	data := slices.Clone(frame)
	time.AfterFunc(f.w.delay, func() {
		select {
		case t.inbox <- func() { t.handle(f.name, data) }:
		case <-t.done:
		}
	})
	return nil
}

func (f *fabric) Receive(h func(string, []byte)) error {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	f.handle = h
	return nil
}

func (f *fabric) Store() node.Store { return f }

func (f *fabric) Close() error {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	if f.w.nodes[f.name] == f {
		delete(f.w.nodes, f.name)
	}
	close(f.done)
	return nil
}

func (f *fabric) isCut() bool {
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	return f.w.cut[f.name]
}

func (f *fabric) Get(_ context.Context, key string) (node.Entry, error) {
	if f.isCut() {
		return node.Entry{}, node.ErrUnavailable
	}
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	e, ok := f.w.store[key]
	if !ok {
		return e, node.ErrNotFound
	}
	return e, nil
}

func (f *fabric) write(key string, value []byte, is func(node.Entry, bool) bool) (uint64, error) {
	if f.isCut() {
		return 0, node.ErrUnavailable
	}
	f.w.mu.Lock()
	defer f.w.mu.Unlock()
	e, ok := f.w.store[key]
	if !is(e, ok) {
		return 0, node.ErrConflict
	}
	f.w.rev++
	e = node.Entry{Key: key, Value: value, Revision: f.w.rev, IsDeleted: value == nil}
	if value == nil {
		delete(f.w.store, key)
	} else {
		f.w.store[key] = e
	}
	for _, w := range f.w.watches {
		if strings.HasPrefix(key, w.prefix) {
			w.queue = append(w.queue, e)
			select {
			case w.wake <- struct{}{}:
			default:
			}
		}
	}
	return f.w.rev, nil
}

func (f *fabric) Create(_ context.Context, key string, value []byte) (uint64, error) {
	return f.write(key, value, func(_ node.Entry, ok bool) bool { return !ok })
}

func (f *fabric) Update(_ context.Context, key string, value []byte, revision uint64) (uint64, error) {
	return f.write(key, value, func(e node.Entry, ok bool) bool { return ok && e.Revision == revision })
}

func (f *fabric) Delete(_ context.Context, key string, revision uint64) error {
	_, err := f.write(key, nil, func(e node.Entry, ok bool) bool { return ok && e.Revision == revision })
	return err
}

func (f *fabric) Watch(ctx context.Context, prefix string, handle func(node.Entry)) error {
	w := &watch{f: f, prefix: prefix, wake: make(chan struct{}, 1)}
	f.w.mu.Lock()
	for key, e := range f.w.store {
		if strings.HasPrefix(key, prefix) {
			w.queue = append(w.queue, e)
		}
	}
	w.queue = append(w.queue, node.Entry{})
	f.w.watches = append(f.w.watches, w)
	f.w.mu.Unlock()
	w.wake <- struct{}{}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.wake:
		case <-time.After(10 * time.Millisecond): // what was kept back while the node was cut off
		}
		for !f.isCut() {
			f.w.mu.Lock()
			if len(w.queue) == 0 {
				f.w.mu.Unlock()
				break
			}
			e := w.queue[0]
			w.queue = w.queue[1:]
			f.w.mu.Unlock()
			f.paused.Lock()
			handle(e)
			f.paused.Unlock()
		}
	}
}

// member is a node of a test.
type member struct {
	*allocator.Allocator
	fabric *fabric
	stop   context.CancelFunc
	paused gate // held while the node is stopped
}

var lives uint64

// start runs a node. Its clock is that of the test.
func (w *world) start(t *testing.T, name string) *member {
	t.Helper()
	lives++
	ctx, cancel := context.WithCancel(context.Background())
	m := &member{fabric: w.join(name), stop: cancel}
	m.paused = m.fabric.paused
	began := time.Now()
	a, err := allocator.New(allocator.Options{Fabric: m.fabric, Life: lives << 32, Reign: time.Second,
		Now: func() time.Duration { return time.Since(began) }})
	if err != nil {
		t.Fatal(err)
	}
	m.Allocator = a
	if err := a.Start(ctx); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(5 * time.Millisecond):
			}
			m.paused.Lock()
			a.Tick()
			m.paused.Unlock()
		}
	}()
	t.Cleanup(func() { m.kill() })
	return m
}

// kill is kill -9: the node does nothing any more.
func (m *member) kill() {
	m.stop()
	m.fabric.w.mu.Lock()
	isUp := m.fabric.w.nodes[m.fabric.name] == m.fabric
	m.fabric.w.mu.Unlock()
	if isUp {
		_ = m.fabric.Close()
	}
}

// client is a client of a test, which keeps its session alive and remembers what it was told.
type client struct {
	*allocator.Session
	mu      sync.Mutex
	grants  map[string]allocator.Grant
	refused map[string]error
	lost    map[string]error
	change  chan struct{}
}

func (m *member) client(t *testing.T, owner string) *client {
	t.Helper()
	c := &client{grants: map[string]allocator.Grant{}, refused: map[string]error{}, lost: map[string]error{}, change: make(chan struct{}, 1)}
	s, err := m.Open(allocator.SessionOptions{Owner: owner}, c)
	if err != nil {
		t.Fatal(err)
	}
	c.Session = s
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go func() {
		for s.KeepAlive() > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(500 * time.Millisecond):
			}
		}
	}()
	return c
}

func (c *client) note(do func()) {
	c.mu.Lock()
	do()
	c.mu.Unlock()
	select {
	case c.change <- struct{}{}:
	default:
	}
}

func (c *client) Granted(g allocator.Grant)    { c.note(func() { c.grants[g.ID] = g }) }
func (c *client) Refused(id string, why error) { c.note(func() { c.refused[id] = why }) }
func (c *client) Lost(id string, why error) {
	c.note(func() { c.lost[id] = why; delete(c.grants, id) })
}

// look is what the client was told of so far: a copy.
func (c *client) look() (grants map[string]allocator.Grant, refused, lost map[string]error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.grants), maps.Clone(c.refused), maps.Clone(c.lost)
}

// granted and wasLost are parts of it.
func (c *client) granted() map[string]allocator.Grant { g, _, _ := c.look(); return g }
func (c *client) wasLost() map[string]error           { _, _, l := c.look(); return l }

// forget forgets a grant.
func (c *client) forget(id string) { c.note(func() { delete(c.grants, id) }) }

// wait waits for a condition about what the client was told, for so long of simulated time.
func (c *client) wait(t *testing.T, most time.Duration, what string, is func() bool) {
	t.Helper()
	deadline := time.After(most)
	for {
		c.mu.Lock()
		ok := is()
		c.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-c.change:
		case <-deadline:
			grants, refused, lost := c.look()
			t.Fatalf("after %v: not %s; grants %v, refused %v, lost %v", most, what, grants, refused, lost)
		}
	}
}

func (c *client) acquire(t *testing.T, pool, id string, units int, most time.Duration) allocator.Grant {
	t.Helper()
	if err := c.Acquire(allocator.Request{ID: id, Pool: pool, Units: units}); err != nil {
		t.Fatal(err)
	}
	c.wait(t, most, "granted", func() bool { return c.grants[id].ID != "" })
	return c.granted()[id]
}
