// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"allot/node"
)

// store is the control plane on a JetStream bucket.
//
// Writes are compared and stored by the server that leads the bucket, and acknowledged when a majority has them on disk. A
// read makes a write of its own, to a key that only this node uses, and waits until it sees that in the copy: the copy then
// holds everything that was written before the read began. NATS itself can only be asked directly, and a leader that has
// been cut off without knowing it answers with what it last knew. Reads that wait at the same time share a write.
type store struct {
	bus     *Bus
	bucket  *bucket
	replica *replica
	writes  atomic.Uint64 // numbers of our writes, for telling repetitions

	wake chan struct{} // tells run that there is a next round
	mu   sync.Mutex
	next *round // reads that wait for the write after the current one
}

// round is a write that several reads share.
type round struct {
	done     chan struct{}
	revision uint64
	err      error
}

func newStore(b *Bus) *store {
	k := newBucket(b)
	return &store{bus: b, bucket: k, replica: newReplica(b, k), wake: make(chan struct{}, 1)}
}

// Get returns the value and revision of a key, or node.ErrNotFound. It sees every write that was acknowledged before the
// call, by whichever node.
func (s *store) Get(ctx context.Context, key string) (node.Entry, error) {
	if err := checkKey(key); err != nil {
		return node.Entry{}, err
	}
	if err := s.sync(ctx); err != nil {
		return node.Entry{}, fmt.Errorf("reading %q: %w", key, err)
	}
	e, ok := s.replica.get(key)
	if !ok || e.IsDeleted {
		return node.Entry{}, fmt.Errorf("reading %q: %w", key, node.ErrNotFound)
	}
	e.Value = bytes.Clone(e.Value)
	return e, nil
}

// Create writes a key that has no value, or returns node.ErrConflict. After node.ErrUnavailable the write may have
// happened or not, as with all writes.
func (s *store) Create(ctx context.Context, key string, value []byte) (uint64, error) {
	if err := check(key, value); err != nil {
		return 0, err
	}
	// A removed key has the revision of its removal until the record of that is gone, of which nobody is told.
	e, _ := s.replica.get(key)
	expected := e.Revision
	for try := 0; ; try++ {
		if expected == 0 || e.IsDeleted {
			revision, err := s.write(ctx, key, value, expected, false)
			if err == nil || try == 3 || !errors.Is(err, node.ErrConflict) {
				return revision, wrap("creating", key, err)
			}
		}
		if err := s.sync(ctx); err != nil {
			return 0, wrap("creating", key, err)
		}
		e, _ = s.replica.get(key)
		switch {
		case e.Revision != 0 && !e.IsDeleted:
			return 0, wrap("creating", key, node.ErrConflict)
		case e.Revision == expected:
			expected = 0
		default:
			expected = e.Revision
		}
	}
}

// Update writes a key whose revision is still the given one, or returns node.ErrConflict.
func (s *store) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := check(key, value); err != nil {
		return 0, err
	}
	if revision == 0 {
		return 0, wrap("writing", key, node.ErrConflict) // no value has revision 0
	}
	next, err := s.write(ctx, key, value, revision, false)
	return next, wrap("writing", key, err)
}

// Delete removes a key whose revision is still the given one, or returns node.ErrConflict.
func (s *store) Delete(ctx context.Context, key string, revision uint64) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if revision == 0 {
		return wrap("removing", key, node.ErrConflict)
	}
	_, err := s.write(ctx, key, nil, revision, true)
	return wrap("removing", key, err)
}

// Watch calls handle for every present entry whose key begins with prefix, then once with an entry whose Key is empty, and
// then for every change. It returns the context's error when that ends, or ErrClosed. Changes of one key that come faster
// than handle takes them are told as one.
func (s *store) Watch(ctx context.Context, prefix string, handle func(node.Entry)) error {
	if err := s.ready(ctx); err != nil {
		return s.over(ctx)
	}
	w, present := s.replica.watch(prefix)
	defer s.replica.unwatch(w)
	tell := func(all []node.Entry) error {
		for _, e := range all {
			if err := s.over(ctx); err != nil {
				return err
			}
			e.Value = bytes.Clone(e.Value)
			handle(e)
		}
		return nil
	}
	if err := tell(append(present, node.Entry{})); err != nil {
		return err
	}
	for {
		select {
		case <-w.wake:
		case <-ctx.Done():
		case <-s.bus.ctx.Done():
		}
		if err := s.over(ctx); err != nil {
			return err
		}
		if err := tell(w.take()); err != nil {
			return err
		}
	}
}

// ready syncs, again and again until the context or the bus end.
func (s *store) ready(ctx context.Context) error {
	for {
		err := s.sync(ctx)
		if err == nil || s.over(ctx) != nil {
			return err
		}
		sleep(ctx, 50*time.Millisecond)
	}
}

// over is the reason why a watch ends.
func (s *store) over(ctx context.Context) error {
	if s.bus.ctx.Err() != nil {
		return ErrClosed
	}
	return ctx.Err()
}

// sync makes sure that the copy holds everything that was written before the call.
func (s *store) sync(ctx context.Context) error {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	s.mu.Lock()
	if s.next == nil {
		s.next = &round{done: make(chan struct{})}
	}
	r := s.next
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}

	select {
	case <-r.done:
	case <-ctx.Done():
		return s.unavailable(ctx, nil)
	}
	if r.err != nil {
		return r.err
	}
	if err := s.replica.wait(ctx, r.revision); err != nil {
		return s.unavailable(ctx, nil)
	}
	return nil
}

// run writes once for all reads that wait.
func (s *store) run(ctx context.Context) {
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		r := s.next
		s.next = nil
		s.mu.Unlock()
		if r != nil {
			r.revision, r.err = s.publish(ctx, nats.NewMsg(s.bucket.prefix+"=sync/"+escape(s.bus.o.Node)))
			close(r.done)
		}
	}
}

// write stores a value, or the removal, of a key whose revision is the given one.
func (s *store) write(ctx context.Context, key string, value []byte, revision uint64, isRemoval bool) (uint64, error) {
	m := nats.NewMsg(s.bucket.prefix + escape(key))
	m.Data = value
	m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(revision, 10))
	if isRemoval {
		m.Header.Set(headerOperation, "DEL")
		m.Header.Set(jetstream.MsgTTLHeader, markerLife.String())
	}
	return s.publish(ctx, m)
}

// publish stores a message and waits until it is acknowledged. It repeats the same message when no answer comes, which NATS
// recognises by its number: so the answer to a repetition is the answer to the first.
func (s *store) publish(ctx context.Context, m *nats.Msg) (uint64, error) {
	ctx, cancel := s.limit(ctx)
	defer cancel()
	m.Header.Set(jetstream.MsgIDHeader, fmt.Sprintf("%x-%d", s.bus.life, s.writes.Add(1)))
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 250*time.Millisecond) {
		try, cancel := context.WithTimeout(ctx, time.Second)
		ack, err := s.bus.js.PublishMsg(try, m, jetstream.WithRetryAttempts(0))
		cancel()
		if err == nil {
			return ack.Sequence, nil
		}
		switch code := codeOf(err); {
		case code == jetstream.JSErrCodeStreamWrongLastSequence || code == jetstream.JSErrCodeStreamWrongLastSequenceConstant:
			return 0, node.ErrConflict
		case code == errCodeStoreFailed:
			return 0, fmt.Errorf("the store is full or broken: %w", err)
		case code != 0 && code != errCodeClusterNotAvailable && code != errCodeNoPeers && code != errCodeInsufficient && code != errCodeDuplicateUnderWay:
			return 0, err
		}
		if s.bus.ctx.Err() != nil || !sleep(ctx, wait) {
			return 0, s.unavailable(ctx, err)
		}
	}
}

// limit gives an operation its time, and ends it with the bus.
func (s *store) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, s.bus.o.Timeout)
	stop := context.AfterFunc(s.bus.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// unavailable says why an operation ended without an answer.
func (s *store) unavailable(ctx context.Context, err error) error {
	if s.bus.ctx.Err() != nil {
		return fmt.Errorf("%w: %w", node.ErrUnavailable, ErrClosed)
	}
	if problem := s.bucket.problem(); problem != nil {
		err = problem
	}
	if err == nil {
		return fmt.Errorf("%w: %w", node.ErrUnavailable, ctx.Err())
	}
	return fmt.Errorf("%w: %w: %w", node.ErrUnavailable, ctx.Err(), err)
}

func wrap(what, key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", what, key, err)
}

func check(key string, value []byte) error {
	if len(value) > MaxValue {
		return fmt.Errorf("the value of %q with %d bytes is %w: at most %d", key, len(value), ErrTooLarge, MaxValue)
	}
	return checkKey(key)
}

func checkKey(key string) error {
	if key == "" {
		return errors.New("a key is not empty")
	}
	if len(key) > MaxKey {
		return fmt.Errorf("a key of %d bytes is %w: at most %d", len(key), ErrTooLarge, MaxKey)
	}
	return nil
}
