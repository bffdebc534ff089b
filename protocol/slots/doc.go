// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package slots is k-exclusion in shared memory: of n processes at most k are inside, and up to k-1 of them may stop
// anywhere, inside too, without keeping anybody else out for ever. It follows M. Omori, K. Obokata, K. Motegi and
// Y. Igarashi, "Analysis of Some Lockout Avoidance Algorithms for the k-Exclusion Problem" (2002): (n,k)-NAIVE,
// (n,k)-EXCL and (n,k)-GTEX, here for every n and k.
//
// All three are one competition, repeated. A process announces the round by writing its code into its own register
// level, gives way by writing its number into the register turn of the round, and then goes on as soon as it either
// counts few enough others of its group at this round or beyond, or finds that somebody else came after it. The two
// writes must come in this order. The count is made by single reads and is no snapshot.
//
//	NAIVE   rounds 1..n-k among all; nobody else may be at the round or beyond
//	EXCL    rounds 1..n-k among all; at round s at most n-s-1 others may be
//	GTEX    EXCL in the leaves of a binary tree, then in its inner nodes, k winners from each node
//
//	allot lab check slots --algorithm gtex --n 5 --k 1
//	allot lab check slots --algorithm excl --n 3 --k 2 --crashes 1
//	allot lab check slots --algorithm naive --n 3 --k 2 --crashes 1   # locks a process out
//
// # Written once
//
// A Machine says which access comes next and what becomes of the process when it is done. The checker schedules every
// access; package allot/slots runs the same functions over atomic memory.
//
// # The caller's duties
//
// Memory must be sequentially consistent. A process number has one owner at a time, and whoever takes over the
// number of a dead process begins at Clean, which zeroes what the dead one left behind. Leaving is owed: somebody who
// never leaves counts as stopped.
//
// # Where this departs from the paper
//
//   - GTEX is made for every n and k. The paper gives it for n = 2^t·2k, and the listing goes wrong elsewhere
//     (docs/errata.md); the leaves need as many rounds and the threshold that their own size asks for.
//   - A count ends as soon as its outcome is certain, and turn is read only if the count alone does not decide. Each run
//     of this is a run of the paper's algorithm in which the reads left out happen at once, so nothing is lost; the
//     variant whole-scan makes them all.
//   - A waiting process may give up, once it has written turn (cancel).
//   - A process takes a lane past all rounds when nobody competes and fewer than k are inside (express); it may also try
//     that without waiting otherwise (try). The lane is a register with compare-and-swap, which the paper does without.
//   - Where nobody stops but inside, as between goroutines, those inside can be counted in the lane alone, and only who has to
//     wait needs a process number (Counted, express counted): one compare-and-swap to get in and one addition to get out.
//   - Whoever is inside may take a name of its own, 0..k-1 (names), the k-assignment that the authors leave for later.
//   - A process number can be taken over from a dead process (arriving zeroes its registers).
package slots
