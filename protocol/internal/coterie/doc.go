// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package coterie builds quorum systems and says what they are worth.
//
// A coterie gives every process a quorum, a set of processes that it asks before it acts. Any two quorums have a member in
// common, so of two processes that ask at the same time one member hears of both. The smallest use is
//
//	c, err := coterie.Parse("grid:25", 0)
//	c.Quorum(7)                     // the processes that process 7 asks
//	err = c.Check()                 // nil, or *Flaw with the offending pair
//
// The forms are
//
//	majority:N    i and the N/2 processes after it, round the circle; any N
//	grid:N        the row and the column of i in rows of width ⌈√N⌉, the last one short
//	plane:N       i plus a cyclic difference set: the lines of a projective plane, where N = q²+q+1 and q is a prime power
//	tree:N        a way from the root through i to a leaf of the binary tree 0, (1, 2), (3, 4, 5, 6), …
//	wall:N        the whole row of i and one process of every lower row, in rows of 1, 2, 3, … processes
//	wall:2,3,3    the same with rows as given
//	votes:3,1,1   processes that have more than half of the votes together, none of them superfluous
//	own:0+1/1+2   quorums as given; the i-th if there is one for each process, otherwise the first that contains i
//
// # What is checked
//
// A quorum must not be empty and two of them must meet: without that no algorithm here is right, so such a coterie is
// refused. Minimality (no quorum contains another) is part of the usual definition, but no proof needs it; a coterie
// without it only wastes messages. Check reports all three, with the two processes whose quorums are at fault. The grid
// whose last row is short and some walls are not minimal.
//
// # What is computed
//
// Load is that of the uniform strategy: every process acts equally often and asks its own quorum, so the load of a process
// is the part of all quorums that it is in. No linear program looks for a better strategy. Availability is the
// probability that some quorum is alive when each process fails on its own with probability p: of the quorums that are
// assigned, and of all that the construction allows (any majority, any row with any column, …), which is what processes
// could fall back on. It is exact up to ExactUpTo processes, beyond that it is sampled from a given seed.
package coterie
