// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// bucket is the JetStream key-value bucket of a network: the stream KV_<network> with a subject for each key, as other NATS
// tools expect it. It is made by whoever comes first.
type bucket struct {
	bus    *Bus
	stream string
	prefix string // of the subjects
	failed atomic.Pointer[error]
}

// markerLife is how long the record of a removal is kept. It only matters to those who follow the store at the time; who
// comes later compares with what is there.
const markerLife = 10 * time.Minute

// Errors of the JetStream API that have no name in the client.
const (
	errCodeClusterNotAvailable jetstream.ErrorCode = 10008
	errCodeNoPeers             jetstream.ErrorCode = 10005
	errCodeInsufficient        jetstream.ErrorCode = 10023
	errCodeReplicasNoCluster   jetstream.ErrorCode = 10074
	errCodeStoreFailed         jetstream.ErrorCode = 10077
	errCodeDuplicateUnderWay   jetstream.ErrorCode = 10158
)

func newBucket(b *Bus) *bucket {
	return &bucket{bus: b, stream: "KV_" + b.o.Network, prefix: "$KV." + b.o.Network + "."}
}

func (k *bucket) config(replicas int) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:              k.stream,
		Description:       "the control plane of an allot network",
		Subjects:          []string{k.prefix + ">"},
		Storage:           jetstream.FileStorage,
		Replicas:          replicas,
		MaxMsgsPerSubject: 1,
		MaxBytes:          maxBucket,
		MaxMsgSize:        MaxValue + 4096, // and headers
		Discard:           jetstream.DiscardNew,
		Duplicates:        2 * time.Minute,
		DenyDelete:        true,
		AllowRollup:       true,
		AllowMsgTTL:       true,
		// A direct read is answered by any copy, however old.
		AllowDirect: false,
	}
}

// open finds the bucket or makes it. It tries until the context ends.
func (k *bucket) open(ctx context.Context) (jetstream.Stream, error) {
	replicas := k.wanted()
	// A cluster without a leader does not answer at all, so the first questions are given little time.
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, 500*time.Millisecond) {
		try, cancel := context.WithTimeout(ctx, min(20*wait, k.bus.o.Timeout))
		s, err := k.bus.js.Stream(try, k.stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			s, err = k.bus.js.CreateStream(try, k.config(replicas))
		}
		cancel()
		if err == nil {
			k.failed.Store(nil)
			return s, nil
		}
		err = fmt.Errorf("opening the bucket %s: %w", k.stream, err)
		k.failed.Store(&err)
		// An existing NATS that is no cluster has one copy. A cluster that lacks servers now is waited for instead, because
		// fewer copies than were promised would be a silent loss.
		if codeOf(err) == errCodeReplicasNoCluster && k.bus.o.Replicas == 0 && k.bus.server == nil {
			replicas = 1
		}
		if !sleep(ctx, wait) {
			return nil, err
		}
	}
}

// problem is why the bucket could not be opened, or nil.
func (k *bucket) problem() error {
	if err := k.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// wanted is how many copies there should be as far as the options tell.
func (k *bucket) wanted() int {
	o := &k.bus.o
	switch {
	case o.Replicas > 0:
		return o.Replicas
	case k.bus.server == nil:
		return 3
	default:
		return copies(k.bus.server.o.founders())
	}
}

// copies is how many of some nodes keep the store.
func copies(nodes int) int {
	n := min(nodes, maxReplicas)
	if n > 2 && n%2 == 0 {
		n--
	}
	return max(n, 1)
}

// tend adds copies when nodes have joined. The one server that leads the cluster does it, and it never takes copies away: a
// node that is not there may come back.
func (k *bucket) tend(ctx context.Context) {
	for sleep(ctx, 2*time.Second) {
		if err := k.grow(ctx); err != nil && ctx.Err() == nil {
			k.bus.log.Warn("adding copies of the store", "node", k.bus.o.Node, "error", err)
		}
	}
}

func (k *bucket) grow(ctx context.Context) error {
	s := k.bus.server.nats
	if !s.JetStreamIsLeader() {
		return nil
	}
	// NATS lists those that are there and have told how much room they have.
	there := len(s.JetStreamClusterPeers())
	want := copies(there)
	if k.bus.o.Replicas > 0 {
		want = min(k.bus.o.Replicas, there)
	}
	ctx, cancel := context.WithTimeout(ctx, k.bus.o.Timeout)
	defer cancel()
	stream, err := k.bus.js.Stream(ctx, k.stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	c := stream.CachedInfo().Config
	if c.Replicas >= want {
		return nil
	}
	c.Replicas = want
	if _, err := k.bus.js.UpdateStream(ctx, c); err != nil {
		return err
	}
	k.bus.log.Info("the store has more copies", "node", k.bus.o.Node, "copies", want)
	return nil
}

// codeOf is the code that JetStream gave an error, or 0.
func codeOf(err error) jetstream.ErrorCode {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.ErrorCode
	}
	var js jetstream.JetStreamError
	if errors.As(err, &js) && js.APIError() != nil {
		return js.APIError().ErrorCode
	}
	return 0
}

// sleep waits, and tells whether the context goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
