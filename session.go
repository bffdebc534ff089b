// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	allotv1 "allot/api/v1"
)

const (
	minPause = 20 * time.Millisecond
	maxPause = time.Second
)

// beat is a keepalive that was sent.
type beat struct {
	number uint64
	sent   time.Duration
}

// run keeps a connection, from the first request to Close.
func (c *Client) run() {
	defer close(c.ended)
	pause := minPause
	for c.ctx.Err() == nil {
		wasOpened, err := c.attend()
		c.mu.Lock()
		isClosed := c.isClosed
		c.lastErr = err
		c.mu.Unlock()
		if isClosed {
			return
		}
		if wasOpened {
			pause = minPause
		}
		// Chance keeps many clients of a node that went down from coming back all at once.
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-timer.C:
		case <-c.ctx.Done():
			timer.Stop()
			return
		}
		pause = min(2*pause, maxPause)
	}
}

// attend tries every address once, until one has a session for us, and stays until that connection breaks.
func (c *Client) attend() (wasOpened bool, err error) {
	for _, address := range c.candidates() {
		e, problem := c.options.endpoint(address)
		if problem != nil {
			continue // a node that tells nonsense of others
		}
		var l link
		if l, err = c.connect(c.ctx, e); err == nil {
			wasOpened, err = c.serve(l, e)
			l.close()
		}
		if wasOpened || c.ctx.Err() != nil {
			return wasOpened, err
		}
		c.refuse(err)
	}
	return false, err
}

// candidates are the addresses to try: where the session is, those that were given, and those that nodes told of.
func (c *Client) candidates() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	add := func(address string) {
		if address != "" && !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	add(c.home)
	for _, a := range slices.Concat(c.options.Addresses, c.members) {
		add(a)
	}
	return all
}

// refuse tells those who wait when a node has said that it will not have us at all.
func (c *Client) refuse(err error) {
	if !errors.Is(err, ErrUnauthenticated) && !errors.Is(err, ErrForbidden) && !errors.Is(err, ErrBadValue) && !errors.Is(err, ErrLimit) && !errors.Is(err, ErrProtocol) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, a := range c.calls {
		delete(c.calls, id)
		a.settle(nil, err)
	}
}

// serve opens or resumes the session on a link and handles what comes, until the link breaks.
func (c *Client) serve(l link, e endpoint) (wasOpened bool, err error) {
	stop := context.AfterFunc(c.ctx, l.close)
	defer stop()
	first, resumes := c.firstWord(e)
	sent := c.now()
	body, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, headroom), &allotv1.SessionRequest{Operations: []*allotv1.Operation{first}})
	if err != nil {
		return false, err
	}
	if err := l.send(body); err != nil {
		return false, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	slow := time.AfterFunc(connectTimeout, l.close)
	m, err := l.receive()
	if !slow.Stop() || err != nil {
		return false, asUnreachable(err)
	}
	if len(m.GetEvents()) == 0 {
		return false, fmt.Errorf("%w: an empty answer", ErrProtocol)
	}
	switch what := m.GetEvents()[0].GetWhat().(type) {
	case *allotv1.Event_Opened:
		c.opened(l, e, what.Opened, sent, resumes)
	case *allotv1.Event_Failed:
		err := errorOf(what.Failed)
		if errors.Is(err, ErrUnknownSession) {
			c.unknownAt(e)
		}
		return false, err
	default:
		return false, fmt.Errorf("%w: the node began with something else", ErrProtocol)
	}
	defer c.disconnected(l)
	for rest := m.GetEvents()[1:]; ; {
		if err := c.handle(rest); err != nil {
			return true, err
		}
		m, err := l.receive()
		if err != nil {
			return true, asUnreachable(err)
		}
		rest = m.GetEvents()
	}
}

func asUnreachable(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the connection was closed", ErrUnreachable)
	case errors.Is(err, ErrUnreachable), errors.Is(err, ErrUnauthenticated), errors.Is(err, ErrForbidden), errors.Is(err, ErrProtocol), errors.Is(err, ErrLimit):
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// firstWord resumes the session if it still lives. At another node that makes sense only for the sake of what it holds: without
// that a new session is as good.
func (c *Client) firstWord(e endpoint) (op *allotv1.Operation, resumes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != "" && (e.address == c.home || len(c.grants) > 0 || len(c.returns) > 0 || c.isOwing) {
		return &allotv1.Operation{What: &allotv1.Operation_Resume{Resume: &allotv1.Resume{Session: c.session, Node: c.node}}}, true
	}
	return &allotv1.Operation{What: &allotv1.Operation_Open{Open: &allotv1.Open{Owner: c.options.Owner, Ttl: durationpb.New(c.options.TTL)}}}, false
}

// opened takes a link into use: what is open is sent, for the first time or again.
func (c *Client) opened(l link, e endpoint, o *allotv1.Opened, sent time.Duration, resumes bool) {
	c.mu.Lock()
	if !resumes || o.GetSession() != c.session {
		c.endSession(ErrSessionEnded)
	}
	c.session, c.home, c.node = o.GetSession(), e.address, o.GetNode()
	c.members = c.members[:0]
	for _, m := range o.GetMembers() {
		c.members = append(c.members, m.GetAddress())
	}
	c.link, c.lastErr, c.isOwing = l, nil, false
	c.pending, c.cuts = c.pending[:headroom], nil
	c.beats = c.beats[:0]
	c.setGood(sent, o.GetGoodFor().AsDuration())
	for id := range c.returns {
		c.putReturn(id, false)
	}
	for id := range c.abandoned {
		c.put(&allotv1.Operation{What: &allotv1.Operation_Cancel{Cancel: id}})
	}
	for _, a := range c.calls {
		c.putAcquire(a)
		if a.onPlace != nil {
			c.put(&allotv1.Operation{What: &allotv1.Operation_Where{Where: &allotv1.Where{Id: a.id, Pool: a.pool}}})
		}
	}
	if c.isClosed {
		c.put(&allotv1.Operation{What: &allotv1.Operation_Close{Close: &allotv1.Goodbye{}}})
	}
	c.unlock()
}

// disconnected takes a link out of use.
func (c *Client) disconnected(l link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == l {
		c.link = nil
		c.pending, c.cuts = c.pending[:headroom], nil
	}
}

// unknownAt notes that a node does not know the session. If it is the one that had it, the session is over. Another one may
// not have heard of it, so the first may still come back.
func (c *Client) unknownAt(e endpoint) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.address == c.home {
		c.endSession(ErrSessionEnded)
	}
}

// endSession loses every grant. Requests that wait are asked anew in the next session. The caller holds mu.
func (c *Client) endSession(why error) {
	c.session = ""
	for _, g := range c.grants {
		g.lose(why)
	}
	for id, done := range c.returns {
		delete(c.returns, id)
		close(done) // the units come home with the session
	}
	clear(c.abandoned)
	c.deadline.Store(0)
}

// setGood notes until when the session is good. The caller holds mu.
func (c *Client) setGood(sent, good time.Duration) {
	c.good = good
	c.deadline.Store(int64(sent + good))
	c.nextBeat = sent + good/3
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// handle takes in what the node has sent.
func (c *Client) handle(events []*allotv1.Event) error {
	if len(events) == 0 {
		return nil
	}
	c.mu.Lock()
	// The goroutine that receives never sends: a node that waits for us to read would wait for ever.
	defer c.unlock()
	for _, e := range events {
		switch what := e.GetWhat().(type) {
		case *allotv1.Event_Granted:
			c.granted(what.Granted)
		case *allotv1.Event_Refused:
			id := what.Refused.GetId()
			delete(c.abandoned, id)
			if a := c.calls[id]; a != nil {
				delete(c.calls, id)
				a.settle(nil, errorOf(what.Refused.GetProblem()))
			}
		case *allotv1.Event_Lost:
			id := what.Lost.GetId()
			if g := c.grants[id]; g != nil {
				g.lose(errorOf(what.Lost.GetProblem()))
			}
			c.confirmed(id)
		case *allotv1.Event_Released:
			c.confirmed(what.Released)
		case *allotv1.Event_Alive:
			c.alive(what.Alive)
		case *allotv1.Event_Place:
			if a := c.calls[what.Place.GetId()]; a != nil && a.place != nil {
				select {
				case a.place <- int(what.Place.GetPlace()):
				default:
				}
			}
		case *allotv1.Event_Failed:
			err := errorOf(what.Failed)
			if errors.Is(err, ErrUnknownSession) {
				c.endSession(ErrSessionEnded)
			}
			return err
		case *allotv1.Event_Opened:
			return fmt.Errorf("%w: the session was opened twice", ErrProtocol)
		default: // a node that is newer than we are
		}
	}
	return nil
}

// granted hands a grant to the one who waits for it. One that nobody waits for was given up while the node could not hear, or
// is told again after a broken connection.
func (c *Client) granted(m *allotv1.Grant) {
	id := m.GetId()
	delete(c.abandoned, id)
	a := c.calls[id]
	switch {
	case a != nil:
		delete(c.calls, id)
		g := newGrant(c, m)
		c.grants[id] = g
		a.settle(g, nil)
	case c.grants[id] == nil && c.returns[id] == nil:
		c.putReturn(id, true)
	}
}

// confirmed tells the one who waits for a release.
func (c *Client) confirmed(id string) {
	if done := c.returns[id]; done != nil {
		delete(c.returns, id)
		close(done)
	}
}

func (c *Client) alive(a *allotv1.Alive) {
	for i, b := range c.beats {
		if b.number == a.GetNumber() {
			c.beats = c.beats[:copy(c.beats, c.beats[i+1:])]
			c.setGood(b.sent, a.GetGoodFor().AsDuration())
			return
		}
	}
}

// keep sends keepalives and looks at the clock: when the deadline passes without an answer, the session is over, whether or
// not anybody is there to say so. It never sends by itself, because whoever sends may have to wait.
func (c *Client) keep() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-c.kick:
		case <-c.ctx.Done():
			return
		}
		timer.Reset(c.beat())
	}
}

// beat does what is due now, and tells how long there is nothing more to do.
func (c *Client) beat() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	deadline := time.Duration(c.deadline.Load())
	if c.session == "" {
		return time.Hour
	}
	if now >= deadline {
		c.endSession(fmt.Errorf("%w: nothing was heard from the node for %s", ErrSessionEnded, c.good))
		if c.link != nil {
			c.link.close()
		}
		return time.Hour
	}
	if c.link == nil {
		return deadline - now
	}
	if now >= c.nextBeat {
		if len(c.beats) >= 2 {
			c.link.close() // it does not answer; another connection may
			return deadline - now
		}
		c.lastBeat++
		c.beats = append(c.beats, beat{number: c.lastBeat, sent: now})
		c.put(&allotv1.Operation{What: &allotv1.Operation_KeepAlive{KeepAlive: &allotv1.Beat{Number: c.lastBeat}}})
		c.flushLater()
		c.nextBeat = now + max(c.good/4, time.Millisecond)
	}
	return min(deadline, c.nextBeat) - now
}
