// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

// Unit is one of the numbered things in a pool, free or in somebody's hands.
type Unit struct {
	Number int32
	// Fence grows with every grant of the unit. Its upper bits are the generation in which the unit was made anew.
	Fence int64
}

// FenceBits is how many of the lower bits of a fence count within a generation.
const FenceBits = 40

// Visit is the controller.
type Visit struct {
	Generation int64
	Circ       int64 // the number of the circulation in its generation
	Done       int64 // the last circulation that had come home when this one left
	Units      int32 // ℓ as the root has it
	Board      []Unit
	// Present are the units that members have presented in this circulation.
	Present Set
	// Waiters are the members that lack units, by their place.
	Waiters []Waiter
	// Prio is the place of the member that has the priority, or -1, and Lack what it lacks. Seen is whether it was visited and
	// still wants it in this circulation.
	Prio int32
	Lack int32
	Seen bool
	// Moved is whether a unit was granted, put on board or taken off it.
	Moved bool
	// Odd is whether a unit was found twice.
	Odd bool
	// Top is the greatest fence that was seen.
	Top int64
}

// Waiter is a member that lacks units.
type Waiter struct {
	Place int32
	Lack  int32
	// Call is the number of the wake-up call that the root has heard last. A member knows by it that the controller left the
	// root after the call was sent.
	Call int64
}

// Wake asks the root to send the controller.
type Wake struct {
	Generation int64
	Waiter
}

// Set of unit numbers.
type Set []uint64

// Has tells whether a number is in the set.
func (s Set) Has(u int32) bool {
	return u >= 0 && int(u>>6) < len(s) && s[u>>6]>>(uint(u)&63)&1 != 0
}

// Add puts a number into the set. It does nothing if there can be no such unit.
func (s *Set) Add(u int32) {
	if u < 0 || u >= MostUnits {
		return
	}
	for int(u>>6) >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[u>>6] |= 1 << (uint(u) & 63)
}

// waiter finds the entry of a member, or -1.
func (v *Visit) waiter(place int32) int {
	for i := range v.Waiters {
		if v.Waiters[i].Place == place {
			return i
		}
	}
	return -1
}

// setWaiter notes what a member lacks, in the order of places.
func (v *Visit) setWaiter(w Waiter) {
	i := v.waiter(w.Place)
	switch {
	case i >= 0 && w.Lack == 0:
		v.Waiters = append(v.Waiters[:i], v.Waiters[i+1:]...)
	case i >= 0:
		v.Waiters[i] = w
	case w.Lack > 0:
		i = 0
		for i < len(v.Waiters) && v.Waiters[i].Place < w.Place {
			i++
		}
		v.Waiters = append(v.Waiters, Waiter{})
		copy(v.Waiters[i+1:], v.Waiters[i:])
		v.Waiters[i] = w
	}
}

// takeOff takes a unit off board.
func (v *Visit) takeOff() Unit {
	n := len(v.Board)
	u := v.Board[n-1]
	v.Board = v.Board[:n-1]
	v.Present.Add(u.Number)
	v.Moved = true
	return u
}

// lackOfOthers is what all members but one lack together.
func (v *Visit) lackOfOthers(place int32) int {
	sum := 0
	for _, w := range v.Waiters {
		if w.Place != place {
			sum += int(w.Lack)
		}
	}
	return sum
}

// findUnit finds a unit in a list, or -1.
func findUnit(units []Unit, number int32) int {
	for i := range units {
		if units[i].Number == number {
			return i
		}
	}
	return -1
}
