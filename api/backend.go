// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"time"

	"allot/allocator"
)

// Backend is what the API needs from a node. All methods are safe for several goroutines.
type Backend interface {
	// CreatePool defines a pool, or returns ErrPoolExists, ErrLimit or a ValueError.
	CreatePool(ctx context.Context, p allocator.Pool) (allocator.Pool, error)
	// ResizePool changes a pool; 0 leaves a number as it is. Growing is immediate, shrinking waits for units to come home.
	ResizePool(ctx context.Context, name string, units, most int) (allocator.Pool, error)
	DeletePool(ctx context.Context, name string) error
	Pool(name string) (allocator.PoolStatus, error)
	Pools() []allocator.PoolStatus

	// Open begins a session, whose events go to e. They come one at a time, and e neither blocks nor calls the session.
	Open(o allocator.SessionOptions, e allocator.Events) (Session, error)
	// Resume goes on with a session whose stream broke, or returns ErrUnknownSession. The principal must be the one that
	// opened it. Events from now on go to e, and no longer to the one before; before Resume returns, e has been told again of
	// every grant that the session still has, and requests that waited go on waiting. The API calls Detach for a stream only
	// while no other has resumed its session.
	Resume(id string, principal string, e allocator.Events) (Session, error)

	// Holdings and Waitings are those of all nodes. An empty name means all pools.
	Holdings(ctx context.Context, pool string) ([]allocator.Holding, error)
	Waitings(ctx context.Context, pool string) ([]allocator.Waiting, error)
	// Evict ends a grant, named as node/session/id. Its holder is told with ErrEvicted.
	Evict(ctx context.Context, grant string, by, reason string) error

	Network() allocator.NetworkStatus
}

// Session is a client's life at a node.
type Session interface {
	ID() string
	// Acquire asks for units; the outcome comes as an event, perhaps before Acquire returns. After an error there is no event.
	// A request that is known by its ID already is the same request: if it was granted, it is told again.
	Acquire(r allocator.Request) error
	// Cancel takes a waiting request back; it is then refused with ErrCancelled. Nothing happens to one that does not wait.
	Cancel(id string) error
	// Release gives a grant back, or returns ErrUnknownGrant.
	Release(id string) error
	// KeepAlive gives the session another TTL. It returns how long the session's grants stay good at least, counted from when
	// the client sent its word; that includes grants that are made before the next KeepAlive. It returns 0 when the session
	// has ended.
	KeepAlive() time.Duration
	// Detach tells that the stream is gone. The session lives on for its TTL and can be resumed.
	Detach()
	// Close ends the session. Its grants are given back at once, without events.
	Close()
}

// Audit is told of what must be on record: evictions and changes of pools.
type Audit interface {
	// Record is called after the deed, once for each, also for those that failed.
	Record(ctx context.Context, d Deed)
}

// Deed is an entry of the audit record.
type Deed struct {
	Who     string // the principal; empty if callers need not be known
	Peer    string // the address of the caller
	What    string // create, resize, delete, evict, release
	Pool    string
	Grant   string // for evict and release: node/session/id
	Holder  string // for evict and release: the owner of the session
	Reason  string
	Details string // such as the new size
	Err     error  // nil if it was done
}
