// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"allot/allocator"
	allotv1 "allot/api/v1"
)

const (
	// headroom is what a transport may put before the body of a message without copying it.
	headroom = 16
	// maxPending is how many bytes of events may wait for a client that does not read. The stream then ends; its session and
	// its grants do not, and a client that reads again can resume.
	maxPending = 1 << 20
	// maxKept is the size of a buffer that is kept for the next time.
	maxKept = 64 << 10
)

// outbox collects the events of a stream in encoded form, so that the one writer of the stream sends all of them as one
// message. It works because protobuf allows it: one message after the other reads as one message with all their events.
type outbox struct {
	wake chan struct{} // holds one token if there is something for the writer to do

	mu       sync.Mutex
	pending  []byte // headroom and a SessionResponse
	spare    []byte
	isOpened bool  // nothing is sent before the answer to open or resume
	isEnded  bool  // the writer ends when pending is sent
	isHeld   bool  // the reader of the stream is about to send by itself, so the writer need not be woken
	why      error // what ended it, if anything did; read it when the writer has ended

	// These are filled in and encoded under mu, again and again.
	message allotv1.SessionResponse
	event   allotv1.Event
	granted allotv1.Event_Granted
	grants  func() // counts
	full    func() // is called once when too much is waiting; must not block
}

func newOutbox(grants, full func()) *outbox {
	o := &outbox{wake: make(chan struct{}, 1), pending: make([]byte, headroom, 512), spare: make([]byte, headroom, 512), grants: grants, full: full}
	o.message.Events = []*allotv1.Event{&o.event}
	o.granted.Granted = &allotv1.Grant{}
	return o
}

// Granted implements allocator.Events.
func (o *outbox) Granted(g allocator.Grant) {
	o.mu.Lock()
	fillGrant(o.granted.Granted, g)
	o.event.What = &o.granted
	o.put()
	o.mu.Unlock()
	o.grants()
}

// Refused implements allocator.Events.
func (o *outbox) Refused(id string, why error) {
	problem, _ := problemOf(why)
	o.add(&allotv1.Event{What: &allotv1.Event_Refused{Refused: &allotv1.Bad{Id: printable(id, allocator.MaxName), Problem: problem}}})
}

// Lost implements allocator.Events.
func (o *outbox) Lost(id string, why error) {
	problem, _ := problemOf(why)
	o.add(&allotv1.Event{What: &allotv1.Event_Lost{Lost: &allotv1.Bad{Id: printable(id, allocator.MaxName), Problem: problem}}})
}

func (o *outbox) released(id string) {
	o.add(&allotv1.Event{What: &allotv1.Event_Released{Released: id}})
}

func (o *outbox) alive(number uint64, good time.Duration) {
	o.add(&allotv1.Event{What: &allotv1.Event_Alive{Alive: &allotv1.Alive{Number: number, GoodFor: durationpb.New(good)}}})
}

func (o *outbox) place(id string, place int) {
	o.add(&allotv1.Event{What: &allotv1.Event_Place{Place: &allotv1.Place{Id: id, Place: int32(place)}}})
}

func (o *outbox) add(e *allotv1.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.event.What = e.What
	o.put()
}

// put encodes the event that has been filled in. The caller holds mu.
func (o *outbox) put() {
	if o.isEnded {
		return
	}
	// It cannot fail: strings from outside were decoded as UTF-8, and ours are.
	out, err := proto.MarshalOptions{}.MarshalAppend(o.pending, &o.message)
	if err != nil || len(out) > maxPending {
		o.isEnded = true
		o.full()
		o.why = fmt.Errorf("%w: %d bytes of events were not read", allocator.ErrLimit, maxPending)
	} else {
		o.pending = out
	}
	o.notify()
}

// notify wakes the writer. The caller holds mu.
func (o *outbox) notify() {
	if o.isHeld && !o.isEnded {
		return
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// opened lets the events out, the answer to open or resume first.
func (o *outbox) opened(answer *allotv1.Opened) {
	o.mu.Lock()
	defer o.mu.Unlock()
	early := append([]byte(nil), o.pending[headroom:]...)
	o.pending = o.pending[:headroom]
	o.event.What = &allotv1.Event_Opened{Opened: answer}
	o.put()
	o.pending = append(o.pending, early...)
	o.isOpened = true
	o.notify()
}

// fail says why the stream ends, and ends it.
func (o *outbox) fail(why error) {
	problem, _ := problemOf(why)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.isEnded {
		return
	}
	o.event.What = &allotv1.Event_Failed{Failed: problem}
	o.put()
	o.isOpened, o.isEnded, o.why = true, true, why
	o.notify()
}

// end lets the writer send what there is, and no more.
func (o *outbox) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.isEnded = true
	o.notify()
}

// hold says that the reader of the stream does something now and will take what comes of it.
func (o *outbox) hold() {
	o.mu.Lock()
	o.isHeld = true
	o.mu.Unlock()
}

// unhold ends hold.
func (o *outbox) unhold() {
	o.mu.Lock()
	o.isHeld = false
	o.mu.Unlock()
}

// take returns what there is to send, as headroom and body, and whether it is the last. The result is good until the next
// take, so that whoever takes sends before another takes.
func (o *outbox) take() (message []byte, last bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.isOpened || len(o.pending) == headroom {
		return nil, o.isEnded
	}
	message = o.pending
	o.pending, o.spare = o.spare[:headroom], message
	if cap(o.spare) > maxKept {
		o.spare = make([]byte, headroom, 512)
	}
	return message, o.isEnded
}

// write is the writer of a stream. It sends whenever it is woken, until the last message.
func (o *outbox) write(sendNext func() (last bool, err error)) error {
	for range o.wake {
		if last, err := sendNext(); err != nil || last {
			return err
		}
	}
	return nil
}
