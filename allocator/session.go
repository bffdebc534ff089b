// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// DefaultTTL is how long a session lives on without a word from its client, unless it says otherwise.
const DefaultTTL = 5 * time.Second

// The bounds of a session's TTL.
const (
	MinTTL = 500 * time.Millisecond
	MaxTTL = 10 * time.Minute
)

// Session is a client's life at this node.
//
// Locks are taken in the order seat, session. So nothing here calls a seat while it holds the lock.
type Session struct {
	a       *Allocator
	id      string
	options SessionOptions
	ttl     time.Duration

	mu       sync.Mutex
	events   Events
	requests map[string]*request
	heard    int64 // tick
	promised int64 // tick until which the client may believe in what it is granted
	isEnded  bool
}

// Open begins a session. Its events go to e.
func (a *Allocator) Open(o SessionOptions, e Events) (*Session, error) {
	if o.TTL == 0 {
		o.TTL = DefaultTTL
	}
	switch {
	case o.TTL < MinTTL || o.TTL > MaxTTL:
		return nil, &ValueError{Field: "ttl", Value: o.TTL.String(), Allowed: "it must be " + MinTTL.String() + " to " + MaxTTL.String()}
	case !isText(o.Owner, MaxName):
		return nil, &ValueError{Field: "owner", Value: o.Owner, Allowed: textRule(MaxName)}
	}
	s := &Session{a: a, id: strconv.FormatUint(a.nextID(), 36), options: o, ttl: o.TTL, events: e, requests: map[string]*request{},
		heard: a.now()}
	a.mu.Lock()
	if len(a.sessions) >= MaxSessions {
		a.mu.Unlock()
		return nil, fmt.Errorf("%w: %d sessions", ErrLimit, MaxSessions)
	}
	a.sessions[s.id] = s
	a.mu.Unlock()
	s.watch()
	return s, nil
}

// Resume goes on with a session whose connection broke. From now on its events go to e, which is told again of every grant
// that the session still has.
func (a *Allocator) Resume(id, principal string, e Events) (*Session, error) {
	a.mu.RLock()
	s := a.sessions[id]
	a.mu.RUnlock()
	if s == nil || s.options.Principal != principal {
		return nil, ErrUnknownSession
	}
	s.mu.Lock()
	if s.isEnded {
		s.mu.Unlock()
		return nil, ErrUnknownSession
	}
	s.events, s.heard = e, a.now()
	list := s.sorted()
	s.mu.Unlock()
	for _, r := range list {
		if p, err := a.seat(r.Pool); err == nil {
			p.step(func() {
				if r.isHeld && !r.isLost && !r.isEnded {
					s.granted(r.grant)
				}
			})
		}
	}
	return s, nil
}

// isText tells whether a text of a client can be shown: not too long, no control characters.
func isText(s string, most int) bool {
	return len(s) <= most && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

func textRule(most int) string {
	return "it must be at most " + itoa(most) + " bytes of text without control characters"
}

// watch ends the session when its client has not been heard of for too long. A client counts from when it sent its last
// message, and this node from when it arrived, so the client stops first.
func (s *Session) watch() {
	s.mu.Lock()
	ttl := int32(s.ttl / tick)
	at := s.heard + int64(ttl+drift(ttl))
	isEnded := s.isEnded
	s.mu.Unlock()
	if isEnded {
		return
	}
	s.a.timers.set(at, func(now int64) {
		s.mu.Lock()
		isOver := now >= s.heard+int64(ttl+drift(ttl))
		s.mu.Unlock()
		if isOver {
			s.end(ErrSessionEnded)
			return
		}
		s.watch()
	})
}

// ID of the session.
func (s *Session) ID() string { return s.id }

// Acquire asks for units. The outcome comes as an event, perhaps before this returns. The same request again is the same
// request.
func (s *Session) Acquire(q Request) error {
	switch {
	case q.ID == "" || !isText(q.ID, MaxName):
		return &ValueError{Field: "id", Value: q.ID, Allowed: "it must not be empty, and " + textRule(MaxName)}
	case !isText(q.Reason, MaxReason):
		return &ValueError{Field: "reason", Value: q.Reason, Allowed: textRule(MaxReason)}
	}
	p, err := s.a.seat(q.Pool)
	if err != nil {
		return err
	}
	r := &request{session: s, Request: q}
	s.mu.Lock()
	s.heard = s.a.now()
	known := s.requests[q.ID]
	switch {
	case s.isEnded:
		err = ErrUnknownSession
	case known != nil:
	case len(s.requests) >= MaxOpen:
		err = fmt.Errorf("%w: %d requests and grants of one session", ErrLimit, MaxOpen)
	case s.a.waiting.Load() >= MaxWaiting:
		err = fmt.Errorf("%w: %d requests waiting", ErrLimit, MaxWaiting)
	default:
		s.requests[q.ID] = r
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if known != nil {
		return s.again(known, q)
	}
	if err := p.acquire(r); err != nil {
		s.forget(r)
		return err
	}
	return nil
}

// again answers a request that was made before: its answer may have been lost.
func (s *Session) again(r *request, q Request) error {
	if r.Pool != q.Pool || r.Units != q.Units {
		return &ValueError{Field: "id", Value: q.ID, Allowed: "it is the id of another request of this session"}
	}
	p, err := s.a.seat(r.Pool)
	if err != nil {
		return err
	}
	p.step(func() {
		if r.isHeld && !r.isLost && !r.isEnded {
			s.granted(r.grant)
		}
	})
	return nil
}

// find finds a request and its seat.
func (s *Session) find(id string) (*request, *seat, error) {
	s.mu.Lock()
	s.heard = s.a.now()
	r := s.requests[id]
	s.mu.Unlock()
	if r == nil {
		return nil, nil, ErrUnknownGrant
	}
	p, err := s.a.seat(r.Pool)
	return r, p, err
}

// Cancel takes a request back. Nothing happens to one that has been granted.
func (s *Session) Cancel(id string) error {
	r, p, err := s.find(id)
	if err != nil {
		return err
	}
	p.step(func() { p.refuse(r, ErrCancelled) })
	return nil
}

// Release ends a grant.
func (s *Session) Release(id string) error {
	r, p, err := s.find(id)
	if err != nil {
		return err
	}
	isHeld := false
	p.step(func() {
		if isHeld = r.isHeld; isHeld {
			p.release(r)
		}
	})
	if !isHeld {
		return ErrUnknownGrant
	}
	return nil
}

// KeepAlive tells that the client is alive. It returns for how long the client may believe in its grants, counted from when
// it sent its message, those included that it gets before the next KeepAlive. After the session has ended this is 0.
func (s *Session) KeepAlive() time.Duration {
	s.mu.Lock()
	if s.isEnded {
		s.mu.Unlock()
		return 0
	}
	pools := map[string]bool{}
	for _, r := range s.requests {
		pools[r.Pool] = true
	}
	s.mu.Unlock()
	good := min(s.ttl, s.a.shortestLease()/2)
	for name := range pools {
		p, err := s.a.seat(name)
		if err != nil {
			continue
		}
		p.step(func() {
			// Where nothing is held the lease may have run out; a grant will come with a new one.
			if left := time.Duration(p.machine.Good()) * tick; left > 0 {
				good = min(good, left)
			}
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = s.a.now()
	s.promised = max(s.promised, s.heard+int64(good/tick))
	return good
}

// believes is until when the client may believe in whatever it is granted.
func (s *Session) believes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.promised
}

// Detach tells that the connection is gone. The session lives on until its TTL has passed.
func (s *Session) Detach() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = nil
}

// Close ends the session. What it holds is given back at once.
func (s *Session) Close() { s.end(nil) }

// end ends the session. why is nil if the client itself ended it.
func (s *Session) end(why error) {
	s.mu.Lock()
	if s.isEnded {
		s.mu.Unlock()
		return
	}
	s.isEnded = true
	list := s.sorted()
	s.mu.Unlock()
	s.a.mu.Lock()
	delete(s.a.sessions, s.id)
	s.a.mu.Unlock()
	for _, r := range list {
		p, err := s.a.seat(r.Pool)
		if err != nil {
			continue
		}
		if why != nil {
			p.step(func() {
				if r.isHeld && !r.isEnded && !r.isLost {
					p.tellLost(r, why)
				}
			})
		}
		p.end(r)
	}
}

// sorted lists the requests. The caller holds the lock.
func (s *Session) sorted() []*request {
	list := make([]*request, 0, len(s.requests))
	for _, r := range s.requests {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *request) int { return strings.Compare(a.ID, b.ID) })
	return list
}

func (s *Session) forget(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests[r.ID] == r {
		delete(s.requests, r.ID)
	}
}

func (s *Session) sink() Events {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events
}

func (s *Session) granted(g Grant) {
	if e := s.sink(); e != nil {
		e.Granted(g)
	}
}

func (s *Session) refused(id string, why error) {
	if e := s.sink(); e != nil {
		e.Refused(id, why)
	}
}

func (s *Session) lost(id string, why error) {
	if e := s.sink(); e != nil {
		e.Lost(id, why)
	}
}

func (a *Allocator) allSessions() []*Session {
	a.mu.RLock()
	defer a.mu.RUnlock()
	list := make([]*Session, 0, len(a.sessions))
	for _, s := range a.sessions {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *Session) int { return strings.Compare(a.id, b.id) })
	return list
}
