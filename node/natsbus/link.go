// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"
)

const (
	// batchBytes is how large a message may grow by frames that wait together. It is no limit for a single frame.
	batchBytes = 32 << 10
	// maxSenders bounds how many nodes a node remembers, whatever names strangers make up.
	maxSenders = 1 << 12
)

// linkSubject is where a node listens.
func (b *Bus) linkSubject(name string) string {
	return b.o.Network + ".link." + escape(name)
}

// outbox collects frames and sends them from one goroutine, so that Send never waits for the connection. Frames to one node
// that wait at the same time share a message: under load that saves most of the work on the way, and alone a frame waits for
// nobody.
type outbox struct {
	bus  *Bus
	wake chan struct{}

	mu     sync.Mutex
	links  map[string]*outgoing
	queue  []message
	queued int // bytes in queue
	spare  [][]byte
}

// outgoing is the sending end of a link.
type outgoing struct {
	subject string
	next    uint64 // the number of the next frame
	// open is the place in the queue, plus one, of a message that can take more frames; 0 if there is none.
	open int
}

// message is an envelope on its way.
type message struct {
	link   *outgoing
	data   []byte
	frames int
}

func newOutbox(b *Bus) *outbox {
	return &outbox{bus: b, wake: make(chan struct{}, 1), links: map[string]*outgoing{}}
}

func (o *outbox) send(to string, frame []byte) error {
	b := o.bus
	if len(frame) > b.maxFrame {
		return fmt.Errorf("a frame of %d bytes is %w: at most %d", len(frame), ErrTooLarge, b.maxFrame)
	}
	if b.ctx.Err() != nil {
		return ErrClosed
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	link := o.links[to]
	if link == nil {
		if !isName(to) || to == b.o.Node || len(o.links) >= maxSenders {
			return fmt.Errorf("%w: %.80q", ErrName, to)
		}
		link = &outgoing{subject: b.linkSubject(to), next: 1}
		o.links[to] = link
	}
	if o.queued+len(frame) > maxQueued {
		b.counters.overflow.Add(1)
		return ErrOverflow
	}
	before := 0
	if link.open == 0 || len(o.queue[link.open-1].data)+len(frame) > batchBytes {
		o.queue = append(o.queue, message{link: link, data: appendHeader(o.buffer(), b.o.Node, b.life, link.next)})
		link.open = len(o.queue)
	} else {
		before = len(o.queue[link.open-1].data)
	}
	m := &o.queue[link.open-1]
	m.data = appendFrame(m.data, frame)
	m.frames++
	link.next++
	o.queued += len(m.data) - before
	b.counters.framesOut.Add(1)
	b.counters.bytesOut.Add(uint64(len(frame)))
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return nil
}

// buffer takes a used one if there is.
func (o *outbox) buffer() []byte {
	if n := len(o.spare); n > 0 {
		b := o.spare[n-1]
		o.spare = o.spare[:n-1]
		return b
	}
	return make([]byte, 0, 512)
}

// run sends what is in the queue until the bus is closed.
func (o *outbox) run(ctx context.Context) {
	var batch []message
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		}
		o.mu.Lock()
		batch, o.queue = o.queue, batch[:0]
		for _, m := range batch {
			m.link.open = 0
		}
		o.mu.Unlock()

		sent := 0
		for _, m := range batch {
			sent += len(m.data)
			if err := o.bus.nc.Publish(m.link.subject, m.data); err != nil {
				o.bus.counters.failed.Add(1)
				continue
			}
			o.bus.counters.messagesOut.Add(1)
		}
		o.mu.Lock()
		o.queued -= sent
		for i, m := range batch {
			if cap(m.data) <= 2*batchBytes && len(o.spare) < 64 {
				o.spare = append(o.spare, m.data[:0])
			}
			batch[i] = message{}
		}
		o.mu.Unlock()
	}
}

func (o *outbox) queuedBytes() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.queued
}

// inbox receives. All its frames come through one goroutine of the NATS client.
type inbox struct {
	bus     *Bus
	senders map[string]*sender // of the one goroutine

	mu      sync.Mutex
	sub     *nats.Subscription
	slow    int           // messages that the client dropped, as far as we counted them
	handled chan struct{} // closed when no call of the handler can come any more
}

func newInbox(b *Bus) *inbox {
	return &inbox{bus: b, senders: map[string]*sender{}}
}

func (i *inbox) receive(handle func(from string, frame []byte)) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.sub != nil {
		return errors.New("Receive is called once")
	}
	b := i.bus
	sub, err := b.nc.Subscribe(b.linkSubject(b.o.Node), func(m *nats.Msg) { i.onMessage(m.Data, handle) })
	if err != nil {
		return fmt.Errorf("receiving frames: %w", err)
	}
	if err := sub.SetPendingLimits(-1, maxQueued); err != nil {
		return fmt.Errorf("receiving frames: %w", err)
	}
	i.sub, i.handled = sub, make(chan struct{})
	sub.SetClosedHandler(func(string) { close(i.handled) })
	// Whatever is sent after this call returned can arrive.
	ctx, cancel := context.WithTimeout(b.ctx, b.o.Timeout)
	defer cancel()
	if err := b.nc.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("receiving frames: %w", err)
	}
	return nil
}

func (i *inbox) onMessage(data []byte, handle func(from string, frame []byte)) {
	b := i.bus
	if b.ctx.Err() != nil {
		return
	}
	b.counters.messagesIn.Add(1)
	e, err := parseEnvelope(data)
	if err != nil || e.from == b.o.Node {
		b.counters.unreadable.Add(1)
		return
	}
	from := i.senders[e.from]
	if from == nil {
		if len(i.senders) >= maxSenders {
			b.counters.unknown.Add(1)
			return
		}
		from = &sender{}
		i.senders[e.from] = from
	}
	skip, lost := from.accept(e.life, e.first, e.count)
	b.counters.late.Add(skip)
	b.counters.missing.Add(lost)
	for n, rest := uint64(0), e.rest; n < e.count; n++ {
		var frame []byte
		frame, rest, _ = cutFrame(rest)
		if n < skip {
			continue
		}
		b.counters.framesIn.Add(1)
		b.counters.bytesIn.Add(uint64(len(frame)))
		handle(e.from, frame)
	}
}

// onSlow counts what the client dropped.
func (i *inbox) onSlow(sub *nats.Subscription) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if sub != i.sub {
		return
	}
	if n, err := sub.Dropped(); err == nil && n > i.slow {
		i.bus.counters.overflow.Add(uint64(n - i.slow))
		i.slow = n
	}
}

// wait waits until the last call of the handler has returned.
func (i *inbox) wait() {
	i.mu.Lock()
	handled := i.handled
	i.mu.Unlock()
	if handled != nil {
		<-handled
	}
}
