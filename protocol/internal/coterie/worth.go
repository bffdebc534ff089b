// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package coterie

import "math"

// ExactUpTo is the largest number of processes for which availability is summed over every set of survivors.
const ExactUpTo = 20

// Worth is what a coterie costs and stands.
type Worth struct {
	Smallest int     `json:"smallest_quorum"`
	Largest  int     `json:"largest_quorum"`
	Mean     float64 `json:"mean_quorum"`
	// Load of the busiest and the idlest process when every process asks its own quorum equally often: the part of all
	// quorums that it is in. LoadBound is what no strategy of any coterie with such a smallest quorum can go below
	// (M. Naor and A. Wool, "The load, capacity, and availability of quorum systems", 1998).
	Load      float64 `json:"load"`
	LeastLoad float64 `json:"least_load"`
	LoadBound float64 `json:"load_bound"`
	// Minimality is empty if the coterie is minimal, otherwise it names the pair that is not.
	Minimality string `json:"not_minimal,omitempty"`
}

// Worth computes size and load.
func (c *Coterie) Worth() Worth {
	n := c.Len()
	w := Worth{Smallest: n}
	in := make([]int, n)
	for _, q := range c.quorums {
		w.Smallest, w.Largest = min(w.Smallest, len(q)), max(w.Largest, len(q))
		w.Mean += float64(len(q)) / float64(n)
		for _, p := range q {
			in[p]++
		}
	}
	w.LeastLoad = 1
	for _, count := range in {
		load := float64(count) / float64(n)
		w.Load, w.LeastLoad = math.Max(w.Load, load), math.Min(w.LeastLoad, load)
	}
	w.LoadBound = math.Max(1/float64(w.Smallest), float64(w.Smallest)/float64(n))
	if err := c.Check(); err != nil {
		w.Minimality = err.Error()
	}
	return w
}

// Availability is the probability that some quorum is alive.
type Availability struct {
	P        float64 `json:"p"`
	Assigned float64 `json:"assigned"` // one of the quorums that processes have
	Any      float64 `json:"any"`      // one of all quorums of the construction
	IsExact  bool    `json:"exact"`
	// Error is the standard error of what was sampled, the larger of the two; 0 if exact.
	Error float64 `json:"standard_error,omitempty"`
}

// Availability when every process fails with probability p, independently of the others.
func (c *Coterie) Availability(p float64, samples int, seed uint64) Availability {
	if c.Len() <= ExactUpTo {
		return c.exactly(p)
	}
	assigned, anyOf := 0, 0
	state := seed
	alive := NewSet(c.Len())
	for range samples {
		alive.Clear()
		for i := range c.Len() {
			if draw(&state) >= p {
				alive.Add(i)
			}
		}
		a, b := c.survives(alive)
		if a {
			assigned++
		}
		if b {
			anyOf++
		}
	}
	a := Availability{P: p, Assigned: float64(assigned) / float64(samples), Any: float64(anyOf) / float64(samples)}
	deviation := math.Max(a.Assigned*(1-a.Assigned), a.Any*(1-a.Any))
	a.Error = math.Sqrt(deviation / float64(samples))
	return a
}

// exactly sums over every set of survivors.
func (c *Coterie) exactly(p float64) Availability {
	n := c.Len()
	a := Availability{P: p, IsExact: true}
	alive := NewSet(n)
	for bits := range uint64(1) << n {
		alive[0] = bits
		live := alive.Len()
		chance := math.Pow(1-p, float64(live)) * math.Pow(p, float64(n-live))
		isAssigned, isAny := c.survives(alive)
		if isAssigned {
			a.Assigned += chance
		}
		if isAny {
			a.Any += chance
		}
	}
	return a
}

// survives tells whether an assigned quorum, or any quorum of the construction, is alive.
func (c *Coterie) survives(alive Set) (isAssigned, isAny bool) {
	for _, s := range c.sets {
		if s.isWithin(alive) {
			isAssigned = true
			break
		}
	}
	return isAssigned, isAssigned || c.lives != nil && c.lives(alive)
}

// draw is a number in 0..1 of splitmix64, which spreads the seed that came in as an argument.
func draw(state *uint64) float64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}
