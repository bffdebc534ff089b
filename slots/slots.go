// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"fmt"

	"allot/protocol/slots"
)

// Options of Slots. K must be given.
type Options struct {
	// K is how many slots there are, 1 to MaxSeats.
	K int
	// Seats is how many goroutines compete at once; the others wait for a seat in order. Zero means K+4. More seats make
	// Acquire slower under contention, and none make it fairer.
	Seats int
	// Algorithm is one of those in allot/protocol/slots. Empty means the tournament, which is the fastest for every
	// number of seats.
	Algorithm string
}

// MaxSeats bounds Options.Seats.
const MaxSeats = slots.MaxProcesses

// spareSeats is how many goroutines compete for a slot by default when all are held.
const spareSeats = 4

func (o Options) validate() (Options, error) {
	if o.Algorithm == "" {
		o.Algorithm = slots.GTEX
	}
	if o.K < 1 || o.K > MaxSeats {
		return o, fmt.Errorf("slots: there must be 1 to %d slots, not %d", MaxSeats, o.K)
	}
	if o.Seats == 0 {
		o.Seats = min(o.K+spareSeats, MaxSeats)
	}
	if o.Seats < 1 || o.Seats > MaxSeats {
		return o, fmt.Errorf("slots: there must be 1 to %d seats, not %d", MaxSeats, o.Seats)
	}
	return o, nil
}

// Slots are k slots that goroutines share. Its methods may be called by any number of goroutines. It must not be copied.
type Slots struct {
	k       int
	machine *slots.Machine
	memory  memory
	seats   seating
	seat    []seat
}

// New makes k slots. It panics if k is not 1 to MaxSeats, because that is a mistake in the program.
func New(k int) *Slots {
	s, err := NewWith(Options{K: k})
	if err != nil {
		panic(err)
	}
	return s
}

// NewWith makes slots with options.
func NewWith(o Options) (*Slots, error) {
	o, err := o.validate()
	if err != nil {
		return nil, err
	}
	m, err := slots.New(slots.Config{Algorithm: o.Algorithm, N: o.Seats, K: o.K, Express: true, Names: true, Cancel: true, Try: true})
	if err != nil {
		return nil, fmt.Errorf("slots: %w", err)
	}
	s := &Slots{k: o.K, machine: m, seat: make([]seat, o.Seats)}
	s.memory.init(m)
	s.seats.init(o.Seats)
	for i := range s.seat {
		at := &s.seat[i]
		at.number, at.rounds, at.wake = i, m.Course(i), make(chan struct{}, 1)
	}
	return s, nil
}

// K is the number of slots.
func (s *Slots) K() int { return s.k }

// Slot is a slot that is held. Its zero value is none.
type Slot struct {
	slots *Slots
	seat  *seat
	term  uint64 // which of the seat's terms it is
}

// Acquire waits for a slot. The error is that of the context, if that ended first; then nothing is held.
func (s *Slots) Acquire(ctx context.Context) (Slot, error) {
	if err := ctx.Err(); err != nil {
		return Slot{}, err
	}
	number, ok := s.seats.take()
	if !ok {
		var err error
		if number, err = s.seats.wait(ctx); err != nil {
			return Slot{}, err
		}
	}
	at := &s.seat[number]
	if !s.memory.express(at) {
		if err := s.compete(ctx, at); err != nil {
			s.seats.put(number)
			return Slot{}, err
		}
	}
	return Slot{slots: s, seat: at, term: at.term}, nil
}

// TryAcquire takes a slot if it need not wait. It fails if all slots are held, and also while somebody waits or
// competes for one.
func (s *Slots) TryAcquire() (Slot, bool) {
	number, ok := s.seats.take()
	if !ok {
		return Slot{}, false
	}
	at := &s.seat[number]
	if s.memory.express(at) {
		return Slot{slots: s, seat: at, term: at.term}, true
	}
	if at.level > 0 {
		s.lower(at)
	}
	s.seats.put(number)
	return Slot{}, false
}

// Release lets the slot go. Any goroutine may do it. It panics if the slot is not held, because then somebody else may
// believe to hold it.
func (h Slot) Release() {
	if h.seat == nil || h.seat.term != h.term {
		panic("slots: released a slot that is not held")
	}
	s, at := h.slots, h.seat
	at.term++
	if at.hasName {
		s.memory.names[at.name].Store(0)
		at.hasName = false
	}
	s.lower(at)
	s.memory.lane.Add(^uint64(0))
	s.seats.put(at.number)
}

// Number of the slot, 0..K-1. While it is held no other held slot has it, and it stays the same. The number is chosen
// when it is first asked for. It must not be called by several goroutines at once for the same slot.
func (h Slot) Number() int {
	if h.seat == nil || h.seat.term != h.term {
		panic("slots: asked for the number of a slot that is not held")
	}
	if !h.seat.hasName {
		h.slots.takeName(h.seat)
	}
	return h.seat.name
}
