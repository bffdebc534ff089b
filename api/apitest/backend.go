// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package apitest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"allot/allocator"
	"allot/api"
)

// Options of a backend.
type Options struct {
	Node string // "memory" if empty
	// Good is the most that a keepalive is answered with. 0 means the TTL of the session.
	Good time.Duration
}

// Backend is a node in memory. It implements api.Backend.
type Backend struct {
	options Options

	mu       sync.Mutex
	pools    map[string]*pool
	sessions map[string]*session
	opened   int
	notReady bool
	members  []allocator.Member
	broken   error // what every call returns, if anything
}

type pool struct {
	allocator.Pool
	free   []allocator.Unit // in increasing order of number
	queue  []*request
	grants uint64
	lost   uint64
}

type request struct {
	allocator.Request
	session *session
	since   time.Time
	giveUp  *time.Timer
	grant   allocator.Grant
	held    bool
}

type session struct {
	b       *Backend
	id      string
	options allocator.SessionOptions
	events  allocator.Events
	open    map[string]*request
	end     *time.Timer
	isEnded bool
	beats   int
}

// New makes a backend without pools.
func New(o Options) *Backend {
	if o.Node == "" {
		o.Node = "memory"
	}
	return &Backend{options: o, pools: map[string]*pool{}, sessions: map[string]*session{}}
}

// CreatePool implements api.Backend, as all methods in this file do.
func (b *Backend) CreatePool(_ context.Context, p allocator.Pool) (allocator.Pool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return p, b.broken
	}
	if b.pools[p.Name] != nil {
		return p, allocator.ErrPoolExists
	}
	if p.Lease == 0 {
		p.Lease = allocator.DefaultLease
	}
	p.Revision = 1
	made := &pool{Pool: p}
	for i := range p.Units {
		made.free = append(made.free, allocator.Unit{Number: i})
	}
	b.pools[p.Name] = made
	return p, nil
}

func (b *Backend) ResizePool(_ context.Context, name string, units, most int) (allocator.Pool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pools[name]
	if p == nil {
		return allocator.Pool{}, fmt.Errorf("%w: %s", allocator.ErrUnknownPool, name)
	}
	units, most = cmp.Or(units, p.Units), cmp.Or(most, p.Most)
	if most > units {
		return allocator.Pool{}, &allocator.ValueError{Field: "most", Value: strconv.Itoa(most), Allowed: fmt.Sprintf("1 to the number of units, %d", units)}
	}
	for i := p.Units; i < units; i++ {
		p.free = append(p.free, allocator.Unit{Number: i})
	}
	p.free = slices.DeleteFunc(p.free, func(u allocator.Unit) bool { return u.Number >= units })
	p.Units, p.Most = units, most
	p.Revision++
	b.serve(p)
	return p.Pool, nil
}

func (b *Backend) DeletePool(_ context.Context, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pools[name]
	if p == nil {
		return fmt.Errorf("%w: %s", allocator.ErrUnknownPool, name)
	}
	delete(b.pools, name)
	for _, r := range p.queue {
		r.refuse(allocator.ErrPoolDeleted)
	}
	for _, s := range b.sessions {
		for _, r := range s.open {
			if r.Pool == name {
				delete(s.open, r.ID)
				s.events.Lost(r.ID, allocator.ErrPoolDeleted)
			}
		}
	}
	return nil
}

func (b *Backend) Pool(name string) (allocator.PoolStatus, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pools[name]
	if p == nil {
		return allocator.PoolStatus{}, fmt.Errorf("%w: %s", allocator.ErrUnknownPool, name)
	}
	return b.status(p), nil
}

func (b *Backend) status(p *pool) allocator.PoolStatus {
	return allocator.PoolStatus{
		Pool: p.Pool, Root: b.options.Node, Generation: 1, Stable: true,
		Free: len(p.free), Held: p.Units - len(p.free), Waiting: len(p.queue), Grants: p.grants, Lost: p.lost,
	}
}

func (b *Backend) Pools() []allocator.PoolStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []allocator.PoolStatus
	for _, name := range slices.Sorted(maps.Keys(b.pools)) {
		out = append(out, b.status(b.pools[name]))
	}
	return out
}

func (b *Backend) Holdings(_ context.Context, name string) ([]allocator.Holding, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []allocator.Holding
	for _, s := range b.sessions {
		for _, r := range s.open {
			if r.held && (name == "" || r.Pool == name) {
				out = append(out, allocator.Holding{
					Session: s.id, Owner: s.options.Owner, Principal: s.options.Principal, Node: b.options.Node,
					Reason: r.Reason, Grant: r.grant, Since: time.Since(r.since), Good: s.options.TTL,
				})
			}
		}
	}
	slices.SortFunc(out, func(x, y allocator.Holding) int { return cmp.Compare(x.Session+"/"+x.ID, y.Session+"/"+y.ID) })
	return out, b.broken
}

func (b *Backend) Waitings(_ context.Context, name string) ([]allocator.Waiting, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []allocator.Waiting
	for _, p := range b.pools {
		for i, r := range p.queue {
			if name == "" || p.Name == name {
				out = append(out, allocator.Waiting{
					Session: r.session.id, Owner: r.session.options.Owner, Principal: r.session.options.Principal,
					Node: b.options.Node, ID: r.ID, Pool: p.Name, Reason: r.Reason, Units: r.Units, Place: i + 1, Since: time.Since(r.since),
				})
			}
		}
	}
	slices.SortFunc(out, func(x, y allocator.Waiting) int {
		return cmp.Or(cmp.Compare(x.Pool, y.Pool), cmp.Compare(x.Place, y.Place))
	})
	return out, b.broken
}

func (b *Backend) Evict(_ context.Context, name string, _, _ string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	parts := strings.Split(name, "/")
	if len(parts) != 3 || parts[0] != b.options.Node || b.sessions[parts[1]] == nil {
		return allocator.ErrUnknownGrant
	}
	s := b.sessions[parts[1]]
	if r := s.open[parts[2]]; r == nil || !r.held {
		return allocator.ErrUnknownGrant
	}
	b.lose(s, parts[2], allocator.ErrEvicted)
	return nil
}

func (b *Backend) Network() allocator.NetworkStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	return allocator.NetworkStatus{Node: b.options.Node, Root: b.options.Node, Generation: 1, Ready: !b.notReady, Members: b.members}
}

var _ api.Backend = (*Backend)(nil)
