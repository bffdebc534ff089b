// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"time"

	"allot/node"
)

// Errors of a Fabric.
var (
	// ErrClosed is returned when the fabric has been closed.
	ErrClosed = errors.New("the fabric is closed")
	// ErrName is returned when a node sends to itself or to nobody.
	ErrName = errors.New("no other node has this name")
	// ErrTooLarge is returned when a frame is larger than the limit.
	ErrTooLarge = errors.New("too large")
)

// Fabric is one node's end of a Network.
type Fabric struct {
	net  *Network
	name string

	// Guarded by the lock of the network.
	queue    deliveries
	isHeard  bool // Receive was called
	isClosed bool

	wake   chan struct{} // the queue or isClosed changed
	closed chan struct{}
	done   chan struct{} // the handler is not called any more
}

var _ node.Fabric = (*Fabric)(nil)

func newFabric(n *Network, name string) *Fabric {
	return &Fabric{net: n, name: name, wake: make(chan struct{}, 1), closed: make(chan struct{}), done: make(chan struct{})}
}

// Self is the name of this node.
func (f *Fabric) Self() string { return f.name }

// Send puts a frame on the link to another node.
func (f *Fabric) Send(to string, frame []byte) error {
	if to == "" || to == f.name {
		return fmt.Errorf("%w: %q", ErrName, to)
	}
	if len(frame) > f.net.o.MaxFrame {
		return fmt.Errorf("a frame of %d bytes is %w: at most %d", len(frame), ErrTooLarge, f.net.o.MaxFrame)
	}
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	if f.isClosed {
		return ErrClosed
	}
	f.net.send(link{f.name, to}, bytes.Clone(frame))
	return nil
}

// Receive says what to do with frames that arrive. Frames that came before are handled too.
func (f *Fabric) Receive(handle func(from string, frame []byte)) error {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	if f.isClosed {
		return ErrClosed
	}
	if f.isHeard {
		return errors.New("Receive is called once")
	}
	f.isHeard = true
	go f.run(handle)
	return nil
}

// Store is the control plane.
func (f *Fabric) Store() node.Store { return (*store)(f) }

// Peers lists the nodes that this one is connected to now, in alphabetical order.
func (f *Fabric) Peers() []string {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	var all []string
	for name := range f.net.open {
		if name != f.name && f.net.isConnected(f.name, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// Close ends it, as a crash would: frames that are under way to it are lost. It waits for the handler, which must not call
// it.
func (f *Fabric) Close() error {
	f.net.mu.Lock()
	isFirst, isHeard := !f.isClosed, f.isHeard
	if isFirst {
		f.isClosed = true
		close(f.closed)
		delete(f.net.open, f.name)
		for _, d := range f.queue {
			f.net.lose(f.net.state(d.link))
		}
		f.queue = nil
		for l, s := range f.net.links {
			if l.to != f.name {
				continue
			}
			for range s.held {
				f.net.lose(s)
			}
			s.held = nil
		}
		f.net.change()
	}
	f.net.mu.Unlock()
	if isHeard {
		<-f.done
	}
	return nil
}

func (f *Fabric) put(d delivery) {
	heap.Push(&f.queue, d)
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// run hands frames to the handler when their time has come.
func (f *Fabric) run(handle func(from string, frame []byte)) {
	defer close(f.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		d, wait, ok := f.next()
		if ok {
			handle(d.link.from, d.frame)
			continue
		}
		timer.Reset(wait)
		select {
		case <-f.closed:
			return
		case <-f.wake:
		case <-timer.C:
		}
	}
}

// next takes the next frame, or tells how long to wait for it.
func (f *Fabric) next() (d delivery, wait time.Duration, ok bool) {
	n := f.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(f.queue) > 0 {
		if wait := time.Until(f.queue[0].at); wait > 0 {
			return delivery{}, wait, false
		}
		d := heap.Pop(&f.queue).(delivery)
		s := n.state(d.link)
		if s.isCut {
			n.lose(s)
			continue
		}
		s.stats.Delivered++
		n.stats.Delivered++
		return d, 0, true
	}
	return delivery{}, time.Hour, false
}

// deliveries is a heap, the next one first.
type deliveries []delivery

func (q deliveries) Len() int { return len(q) }
func (q deliveries) Less(i, j int) bool {
	if !q[i].at.Equal(q[j].at) {
		return q[i].at.Before(q[j].at)
	}
	return q[i].order < q[j].order
}
func (q deliveries) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *deliveries) Push(x any)   { *q = append(*q, x.(delivery)) }
func (q *deliveries) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = delivery{}
	*q = old[:len(old)-1]
	return last
}
