// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"runtime"
	"sync/atomic"

	"allot/model"
)

// seat is a place from which one goroutine at a time competes. Apart from parked and wake, its fields belong to the
// goroutine that has the seat.
type seat struct {
	number  int
	level   uint32 // what its level register holds
	term    uint64 // grows with every release
	name    int
	hasName bool
	rounds  []int // the turn registers of its rounds, in order

	parked atomic.Bool   // it sleeps or is about to
	wake   chan struct{} // holds one
	_      [24]byte      // keeps the flags of neighbours on different cache lines
}

// looks is how often somebody who has to wait looks again before it sleeps.
const looks = 4

// compete takes a seat that found the express lane closed through the rounds.
func (s *Slots) compete(ctx context.Context, at *seat) error {
	local := s.machine.Enlist()
	for patience := looks; !s.machine.IsTaking(local); {
		local = s.step(at, local)
		if !s.machine.IsWaiting(local) {
			continue
		}
		// It has counted in vain, or is about to count for the first time in this round. Either way turn is written: giving
		// up is harmless here, and only here.
		if patience > 0 {
			if patience--; patience < looks/2 {
				runtime.Gosched()
			}
			continue
		}
		var err error
		if local, err = s.sleep(ctx, at, local); err != nil {
			return err
		}
		patience = looks
	}
	return nil
}

// step makes the next access of the machine, and wakes whom it may let pass.
func (s *Slots) step(at *seat, local uint64) uint64 {
	before := at.level
	a := s.machine.Next(at.number, local)
	found := s.memory.access(at, a)
	after := s.machine.After(at.number, local, 0, found)
	switch {
	case at.level < before:
		s.wakeRounds(at)
	case a.Op == model.Write && a.Register >= len(s.seat) && found > 0 && int(found) != at.number+1:
		// The one that was last is not any more.
		s.wake(int(found) - 1)
	}
	return after
}

// lower takes a seat out of the competition.
func (s *Slots) lower(at *seat) {
	at.level = 0
	s.memory.levels[at.number].Store(0)
	s.wakeRounds(at)
}

// sleep waits until somebody's step may let the seat pass. It says that it sleeps and then counts once more, so that no
// step is missed.
func (s *Slots) sleep(ctx context.Context, at *seat, local uint64) (uint64, error) {
	at.parked.Store(true)
	s.memory.sleepers.Add(1)
	defer s.memory.sleepers.Add(-1)
	for {
		local = s.step(at, local)
		if !s.machine.IsCounting(local) {
			s.awake(at)
			return local, nil
		}
		if s.machine.IsWaiting(local) {
			break
		}
	}
	select {
	case <-at.wake:
		return local, nil
	case <-ctx.Done():
		s.awake(at)
		s.lower(at)
		s.step(at, s.machine.GivenUp())
		return local, ctx.Err()
	}
}

// awake takes back the word that the seat sleeps. If somebody was quicker, its signal is on the way and must not stay for
// the next owner of the seat.
func (s *Slots) awake(at *seat) {
	if !at.parked.CompareAndSwap(true, false) {
		<-at.wake
	}
}

// wake wakes a seat if it sleeps.
func (s *Slots) wake(number int) {
	if at := &s.seat[number]; at.parked.Load() && at.parked.CompareAndSwap(true, false) {
		at.wake <- struct{}{}
	}
}

// wakeRounds wakes whom a lowered level may let pass: in each round only the last one waits, and it stands in turn.
func (s *Slots) wakeRounds(at *seat) {
	if s.memory.sleepers.Load() == 0 {
		return
	}
	for _, r := range at.rounds {
		if last := s.memory.turns[r].Load(); last > 0 {
			s.wake(int(last) - 1)
		}
	}
}

// takeName gives a seat that is inside a number of its own.
func (s *Slots) takeName(at *seat) {
	local := s.machine.Won()
	for !s.machine.IsInside(local) {
		local = s.step(at, local)
	}
	at.name, at.hasName = s.machine.Name(local), true
}
