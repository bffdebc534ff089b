// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

// Scramble overwrites what the seat remembers about units and controllers with nonsense, as a fault in memory would. draw gives a
// number below its argument. What its clients hold and wait for stays on record, for without that there would be nobody
// to tell.
func (s *Seat) Scramble(draw func(int) int) {
	for i := range s.stock {
		if draw(2) == 0 {
			s.stock[i] = Unit{Number: int32(draw(int(s.options.Units))), Fence: int64(draw(1 << 30))}
		}
	}
	for range draw(3) {
		s.stock = append(s.stock, Unit{Number: int32(draw(int(s.options.Units) * 2)), Fence: int64(draw(1 << 30))})
	}
	if draw(3) == 0 {
		s.stock = s.stock[:0]
	}
	for i := range s.held {
		for j := range s.held[i].Units {
			if draw(4) == 0 {
				s.held[i].Units[j].Number = int32(draw(int(s.options.Units)))
			}
		}
	}
	s.circ = int64(draw(1 << 20))
	s.base = int64(draw(1 << 20))
	s.call = int64(draw(1 << 20))
	s.since = int32(draw(int(s.options.Lease)))
	s.turns, s.given, s.passed = int32(draw(100)), int32(draw(100)), int32(draw(100))
	s.isOthers, s.hasPrio, s.isCalling = draw(2) == 0, draw(2) == 0, draw(2) == 0
	if s.place == 0 {
		r := &s.root
		r.isOut, r.isAgain = draw(2) == 0, draw(2) == 0
		r.done, r.prio, r.lack = int64(draw(1<<20)), int32(draw(int(s.size)+2))-1, int32(draw(100))
		r.waiters = []Waiter{{Place: int32(draw(int(s.size) + 2)), Lack: int32(draw(100)), Call: int64(draw(100))}}
	}
}
