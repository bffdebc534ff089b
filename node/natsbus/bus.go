// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"allot/node"
)

// Errors of a Bus.
var (
	// ErrClosed is returned when the bus has been closed.
	ErrClosed = errors.New("the bus is closed")
	// ErrName is returned when no node can have the name.
	ErrName = errors.New("no node can have this name")
	// ErrTooLarge is returned when a frame, a key or a value is larger than the limit.
	ErrTooLarge = errors.New("too large")
	// ErrOverflow is returned when a frame was dropped because too many wait to be sent.
	ErrOverflow = errors.New("too many frames wait to be sent")
)

// Bus is a node's fabric on NATS. It is safe for several goroutines.
type Bus struct {
	o      Options
	log    *slog.Logger
	server *Server // nil with an existing NATS
	isOurs bool    // the server is closed with the bus
	nc     *nats.Conn
	js     jetstream.JetStream

	life     uint64 // drawn at random: a node that restarts begins another
	maxFrame int
	out      *outbox
	in       *inbox
	store    *store
	counters counters

	ctx    context.Context // ends with the bus
	cancel context.CancelCauseFunc
	work   sync.WaitGroup
	once   sync.Once
	err    error
}

var _ node.Fabric = (*Bus)(nil)

// Open connects a node: to an existing NATS, to a shared embedded server, or to an embedded server of its own that it
// starts. It does not wait for other nodes; the store returns node.ErrUnavailable until enough of them are there, and
// Ready waits for that.
func Open(ctx context.Context, o Options) (*Bus, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("node on NATS: %w", err)
	}
	b := &Bus{o: o, log: o.Log, server: o.Server, life: random()}
	if o.URL == "" && o.Server == nil {
		e := o.Embed
		if e.Name == "" {
			e.Name = o.Node
		}
		if e.ClusterName == "" {
			e.ClusterName = o.Network
		}
		if e.Log == nil {
			e.Log = o.Log
		}
		s, err := StartServer(ctx, e)
		if err != nil {
			return nil, err
		}
		b.server, b.isOurs = s, true
	}
	b.ctx, b.cancel = context.WithCancelCause(context.Background())
	if err := b.connect(); err != nil {
		b.cancel(ErrClosed)
		if b.isOurs {
			_ = b.server.Close()
		}
		return nil, fmt.Errorf("node on NATS: %w", err)
	}
	if b.server != nil {
		b.server.enter(o.Node)
	}
	b.maxFrame = min(MaxFrame, int(b.nc.MaxPayload())-envelopeOverhead)
	b.out, b.in = newOutbox(b), newInbox(b)
	b.store = newStore(b)
	b.run(b.out.run)
	b.run(b.store.run)
	b.run(b.store.replica.run)
	if b.server != nil && !b.server.isAlone() {
		b.run(b.store.bucket.tend)
	}
	return b, nil
}

func (b *Bus) run(f func(context.Context)) {
	b.work.Go(func() { f(b.ctx) })
}

func (b *Bus) connect() error {
	options := []nats.Option{
		nats.Name("allot " + b.o.Network + "/" + b.o.Node),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(100 * time.Millisecond),
		nats.ReconnectJitter(100*time.Millisecond, 500*time.Millisecond),
		nats.PingInterval(2 * time.Second),
		nats.MaxPingsOutstanding(3),
		nats.Timeout(b.o.Timeout),
		// What was not sent when the connection broke is lost, as the links allow: late frames are worth less than none.
		nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if b.ctx.Err() == nil {
				b.counters.disconnects.Add(1)
				b.log.Warn("the connection to NATS broke", "node", b.o.Node, "error", err)
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { b.log.Info("connected to NATS again", "node", b.o.Node) }),
		nats.ErrorHandler(b.onError),
	}
	if b.server != nil {
		options = append(options, b.server.connection()...)
	} else {
		access, err := b.o.Access.options()
		if err != nil {
			return err
		}
		options = append(options, access...)
	}
	nc, err := nats.Connect(b.o.URL, options...)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", b.where(), err)
	}
	if !nc.HeadersSupported() {
		nc.Close()
		return fmt.Errorf("%s is too old: it knows no headers", b.where())
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return err
	}
	b.nc, b.js = nc, js
	return nil
}

func (b *Bus) where() string {
	if b.server != nil {
		return "the embedded NATS server"
	}
	return "NATS"
}

// options translates the credentials.
func (a Access) options() ([]nats.Option, error) {
	var options []nats.Option
	switch {
	case a.CredsFile != "":
		options = append(options, nats.UserCredentials(a.CredsFile))
	case a.Token != "":
		options = append(options, nats.Token(a.Token))
	case a.User != "":
		options = append(options, nats.UserInfo(a.User, a.Password))
	}
	t, err := a.TLS.client()
	if err != nil {
		return nil, err
	}
	if t != nil {
		options = append(options, nats.Secure(t))
	}
	return options, nil
}

// onError hears of what goes wrong in the background.
func (b *Bus) onError(_ *nats.Conn, sub *nats.Subscription, err error) {
	if b.ctx.Err() != nil {
		return
	}
	if errors.Is(err, nats.ErrSlowConsumer) && sub != nil {
		b.in.onSlow(sub)
		return
	}
	b.log.Warn("error of the connection to NATS", "node", b.o.Node, "error", err)
}

// Self is the name of this node.
func (b *Bus) Self() string { return b.o.Node }

// Store is the control plane, see the package comment for what it promises.
func (b *Bus) Store() node.Store { return b.store }

// Send puts a frame on the link to another node. It copies the frame and returns at once. Frames that are sent in quick
// succession travel together.
func (b *Bus) Send(to string, frame []byte) error { return b.out.send(to, frame) }

// Receive says what to do with frames that arrive. handle is called by one goroutine.
func (b *Bus) Receive(handle func(from string, frame []byte)) error { return b.in.receive(handle) }

// Ready waits until the store works, which needs a majority of the nodes that keep it. When the context ends before, it
// returns node.ErrUnavailable with the reason. It makes a small write, so that what it says is true now.
func (b *Bus) Ready(ctx context.Context) error { return b.store.ready(ctx) }

// Peers lists the nodes that this one is connected to now, in alphabetical order: those of the same process and those
// whose servers are connected. With an existing NATS it is not known, and nil.
func (b *Bus) Peers() []string {
	if b.server == nil {
		return nil
	}
	return b.server.peers(b.o.Node)
}

// Close ends it. Frames that are under way may be lost. It waits for the handler of frames, which must not call it.
func (b *Bus) Close() error {
	b.once.Do(func() {
		b.cancel(ErrClosed)
		b.nc.Close()
		b.work.Wait()
		b.in.wait()
		if b.server != nil {
			b.server.leave(b.o.Node)
		}
		if b.isOurs {
			b.err = b.server.Close()
		}
	})
	return b.err
}

// Metrics are numbers that only grow, except Queued.
type Metrics struct {
	FramesOut, BytesOut uint64 // frames that were sent, and their bytes
	FramesIn, BytesIn   uint64 // frames that were given to the handler, and their bytes
	MessagesOut         uint64 // NATS messages that the frames travelled in
	MessagesIn          uint64

	Unreadable uint64 // messages that were no envelope of a node, or of a node with an odd name
	Unknown    uint64 // messages dropped because more nodes than maxSenders have sent something
	Late       uint64 // frames dropped because later ones had come before
	Missing    uint64 // frames that never came, as far as the numbers of later ones tell
	Overflow   uint64 // frames not sent, or messages not handled, because too many waited
	Failed     uint64 // messages that could not be sent, such as without a connection

	Disconnects uint64 // how often the connection to NATS broke
	Resyncs     uint64 // how often the copy of the store was read anew
	Queued      int    // bytes that wait to be sent now
}

type counters struct {
	framesOut, bytesOut, messagesOut atomic.Uint64
	framesIn, bytesIn, messagesIn    atomic.Uint64
	unreadable, unknown              atomic.Uint64
	late, missing, overflow, failed  atomic.Uint64
	disconnects, resyncs             atomic.Uint64
}

// Metrics reads the counters.
func (b *Bus) Metrics() Metrics {
	c := &b.counters
	return Metrics{
		FramesOut: c.framesOut.Load(), BytesOut: c.bytesOut.Load(), MessagesOut: c.messagesOut.Load(),
		FramesIn: c.framesIn.Load(), BytesIn: c.bytesIn.Load(), MessagesIn: c.messagesIn.Load(),
		Unreadable: c.unreadable.Load(), Unknown: c.unknown.Load(),
		Late: c.late.Load(), Missing: c.missing.Load(), Overflow: c.overflow.Load(), Failed: c.failed.Load(),
		Disconnects: c.disconnects.Load(), Resyncs: c.resyncs.Load(),
		Queued: b.out.queuedBytes(),
	}
}

// random draws a number that is not 0.
func random() uint64 {
	for {
		var raw [8]byte
		_, _ = rand.Read(raw[:]) // never fails
		if n := binary.BigEndian.Uint64(raw[:]); n != 0 {
			return n
		}
	}
}
