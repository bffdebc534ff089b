// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package coterie

import (
	"fmt"
	"slices"
)

// plane is i plus a cyclic difference set of q+1 numbers modulo n = q²+q+1: every difference but 0 occurs once, so two
// translates have exactly one member in common. They are the lines of the projective plane over the field of q elements.
func plane(n int) (*Coterie, error) {
	q := 1
	for q*q+q+1 < n {
		q++
	}
	p, m := primePower(q)
	if q*q+q+1 != n || p == 0 {
		return nil, fmt.Errorf("plane:%d: a projective plane is known only for n = q²+q+1 with a prime power q: 7, 13, 21, 31, 57, 73, 91, …", n)
	}
	set := differenceSet(p, m, n)
	quorums := make([][]int, n)
	for i := range n {
		for _, d := range set {
			quorums[i] = append(quorums[i], (i+d)%n)
		}
	}
	return New("plane", quorums)
}

// primePower is the p and m with q = p^m, or 0.
func primePower(q int) (p, m int) {
	for p = 2; p <= q; p++ {
		if q%p != 0 {
			continue
		}
		for m = 0; q%p == 0; m++ {
			q /= p
		}
		if q != 1 {
			return 0, 0
		}
		return p, m
	}
	return 0, 0
}

// differenceSet is Singer's: with a generator α of the field of q³ elements, the i below n for which the trace of α^i
// down to the field of q elements, α^i + α^iq + α^iq², is 0. It is shifted so that 0 is in it.
func differenceSet(p, m, n int) []int {
	powers := generator(p, 3*m)
	q := 1
	for range m {
		q *= p
	}
	var set []int
	for i := range n {
		isZero := true
		for d := range 3 * m {
			sum := powers[i][d] + powers[i*q%len(powers)][d] + powers[i*q%len(powers)*q%len(powers)][d]
			isZero = isZero && sum%p == 0
		}
		if isZero {
			set = append(set, i)
		}
	}
	shift := set[0]
	for i := range set {
		set[i] = (set[i] - shift + n) % n
	}
	slices.Sort(set)
	return set
}

// generator lists the powers of x in the field of p^degree elements, made with the first polynomial for which they are
// all its elements but 0.
func generator(p, degree int) [][]int {
	size := 1
	for range degree {
		size *= p
	}
	for number := 1; ; number++ {
		// The digits of number are the coefficients that x^degree is equal to.
		reduction := make([]int, degree)
		for d, rest := 0, number; d < degree; d++ {
			reduction[d], rest = rest%p, rest/p
		}
		if powers := powersOfX(p, size, reduction); powers != nil {
			return powers
		}
	}
}

// powersOfX multiplies by x until it comes back to 1; nil if that is too early.
func powersOfX(p, size int, reduction []int) [][]int {
	degree := len(reduction)
	element := make([]int, degree)
	element[0] = 1
	var powers [][]int
	for {
		powers = append(powers, slices.Clone(element))
		top := element[degree-1]
		copy(element[1:], element[:degree-1])
		element[0] = 0
		for d := range degree {
			element[d] = (element[d] + top*reduction[d]) % p
		}
		isOne := element[0] == 1
		for _, v := range element[1:] {
			isOne = isOne && v == 0
		}
		if isOne || len(powers) == size {
			break
		}
	}
	if len(powers) != size-1 {
		return nil
	}
	return powers
}
