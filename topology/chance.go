// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import "math/bits"

// chance is SplitMix64. Any change to it changes the networks behind published names, so the tests pin its stream.
type chance struct{ state uint64 }

func (c *chance) next() uint64 {
	c.state += 0x9e3779b97f4a7c15
	z := c.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below draws from 0..n-1 without bias (Lemire's multiplication; the few products that would favour some numbers are
// drawn again). n must not be 0.
func (c *chance) below(n uint64) uint64 {
	high, low := bits.Mul64(c.next(), n)
	if low < n {
		for refused := -n % n; low < refused; {
			high, low = bits.Mul64(c.next(), n)
		}
	}
	return high
}

// scale is a·b/c, rounded half up. The product may exceed 64 bits, the result must not.
func scale(a, b, c uint64) uint64 {
	high, low := bits.Mul64(a, b)
	low, carry := bits.Add64(low, c/2, 0)
	quotient, _ := bits.Div64(high+carry, low, c)
	return quotient
}
