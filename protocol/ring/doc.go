// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package ring is Dijkstra's self-stabilizing K-state token ring (E. W. Dijkstra, "Self-stabilizing systems in spite of
// distributed control", EWD391 and EWD426, Communications of the ACM 17(11), 1974). It calibrates the laboratory,
// because its answers are known.
//
// n processes stand in a ring, each with a counter x in 0..K-1. A process other than the root is privileged when its
// counter differs from its predecessor's, and its action copies that counter. The root is privileged when the two are
// equal, and its action adds one modulo K. Whatever the counters are at the start, from some moment on exactly one
// process is privileged at a time, and the privilege goes round.
//
// How large K must be depends on the daemon. Dijkstra asked for K ≥ n. Under the central daemon K ≥ n-1 is enough and
// K = n-2 is not (W. Fokkink, J.-H. Hoepman and J. Pang, "A note on K-state self-stabilization in a ring with K = N",
// Nordic Journal of Computing 12, 2005; they count N+1 processes); under the distributed daemon K ≥ n is needed. For
// K ≥ n the exact worst case is 3n(n-1)/2-n-1 steps if n ≥ 4, and 3 if n = 3, or 2 under the central daemon (K. Altisen,
// P. Corbineau and S. Devismes, "Certification of an exact worst-case self-stabilization time", ICDCN 2021, for the
// distributed daemon). The tests of this package let the checker say the same.
//
// The smallest use is through the laboratory:
//
//	allot lab check ring --topology ring:7 --k 7 --daemon central
//
// Variants: "printed" is the algorithm as Dijkstra gave it; it has no errors, so nothing needs correcting. The mutants
// are broken on purpose, to show that the checker notices.
package ring
