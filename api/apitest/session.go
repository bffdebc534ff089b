// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package apitest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"allot/allocator"
	"allot/api"
)

// Open implements api.Backend.
func (b *Backend) Open(o allocator.SessionOptions, e allocator.Events) (api.Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return nil, b.broken
	}
	if o.TTL == 0 {
		o.TTL = 5 * time.Second
	}
	b.opened++
	s := &session{b: b, id: fmt.Sprintf("s%d", b.opened), options: o, events: e, open: map[string]*request{}}
	b.sessions[s.id] = s
	s.end = time.AfterFunc(o.TTL, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.finish(s, allocator.ErrSessionEnded)
	})
	return s, nil
}

// Resume implements api.Backend.
func (b *Backend) Resume(id string, principal string, e allocator.Events) (api.Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.sessions[id]
	if s == nil || s.options.Principal != principal {
		return nil, allocator.ErrUnknownSession
	}
	s.events = e
	for _, r := range s.open {
		if r.held {
			e.Granted(r.grant)
		}
	}
	return s, nil
}

// finish ends a session. Its grants come home; with a reason, it is told of them.
func (b *Backend) finish(s *session, why error) {
	if s.isEnded {
		return
	}
	s.isEnded = true
	s.end.Stop()
	delete(b.sessions, s.id)
	for _, r := range s.open {
		switch {
		case !r.held:
			b.dequeue(r)
		case why != nil:
			b.lose(s, r.ID, why)
		default:
			b.takeBack(r)
		}
	}
}

// lose ends a grant against the will of its holder, which is told before the units go elsewhere.
func (b *Backend) lose(s *session, id string, why error) {
	r := s.open[id]
	delete(s.open, id)
	s.events.Lost(id, why)
	if p := b.pools[r.Pool]; p != nil {
		p.lost++
	}
	b.takeBack(r)
}

// takeBack puts units where they came from and serves those who wait.
func (b *Backend) takeBack(r *request) {
	p := b.pools[r.Pool]
	if p == nil {
		return
	}
	for _, u := range r.grant.Units {
		if u.Number < p.Units {
			i, _ := slices.BinarySearchFunc(p.free, u.Number, func(v allocator.Unit, n int) int { return v.Number - n })
			p.free = slices.Insert(p.free, i, u)
		}
	}
	b.serve(p)
}

// serve grants from the head of the queue as long as there is enough.
func (b *Backend) serve(p *pool) {
	for len(p.queue) > 0 && p.queue[0].Units <= len(p.free) {
		r := p.queue[0]
		p.queue = p.queue[1:]
		b.grant(p, r)
	}
}

func (b *Backend) grant(p *pool, r *request) {
	units := slices.Clone(p.free[:r.Units])
	p.free = p.free[:copy(p.free, p.free[r.Units:])]
	g := allocator.Grant{ID: r.ID, Pool: p.Name, Units: units}
	for i := range units {
		units[i].Fence++
		g.Fence = max(g.Fence, units[i].Fence)
	}
	if r.giveUp != nil {
		r.giveUp.Stop()
	}
	r.grant, r.held, r.since = g, true, time.Now()
	p.grants++
	r.session.events.Granted(g)
}

// dequeue removes a request that waits; others may be served then.
func (b *Backend) dequeue(r *request) bool {
	p := b.pools[r.Pool]
	if p == nil {
		return false
	}
	i := slices.Index(p.queue, r)
	if i < 0 {
		return false
	}
	p.queue = slices.Delete(p.queue, i, i+1)
	if r.giveUp != nil {
		r.giveUp.Stop()
	}
	delete(r.session.open, r.ID)
	b.serve(p)
	return true
}

// refuse answers a request that is no longer in a queue.
func (r *request) refuse(why error) {
	delete(r.session.open, r.ID)
	r.session.events.Refused(r.ID, why)
}

// ID implements api.Session, as all methods below do.
func (s *session) ID() string { return s.id }

func (s *session) Acquire(q allocator.Request) error {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if s.isEnded {
		return allocator.ErrUnknownSession
	}
	if r := s.open[q.ID]; r != nil {
		if r.held {
			s.events.Granted(r.grant)
		}
		return nil
	}
	p := s.b.pools[q.Pool]
	if p == nil {
		return fmt.Errorf("%w: %s", allocator.ErrUnknownPool, q.Pool)
	}
	if q.Units < 1 || q.Units > p.Most {
		return &allocator.ValueError{Field: "units", Value: strconv.Itoa(q.Units), Allowed: fmt.Sprintf("1 to %d", p.Most)}
	}
	if len(s.open) >= allocator.MaxOpen {
		return allocator.ErrLimit
	}
	r := &request{Request: q, session: s}
	s.open[q.ID] = r
	if len(p.queue) == 0 && q.Units <= len(p.free) {
		s.b.grant(p, r)
		return nil
	}
	if q.Wait < 0 {
		r.refuse(allocator.ErrNotNow)
		return nil
	}
	r.since = time.Now()
	p.queue = append(p.queue, r)
	if q.Wait > 0 {
		r.giveUp = time.AfterFunc(q.Wait, func() { s.b.giveUp(r, allocator.ErrNotNow) })
	}
	return nil
}

func (b *Backend) giveUp(r *request, why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dequeue(r) {
		r.session.events.Refused(r.ID, why)
	}
}

func (s *session) Cancel(id string) error {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if r := s.open[id]; r != nil && !r.held && s.b.dequeue(r) {
		s.events.Refused(id, allocator.ErrCancelled)
	}
	return nil
}

func (s *session) Release(id string) error {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if s.isEnded {
		return allocator.ErrUnknownSession
	}
	r := s.open[id]
	if r == nil || !r.held {
		return allocator.ErrUnknownGrant
	}
	delete(s.open, id)
	s.b.takeBack(r)
	return nil
}

func (s *session) KeepAlive() time.Duration {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if s.isEnded {
		return 0
	}
	s.beats++
	s.end.Reset(s.options.TTL)
	if s.b.options.Good > 0 {
		return min(s.b.options.Good, s.options.TTL)
	}
	return s.options.TTL
}

func (s *session) Detach() {}

func (s *session) Close() {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	s.b.finish(s, nil)
}
