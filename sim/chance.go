// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/bits"
	"math/rand/v2"
)

// Chance is one stream of random numbers. Each concern of a run has its own, derived from the one seed, so that a fault
// more in a script does not shift the choices of the daemon.
type Chance struct{ pcg rand.PCG }

// The concerns. Their numbers are part of what a seed means: changing one changes every recorded seed.
const (
	chanceStart uint64 = 1 + iota
	chanceSchedule
	chanceFaults
	chanceClocks
)

func newChance(seed, concern uint64) Chance {
	var c Chance
	c.pcg.Seed(seed, concern*0x9e3779b97f4a7c15)
	return c
}

// Uint64 is any number.
func (c *Chance) Uint64() uint64 { return c.pcg.Uint64() }

// Below is a number in 0..n-1, each with the same probability; n must not be 0. It is Lemire's method: multiply, and draw
// again in the rare case in which the low half shows that some results would come up more often.
func (c *Chance) Below(n uint64) uint64 {
	high, low := bits.Mul64(c.pcg.Uint64(), n)
	if low < n {
		for limit := -n % n; low < limit; {
			high, low = bits.Mul64(c.pcg.Uint64(), n)
		}
	}
	return high
}

// Float is a number in [0, 1).
func (c *Chance) Float() float64 { return float64(c.pcg.Uint64()>>11) / (1 << 53) }
