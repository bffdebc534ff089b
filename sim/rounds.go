// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

// rounds counts asynchronous rounds: a round ends when every site that owed a move at its beginning has moved or owes
// none any more. The bookkeeping costs a bit per site and nothing per round: a site that owes a move carries the parity of
// the round in which it is waited for. At the end of a round all of them carry the parity of the next one, so the
// next round begins with all of them without looking at any.
type rounds struct {
	count   int64
	pending int   // sites that the round still waits for
	parity  uint8 // isOdd or 0: what sites of the current round carry
	isOpen  bool  // false while nobody owes anything
}

// moved notes that a site has moved: if the round waited for it, it no longer does.
func (r *rounds) moved(s *spot) {
	if s.flags&isOwed != 0 && s.flags&isOdd == r.parity {
		r.pending--
		s.flags ^= isOdd
	}
}

// turn notes that a site has begun or ceased to owe a move, and returns the change of their number.
func (r *rounds) turn(s *spot, owes bool) int {
	if owes {
		s.flags = s.flags&^isOdd | isOwed | r.parity ^ isOdd
		return 1
	}
	if s.flags&isOdd == r.parity {
		r.pending--
	}
	s.flags &^= isOwed
	return -1
}

// close ends a round that waits for nobody and begins the next one with those who owe a move now.
func (r *rounds) close(owed int) {
	if r.isOpen {
		r.count++
	}
	r.parity ^= isOdd
	r.pending, r.isOpen = owed, owed > 0
}
