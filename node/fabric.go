// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
)

// Errors of a Store.
var (
	// ErrNotFound is returned when a key has no value.
	ErrNotFound = errors.New("not found")
	// ErrConflict is returned when a key was changed by somebody else since it was read.
	ErrConflict = errors.New("changed by somebody else in the meantime")
	// ErrUnavailable is returned when the store cannot be reached, or has no majority.
	ErrUnavailable = errors.New("the control plane is not available")
)

// Fabric carries frames between nodes and holds the control plane. It is an interface because the tests of the service run
// over a fabric in memory that loses, delays and cuts on demand, and production over NATS.
type Fabric interface {
	// Self is the name of this node.
	Self() string
	// Send puts a frame on the link to another node. Frames from one node to another arrive in order, or not at all. Send does
	// not wait and does not keep the frame.
	Send(to string, frame []byte) error
	// Receive says what to do with frames that arrive. It is called once, before the first frame. Calls of handle come one
	// after the other for the frames of one node; handle must not keep the frame.
	Receive(handle func(from string, frame []byte)) error
	// Store is the control plane.
	Store() Store
	// Close ends it. Frames that are under way may be lost.
	Close() error
}

// Store is a small replicated key-value store for what changes rarely. Once a write has been acknowledged, it is not lost,
// and reads see it.
type Store interface {
	// Get returns the value and revision of a key, or ErrNotFound.
	Get(ctx context.Context, key string) (Entry, error)
	// Create writes a key that has no value, or returns ErrConflict.
	Create(ctx context.Context, key string, value []byte) (revision uint64, err error)
	// Update writes a key whose revision is still the given one, or returns ErrConflict.
	Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
	// Delete removes a key whose revision is still the given one, or returns ErrConflict.
	Delete(ctx context.Context, key string, revision uint64) error
	// Watch calls handle for every present entry whose key begins with prefix, then once with an entry whose Key is empty, and
	// then for every change, until the context ends, whose error it returns, or the fabric is closed. After a lost connection
	// it goes on where it was. Changes of one key that come faster than handle takes them may be told as one. handle is called
	// by one goroutine at a time.
	Watch(ctx context.Context, prefix string, handle func(Entry)) error
}

// Entry is a key with its value.
type Entry struct {
	Key      string
	Value    []byte // nil if IsDeleted
	Revision uint64 // grows with every write to the store
	// IsDeleted marks the removal of a key.
	IsDeleted bool
}
