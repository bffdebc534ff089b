// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package wave is self-stabilizing ℓ-exclusion on any connected network with a root (R. Hadid and M. H. Karaata, "A
// stabilizing ℓ-exclusion algorithm in arbitrary rooted networks"): at most ℓ processes are in their critical sections at
// once, everybody gets in again and again, and whatever the memories hold at the start, this is so from some moment on.
//
// # The idea
//
// The root sends wave after wave. In each it first gives ℓ tokens to its neighbours, one at a time and in turn. Whoever gets a
// token uses it and holds it out to its next child; at a leaf it ends. Then the root broadcasts B down the tree, behind the
// tokens; the leaves answer F, and who has F from all children answers F; behind the F everybody becomes clean (C), and
// the root begins again. A process that is at odds with its parent corrects itself.
//
// A process has four variables: T, what it is doing; S, the neighbour to whom it last held a token out; P, its parent; L, its
// level. Next to the root P and L are constants. A process is privileged when a1, a2 or a6 is enabled, and its critical
// section is part of that action.
//
// The smallest use is through the laboratory:
//
//	allot lab check wave --topology complete:3 --l 2 --start arbitrary --daemon distributed --fairness weak
//
// # Where the corrected algorithm departs from the paper
//
// As printed the algorithm livelocks; docs/errata.md lists why. Two repairs of it pass all checks. "repaired" changes guards
// only (R1 to R7 in printed.go). "corrected", the default, has in addition another way into the tree: tokens go to children
// only, and a process without a parent joins when the broadcast reaches a neighbour, who waits for it before feeding back.
// So from the clean start the tree is complete after one wave, whatever ℓ is, where "repaired" needs a token for each process that joins; Potential and
// Par become "my parent holds a token out to me"; and the repair R6 is not needed.
//
// # What is guaranteed, and what it needs
//
// Under a weakly fair daemon, central, locally central, synchronous or distributed: from every configuration the
// legitimate set of invariants.go is reached and never left; in it there are at most ℓ privileges, each lasts until it is
// used, no token is lost, and every process is privileged again and again. Nothing is promised under an unfair
// daemon, in spite of the paper: see W8 in docs/errata.md.
//
// The caller keeps the root alive and the network connected. D (--d) must be at least the length of the longest path from the
// root; the default n-1 always is. The distance of the farthest process is not enough, because the tree need not take the
// shortest way. A smaller D heals faster: a broadcast that no root has begun can lure processes until its
// levels come to D. With --wiring changing, links may be cut and healed and processes leave and join; after each change
// the legitimate set is reached again, and until then safety is not promised.
package wave
