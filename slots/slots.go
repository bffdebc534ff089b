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
	// Seats is how many goroutines hold a slot or compete for one at once, at least K+1; the others wait for a seat in order.
	// Zero means K+2. More seats mean more rounds for whoever has to wait, and nobody is served any fairer.
	Seats int
	// Algorithm is EXCL or GTEX of allot/protocol/slots. Empty means the tournament, GTEX, which is the faster one or the
	// same for every number of seats.
	Algorithm string
}

// MaxSeats bounds Options.Seats.
const MaxSeats = slots.MaxProcesses

// spareSeats is how many goroutines compete for a slot by default when all are held: one to get in next and one on its
// way behind it, while the others sleep in the queue.
const spareSeats = 2

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
	o.Seats = max(o.Seats, o.K+1)
	return o, nil
}

// Slots are k slots that goroutines share. Its methods may be called by any number of goroutines. It must not be copied.
type Slots struct {
	k       int
	machine *slots.Counted
	memory  memory
	holds   []hold // by name
	gates   []int  // the turn registers of the rounds in which holders are counted
	seats   seating
	seat    []seat
}

// hold is what is known of the slot with a name. It belongs to whoever holds it.
type hold struct {
	term   uint64 // grows with every release
	name   int
	share  uint64 // what the holder has added to the lane
	isOver bool   // the name is not a bit of the lane
	_      [32]byte
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
	m, err := slots.NewCounted(slots.Config{Algorithm: o.Algorithm, N: o.Seats, K: o.K, Seats: o.Seats - o.K, Cancel: true})
	if err != nil {
		return nil, fmt.Errorf("slots: %w", err)
	}
	s := &Slots{k: o.K, machine: m, gates: m.Gates(), holds: make([]hold, o.K), seat: make([]seat, m.Seats)}
	s.memory.init(m)
	s.seats.init(m.Seats)
	for i := range s.holds {
		s.holds[i] = hold{name: i, share: m.Share(uint64(i)), isOver: i >= m.Bits}
	}
	for i := range s.seat {
		s.seat[i].number, s.seat[i].rounds, s.seat[i].wake = i, m.Course(i), make(chan struct{}, 1)
	}
	return s, nil
}

// K is the number of slots.
func (s *Slots) K() int { return s.k }

// Slot is a slot that is held. Its zero value is none.
type Slot struct {
	slots *Slots
	hold  *hold
	term  uint64 // which of the hold's terms it is
}

func (s *Slots) slot(name int) Slot {
	h := &s.holds[name]
	return Slot{slots: s, hold: h, term: h.term}
}

// How often a swap is tried before somebody waits or turns away although the lane was open each time.
const (
	acquireTries = 8
	tryTries     = 1 << 20
)

// Acquire waits for a slot. The error is that of the context, if that ended first; then nothing is held.
func (s *Slots) Acquire(ctx context.Context) (Slot, error) {
	if err := ctx.Err(); err != nil {
		return Slot{}, err
	}
	if name, ok := s.memory.joinBit(); ok {
		return s.slot(name), nil
	}
	return s.acquire(ctx)
}

func (s *Slots) acquire(ctx context.Context) (Slot, error) {
	name, ok := s.memory.join(acquireTries)
	if !ok {
		var err error
		if name, err = s.compete(ctx); err != nil {
			return Slot{}, err
		}
	}
	return s.slot(name), nil
}

// TryAcquire takes a slot if it need not wait. It fails if all slots are held, and also while somebody competes for one.
func (s *Slots) TryAcquire() (Slot, bool) {
	name, ok := s.memory.join(tryTries)
	if !ok {
		return Slot{}, false
	}
	return s.slot(name), true
}

// Release lets the slot go. Any goroutine may do it. It panics if the slot is not held, because then somebody else may
// believe to hold it.
func (h Slot) Release() {
	if h.hold == nil || h.hold.term != h.term {
		panic("slots: released a slot that is not held")
	}
	h.hold.term++
	s := h.slots
	if h.hold.isOver {
		s.memory.names[h.hold.name-s.memory.bits].Store(0)
	}
	if s.memory.lane.Add(-h.hold.share) >= s.memory.slow {
		s.wakeRounds(s.gates)
	}
}

// Number of the slot, 0..K-1. While it is held no other held slot has it.
func (h Slot) Number() int {
	if h.hold == nil || h.hold.term != h.term {
		panic("slots: asked for the number of a slot that is not held")
	}
	return h.hold.name
}
