// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"cmp"
	"slices"
)

// Options of a pool. Times are in ticks.
type Options struct {
	Units int32 // ℓ
	// Lease is how long what a member holds stays good without a visit.
	Lease int32
	// Margin is added to Lease before a unit that nobody presented is made anew: the most by which two clocks can differ
	// over that time, and one tick for counting in whole ticks.
	Margin int32
	// Pace is the time between circulations while somebody holds something and nobody waits. It must be well below Lease.
	Pace int32
	// Audit is the time between circulations of a pool that nobody uses.
	Audit int32
	// Patience is how long the root waits for the controller to come home before it sends another one. It doubles with every
	// controller that is lost, up to half of Lease.
	Patience int32
	// Turns is how many requests a member may grant from units that come back to it while others wait, before it must let
	// some of them go on.
	Turns int32
	// Quantum is for how long it may do so, counted from the first of these. 0 means that Turns alone counts.
	Quantum int32
	// Passes is how many smaller requests of a member may be granted before the first in its queue.
	Passes int32
	// Burst is how many requests a member may grant between two visits at all. Fences of units that are made anew leave room
	// for so many.
	Burst int32
	// FenceShift is FenceBits, or less in the laboratory.
	FenceShift uint8
}

// Loss is why a grant ended without being released.
type Loss uint8

// The losses.
const (
	LeaseRanOut Loss = iota // the member was not visited in time
	FoundTwice              // a fault had given a unit to two holders
)

// Out is told what a seat does. Units that it is handed belong to the seat.
type Out interface {
	// Visit sends the controller to the member at a place. v must be sent or copied before the call returns.
	Visit(to int32, v *Visit)
	// Wake sends a wake-up call to the root, which is the member at place 0.
	Wake(w Wake)
	// Granted answers a request.
	Granted(id int64, units []Unit)
	// Lost tells that a grant has ended. After FoundTwice the other units of the grant stay where they are until it is
	// released; after LeaseRanOut there is nothing left to release.
	Lost(id int64, why Loss)
	// Stuck asks for a new generation: the controller does not come home any more.
	Stuck()
}

// Seat is the part of one member in one pool.
type Seat struct {
	options *Options
	out     Out
	rule    rule

	generation int64
	place      int32 // in the order of visits; 0 is the root, -1 is nobody
	size       int32 // members

	circ  int64 // the last circulation that was here; at the root the present one
	base  int64 // the circulation with which the controller was passed on, since ticks ago; 0 means none
	since int32
	lease int32 // ticks for which what is here stays good; 0 means not at all

	call      int64 // the number of the last wake-up call
	sinceCall int32 // ticks ago
	isCalling bool  // it has not been answered by a visit

	stock []Unit    // free
	held  []Holding // in the order of their ids
	queue waitList
	spare [][]Unit // memory of grants that have ended
	board Set      // memory of a visit

	given    int32 // requests granted since the last visit
	turns    int32 // requests granted from units that came back here while others waited, since some of them went on
	spell    int32 // ticks since the first of these
	passed   int32 // requests granted before the first in the queue
	isOthers bool  // others waited at the last visit
	isKnown  bool  // the controller was told at the last visit that something waits here
	hasPrio  bool  // it has the priority, and has not used it yet

	root rootPart
}

// Holding is a grant.
type Holding struct {
	ID    int64
	Units []Unit
}

// Pending is a request that waits.
type Pending struct {
	ID    int64
	Need  int32
	Round int64 // requests of an earlier round go first
}

// NewSeat makes a seat without a generation. The options may be changed between calls, but not by another goroutine.
func NewSeat(o *Options, out Out) *Seat { return &Seat{options: o, out: out, place: -1} }

// Begin enters a generation: this member has the place and there are so many. A place of -1 means that it is no member.
// isNew is whether the pool was made in this very generation, so that no unit of it can be anywhere else.
func (s *Seat) Begin(generation int64, place, size int32, isNew bool) {
	if generation == s.generation && place == s.place && size == s.size {
		return
	}
	s.generation, s.place, s.size = generation, place, size
	s.circ, s.base = 0, 0
	s.isCalling, s.isOthers, s.hasPrio, s.isKnown = false, false, false, false
	s.given, s.turns, s.passed = 0, 0, 0
	s.root = rootPart{}
	if s.lease == 0 && s.rule != keptWithoutLease {
		s.stock = s.stock[:0] // what only a root may keep
	}
	if place == 0 {
		s.becomeRoot(isNew)
		return
	}
	s.maybeCall()
}

// Advance tells that ticks have passed.
func (s *Seat) Advance(ticks int32) {
	s.heal()
	s.since = min(s.since+ticks, s.options.Lease)
	s.sinceCall = min(s.sinceCall+ticks, s.options.Lease)
	s.spell = min(s.spell+ticks, s.options.Quantum)
	beyond := ticks
	if s.place == 0 {
		// While it reigns, what the root holds does not age.
		beyond = max(0, ticks-s.root.reign)
	}
	if s.lease > 0 && beyond > 0 {
		if s.lease = max(0, s.lease-beyond); s.lease == 0 && s.rule != renewedLate {
			s.expire()
		}
	}
	s.advanceRoot(ticks)
	if s.place > 0 && s.callDue() <= 0 {
		s.sendCall()
	}
}

// callDue is how many ticks may pass before the member calls: again, because the last call may be lost, or because the controller
// that knows that it waits has not been here for too long.
func (s *Seat) callDue() int32 {
	switch {
	case s.isCalling:
		return s.patience() - s.sinceCall
	case s.queue.len() > 0:
		return max(s.options.Pace, s.patience()) - s.since
	}
	return s.options.Lease + 1
}

// Due is how many ticks may pass before Advance has something to do, at most the given number.
func (s *Seat) Due(most int32) int32 {
	due := most
	if s.lease > 0 && !s.isReigning() && (len(s.held) > 0 || len(s.stock) > 0) {
		due = min(due, s.lease)
	}
	if s.place > 0 {
		due = min(due, s.callDue())
	}
	return max(1, min(due, s.dueRoot(most)))
}

// expire drops what is here: the member was not visited in time.
func (s *Seat) expire() {
	s.lease = 0
	held := s.held
	if s.held = nil; s.rule != keptWithoutLease {
		s.stock = nil
	}
	for _, h := range held {
		s.out.Lost(h.ID, LeaseRanOut)
	}
}

// Request asks for need units, 1..k. The answer is Granted, perhaps before this returns.
func (s *Seat) Request(id int64, need int32, round int64) {
	s.queue.add(Pending{ID: id, Need: need, Round: round})
	s.serveHere()
	s.maybeCall()
}

// Cancel takes a request back. It returns false if it does not wait.
func (s *Seat) Cancel(id int64) bool {
	for i, p := range s.queue.list() {
		if p.ID == id {
			s.queue.remove(i)
			if i == 0 {
				s.passed = 0
			}
			if s.queue.len() == 0 {
				s.hasPrio = false // what was kept for it is free
			}
			s.serveHere()
			s.maybeCall()
			return true
		}
	}
	return false
}

// Release ends a grant. It returns false if there is none.
func (s *Seat) Release(id int64) bool {
	i, ok := s.find(id)
	if !ok {
		return false
	}
	isGone := s.drop(i)
	s.serveHere()
	if isGone {
		s.callAlways() // the root may know of a larger pool, and make it anew
	} else {
		s.maybeCall()
	}
	return true
}

// find is where a grant is in the list, or where it belongs.
func (s *Seat) find(id int64) (int, bool) {
	return slices.BinarySearchFunc(s.held, id, func(h Holding, id int64) int { return cmp.Compare(h.ID, id) })
}

// drop puts the units of a grant into stock, but for those that the pool has no more. It tells whether there were any.
func (s *Seat) drop(i int) (isGone bool) {
	units := s.held[i].Units
	for _, u := range units {
		if u.Number < s.options.Units {
			s.stock = append(s.stock, u)
		} else {
			isGone = true
		}
	}
	s.held = slices.Delete(s.held, i, i+1)
	if len(s.spare) < mostSpare {
		s.spare = append(s.spare, units[:0])
	}
	return isGone
}

// mostSpare bounds the memory that is kept for the next grants.
const mostSpare = 64

// hasTurn tells whether the member may use what came back to it once more, although others wait.
func (s *Seat) hasTurn() bool {
	isOver := s.turns > 0 && s.options.Quantum > 0 && s.spell >= s.options.Quantum
	return s.turns < s.options.Turns && !isOver
}

// serveHere grants requests from what is free here, between visits.
func (s *Seat) serveHere() {
	for s.lease > 0 && (!s.isOthers || s.hasPrio || s.hasTurn()) && s.given < s.options.Burst {
		if !s.serveOne(nil, int32(len(s.stock))) {
			return
		}
		switch {
		case s.hasPrio && s.rule != priorityKept:
			s.hasPrio = false // it was for one request; the controller learns of it at the next visit
		case s.isOthers:
			if s.turns == 0 {
				s.spell = 0
			}
			s.turns++
		}
	}
}

// serveOne grants the next request that can be satisfied with so many units, those in stock first and then those on board.
func (s *Seat) serveOne(v *Visit, most int32) bool {
	i := s.nextFit(most)
	if i < 0 {
		return false
	}
	p := s.queue.list()[i]
	if i == 0 {
		s.passed = 0
	} else {
		s.passed++
	}
	s.queue.remove(i)
	var units []Unit
	if n := len(s.spare); n > 0 {
		units, s.spare = s.spare[n-1], s.spare[:n-1]
	}
	for range max(1, p.Need) {
		var u Unit
		if n := len(s.stock); n > 0 {
			u, s.stock = s.stock[n-1], s.stock[:n-1]
		} else {
			u = v.takeOff()
		}
		if s.rule != fenceNotRaised {
			u.Fence++
		}
		units = append(units, u)
	}
	slices.SortFunc(units, func(a, b Unit) int { return int(a.Number - b.Number) })
	at, _ := s.find(p.ID)
	s.held = slices.Insert(s.held, at, Holding{ID: p.ID, Units: units})
	s.given++
	s.out.Granted(p.ID, units)
	return true
}

// nextFit finds the request to be granted next if there are so many units. A smaller one may pass the first, but not for ever,
// and not while units are being kept for the first.
func (s *Seat) nextFit(most int32) int {
	for i, p := range s.queue.list() {
		switch {
		case max(1, p.Need) <= most:
			return i
		case s.hasPrio || s.passed >= s.options.Passes || i >= int(s.options.Passes):
			return -1
		}
	}
	return -1
}

// lack is how many units more than those in stock the requests here could use, at most ℓ.
func (s *Seat) lack() int32 {
	if s.queue.len() == 0 {
		return 0
	}
	sum := -int32(len(s.stock))
	for _, p := range s.queue.list() {
		if sum += max(1, p.Need); sum >= s.options.Units {
			return s.options.Units
		}
	}
	return max(1, sum)
}

// maybeCall asks for the controller if a request waits here and the controller does not know it, or if others wait for what
// is free here. Who is known to wait need not call again: whoever gets something free does.
func (s *Seat) maybeCall() {
	if s.queue.len() > 0 && (!s.isKnown || s.given >= s.options.Burst) || len(s.stock) > 0 && s.isOthers && !s.hasPrio {
		s.callAlways()
	}
}

func (s *Seat) callAlways() {
	switch {
	case s.place == 0:
		s.root.isAgain = true
		s.maybeDepart()
	case s.place > 0 && !s.isCalling:
		s.sendCall()
	}
}

func (s *Seat) sendCall() {
	s.isCalling = true
	s.call++
	s.sinceCall = 0
	s.out.Wake(Wake{Generation: s.generation, Waiter: Waiter{Place: s.place, Lack: s.lack(), Call: s.call}})
}

// patience is how long a member waits before it calls again.
func (s *Seat) patience() int32 { return max(1, s.options.Patience) }
