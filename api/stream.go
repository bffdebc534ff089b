// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"allot/allocator"
	"allot/api/access"
	allotv1 "allot/api/v1"
)

const (
	maxTTL  = time.Hour
	maxWait = 30 * 24 * time.Hour
	// idleLimit is how long a stream may be silent. A client that wants to keep its session beats far more often.
	idleLimit = 2 * time.Minute
	// lastWords is how long a stream that ends may take to send what it has.
	lastWords = 2 * time.Second
)

// transport carries the messages of one stream. One goroutine receives and one sends.
type transport interface {
	// receive waits for the next message, or returns io.EOF when the client has ended the stream.
	receive() (*allotv1.SessionRequest, error)
	// send sends a SessionResponse, encoded, behind headroom that it may use.
	send(message []byte) error
	// stop makes receive return soon. Anybody may call it, as they may abort.
	stop()
	// abort makes receive and send return soon, whatever they wait for.
	abort()
}

// conversation is a session's stream, whatever carries it.
type conversation struct {
	h         *Handler
	ctx       context.Context
	caller    caller
	transport transport
	box       *outbox

	sending  sync.Mutex // held while something is sent: the writer does, and a relay
	session  Session    // nil before the first operation
	isClosed bool       // the client said goodbye
	mayTake  map[string]bool
	isHeard  atomic.Bool // since the idle timer last looked
	isAsking atomic.Bool // a place in the queue is being looked up
	asking   sync.WaitGroup
}

// converse runs a conversation from its first message to its end. The error is for the log: the client has been told.
func (h *Handler) converse(ctx context.Context, who caller, t transport) error {
	ctx, cancel := context.WithCancel(ctx)
	c := &conversation{h: h, ctx: ctx, caller: who, transport: t, box: newOutbox(h.metrics.grants.Inc, func() { go t.abort() })}
	defer c.asking.Wait()
	defer cancel()
	if err := h.enter(c); err != nil {
		c.box.fail(err)
		return cmp.Or(err, c.box.write(c.sendNext))
	}
	defer h.leave(c)

	written := make(chan error, 1)
	go func() {
		err := c.box.write(c.sendNext)
		t.stop() // the reader may still wait
		written <- err
	}()
	var idle atomic.Pointer[time.Timer]
	idle.Store(time.AfterFunc(idleLimit, func() {
		if c.isHeard.Swap(false) {
			idle.Load().Reset(idleLimit)
			return
		}
		c.box.fail(fmt.Errorf("%w: nothing was heard for %s", allocator.ErrSessionEnded, idleLimit))
		time.AfterFunc(lastWords, t.abort) // it may not read either
	}))
	err := c.read()
	idle.Load().Stop()
	switch {
	case c.session == nil:
	case !h.detach(c.session.ID(), c):
	case c.isClosed:
		c.session.Close()
	default:
		c.session.Detach()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		c.box.fail(err)
	}
	c.box.end()
	hurry := time.AfterFunc(lastWords, t.abort)
	defer hurry.Stop()
	return cmp.Or(c.box.why, <-written)
}

// send sends a message past the outbox.
func (c *conversation) send(message []byte) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	return c.transport.send(message)
}

// sendNext sends what is in the outbox, if there is something.
func (c *conversation) sendNext() (last bool, err error) {
	c.sending.Lock()
	defer c.sending.Unlock()
	message, last := c.box.take()
	if len(message) == 0 {
		return last, nil
	}
	return last, c.transport.send(message)
}

// read takes messages until the stream ends. A panic is a bug of ours, and must not take the node down with it.
func (c *conversation) read() (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.h.log.Error("panic in a session's stream", "panic", p, "stack", stack())
			err = errInternal
		}
	}()
	for {
		m, err := c.transport.receive()
		if err != nil {
			return err
		}
		c.isHeard.Store(true)
		if address, err := c.elsewhere(m); err != nil {
			return err
		} else if address != "" {
			return c.relay(address, m)
		}
		if err := c.answer(m); err != nil || c.isClosed {
			return err
		}
	}
}

// answer does the operations of a message, and sends by itself what comes of them at once: to wake the writer for it would take
// longer. What comes later, and what others cause, is the writer's.
func (c *conversation) answer(m *allotv1.SessionRequest) error {
	c.box.hold()
	defer c.box.unhold()
	for _, op := range m.GetOperations() {
		if err := c.do(op); err != nil || c.isClosed {
			return err
		}
	}
	c.box.unhold()
	last, err := c.sendNext()
	if last {
		c.box.end() // the writer ends too
	}
	return err
}

// do does one operation. What goes wrong with one request is an event; an error ends the stream.
func (c *conversation) do(op *allotv1.Operation) error {
	if c.session == nil {
		return c.begin(op)
	}
	switch what := op.GetWhat().(type) {
	case *allotv1.Operation_Acquire:
		r, err := c.request(what.Acquire)
		if err == nil {
			err = c.session.Acquire(r)
		}
		if errors.Is(err, allocator.ErrUnknownSession) {
			return err
		}
		if err != nil {
			c.box.Refused(what.Acquire.GetId(), c.h.logged(err))
		}
	case *allotv1.Operation_Release:
		id, isQuiet := what.Release.GetId(), what.Release.GetQuiet()
		err := c.session.Release(id)
		switch {
		case errors.Is(err, allocator.ErrUnknownSession):
			return err
		case isQuiet:
		case err != nil:
			c.box.Lost(id, c.h.logged(err))
		default:
			c.box.released(id)
		}
	case *allotv1.Operation_Cancel:
		// A request that no longer waits has been answered already.
		if err := c.session.Cancel(what.Cancel); errors.Is(err, allocator.ErrUnknownSession) {
			return err
		}
	case *allotv1.Operation_KeepAlive:
		good := c.session.KeepAlive()
		if good <= 0 {
			return allocator.ErrUnknownSession
		}
		c.box.alive(what.KeepAlive.GetNumber(), good)
	case *allotv1.Operation_Where:
		c.where(what.Where)
	case *allotv1.Operation_Close:
		c.isClosed = true
	case *allotv1.Operation_Open, *allotv1.Operation_Resume:
		return errProtocol("the stream has its session already")
	default:
		return errProtocol("an operation of no known kind")
	}
	return nil
}

// begin opens or resumes a session: the first operation of every stream.
func (c *conversation) begin(op *allotv1.Operation) error {
	var err error
	var session Session
	switch what := op.GetWhat().(type) {
	case *allotv1.Operation_Open:
		var o allocator.SessionOptions
		if o, err = sessionOptions(what.Open.GetOwner(), what.Open.GetTtl(), c.caller); err == nil {
			session, err = c.h.backend.Open(o, c.box)
		}
	case *allotv1.Operation_Resume:
		// An earlier stream of the session that ends from now on must not detach it.
		id := what.Resume.GetSession()
		c.h.attach(id, c)
		if session, err = c.h.backend.Resume(id, c.caller.principal, c.box); err != nil {
			c.h.detach(id, c)
		}
	default:
		return errProtocol("a stream begins with open or resume")
	}
	if err != nil {
		return c.h.logged(err)
	}
	c.session = session
	c.h.attach(session.ID(), c)
	good := session.KeepAlive()
	if good <= 0 {
		return allocator.ErrUnknownSession
	}
	network := c.h.backend.Network()
	c.box.opened(&allotv1.Opened{
		Session: session.ID(), GoodFor: durationpb.New(good), Node: network.Node, Members: protoMembers(network.Members),
	})
	return nil
}

// sessionOptions looks at what a stranger wants a session to be.
func sessionOptions(owner string, ttl *durationpb.Duration, who caller) (o allocator.SessionOptions, err error) {
	if o.Owner, err = checkText("owner", owner, allocator.MaxName); err != nil {
		return o, err
	}
	o.TTL, err = duration("ttl", ttl, allocator.MinLease, maxTTL)
	o.Principal = who.principal
	return o, err
}

// request looks at what a stranger asks for.
func (c *conversation) request(ask *allotv1.Ask) (r allocator.Request, err error) {
	if !c.mayTake[ask.GetPool()] {
		if err := checkPoolName(ask.GetPool()); err != nil {
			return r, err
		}
		if err := c.h.allow(c.caller, access.Take, ask.GetPool()); err != nil {
			return r, err
		}
		if c.mayTake == nil || len(c.mayTake) > 1000 {
			c.mayTake = map[string]bool{}
		}
		c.mayTake[ask.GetPool()] = true
	}
	return newRequest(ask)
}

// newRequest looks at all of a request but its pool.
func newRequest(ask *allotv1.Ask) (r allocator.Request, err error) {
	if err := checkID("id", ask.GetId()); err != nil {
		return r, err
	}
	r.ID, r.Pool = ask.GetId(), ask.GetPool()
	if r.Units, err = checkUnits(ask.GetUnits()); err != nil {
		return r, err
	}
	if r.Reason, err = checkText("reason", ask.GetReason(), allocator.MaxReason); err != nil {
		return r, err
	}
	r.Wait, err = duration("wait", ask.GetWait(), -maxWait, maxWait)
	return r, err
}

// where looks up a place in the queue, which may take a question to other nodes, so it does not hold up the stream.
func (c *conversation) where(w *allotv1.Where) {
	if !c.isAsking.CompareAndSwap(false, true) {
		return
	}
	id, pool, session := w.GetId(), w.GetPool(), c.session.ID()
	c.asking.Go(func() {
		defer c.isAsking.Store(false)
		rows, err := c.h.backend.Waitings(c.ctx, pool)
		if err != nil {
			return // the client asks again
		}
		place := 0
		for _, row := range rows {
			if row.Session == session && row.ID == id {
				place = row.Place
			}
		}
		c.box.place(id, place)
	})
}
