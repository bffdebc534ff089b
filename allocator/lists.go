// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"context"
	"math/bits"
	"time"
)

func (s *seat) holdings() []Holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	var list []Holding
	for _, r := range sortedRequests(s.requests) {
		if r.isHeld && !r.isEnded {
			o := r.session.options
			list = append(list, Holding{Session: r.session.id, Owner: o.Owner, Principal: o.Principal, Node: s.a.self, Reason: r.Reason,
				Grant: r.grant, Since: time.Duration(s.now-r.since) * tick, Good: s.good(r)})
		}
	}
	return list
}

func (s *seat) waitings() []Waiting {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	var list []Waiting
	for i, q := range s.machine.Queue() {
		r := s.requests[q.ID]
		if r == nil {
			continue
		}
		o := r.session.options
		list = append(list, Waiting{Session: r.session.id, Owner: o.Owner, Principal: o.Principal, Node: s.a.self, ID: r.ID, Pool: r.Pool,
			Reason: r.Reason, Units: r.Units, Place: i + 1, Since: time.Duration(s.now-r.since) * tick})
	}
	return list
}

func (s *seat) count() count {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	c := count{Pool: s.pool.Name, Free: len(s.machine.Free()), Waiting: len(s.machine.Queue()), Grants: s.grants, Lost: s.lost,
		Visits: s.visits, IsStable: s.machine.IsStable()}
	for _, h := range s.machine.Held() {
		c.Held += len(h.Units)
	}
	c.IsRoot = s.a.network.member(0) == s.a.self
	return c
}

// Pool is how a pool stands, over all nodes that answer.
func (a *Allocator) Pool(name string) (PoolStatus, error) {
	if _, err := a.seat(name); err != nil {
		return PoolStatus{}, err
	}
	list := a.status(name)
	if len(list) == 0 {
		return PoolStatus{}, ErrUnknownPool
	}
	return list[0], nil
}

// Pools is how all pools stand.
func (a *Allocator) Pools() []PoolStatus { return a.status("") }

func (a *Allocator) status(name string) []PoolStatus {
	answers, err := a.askAll(context.Background(), question{Method: askCounts, Pool: name})
	byPool := map[string]*PoolStatus{}
	v := a.network.view()
	var list []PoolStatus
	for _, s := range a.seats() {
		if name != "" && s.pool.Name != name {
			continue
		}
		s.mu.Lock()
		p := s.pool
		s.mu.Unlock()
		list = append(list, PoolStatus{Pool: p, Generation: uint64(v.generation)})
	}
	for i := range list {
		byPool[list[i].Name] = &list[i]
		if len(v.members) > 0 {
			list[i].Root = v.members[0].Name
		}
	}
	for _, r := range answers {
		for _, c := range r.Counts {
			p := byPool[c.Pool]
			if p == nil {
				continue
			}
			p.Free += c.Free
			p.Held += c.Held
			p.Waiting += c.Waiting
			p.Grants += c.Grants
			p.Lost += c.Lost
			p.Visits += c.Visits
			p.Stable = p.Stable || c.IsRoot && c.IsStable
		}
	}
	for i := range list {
		rest := max(0, list[i].Units-list[i].Free-list[i].Held)
		if list[i].Stable {
			list[i].InTransit = rest
		} else {
			list[i].Missing = rest
		}
		list[i].Stable = list[i].Stable && err == nil
	}
	return list
}

// Histogram counts durations in buckets that double, from 1 ms on.
type Histogram struct {
	Buckets [24]uint64 // bucket i counts those below 2^i ms that the buckets before it did not
	Sum     time.Duration
}

// Add counts a duration.
func (h *Histogram) Add(d time.Duration) {
	i := bits.Len64(uint64(max(0, d) / time.Millisecond))
	h.Buckets[min(i, len(h.Buckets)-1)]++
	h.Sum += d
}

// Here is what this node has of a pool, for metrics.
type Here struct {
	Pool                       string
	Units, Free, Held, Waiting int
	Grants, Lost, Visits       uint64
	IsRoot, IsStable           bool
	Waits                      Histogram
}

// Here lists what this node has of every pool.
func (a *Allocator) Here() []Here {
	var list []Here
	for _, s := range a.seats() {
		c := s.count()
		s.mu.Lock()
		waits, units := s.waits, s.pool.Units
		s.mu.Unlock()
		list = append(list, Here{Pool: c.Pool, Units: units, Free: c.Free, Held: c.Held, Waiting: c.Waiting, Grants: c.Grants, Lost: c.Lost,
			Visits: c.Visits, IsRoot: c.IsRoot, IsStable: c.IsStable, Waits: waits})
	}
	return list
}

// Sessions is how many there are at this node.
func (a *Allocator) Sessions() int {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return len(a.sessions)
}

// Corrupt overwrites this node's memory of a pool with nonsense that depends on the seed. It is for tests that want to see
// it heal.
func (a *Allocator) Corrupt(name string, seed uint64) error {
	s, err := a.seat(name)
	if err != nil {
		return err
	}
	s.step(func() {
		s.machine.Scramble(func(n int) int {
			seed++
			return int(mix(seed) % uint64(n))
		})
	})
	return nil
}
