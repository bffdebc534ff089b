// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

// OnVisit handles the controller. It may change v, and keeps nothing of it.
func (s *Seat) OnVisit(v *Visit) {
	if s.place < 0 || v.Generation != s.generation && s.rule != generationUnchecked {
		return
	}
	if s.place == 0 {
		s.arrive(v)
		return
	}
	if v.Circ <= s.circ && s.rule != oldVisitTaken {
		return // it was lost and found, or repeated
	}
	s.circ = v.Circ
	s.renew(v)
	s.visit(v)
	s.base, s.since = v.Circ, 0
	s.out.Visit((s.place+1)%s.size, v)
}

// renew extends the lease, counted from a moment before the controller left the root.
func (s *Seat) renew(v *Visit) {
	if s.lease == 0 && s.rule == renewedLate && (len(s.held) > 0 || len(s.stock) > 0) {
		s.lease = s.options.Lease
	}
	if s.base > 0 && s.base <= v.Done || s.base > 0 && s.rule == renewedByLost {
		s.lease = max(s.lease, s.options.Lease-s.since)
	}
	if i := v.waiter(s.place); i >= 0 && (v.Waiters[i].Call == s.call || s.rule == callIgnored) && s.call > 0 {
		s.lease = max(s.lease, s.options.Lease-s.sinceCall)
	}
	if s.rule == renewedFromNow {
		s.lease = s.options.Lease
	}
}

// visit is what the controller and a member do to each other.
func (s *Seat) visit(v *Visit) {
	isIdle := s.given == 0 && s.queue.len() == 0
	s.present(v)
	s.isOthers = v.lackOfOthers(s.place) > 0
	s.hasPrio = s.hasPrio && v.Prio == s.place
	hadTurn := v.Prio == s.place && (!s.hasPrio || s.queue.len() == 0)
	if hadTurn {
		s.yield(v)
	}
	if !s.isOthers || len(s.stock) > 0 && !s.hasPrio && !s.hasTurn() || s.rule == turnsRenewed {
		s.turns = 0 // it has had its turns, and what is free here goes on
	}
	if s.place == 0 || isIdle || s.isOthers && !s.hasPrio {
		s.putOnBoard(v)
	}
	s.given = 0
	s.takeOff(v, hadTurn)
	s.given, s.isCalling = 0, false
	w := Waiter{Place: s.place, Lack: s.lack(), Call: s.call}
	s.isKnown = w.Lack > 0
	v.setWaiter(w)
}

// present counts what is here, and settles what was found twice. Who uses a unit goes before who merely has it.
func (s *Seat) present(v *Visit) {
	s.mend()
	s.board = s.board[:0]
	for _, u := range v.Board {
		s.board.Add(u.Number)
	}
	for i := range s.held {
		s.presentHolding(v, &s.held[i])
	}
	kept := s.stock[:0]
	for _, u := range s.stock {
		if !s.isValid(v, u) || u.Number >= v.Units || v.Present.Has(u.Number) || s.board.Has(u.Number) {
			v.Odd = v.Odd || u.Number < v.Units
			continue
		}
		v.Present.Add(u.Number)
		v.Top = max(v.Top, u.Fence)
		kept = append(kept, u)
	}
	s.stock = kept
}

// presentHolding counts a grant. A unit that is on board as well is taken off: who uses it keeps it. One that another member
// has presented is lost.
func (s *Seat) presentHolding(v *Visit, h *Holding) {
	isLost := false
	kept := h.Units[:0]
	for _, u := range h.Units {
		isTwice := v.Present.Has(u.Number) && s.rule != twiceKept
		if !s.isValid(v, u) || isTwice {
			isLost, v.Odd = true, true
			continue
		}
		if j := findUnit(v.Board, u.Number); s.board.Has(u.Number) && j >= 0 {
			u.Fence = max(u.Fence, v.Board[j].Fence)
			v.Board = append(v.Board[:j], v.Board[j+1:]...)
			v.Odd = true
		}
		v.Present.Add(u.Number)
		v.Top = max(v.Top, u.Fence)
		kept = append(kept, u)
	}
	h.Units = kept
	if isLost {
		s.out.Lost(h.ID, FoundTwice)
	}
}

// isValid tells whether a unit can be right. Those beyond ℓ may be held since before the pool was made smaller.
func (s *Seat) isValid(v *Visit, u Unit) bool {
	return u.Number >= 0 && u.Number < MostUnits && u.Fence>>s.options.FenceShift <= v.Generation
}

// putOnBoard gives back what is free here.
func (s *Seat) putOnBoard(v *Visit) {
	if len(s.stock) > 0 && s.place != 0 {
		v.Moved = true
	}
	for _, u := range s.stock {
		v.Present.remove(u.Number)
	}
	v.Board = append(v.Board, s.stock...)
	s.stock = s.stock[:0]
}

func (s *Set) remove(u int32) {
	if int(u>>6) < len(*s) {
		(*s)[u>>6] &^= 1 << (uint(u) & 63)
	}
}

// takeOff grants what can be granted, and keeps units for the first in the queue if it has the priority, or nobody has.
func (s *Seat) takeOff(v *Visit, hadTurn bool) {
	if s.lease == 0 && s.rule != takenWithoutLease {
		return // what it took would have run out already
	}
	for s.given < s.options.Burst && s.serveOne(v, int32(len(s.stock))+s.unkept(v)) {
		if s.hasPrio && s.rule != priorityKept {
			// One request of each member that waits, then the next member.
			s.yield(v)
			hadTurn = true
		}
	}
	switch {
	case s.queue.len() == 0:
		if s.hasPrio {
			s.yield(v)
		}
		return
	case v.Prio < 0 && !hadTurn && s.rule != noPriority:
		v.Prio, s.hasPrio = s.place, true
	}
	if !s.hasPrio {
		return
	}
	v.Seen = true
	need := s.queue.list()[0].Need
	for int32(len(s.stock)) < need && len(v.Board) > 0 {
		n := len(v.Board)
		u := v.Board[n-1]
		v.Board = v.Board[:n-1]
		v.Present.Add(u.Number)
		// What the root keeps was at home before.
		v.Moved = v.Moved || s.place != 0
		s.stock = append(s.stock, u)
	}
	v.Lack = max(0, need-int32(len(s.stock)))
}

// yield gives the priority back.
func (s *Seat) yield(v *Visit) { v.Prio, v.Lack, s.hasPrio = -1, 0, false }

// unkept is how many of the units on board are not kept for another member.
func (s *Seat) unkept(v *Visit) int32 {
	n := int32(len(v.Board))
	if v.Prio >= 0 && v.Prio != s.place && s.rule != lackIgnored {
		n = max(0, n-v.Lack)
	}
	return n
}
