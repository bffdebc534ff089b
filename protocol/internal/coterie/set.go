// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package coterie

import "math/bits"

// Set of processes, one bit for each.
type Set []uint64

// NewSet is an empty set with room for the processes 0..n-1.
func NewSet(n int) Set { return make(Set, (n+63)/64) }

// Has tells whether p is in the set.
func (s Set) Has(p int) bool { return p>>6 < len(s) && s[p>>6]>>(p&63)&1 != 0 }

// Add puts p in.
func (s Set) Add(p int) { s[p>>6] |= 1 << (p & 63) }

// Remove takes p out.
func (s Set) Remove(p int) { s[p>>6] &^= 1 << (p & 63) }

// Len is the number of members.
func (s Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// IsEmpty tells whether there is no member.
func (s Set) IsEmpty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// Unite adds the members of another set of the same length, or of none.
func (s Set) Unite(t Set) {
	for i, w := range t {
		s[i] |= w
	}
}

// Clear removes everybody.
func (s Set) Clear() { clear(s) }

// Clone is a copy with memory of its own.
func (s Set) Clone() Set { return append(Set(nil), s...) }

// Each walks over the members in order.
func (s Set) Each(do func(p int)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			do(i<<6 + bits.TrailingZeros64(w))
		}
	}
}

// meets tells whether two sets have a member in common.
func (s Set) meets(t Set) bool {
	for i, w := range s {
		if w&t[i] != 0 {
			return true
		}
	}
	return false
}

// isWithin tells whether all members are in t.
func (s Set) isWithin(t Set) bool {
	for i, w := range s {
		if w&^t[i] != 0 {
			return false
		}
	}
	return true
}
