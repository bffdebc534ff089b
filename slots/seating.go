// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"
)

// seating binds goroutines to seats. Free seats are bits. Who finds none waits in a queue, and who comes while
// somebody is in the queue joins it, so that nobody is overtaken for ever.
type seating struct {
	free    []atomic.Uint64
	waiting atomic.Int64 // goroutines in the queue or about to join it

	mu    sync.Mutex
	queue []chan int // each holds one
}

func (s *seating) init(n int) {
	s.free = make([]atomic.Uint64, (n+63)/64)
	for i := range n {
		s.free[i/64].Or(1 << (i % 64))
	}
}

// take gives a seat if one is free and nobody waits for it.
func (s *seating) take() (int, bool) {
	if s.waiting.Load() > 0 {
		return 0, false
	}
	return s.grab()
}

// grab gives any free seat.
func (s *seating) grab() (int, bool) {
	for w := range s.free {
		for {
			set := s.free[w].Load()
			if set == 0 {
				break
			}
			if s.free[w].CompareAndSwap(set, set&(set-1)) {
				return 64*w + bits.TrailingZeros64(set), true
			}
		}
	}
	return 0, false
}

// put gives a seat back.
func (s *seating) put(number int) {
	s.free[number/64].Or(1 << (number % 64))
	// A goroutine that joins the queue says so before it looks for a free seat, so either it finds this one or it is seen
	// here.
	if s.waiting.Load() > 0 {
		s.serve()
	}
}

// serve hands free seats to the first in the queue.
func (s *seating) serve() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) > 0 {
		number, ok := s.grab()
		if !ok {
			return
		}
		s.queue[0] <- number
		s.queue[0] = nil
		s.queue = s.queue[1:]
		s.waiting.Add(-1)
	}
}

// wait joins the queue.
func (s *seating) wait(ctx context.Context) (int, error) {
	ticket := make(chan int, 1)
	s.mu.Lock()
	s.waiting.Add(1)
	s.queue = append(s.queue, ticket)
	s.mu.Unlock()
	s.serve()
	select {
	case number := <-ticket:
		return number, nil
	case <-ctx.Done():
	}
	if !s.remove(ticket) {
		// A seat came at the last moment.
		s.put(<-ticket)
	}
	return 0, ctx.Err()
}

// remove takes a ticket out of the queue, if it is still there.
func (s *seating) remove(ticket chan int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.queue {
		if t == ticket {
			s.queue = append(s.queue[:i], s.queue[i+1:]...)
			s.waiting.Add(-1)
			return true
		}
	}
	return false
}
