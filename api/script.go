// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"allot/allocator"
	"allot/api/access"
	allotv1 "allot/api/v1"
)

// maxUntold is how many losses are kept until a script asks.
const maxUntold = 64

// script is a session for unary calls. It hands the events of the session to the calls that wait for them.
type script struct {
	session   Session
	principal string
	ttl       time.Duration
	forget    *time.Timer // removes it from the handler; the session ends by itself

	mu      sync.Mutex
	waiting map[string]*outcome // by the id of the request
	untold  []*allotv1.Bad
	calls   int // that are under way
}

// outcome is what becomes of a request, for all calls that wait for it.
type outcome struct {
	done  chan struct{}
	calls int
	grant *allotv1.Grant
	err   error
}

// Granted implements allocator.Events.
func (s *script) Granted(g allocator.Grant) { s.settle(g.ID, protoGrant(g), nil) }

// Refused implements allocator.Events.
func (s *script) Refused(id string, why error) { s.settle(id, nil, why) }

// Lost implements allocator.Events.
func (s *script) Lost(id string, why error) {
	problem, _ := problemOf(why)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.untold) < maxUntold {
		s.untold = append(s.untold, &allotv1.Bad{Id: id, Problem: problem})
	}
}

// settle tells those who wait. If nobody does, the caller has gone; should it come back, the backend tells again.
func (s *script) settle(id string, grant *allotv1.Grant, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.waiting[id]
	if o == nil {
		return
	}
	delete(s.waiting, id)
	o.grant, o.err = grant, err
	close(o.done)
}

// join waits together with others for the same request, or is the first.
func (s *script) join(id string) (o *outcome, isFirst bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o = s.waiting[id]
	if o == nil {
		o, isFirst = &outcome{done: make(chan struct{})}, true
		s.waiting[id] = o
	}
	o.calls++
	return o, isFirst
}

// quit stops waiting, and tells whether nobody else waits.
func (s *script) quit(o *outcome) (isLast bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.calls--
	return o.calls == 0
}

// detach lets go of the session, which lives on for its TTL.
func (s *script) detach() {
	s.forget.Stop()
	s.session.Detach()
}

func (h *Handler) OpenSession(ctx context.Context, r *allotv1.OpenSessionRequest) (*allotv1.OpenSessionResponse, error) {
	who := callerOf(ctx)
	o, err := sessionOptions(r.GetOwner(), r.GetTtl(), who)
	if err != nil {
		return nil, err
	}
	s := &script{principal: who.principal, ttl: o.TTL, waiting: map[string]*outcome{}}
	if s.ttl == 0 {
		s.ttl = 5 * time.Second
	}
	s.session, err = h.backend.Open(o, s)
	if err != nil {
		return nil, err
	}
	good := s.session.KeepAlive()
	if err := h.keep(s); err != nil {
		s.session.Close()
		return nil, err
	}
	return &allotv1.OpenSessionResponse{Session: s.session.ID(), GoodFor: durationpb.New(good), Node: h.backend.Network().Node}, nil
}

// keep remembers a session for later calls, until it has not been heard of for so long that it must have ended.
func (h *Handler) keep(s *script) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.isClosed:
		return fmt.Errorf("%w: it is going down", allocator.ErrUnavailable)
	case len(h.streams)+len(h.scripts) >= h.options.MaxStreams:
		return fmt.Errorf("%w: %d sessions are attached", allocator.ErrLimit, h.options.MaxStreams)
	}
	id := s.session.ID()
	h.scripts[id] = s
	s.forget = time.AfterFunc(2*s.ttl, func() { h.expire(id) })
	return nil
}

func (h *Handler) expire(id string) {
	h.mu.Lock()
	s := h.scripts[id]
	if s == nil {
		h.mu.Unlock()
		return
	}
	s.mu.Lock()
	isUsed := s.calls > 0
	s.mu.Unlock()
	if isUsed {
		s.forget.Reset(2 * s.ttl)
		h.mu.Unlock()
		return
	}
	delete(h.scripts, id)
	h.mu.Unlock()
	s.session.Detach()
}

// script finds the session of a call. It belongs to the principal that opened it; to others it does not exist. The caller
// calls done at the end.
func (h *Handler) script(ctx context.Context, id string) (s *script, done func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s = h.scripts[id]
	if s == nil || s.principal != callerOf(ctx).principal {
		return nil, nil, allocator.ErrUnknownSession
	}
	s.forget.Reset(2 * s.ttl)
	s.mu.Lock()
	s.calls++
	s.mu.Unlock()
	return s, func() {
		s.mu.Lock()
		s.calls--
		s.mu.Unlock()
	}, nil
}

func (h *Handler) KeepAlive(ctx context.Context, r *allotv1.KeepAliveRequest) (*allotv1.KeepAliveResponse, error) {
	s, done, err := h.script(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	defer done()
	good := s.session.KeepAlive()
	if good <= 0 {
		h.drop(s)
		return nil, allocator.ErrUnknownSession
	}
	s.mu.Lock()
	untold := s.untold
	s.untold = nil
	s.mu.Unlock()
	return &allotv1.KeepAliveResponse{GoodFor: durationpb.New(good), Lost: untold}, nil
}

// drop forgets a session that has ended.
func (h *Handler) drop(s *script) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.forget.Stop()
	delete(h.scripts, s.session.ID())
}

func (h *Handler) Acquire(ctx context.Context, r *allotv1.AcquireRequest) (*allotv1.AcquireResponse, error) {
	if _, err := h.poolFor(ctx, access.Take, r.GetPool()); err != nil {
		return nil, err
	}
	request, err := newRequest(&allotv1.Ask{Id: r.GetId(), Pool: r.GetPool(), Units: r.GetUnits(), Reason: r.GetReason(), Wait: r.GetWait()})
	if err != nil {
		return nil, err
	}
	s, done, err := h.script(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	defer done()
	o, isFirst := s.join(request.ID)
	if isFirst {
		if err := s.session.Acquire(request); err != nil {
			s.settle(request.ID, nil, err)
		}
	}
	beat := time.NewTicker(s.ttl / 3)
	defer beat.Stop()
	for {
		select {
		case <-o.done:
			if errors.Is(o.err, allocator.ErrUnknownSession) {
				h.drop(s)
			}
			if o.err != nil {
				return nil, o.err
			}
			return &allotv1.AcquireResponse{Grant: o.grant}, nil
		case <-beat.C:
			// A caller that waits is alive.
			s.session.KeepAlive()
		case <-ctx.Done():
			if s.quit(o) {
				// It may have been answered in the meantime, and then there is nothing to take back.
				_ = s.session.Cancel(request.ID)
			}
			return nil, ctx.Err()
		case <-h.done:
			return nil, fmt.Errorf("%w: it is going down", allocator.ErrUnavailable)
		}
	}
}

func (h *Handler) Release(ctx context.Context, r *allotv1.ReleaseRequest) (*allotv1.ReleaseResponse, error) {
	s, done, err := h.script(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	defer done()
	if err := s.session.Release(r.GetId()); err != nil {
		return nil, err
	}
	return &allotv1.ReleaseResponse{}, nil
}

func (h *Handler) CloseSession(ctx context.Context, r *allotv1.CloseSessionRequest) (*allotv1.CloseSessionResponse, error) {
	s, done, err := h.script(ctx, r.GetSession())
	if err != nil {
		return nil, err
	}
	defer done()
	h.drop(s)
	s.session.Close()
	// Calls that still wait would wait for ever: a session that was closed has no events.
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, o := range s.waiting {
		delete(s.waiting, id)
		o.err = allocator.ErrCancelled
		close(o.done)
	}
	return &allotv1.CloseSessionResponse{}, nil
}
