// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"slices"
)

// A fault may put anything into the memory of a member. Units that were made, lost or doubled by it are what the controller
// repairs. What follows is for variables that would not come right by themselves: each is brought back to where it can be
// without a fault.

// mostNumber bounds numbers of circulations and calls. Nobody counts so far.
const mostNumber = 1 << 60

// heal is done whenever time passes.
func (s *Seat) heal() {
	o := s.options
	s.lease = clamp(s.lease, 0, o.Lease)
	s.since = clamp(s.since, 0, o.Lease)
	s.sinceCall = clamp(s.sinceCall, 0, o.Lease)
	s.turns = max(0, s.turns)
	s.passed = max(0, s.passed)
	s.given = max(0, s.given)
	s.queue.head = max(0, min(s.queue.head, len(s.queue.items)))
	if s.call < 0 || s.call > mostNumber {
		s.call = 0
	}
	if s.place != 0 {
		return
	}
	r := &s.root
	r.away = clamp(r.away, 0, o.Lease)
	r.rest = clamp(r.rest, 0, max(o.Audit, o.Pace, o.Lease+o.Margin))
	r.patience = clamp(r.patience, 1, max(s.patience(), o.Lease/2))
	r.settle = clamp(r.settle, 0, o.Lease+o.Margin)
	r.open = clamp(r.open, 0, mostCounted)
	r.gap = clamp(r.gap, 0, mostCounted)
	r.lack = max(0, r.lack)
	if r.top < 0 || r.top>>o.FenceShift > s.generation {
		r.top = 0
	}
	if s.circ < 0 || s.circ > mostNumber {
		s.out.Stuck()
	}
}

// mend is done before the controller counts what is here. What is free stays so only if it is good.
func (s *Seat) mend() {
	if s.lease == 0 && (len(s.held) > 0 || len(s.stock) > 0) && s.rule != renewedLate {
		s.expire()
	}
	byID := func(a, b Holding) int { return cmp.Compare(a.ID, b.ID) }
	if !slices.IsSortedFunc(s.held, byID) {
		slices.SortStableFunc(s.held, byID)
	}
	for i := len(s.held) - 1; i > 0; i-- {
		if s.held[i].ID == s.held[i-1].ID {
			s.drop(i)
		}
	}
}

// Audit ends every grant and takes back every request that the caller does not know: a fault has made them up, so that
// nobody else would.
func (s *Seat) Audit(isGrant, isRequest func(id int64) bool) {
	for i := len(s.held) - 1; i >= 0; i-- {
		if !isGrant(s.held[i].ID) {
			s.drop(i)
		}
	}
	for i := s.queue.len() - 1; i >= 0; i-- {
		if !isRequest(s.queue.list()[i].ID) {
			s.queue.remove(i)
		}
	}
	s.serveHere()
	s.maybeCall()
}

func clamp(x, least, most int32) int32 { return max(least, min(x, most)) }
