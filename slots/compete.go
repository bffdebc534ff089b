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
	number int
	rounds []int // the turn registers of its rounds, in order

	parked atomic.Bool   // it sleeps or is about to
	wake   chan struct{} // holds one
	_      [24]byte      // keeps the flags of neighbours on different cache lines
}

// looks is how often somebody who has to wait looks again before it sleeps.
const looks = 4

// compete waits for a seat and goes through the rounds.
func (s *Slots) compete(ctx context.Context) (name int, err error) {
	number, ok := s.seats.take()
	if !ok {
		if number, err = s.seats.wait(ctx); err != nil {
			return 0, err
		}
	}
	at := &s.seat[number]
	local := s.machine.Seated(number)
	for patience := looks; !s.machine.IsStanding(local) && err == nil; {
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
		local, err = s.sleep(ctx, at, local)
		patience = looks
	}
	for !s.machine.IsStanding(local) {
		local = s.step(at, local)
	}
	s.seats.put(number)
	return s.machine.Name(local), err
}

// step makes the next access of the machine, and wakes whom it may let pass.
func (s *Slots) step(at *seat, local uint64) uint64 {
	a := s.machine.Next(local)
	found := s.memory.access(a)
	switch {
	case a.Op != model.Write:
	case a.Register < len(s.seat) && a.Value == 0:
		s.wakeRounds(at.rounds)
	case a.Register >= len(s.seat) && found > 0 && int(found) != at.number+1:
		// The one that was last is not any more.
		s.wake(int(found) - 1)
	}
	return s.machine.After(0, local, 0, found)
}

// sleep waits until somebody's step may let the seat pass. It says that it sleeps and then counts once more, so that no
// step is missed. If the context ends first, the level is lowered and the machine has to say only that it has given up.
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
		s.memory.levels[at.number].Store(0)
		s.wakeRounds(at.rounds)
		return s.machine.GivenUp(local), ctx.Err()
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

// wakeRounds wakes whom a lower count may let pass: in each round only the last one waits, and it stands in turn.
func (s *Slots) wakeRounds(rounds []int) {
	if s.memory.sleepers.Load() == 0 {
		return
	}
	for _, r := range rounds {
		if last := s.memory.turns[r].Load(); last > 0 {
			s.wake(int(last) - 1)
		}
	}
}
