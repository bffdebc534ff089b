// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	allotv1 "allot/api/v1"
)

// Client speaks for one party to a network. It is safe for several goroutines. It must be closed.
type Client struct {
	options   Options
	http      *http.Client
	start     time.Time // of the client's own clock
	ctx       context.Context
	cancel    context.CancelFunc
	running   sync.WaitGroup
	noUpgrade map[string]bool // of the goroutine that connects

	lazy chan struct{} // holds a token if somebody else is to flush
	kick chan struct{} // holds a token if the deadline has changed
	// deadline is until when the session is good, on the client's own clock. It is read without mu.
	deadline atomic.Int64

	mu        sync.Mutex
	isClosed  bool
	isStarted bool
	ended     chan struct{} // closed when the goroutine that connects has ended
	lastID    uint64
	lastErr   error // why there is no connection

	session   string // empty if there is none
	home      string // the address that the session is at
	node      string
	members   []string // addresses that nodes told of
	calls     map[string]*call
	grants    map[string]*Grant
	returns   map[string]chan struct{} // releases that are to be confirmed
	abandoned map[string]bool          // requests that were cancelled and not answered yet
	isOwing   bool                     // something was let go while there was no connection

	link      link // nil while there is no connection with a session on it
	pending   []byte
	cuts      []int // where in pending a new message begins, because a node takes none that is too large
	spare     []byte
	isWriting bool
	good      time.Duration // what the last keepalive was answered with
	lastBeat  uint64
	nextBeat  time.Duration
	beats     []beat // sent and not answered

	// These are filled in and encoded under mu, again and again.
	message  allotv1.SessionRequest
	op       allotv1.Operation
	ask      allotv1.Operation_Acquire
	giveBack allotv1.Operation_Release
}

// call is a request that waits for its outcome.
type call struct {
	id      string
	pool    string
	units   int
	reason  string
	wait    time.Duration
	onPlace func(place int)

	granted *Grant
	err     error
	done    chan struct{} // closed when granted or err is set
	place   chan int
}

// AcquireOption says more about what Acquire is to do.
type AcquireOption func(*call)

// WithReason states what the units are for. It is shown in lists, in at most 512 bytes.
func WithReason(reason string) AcquireOption { return func(a *call) { a.reason = reason } }

// WithWait limits how long to wait. Acquire then returns ErrNotNow. The end of the context works too; this is for callers
// that want to tell the two apart.
func WithWait(limit time.Duration) AcquireOption {
	return func(a *call) {
		if a.wait = limit; limit <= 0 {
			a.wait = -1
		}
	}
}

// WithPlace has a function called with the place in the queue of the node, 1 for the next, about once a second while Acquire
// waits. It is called by the goroutine that waits.
func WithPlace(tell func(place int)) AcquireOption { return func(a *call) { a.onPlace = tell } }

func newClient(o Options) (*Client, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	for _, a := range o.Addresses {
		if _, err := o.endpoint(a); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &Client{
		options: o, http: newHTTP(&o), start: time.Now(), ctx: ctx, cancel: cancel, noUpgrade: map[string]bool{},
		lazy: make(chan struct{}, 1), kick: make(chan struct{}, 1), ended: make(chan struct{}),
		calls: map[string]*call{}, grants: map[string]*Grant{}, returns: map[string]chan struct{}{}, abandoned: map[string]bool{},
		pending: make([]byte, headroom, 512), spare: make([]byte, headroom, 512),
	}
	c.message.Operations = []*allotv1.Operation{&c.op}
	c.ask.Acquire, c.giveBack.Release = &allotv1.Ask{}, &allotv1.Return{}
	return c, nil
}

// now is the client's own monotonic clock.
func (c *Client) now() time.Duration { return time.Since(c.start) }

// Acquire takes n units of a pool, and waits until they are to be had, the context ends, or the node says that they never
// will. A context that ends takes the request back at the node.
func (c *Client) Acquire(ctx context.Context, pool string, n int, options ...AcquireOption) (*Grant, error) {
	a := &call{pool: pool, units: n, done: make(chan struct{})}
	for _, option := range options {
		option(a)
	}
	switch {
	case len(pool) > maxName:
		return nil, &ValueError{Field: "pool", Value: pool[:maxName] + "...", Allowed: "at most 128 bytes"}
	case len(a.reason) > maxReason:
		return nil, &ValueError{Field: "reason", Value: a.reason[:maxName] + "...", Allowed: "at most 512 bytes"}
	case !utf8.ValidString(pool), !utf8.ValidString(a.reason):
		return nil, &ValueError{Field: "pool or reason", Value: pool, Allowed: "text in UTF-8"}
	}
	if n < 1 || n > 1<<16 {
		return nil, &ValueError{Field: "units", Value: strconv.Itoa(n), Allowed: "1 up to what the pool allows for one request"}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.submit(a); err != nil {
		return nil, err
	}
	return c.await(ctx, a)
}

// TryAcquire takes n units of a pool if they are to be had at once, and else returns ErrNotNow.
func (c *Client) TryAcquire(ctx context.Context, pool string, n int, options ...AcquireOption) (*Grant, error) {
	return c.Acquire(ctx, pool, n, append(options, WithWait(0))...)
}

// submit gives a request its id and sends it, now or when there is a connection.
func (c *Client) submit(a *call) error {
	if a.onPlace != nil {
		a.place = make(chan int, 1)
	}
	c.mu.Lock()
	if c.isClosed {
		c.mu.Unlock()
		return ErrClosed
	}
	c.begin()
	c.lastID++
	a.id = strconv.FormatUint(c.lastID, 36)
	c.calls[a.id] = a
	c.putAcquire(a)
	c.flush()
	return nil
}

// await waits for the outcome of a request.
func (c *Client) await(ctx context.Context, a *call) (*Grant, error) {
	if a.wait <= 0 && a.onPlace == nil { // the usual case
		select {
		case <-a.done:
			return a.granted, a.err
		case <-ctx.Done():
			return c.abandon(a, ctx.Err())
		}
	}
	var late, ask <-chan time.Time
	if a.wait > 0 {
		// The node counts too, and is to be first: it knows whether the units went out in the last moment.
		timer := time.NewTimer(a.wait + time.Second)
		defer timer.Stop()
		late = timer.C
	}
	if a.onPlace != nil {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		ask = ticker.C
		c.where(a)
	}
	for {
		select {
		case <-a.done:
			return a.granted, a.err
		case <-ctx.Done():
			return c.abandon(a, ctx.Err())
		case <-late:
			return c.abandon(a, nil)
		case <-ask:
			c.where(a)
		case place := <-a.place:
			a.onPlace(place)
		}
	}
}

func (c *Client) where(a *call) {
	c.mu.Lock()
	c.put(&allotv1.Operation{What: &allotv1.Operation_Where{Where: &allotv1.Where{Id: a.id, Pool: a.pool}}})
	c.flush()
}

// abandon takes a request back. If the outcome came first, it counts.
func (c *Client) abandon(a *call, cause error) (*Grant, error) {
	c.mu.Lock()
	if c.calls[a.id] != a {
		c.mu.Unlock()
		<-a.done
		return a.granted, a.err
	}
	delete(c.calls, a.id)
	if c.session != "" {
		c.abandoned[a.id] = true
		c.put(&allotv1.Operation{What: &allotv1.Operation_Cancel{Cancel: a.id}})
	}
	lastErr := c.lastErr
	c.flush()
	err := ErrNotNow
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		err = fmt.Errorf("%w: %w", ErrNotNow, cause)
	case cause != nil:
		err = cause
	}
	if lastErr != nil {
		err = fmt.Errorf("%w (%w)", err, lastErr)
	}
	return nil, err
}

// putAcquire encodes a request. The caller holds mu.
func (c *Client) putAcquire(a *call) {
	ask := c.ask.Acquire
	ask.Id, ask.Pool, ask.Units, ask.Reason, ask.Wait = a.id, a.pool, int32(a.units), a.reason, nil
	if a.wait != 0 {
		ask.Wait = durationpb.New(a.wait)
	}
	c.op.What = &c.ask
	c.encode()
}

// putReturn encodes a release. The caller holds mu.
func (c *Client) putReturn(id string, isQuiet bool) {
	c.giveBack.Release.Id, c.giveBack.Release.Quiet = id, isQuiet
	c.op.What = &c.giveBack
	c.encode()
}

// put encodes any operation. The caller holds mu.
func (c *Client) put(op *allotv1.Operation) {
	c.op.What = op.What
	c.encode()
}

// encode appends the operation that has been filled in to what is to be sent: one message after the other reads as one with
// all their operations. Without a connection nothing is kept, because a new one begins with all that is open.
func (c *Client) encode() {
	if c.link == nil {
		return
	}
	begin := headroom
	if len(c.cuts) > 0 {
		begin = c.cuts[len(c.cuts)-1]
	}
	if len(c.pending)-begin > maxBatch {
		c.cuts = append(c.cuts, len(c.pending))
	}
	out, err := proto.MarshalOptions{}.MarshalAppend(c.pending, &c.message)
	if err != nil { // a text that is no UTF-8: the node would not take it either
		c.link.close()
		return
	}
	c.pending = out
}

// flush sends what is pending, unless somebody does so already, who then sends this too. The caller holds mu, and flush lets
// go of it. No goroutine stands between the caller and the connection; what piles up while one sends goes out as one message.
func (c *Client) flush() {
	if c.isWriting {
		c.mu.Unlock()
		return
	}
	c.isWriting = true
	for c.link != nil && len(c.pending) > headroom {
		l, message, cuts := c.link, c.pending, c.cuts
		c.pending, c.spare, c.cuts = c.spare[:headroom], message, nil
		c.mu.Unlock()
		err := sendAll(l, message, cuts)
		c.mu.Lock()
		if err != nil {
			l.close() // the goroutine that receives notices, and connects again
			if c.link == l {
				break
			}
		}
	}
	c.isWriting = false
	c.mu.Unlock()
}

// sendAll sends one message after the other. What has been sent is headroom for the next.
func sendAll(l link, message []byte, cuts []int) error {
	begin := headroom
	for _, end := range cuts {
		if err := l.send(message[begin-headroom : end]); err != nil {
			return err
		}
		begin = end
	}
	return l.send(message[begin-headroom:])
}

// flushLater has another goroutine flush, as soon as there is nothing more urgent to do.
func (c *Client) flushLater() {
	select {
	case c.lazy <- struct{}{}:
	default:
	}
}

// unlock lets go of mu, and has another goroutine flush if there is something to send.
func (c *Client) unlock() {
	if len(c.pending) > headroom {
		c.flushLater()
	}
	c.mu.Unlock()
}

// begin starts the goroutines that keep the session. The caller holds mu.
func (c *Client) begin() {
	if c.isStarted {
		return
	}
	c.isStarted = true
	c.running.Go(c.run)
	c.running.Go(c.keep)
	c.running.Go(func() {
		for {
			select {
			case <-c.lazy:
				c.mu.Lock()
				c.flush()
			case <-c.ctx.Done():
				return
			}
		}
	})
}

// goodbye is how long Close waits for the node to take note.
const goodbye = time.Second

// Close ends the session. Its grants are given back at once, and requests that wait return ErrClosed.
func (c *Client) Close() {
	c.mu.Lock()
	if c.isClosed {
		c.mu.Unlock()
		c.running.Wait()
		return
	}
	c.isClosed = true
	for id, a := range c.calls {
		delete(c.calls, id)
		a.settle(nil, ErrClosed)
	}
	isConnected, isStarted := c.link != nil, c.isStarted
	c.put(&allotv1.Operation{What: &allotv1.Operation_Close{Close: &allotv1.Goodbye{}}})
	c.flush()
	if isConnected {
		// A connection that is closed before the node has read all of it may take the goodbye with it.
		timer := time.NewTimer(goodbye)
		select {
		case <-c.ended:
		case <-timer.C:
		}
		timer.Stop()
	}
	c.cancel()
	c.mu.Lock()
	c.endSession(ErrClosed)
	if c.link != nil {
		c.link.close()
	}
	c.mu.Unlock()
	if isStarted {
		c.running.Wait()
	}
	c.http.CloseIdleConnections()
}

// settle tells the goroutine that waits.
func (a *call) settle(g *Grant, err error) {
	a.granted, a.err = g, err
	close(a.done)
}
