// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"allot/node"
	"allot/protocol/pool"
	"allot/protocol/reign"
)

// Options of an Allocator.
type Options struct {
	// Fabric carries its frames and holds the control plane.
	Fabric node.Fabric
	// Now is a clock that only goes forward, from any start. It is read before everything that happens.
	Now func() time.Duration
	// Life is a number that no earlier run of this node had.
	Life uint64
	// Address of this node's API, for clients of other nodes.
	Address string
	// Reign is how long the root of the network may act without the control plane, and about how long the network is without
	// a root after it has crashed. 0 means 2 seconds.
	Reign time.Duration
	// Observe is told what happens. It must not block nor call the Allocator; nil is allowed.
	Observe func(Event)
}

// Event is something that happened at this node, for logs, metrics and the dashboard.
type Event struct {
	Kind    EventKind
	Pool    string
	Session string
	Owner   string
	Grant   string
	Units   []Unit
	Wait    time.Duration // EventGranted: how long it waited
	Why     error         // EventRefused, EventLost
	Text    string
	// Generation and Members of the network.
	Generation int64
	Members    []Member
}

// EventKind is what happened.
type EventKind uint8

// The kinds.
const (
	EventWaiting EventKind = iota
	EventGranted
	EventReleased
	EventRefused
	EventLost
	EventVisit // the controller was here
	EventGeneration
	EventPool // a pool was created, changed or deleted
)

// tick is the unit of time of the protocols.
const tick = time.Millisecond

// Allocator is the part of one node that decides. All methods are safe for several goroutines.
type Allocator struct {
	options Options
	self    string
	store   node.Store
	timers  timers

	mu       sync.RWMutex
	pools    map[string]*seat // by name
	byID     map[uint64]*seat
	sessions map[string]*Session
	sequence uint64 // for identities
	waiting  atomic.Int64
	shortest atomic.Int64 // lease of any pool

	network network
	asks    asks
}

// New makes an Allocator that has not started.
func New(o Options) (*Allocator, error) {
	if o.Fabric == nil || o.Now == nil {
		return nil, fmt.Errorf("allocator: it needs a fabric and a clock")
	}
	if o.Reign == 0 {
		o.Reign = 2 * time.Second
	}
	if o.Reign < 100*time.Millisecond || o.Reign > time.Minute {
		return nil, &ValueError{Field: "reign", Value: o.Reign.String(), Allowed: "it must be 100ms to 1m"}
	}
	a := &Allocator{options: o, self: o.Fabric.Self(), store: o.Fabric.Store(), pools: map[string]*seat{}, byID: map[uint64]*seat{},
		sessions: map[string]*Session{}}
	a.shortest.Store(int64(MaxLease))
	a.asks.open = map[uint64]chan []byte{}
	r := int32(o.Reign / tick)
	a.network.init(a, reign.Options{Reign: r, Margin: drift(r), Touch: r / 4, Silence: r * 3 / 4, Stagger: r / 8})
	return a, nil
}

// drift is how much two clocks may differ over so many ticks: 2 in 100, and two ticks for counting in whole ones.
func drift(ticks int32) int32 { return ticks/50 + 2 }

// Start listens to the fabric and the control plane until the context ends. It returns when the pools are known.
func (a *Allocator) Start(ctx context.Context) error {
	if err := a.options.Fabric.Receive(a.onFrame); err != nil {
		return fmt.Errorf("allocator: %w", err)
	}
	known := make(chan struct{})
	failed := make(chan error, 1)
	go func() {
		isKnown := false
		failed <- a.store.Watch(ctx, "", func(e node.Entry) {
			if e.Key == "" {
				if !isKnown {
					isKnown = true
					a.network.known()
					close(known)
				}
				return
			}
			a.onEntry(e)
		})
	}()
	select {
	case <-known:
		a.auditLater()
		return nil
	case err := <-failed:
		return fmt.Errorf("allocator: watching the control plane: %w", err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// auditTime is how often the machines are reminded of what they may have forgotten.
const auditTime = 5 * time.Second

func (a *Allocator) auditLater() {
	a.timers.set(a.now()+int64(auditTime/tick), func(int64) {
		for _, s := range a.seats() {
			s.audit()
		}
		a.auditLater()
	})
}

// now is the present time in ticks.
func (a *Allocator) now() int64 { return int64(a.options.Now() / tick) }

// Tick does what is due. The caller calls it every few milliseconds.
func (a *Allocator) Tick() {
	now := a.now()
	a.network.advance(now)
	a.timers.run(now)
}

// Keys of the control plane.
const (
	recordKey  = "network"
	poolPrefix = "pool/"
)

func (a *Allocator) onEntry(e node.Entry) {
	switch {
	case e.Key == recordKey:
		a.network.onEntry(e)
	case len(e.Key) > len(poolPrefix) && e.Key[:len(poolPrefix)] == poolPrefix:
		a.onPool(e)
	}
}

func (a *Allocator) observe(e Event) {
	if a.options.Observe != nil {
		a.options.Observe(e)
	}
}

// nextID is a number that no other node, and no other life of this one, has given.
func (a *Allocator) nextID() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sequence++
	return mix(a.options.Life + a.sequence)
}

// mix spreads a number over all bits, one to one.
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// Network is how the network stands.
func (a *Allocator) Network() NetworkStatus { return a.network.status() }

func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("allocator: a value of ours cannot be written as JSON: " + err.Error())
	}
	return data
}

// poolOptions are the options of a pool's machine.
func poolOptions(p Pool) pool.Options {
	lease := int32(p.Lease / tick)
	return pool.Options{
		Units: int32(p.Units), Lease: lease, Margin: drift(lease), Pace: lease / 4, Audit: 30_000, Patience: max(20, min(lease/16, 250)),
		Turns: 64, Quantum: 5, Passes: 16, Burst: 1 << 20, FenceShift: pool.FenceBits,
	}
}
