// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

// Good is for how many ticks what is here stays good, whatever happens.
func (s *Seat) Good() int32 { return s.lease }

// Queue is what waits, in order. It belongs to the seat.
func (s *Seat) Queue() []Pending { return s.queue.list() }

// Free is what is free here. It belongs to the seat.
func (s *Seat) Free() []Unit { return s.stock }

// Held is what is held here. It belongs to the seat.
func (s *Seat) Held() []Holding { return s.held }

// First is the round of the first request that waits, or 0.
func (s *Seat) First() int64 {
	if s.queue.len() == 0 {
		return 0
	}
	return s.queue.list()[0].Round
}

// IsAlone tells whether this member knows everything that is free: it is a root without others, which acts.
func (s *Seat) IsAlone() bool { return s.size == 1 && s.isReigning() }

// IsAtRest tells whether this member is a root that knows all units to be free, or in its own hands.
func (s *Seat) IsAtRest() bool {
	here := int32(len(s.stock))
	for i := range s.held {
		here += int32(len(s.held[i].Units))
	}
	return s.isReigning() && !s.root.isOut && s.root.settle == 0 && here >= s.options.Units
}

// IsStable tells what the last circulation found: every unit exactly once. Only the root knows.
func (s *Seat) IsStable() bool { return s.place == 0 && s.root.isStable }

// Priority tells whether the member keeps units for its first request.
func (s *Seat) Priority() bool { return s.hasPrio }

// IsOut tells whether the controller is under way. Only the root knows.
func (s *Seat) IsOut() bool { return s.place == 0 && s.root.isOut }

// Circulation is the number of the last circulation that was here.
func (s *Seat) Circulation() int64 { return s.circ }
