// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"allot/node"
)

// replica is a copy of the whole store in memory, kept up to date by following the bucket. One consumer serves any number
// of watches, and reads that need no more than what was written before them.
//
// After any trouble it reads everything anew and compares, instead of going on at a number: the store is small, and so
// removals whose record is gone, and even another bucket in the place of the first, are seen for what they are.
type replica struct {
	bus    *Bus
	bucket *bucket

	mu       sync.Mutex
	created  time.Time // of the bucket
	entries  map[string]node.Entry
	applied  uint64        // the revision up to which entries is complete, once isSynced
	isSynced bool          // everything was read once
	advanced chan struct{} // closed and replaced whenever applied or isSynced change
	watchers map[*watcher]struct{}
	removals []removal // in the order of their times
}

// removal is a removed key that is still in entries.
type removal struct {
	key      string
	revision uint64
	at       time.Time
}

func newReplica(b *Bus, k *bucket) *replica {
	return &replica{
		bus: b, bucket: k,
		entries:  map[string]node.Entry{},
		advanced: make(chan struct{}),
		watchers: map[*watcher]struct{}{},
	}
}

const heartbeat = time.Second

var errGap = errors.New("a message is missing")

// run follows until the context ends.
func (r *replica) run(ctx context.Context) {
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		start := time.Now()
		err := r.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(start) > 10*time.Second {
			wait = 10 * time.Millisecond
		}
		r.bus.counters.resyncs.Add(1)
		r.bus.log.Debug("following the store anew", "node", r.bus.o.Node, "error", err)
		if !sleep(ctx, wait) {
			return
		}
	}
}

// follow reads everything and then every change, until something goes wrong.
func (r *replica) follow(ctx context.Context) error {
	stream, err := r.bucket.open(ctx)
	if err != nil {
		return err
	}
	start, cancel := context.WithTimeout(ctx, r.bus.o.Timeout)
	defer cancel()
	c, err := stream.CreateConsumer(start, jetstream.ConsumerConfig{
		Description:       "the copy of the store at " + r.bus.o.Node,
		DeliverPolicy:     jetstream.DeliverLastPerSubjectPolicy,
		FilterSubject:     r.bucket.prefix + ">",
		AckPolicy:         jetstream.AckNonePolicy,
		MemoryStorage:     true,
		Replicas:          1,
		InactiveThreshold: time.Minute,
	})
	if err != nil {
		return fmt.Errorf("following the store: %w", err)
	}
	messages, err := c.Messages(jetstream.PullHeartbeat(heartbeat), jetstream.PullExpiry(30*time.Second))
	if err != nil {
		return fmt.Errorf("following the store: %w", err)
	}
	defer messages.Stop()
	stop := context.AfterFunc(ctx, messages.Stop)
	defer stop()

	r.begin(stream.CachedInfo().Created)
	seen := map[string]bool{}
	pending := c.CachedInfo().NumPending
	if pending == 0 {
		r.finish(seen, 0)
		seen = nil
	}
	for next := uint64(1); ; next++ {
		m, err := messages.Next()
		if err != nil {
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		if meta.Sequence.Consumer != next {
			return errGap
		}
		key := r.apply(m, meta.Sequence.Stream)
		if seen == nil {
			r.advance(meta.Sequence.Stream)
			continue
		}
		if key != "" {
			seen[key] = true
		}
		if next >= pending {
			r.finish(seen, meta.Sequence.Stream)
			seen = nil
		}
	}
}

// begin starts to read everything. Another bucket than before has revisions of its own.
func (r *replica) begin(created time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.created.Equal(created) {
		return
	}
	for key, e := range r.entries {
		e.Revision = 0
		r.entries[key] = e
	}
	r.created, r.applied, r.isSynced = created, 0, false
}

// finish ends reading everything: what was not seen is gone.
func (r *replica) finish(seen map[string]bool, revision uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, e := range r.entries {
		if seen[key] {
			continue
		}
		delete(r.entries, key)
		if !e.IsDeleted {
			r.tell(node.Entry{Key: key, Revision: max(revision, e.Revision), IsDeleted: true})
		}
	}
	r.isSynced = true
	r.advanceLocked(revision)
}

func (r *replica) advance(revision uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.advanceLocked(revision)
}

func (r *replica) advanceLocked(revision uint64) {
	r.applied = max(r.applied, revision)
	close(r.advanced)
	r.advanced = make(chan struct{})
}

// apply takes one message in. It returns the key, or nothing if it is not one of ours.
func (r *replica) apply(m jetstream.Msg, revision uint64) string {
	key, ok := unescape(strings.TrimPrefix(m.Subject(), r.bucket.prefix))
	if !ok || key == "" {
		return ""
	}
	e := node.Entry{Key: key, Revision: revision}
	if isRemoval(m.Headers()) {
		e.IsDeleted = true
	} else {
		e.Value = m.Data()
		if e.Value == nil {
			e.Value = []byte{}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	old, isKnown := r.entries[key]
	if isKnown && old.Revision >= revision {
		return key
	}
	r.entries[key] = e
	if e.IsDeleted {
		r.forget(removal{key, revision, time.Now()})
	}
	if !e.IsDeleted || isKnown && !old.IsDeleted {
		r.tell(e)
	}
	return key
}

// forget remembers a removal, whose revision matters to Create, and drops those that NATS has dropped too.
func (r *replica) forget(next removal) {
	r.removals = append(r.removals, next)
	for len(r.removals) > 0 && next.at.Sub(r.removals[0].at) > markerLife {
		old := r.removals[0]
		r.removals = r.removals[1:]
		if e := r.entries[old.key]; e.IsDeleted && e.Revision == old.revision {
			delete(r.entries, old.key)
		}
	}
}

// isRemoval tells whether a message stands for the removal of its key, by us, by another tool or by NATS itself.
func isRemoval(h nats.Header) bool {
	return h.Get(headerOperation) != "" || h.Get("Nats-Marker-Reason") != ""
}

const headerOperation = "KV-Operation"

// tell hands a change to the watchers. The lock is held.
func (r *replica) tell(e node.Entry) {
	for w := range r.watchers {
		w.put(e)
	}
}

// get returns what is known of a key.
func (r *replica) get(key string) (node.Entry, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.entries[key]
	return e, ok
}

// wait waits until all revisions up to one are there.
func (r *replica) wait(ctx context.Context, revision uint64) error {
	for {
		r.mu.Lock()
		ok, advanced := r.isSynced && r.applied >= revision, r.advanced
		r.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-advanced:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// watcher waits for changes of keys with a prefix. It keeps the last change of each key only, so that a slow reader costs
// no more than the store itself.
type watcher struct {
	prefix string
	wake   chan struct{}

	mu      sync.Mutex
	changes map[string]node.Entry
}

// watch begins a watch: it returns the entries that are there, in the order of their revisions.
func (r *replica) watch(prefix string) (*watcher, []node.Entry) {
	w := &watcher{prefix: prefix, wake: make(chan struct{}, 1), changes: map[string]node.Entry{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	var present []node.Entry
	for key, e := range r.entries {
		if !e.IsDeleted && strings.HasPrefix(key, prefix) {
			present = append(present, e)
		}
	}
	r.watchers[w] = struct{}{}
	slices.SortFunc(present, byRevision)
	return w, present
}

func (r *replica) unwatch(w *watcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.watchers, w)
}

func (w *watcher) put(e node.Entry) {
	if !strings.HasPrefix(e.Key, w.prefix) {
		return
	}
	w.mu.Lock()
	w.changes[e.Key] = e
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take returns the changes since the last call, in the order of their revisions.
func (w *watcher) take() []node.Entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []node.Entry
	for _, e := range w.changes {
		all = append(all, e)
	}
	clear(w.changes)
	slices.SortFunc(all, byRevision)
	return all
}

func byRevision(a, b node.Entry) int {
	return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Key, b.Key))
}
