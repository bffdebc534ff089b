// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"errors"
	"fmt"
	"time"
)

// Errors that callers tell apart. The API gives each a code of its own.
var (
	// ErrUnknownPool is returned when no pool has the name.
	ErrUnknownPool = errors.New("no such pool")
	// ErrPoolExists is returned when a pool of the name is there already.
	ErrPoolExists = errors.New("the pool exists already")
	// ErrUnknownSession is returned when a session has ended or never was.
	ErrUnknownSession = errors.New("no such session: it has ended, or never was")
	// ErrUnknownGrant is returned when a grant has ended or never was.
	ErrUnknownGrant = errors.New("no such grant: it has ended, or never was")
	// ErrNotNow is the outcome of a request that was not to wait, or whose wait limit has passed.
	ErrNotNow = errors.New("not acquired in time")
	// ErrCancelled is the outcome of a request that its client took back.
	ErrCancelled = errors.New("the request was cancelled")
	// ErrPoolDeleted is the outcome of a request or grant whose pool was deleted.
	ErrPoolDeleted = errors.New("the pool was deleted")
	// ErrLeaseLost is the reason of a loss: the node was not visited in time.
	ErrLeaseLost = errors.New("the lease ran out: the node was cut off from the others")
	// ErrSessionEnded is the reason of a loss: the client did not keep its session alive.
	ErrSessionEnded = errors.New("the session ended: the client was not heard of in time")
	// ErrEvicted is the reason of a loss: a person took the units back.
	ErrEvicted = errors.New("evicted")
	// ErrRepaired is the reason of a loss: a unit had two holders after a fault, and this one gave way.
	ErrRepaired = errors.New("a fault had given the unit to two holders, and this one gave way")
	// ErrLimit is returned when a limit of the node is reached.
	ErrLimit = errors.New("a limit of this node is reached")
	// ErrUnavailable is returned when the node is not part of a working network now.
	ErrUnavailable = errors.New("this node is not part of a working network now")
)

// ValueError is a value that makes no sense, such as a request for no unit at all.
type ValueError struct {
	Field   string // what the value is for
	Value   string
	Allowed string // what would be allowed
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Allowed)
}

// Limits of what a stranger can make a node keep.
const (
	MaxName     = 128     // bytes in the name of a pool, a session owner or a request
	MaxReason   = 512     // bytes in the reason of a request
	MaxUnits    = 1 << 16 // units in a pool
	MaxPools    = 1 << 16 // pools in a network
	MaxSessions = 1 << 16 // sessions at a node
	MaxWaiting  = 1 << 20 // requests waiting at a node
	MaxOpen     = 1 << 12 // requests and grants of one session
	MinLease    = time.Second
	MaxLease    = time.Hour
)

// Pool is the definition of a pool.
type Pool struct {
	Name  string
	Units int // ℓ: how many units there are, 1..MaxUnits
	Most  int // k: how many one request may take, 1..Units
	// Lease is how long a node that is cut off may go on using what it holds. After a crash of a node its units come back
	// when it has passed. 0 means DefaultLease.
	Lease time.Duration
	// Revision of the definition in the control plane.
	Revision uint64
}

// SessionOptions say what a session is.
type SessionOptions struct {
	// Owner names the client in lists, such as a host and a process. Any text up to MaxName bytes.
	Owner string
	// Principal is who was authenticated, empty if nobody had to be.
	Principal string
	// TTL is how long the session lives on without a word from the client. 0 means 5 seconds.
	TTL time.Duration
}

// Request asks for units.
type Request struct {
	// ID is chosen by the client, unique in its session: the same request again, after a lost reply, is the same request. It
	// names the grant too.
	ID     string
	Pool   string
	Units  int
	Reason string
	// Wait is how long to wait: 0 as long as it takes, less than 0 not at all.
	Wait time.Duration
}

// Unit of a pool in somebody's hands.
type Unit struct {
	Number int    // 0..Units-1
	Fence  uint64 // greater than every fence that was ever given for the unit
}

// Grant is what a request got.
type Grant struct {
	ID    string // of the request
	Pool  string
	Units []Unit // in increasing order
	// Fence is the greatest of the units' fences.
	Fence uint64
}

// Events tell a session what becomes of its requests and grants. They are called one at a time and must not block, nor call
// the session.
type Events interface {
	// Granted answers a request.
	Granted(Grant)
	// Refused answers a request that will not be granted.
	Refused(id string, why error)
	// Lost tells that a grant has ended before it was released. No other holder has been given its units yet.
	Lost(id string, why error)
}

// Holding is a row of the list of who holds what.
type Holding struct {
	Session, Owner, Principal string
	Node                      string
	Reason                    string
	Grant
	Since time.Duration // how long ago it was granted
	Good  time.Duration // how long it stays good unless it is renewed
}

// Waiting is a row of the list of who waits.
type Waiting struct {
	Session, Owner, Principal string
	Node                      string
	ID, Pool, Reason          string
	Units                     int
	Place                     int           // 1 is next at its node
	Since                     time.Duration // how long it has waited
}

// PoolStatus is how a pool stands, as far as one node can tell.
type PoolStatus struct {
	Pool
	Root       string
	Generation uint64
	// Stable is whether the last circulation of the controller found every unit exactly once.
	Stable                         bool
	Free, Held, InTransit, Missing int
	Waiting                        int // requests, at this node
	Grants                         uint64
	Lost                           uint64
	Visits                         uint64
}

// NetworkStatus is how the network stands, as seen by one node.
type NetworkStatus struct {
	Node       string
	Root       string
	Generation uint64
	Members    []Member // in the order in which the controllers visit them, the root first
	// Ready is whether this node is a member of the present generation, and not cut off from the control plane.
	Ready bool
}

// Member is a node that takes part.
type Member struct {
	Name string
	// Address of its API, for clients that look for another node.
	Address string
}
