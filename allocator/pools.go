// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"allot/node"
)

// definition is how a pool stands in the control plane.
type definition struct {
	// ID tells two pools apart that had the same name one after the other.
	ID uint64
	// Born is the generation in which the pool was made: before it, no unit of it was anywhere.
	Born  int64
	Units int
	Most  int
	Lease time.Duration
}

// DefaultLease is the lease of pools that are made without one. It outlasts the time that a network needs to get a new root, so
// that the crash of one node costs nobody else a grant.
const DefaultLease = 20 * time.Second

func (p *Pool) validate() error {
	if p.Lease == 0 {
		p.Lease = DefaultLease
	}
	if p.Most == 0 {
		p.Most = p.Units
	}
	switch {
	case !isName(p.Name):
		return &ValueError{Field: "pool", Value: p.Name, Allowed: "a name has 1 to " + itoa(MaxName) + " letters, digits and . _ - only"}
	case p.Units < 1 || p.Units > MaxUnits:
		return &ValueError{Field: "units", Value: itoa(p.Units), Allowed: "it must be 1 to " + itoa(MaxUnits)}
	case p.Most < 1 || p.Most > p.Units:
		return &ValueError{Field: "most", Value: itoa(p.Most), Allowed: "it must be 1 to the number of units, " + itoa(p.Units)}
	case p.Lease < MinLease || p.Lease > MaxLease:
		return &ValueError{Field: "lease", Value: p.Lease.String(), Allowed: "it must be " + MinLease.String() + " to " + MaxLease.String()}
	}
	return nil
}

// isName tells whether a text can be the name of a pool. Names go into keys, paths and command lines.
func isName(s string) bool {
	if s == "" || len(s) > MaxName || s[0] == '-' || s[0] == '.' {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// CreatePool makes a pool.
func (a *Allocator) CreatePool(ctx context.Context, p Pool) (Pool, error) {
	if err := p.validate(); err != nil {
		return Pool{}, err
	}
	v := a.network.view()
	if v.place < 0 {
		return Pool{}, ErrUnavailable
	}
	a.mu.RLock()
	n := len(a.pools)
	a.mu.RUnlock()
	if n >= MaxPools {
		return Pool{}, fmt.Errorf("%w: %d pools", ErrLimit, MaxPools)
	}
	d := definition{ID: a.nextID(), Born: v.generation, Units: p.Units, Most: p.Most, Lease: p.Lease}
	data := marshal(d)
	revision, err := a.store.Create(ctx, poolPrefix+p.Name, data)
	if errors.Is(err, node.ErrConflict) {
		return Pool{}, ErrPoolExists
	}
	if err != nil {
		return Pool{}, unavailable(err)
	}
	p.Revision = revision
	a.onPool(node.Entry{Key: poolPrefix + p.Name, Value: data, Revision: revision})
	return p, nil
}

// ResizePool changes how many units a pool has, and how many a request may take; 0 leaves it as it is.
// Growing takes effect at once. Shrinking revokes nothing: units of the highest numbers disappear when they come home.
func (a *Allocator) ResizePool(ctx context.Context, name string, units, most int) (Pool, error) {
	for {
		e, err := a.store.Get(ctx, poolPrefix+name)
		if errors.Is(err, node.ErrNotFound) {
			return Pool{}, ErrUnknownPool
		}
		if err != nil {
			return Pool{}, unavailable(err)
		}
		var d definition
		if err := json.Unmarshal(e.Value, &d); err != nil {
			return Pool{}, fmt.Errorf("pool %s: its definition cannot be read: %w", name, err)
		}
		p := Pool{Name: name, Units: units, Most: most, Lease: d.Lease}
		if units == 0 {
			p.Units = d.Units
		}
		if most == 0 {
			p.Most = min(d.Most, p.Units)
		}
		if err := p.validate(); err != nil {
			return Pool{}, err
		}
		d.Units, d.Most = p.Units, p.Most
		data := marshal(d)
		revision, err := a.store.Update(ctx, poolPrefix+name, data, e.Revision)
		if errors.Is(err, node.ErrConflict) {
			continue // somebody else changed it; look again
		}
		if err != nil {
			return Pool{}, unavailable(err)
		}
		p.Revision = revision
		a.onPool(node.Entry{Key: poolPrefix + name, Value: data, Revision: revision})
		return p, nil
	}
}

// DeletePool deletes a pool. Whoever holds or waits is told.
func (a *Allocator) DeletePool(ctx context.Context, name string) error {
	for {
		e, err := a.store.Get(ctx, poolPrefix+name)
		if errors.Is(err, node.ErrNotFound) {
			return ErrUnknownPool
		}
		if err != nil {
			return unavailable(err)
		}
		err = a.store.Delete(ctx, poolPrefix+name, e.Revision)
		if errors.Is(err, node.ErrConflict) {
			continue
		}
		if err != nil {
			return unavailable(err)
		}
		a.remove(name, 0)
		return nil
	}
}

// unavailable makes of a control plane that does not answer what callers know.
func unavailable(err error) error {
	if errors.Is(err, node.ErrUnavailable) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// onPool learns of a definition.
func (a *Allocator) onPool(e node.Entry) {
	name := e.Key[len(poolPrefix):]
	if e.IsDeleted {
		a.remove(name, e.Revision)
		return
	}
	var d definition
	p := Pool{Name: name, Revision: e.Revision}
	err := json.Unmarshal(e.Value, &d)
	p.Units, p.Most, p.Lease = d.Units, d.Most, d.Lease
	if err == nil {
		err = p.validate()
	}
	if err != nil {
		a.observe(Event{Kind: EventPool, Pool: name, Text: "its definition makes no sense and is ignored", Why: err})
		return
	}
	a.mu.Lock()
	s := a.pools[name]
	if s != nil && s.id != d.ID {
		if s.pool.Revision > e.Revision {
			a.mu.Unlock()
			return
		}
		delete(a.byID, s.id)
		a.mu.Unlock()
		s.drop()
		a.mu.Lock()
		s = nil
	}
	isNew := s == nil
	if isNew {
		s = newSeat(a, d.ID, p, d.Born)
		a.pools[name], a.byID[d.ID] = s, s
	}
	a.shortest.Store(int64(a.findShortest()))
	a.mu.Unlock()
	if isNew {
		s.begin()
		a.observe(Event{Kind: EventPool, Pool: name, Text: fmt.Sprintf("%d units, at most %d to a request", p.Units, p.Most)})
		return
	}
	s.step(func() {
		if s.pool.Revision >= p.Revision {
			return
		}
		s.pool = p
		s.options = poolOptions(p)
		s.machine.Resize()
		a.observe(Event{Kind: EventPool, Pool: name, Text: fmt.Sprintf("now %d units, at most %d to a request", p.Units, p.Most)})
		for _, r := range sortedRequests(s.requests) {
			if !r.isHeld && r.Units > p.Most {
				s.refuse(r, &ValueError{Field: "units", Value: itoa(r.Units), Allowed: "the pool now gives 1 to " + itoa(p.Most) + " at a time"})
			}
		}
	})
}

// shortestLease of all pools.
func (a *Allocator) shortestLease() time.Duration { return time.Duration(a.shortest.Load()) }

// remove forgets a pool that was deleted, unless it is newer than the deletion.
func (a *Allocator) remove(name string, revision uint64) {
	a.mu.Lock()
	s := a.pools[name]
	if s == nil || revision > 0 && s.pool.Revision > revision {
		a.mu.Unlock()
		return
	}
	delete(a.pools, name)
	delete(a.byID, s.id)
	a.shortest.Store(int64(a.findShortest()))
	a.mu.Unlock()
	s.drop()
	a.observe(Event{Kind: EventPool, Pool: name, Text: "deleted"})
}

// drop ends all requests and grants of a pool that is no more.
func (s *seat) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	for _, r := range sortedRequests(s.requests) {
		s.finish(r)
		if r.isHeld {
			s.tellLost(r, ErrPoolDeleted)
		} else {
			r.session.refused(r.ID, ErrPoolDeleted)
		}
	}
	s.isDeleted = true
}

func sortedRequests(m map[int64]*request) []*request {
	list := make([]*request, 0, len(m))
	for _, r := range m {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *request) int { return int(a.number - b.number) })
	return list
}

// seats are all seats, in the order of their names.
func (a *Allocator) seats() []*seat {
	a.mu.RLock()
	defer a.mu.RUnlock()
	names := make([]string, 0, len(a.pools))
	for name := range a.pools {
		names = append(names, name)
	}
	slices.Sort(names)
	list := make([]*seat, len(names))
	for i, name := range names {
		list[i] = a.pools[name]
	}
	return list
}

func (a *Allocator) seat(name string) (*seat, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	s := a.pools[name]
	if s == nil {
		return nil, ErrUnknownPool
	}
	return s, nil
}

func itoa(n int) string { return strconv.Itoa(n) }

// findShortest looks for the shortest lease. The caller holds the lock. The lease of a pool never changes.
func (a *Allocator) findShortest() time.Duration {
	shortest := MaxLease
	for _, s := range a.pools {
		shortest = min(shortest, s.lease)
	}
	return shortest
}
