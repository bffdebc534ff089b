// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package coterie

import (
	"fmt"
	"slices"
)

// MaxProcesses bounds what Parse builds: availability and the checks look at pairs of quorums.
const MaxProcesses = 1 << 12

// Coterie is a quorum for every process.
type Coterie struct {
	Name    string // the form that Parse reads, with the number of processes
	quorums [][]int
	sets    []Set
	// lives tells whether a set of processes contains a quorum of the whole construction; nil means that there are no
	// others than the assigned ones.
	lives func(alive Set) bool
}

// New makes a coterie of quorums given one for each process. It refuses what is no quorum system.
func New(name string, quorums [][]int) (*Coterie, error) {
	c := &Coterie{Name: name, quorums: make([][]int, len(quorums)), sets: make([]Set, len(quorums))}
	for i, q := range quorums {
		c.sets[i] = NewSet(len(quorums))
		for _, p := range q {
			if p < 0 || p >= len(quorums) {
				return nil, fmt.Errorf("coterie %s: the quorum of process %d has member %d, which is not among 0..%d", name, i, p, len(quorums)-1)
			}
			c.sets[i].Add(p)
		}
		c.quorums[i] = make([]int, 0, len(q))
		c.sets[i].Each(func(p int) { c.quorums[i] = append(c.quorums[i], p) })
	}
	if err := c.checkMeeting(); err != nil {
		return nil, fmt.Errorf("coterie %s: %w", name, err)
	}
	return c, nil
}

// Len is the number of processes.
func (c *Coterie) Len() int { return len(c.quorums) }

// Quorum of process i, in ascending order. The caller must not change it.
func (c *Coterie) Quorum(i int) []int { return c.quorums[i] }

// Askers of process j are the processes whose quorum it is in.
func (c *Coterie) Askers(j int) Set {
	askers := NewSet(c.Len())
	for i, s := range c.sets {
		if s.Has(j) {
			askers.Add(i)
		}
	}
	return askers
}

// Flaw is a condition that a coterie breaks, and the two processes whose quorums break it (twice the same for one alone).
type Flaw struct {
	Condition string // "nonemptiness", "intersection" or "minimality"
	I, J      int
	Qi, Qj    []int
}

// Error names the pair.
func (f *Flaw) Error() string {
	switch f.Condition {
	case "nonemptiness":
		return fmt.Sprintf("nonemptiness: the quorum of process %d is empty", f.I)
	case "intersection":
		return fmt.Sprintf("intersection: the quorums %v of process %d and %v of process %d have no member in common", f.Qi, f.I, f.Qj, f.J)
	}
	return fmt.Sprintf("minimality: the quorum %v of process %d is contained in %v of process %d", f.Qi, f.I, f.Qj, f.J)
}

// Check looks for a flaw of any kind: nil, or the first *Flaw. Only minimality can be missing in what New accepts.
func (c *Coterie) Check() error {
	if err := c.checkMeeting(); err != nil {
		return err
	}
	for i := range c.sets {
		for j := range c.sets {
			if i != j && c.sets[i].isWithin(c.sets[j]) && !slices.Equal(c.quorums[i], c.quorums[j]) {
				return c.flaw("minimality", i, j)
			}
		}
	}
	return nil
}

func (c *Coterie) checkMeeting() error {
	for i := range c.sets {
		if len(c.quorums[i]) == 0 {
			return c.flaw("nonemptiness", i, i)
		}
	}
	for i := range c.sets {
		for j := range i {
			if !c.sets[i].meets(c.sets[j]) {
				return c.flaw("intersection", j, i)
			}
		}
	}
	return nil
}

func (c *Coterie) flaw(condition string, i, j int) *Flaw {
	return &Flaw{Condition: condition, I: i, J: j, Qi: c.quorums[i], Qj: c.quorums[j]}
}

// Distinct counts the quorums that differ.
func (c *Coterie) Distinct() int {
	seen := map[string]bool{}
	for _, q := range c.quorums {
		seen[fmt.Sprint(q)] = true
	}
	return len(seen)
}
