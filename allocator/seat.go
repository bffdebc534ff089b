// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"encoding/binary"
	"sync"
	"time"

	"allot/protocol/pool"
)

// seat is this node's part in one pool: the machine of package pool with its lock, its clock and its clients.
type seat struct {
	a  *Allocator
	id uint64 // of the pool; another pool of the same name has another one
	// lease of the pool; it never changes.
	lease time.Duration

	mu        sync.Mutex
	pool      Pool
	born      int64 // the generation in which the pool was made
	options   pool.Options
	machine   *pool.Seat
	now       int64 // the tick up to which the machine knows the time
	due       int64 // the earliest timer that is set
	isDeleted bool

	next     int64 // the number of the next request
	requests map[int64]*request
	queued   map[*Session]int64 // how many requests of a session wait

	untold []*request // grants that were not told yet

	grants, lost, visits uint64
	waits                Histogram

	scratch pool.Visit
	buf     []byte
}

// request is a request or, once it has been answered, a grant.
type request struct {
	session *Session
	Request
	number  int64 // at the machine
	since   int64 // tick of the request, then of the grant
	isHeld  bool
	isLost  bool // the client was told, and has not answered yet
	grant   Grant
	isEnded bool
}

func newSeat(a *Allocator, id uint64, p Pool, born int64) *seat {
	s := &seat{a: a, id: id, lease: p.Lease, pool: p, born: born, options: poolOptions(p), requests: map[int64]*request{}, queued: map[*Session]int64{}}
	s.machine = pool.NewSeat(&s.options, s)
	s.now = a.now()
	return s
}

// step gives the machine an event, after the time that has passed.
func (s *seat) step(event func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isDeleted {
		return
	}
	s.locked(event)
}

// locked is step for callers that hold the lock.
func (s *seat) locked(event func()) {
	s.advance()
	event()
	s.tellUntold()
	s.schedule()
}

func (s *seat) advance() {
	if now := s.a.now(); now > s.now {
		d := now - s.now
		s.now = now
		s.machine.Advance(int32(min(d, 1<<30)))
	}
}

// schedule sets a timer for when the machine has something to do.
func (s *seat) schedule() {
	at := s.now + int64(s.machine.Due(60_000))
	if s.due > s.now && s.due <= at {
		return
	}
	s.due = at
	s.a.timers.set(at, func(now int64) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.isDeleted || now < s.due {
			return
		}
		s.due = 0
		s.locked(func() {})
	})
}

// begin tells the machine of the present generation.
func (s *seat) begin() {
	s.step(func() {
		// Asked under the seat's lock, so that an older generation cannot come after a newer one.
		v := s.a.network.view()
		s.machine.Begin(v.generation, v.place, int32(len(v.members)), v.isFresh || s.born == v.generation)
		s.reign()
	})
}

// reign tells the machine until when this node may act as root. It asks here and now, under the seat's lock, so that an older
// answer cannot come after a newer one.
func (s *seat) reign() { s.machine.Reign(int32(max(0, s.a.network.until()-s.now))) }

// audit reminds the machine of what others know better: the generation, and which requests there are. Without a fault in its
// memory this changes nothing.
func (s *seat) audit() {
	s.step(func() {
		v := s.a.network.view()
		s.machine.Begin(v.generation, v.place, int32(len(v.members)), false)
		s.machine.Audit(func(id int64) bool { r := s.requests[id]; return r != nil && r.isHeld },
			func(id int64) bool { r := s.requests[id]; return r != nil && !r.isHeld })
	})
}

// Visit is sent by the machine.
func (s *seat) Visit(to int32, v *pool.Visit) {
	s.buf = binary.BigEndian.AppendUint64(append(s.buf[:0], frameVisit), s.id)
	s.buf = pool.AppendVisit(s.buf, v)
	s.a.send(s.a.network.member(to), s.buf)
}

// Wake is sent by the machine.
func (s *seat) Wake(w pool.Wake) {
	s.buf = binary.BigEndian.AppendUint64(append(s.buf[:0], frameWake), s.id)
	s.buf = pool.AppendWake(s.buf, w)
	s.a.send(s.a.network.member(0), s.buf)
}

// Granted is told by the machine.
func (s *seat) Granted(number int64, units []pool.Unit) {
	r := s.requests[number]
	if r == nil {
		return
	}
	wait := time.Duration(s.now-r.since) * tick
	s.grants++
	s.waits.Add(wait)
	s.unqueue(r)
	r.isHeld, r.since = true, s.now
	r.grant = Grant{ID: r.ID, Pool: s.pool.Name, Units: make([]Unit, len(units))}
	for i, u := range units {
		r.grant.Units[i] = Unit{Number: int(u.Number), Fence: uint64(u.Fence)}
		r.grant.Fence = max(r.grant.Fence, uint64(u.Fence))
	}
	s.untold = append(s.untold, r)
	s.tellUntold()
	s.observe(EventGranted, r, Event{Wait: wait, Units: r.grant.Units})
}

// tellUntold tells clients of their grants. A client may believe in a grant for as long as it was told last, so a grant that
// is not good for so long is kept back until the next visit.
func (s *seat) tellUntold() {
	if len(s.untold) == 0 {
		return
	}
	end := s.now + int64(s.machine.Good())
	kept := s.untold[:0]
	for _, r := range s.untold {
		switch {
		case r.isEnded || r.isLost:
		case r.session.believes() > end:
			kept = append(kept, r)
		default:
			r.session.granted(r.grant)
		}
	}
	clear(s.untold[len(kept):])
	s.untold = kept
}

// Lost is told by the machine.
func (s *seat) Lost(number int64, why pool.Loss) {
	r := s.requests[number]
	if r == nil {
		return
	}
	if why == pool.LeaseRanOut {
		s.finish(r)
		s.tellLost(r, ErrLeaseLost)
		return
	}
	s.coolDown(r, ErrRepaired)
}

// Stuck is told by the machine.
func (s *seat) Stuck() {
	n := &s.a.network
	go n.step(func() { n.node.Renew() })
}

func (s *seat) tellLost(r *request, why error) {
	s.lost++
	r.session.lost(r.ID, why)
	s.observe(EventLost, r, Event{Why: why, Units: r.grant.Units})
}

// coolDown tells a client that it has lost a grant, and gives the units to nobody before it has answered, or must have noticed
// by itself.
func (s *seat) coolDown(r *request, why error) {
	if r.isLost {
		return
	}
	r.isLost = true
	s.tellLost(r, why)
	s.a.timers.set(s.now+int64(s.good(r)/tick)+1, func(int64) {
		s.step(func() { s.release(r) })
	})
}

// good is how long a client may believe in a grant after the last time it was told that it is good.
func (s *seat) good(r *request) time.Duration {
	return min(r.session.ttl, time.Duration(s.machine.Good())*tick)
}

// finish forgets a request or grant.
func (s *seat) finish(r *request) {
	if r.isEnded {
		return
	}
	r.isEnded = true
	if !r.isHeld {
		s.unqueue(r)
	}
	delete(s.requests, r.number)
	r.session.forget(r)
}

// release ends a grant.
func (s *seat) release(r *request) {
	if r.isEnded {
		return
	}
	s.finish(r)
	s.observe(EventReleased, r, Event{Units: r.grant.Units})
	s.machine.Release(r.number)
}

// refuse ends a request that waits.
func (s *seat) refuse(r *request, why error) {
	if r.isEnded || r.isHeld {
		return
	}
	s.finish(r)
	s.machine.Cancel(r.number)
	r.session.refused(r.ID, why)
	s.observe(EventRefused, r, Event{Why: why})
}

// end ends a request or grant, whichever it is, because its session does.
func (s *seat) end(r *request) {
	s.step(func() {
		if r.isHeld {
			s.release(r)
		} else if !r.isEnded {
			s.finish(r)
			s.machine.Cancel(r.number)
		}
	})
}

// acquire queues a request.
func (s *seat) acquire(r *request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.isDeleted:
		return ErrUnknownPool
	case r.Units < 1 || r.Units > s.pool.Most:
		return &ValueError{Field: "units", Value: itoa(r.Units), Allowed: "pool " + s.pool.Name + " gives 1 to " + itoa(s.pool.Most) + " at a time"}
	}
	s.advance()
	s.next++
	r.number, r.since = s.next, s.now
	s.requests[r.number] = r
	round := s.fairRound(r)
	s.a.waiting.Add(1)
	s.queued[r.session]++
	s.machine.Request(r.number, int32(r.Units), round)
	switch {
	case r.isHeld || r.isEnded:
	case r.Wait < 0:
		s.tryOnly(r)
	case r.Wait > 0:
		s.a.timers.set(s.now+int64((r.Wait+tick-1)/tick)+1, func(int64) {
			s.step(func() { s.refuse(r, ErrNotNow) })
		})
	}
	if !r.isHeld && !r.isEnded {
		s.observe(EventWaiting, r, Event{})
	}
	s.schedule()
	return nil
}

// tryOnly refuses a request that was not to wait once the controller had the time to go round.
func (s *seat) tryOnly(r *request) {
	if s.machine.IsAlone() {
		s.refuse(r, ErrNotNow)
		return
	}
	s.a.timers.set(s.now+int64(tryTime/tick), func(int64) {
		s.step(func() { s.refuse(r, ErrNotNow) })
	})
}

// tryTime is how long a request that is not to wait waits for the controller, which alone knows what is free elsewhere.
const tryTime = 100 * time.Millisecond

// fairRound puts the requests of a session one round after the other, so that one with many does not go before another with
// few: the first requests of all sessions belong to one round, their second ones to the next, and so on.
func (s *seat) fairRound(r *request) int64 { return s.machine.First() + s.queued[r.session] }

func (s *seat) unqueue(r *request) {
	s.a.waiting.Add(-1)
	if s.queued[r.session]--; s.queued[r.session] <= 0 {
		delete(s.queued, r.session)
	}
}

func (s *seat) observe(k EventKind, r *request, e Event) {
	if s.a.options.Observe == nil {
		return
	}
	e.Kind, e.Pool, e.Session, e.Owner, e.Grant = k, s.pool.Name, r.session.id, r.session.options.Owner, r.ID
	s.a.options.Observe(e)
}
