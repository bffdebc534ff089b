// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package tree is k-out-of-ℓ exclusion on a tree (A. K. Datta, S. Devismes, F. Horn and L. L. Larmore, "Self-Stabilizing
// k-out-of-ℓ Exclusion on Tree Networks", 2009). There are ℓ units, and any process may ask for 1 to k of them at a time.
//
// # The idea
//
// Depth-first order makes a ring of the tree: a token that came from channel q leaves on channel q+1. On this ring go
//
//   - ℓ resource tokens. A process that wants units collects what comes by until it has enough, and enters. Alone they
//     deadlock: two processes hold one unit each and wait for a second.
//   - one pusher. A process that waits in vain lets go of what it holds when the pusher comes. Now a process that wants
//     two units may lose its first one again and again.
//   - one priority token. Whoever waits keeps it until it has entered, and need not obey the pusher meanwhile. Now every
//     request is served, as long as nothing is lost.
//   - the controller. It goes round and counts the others; the root makes what is missing, and where there is too much of
//     anything a reset takes all away and begins anew. The controller itself is made safe by a number that grows with
//     every circulation (Varghese's counter flushing) and by a timer at the root.
//
// The parameter stage builds these up one by one, and the checker shows what each is for:
//
//	allot lab check tree --topology path:2 --l 2 --k 2 --stage tokens
//	allot lab check tree --topology star:3 --l 3 --k 2 --stage pusher
//	allot lab check tree --topology star:3 --l 3 --k 2 --stage priority
//	allot lab check tree --topology path:3 --l 2 --k 2
//	allot lab check tree --topology path:2 --l 1 --k 1 --start arbitrary
//
// # What the caller owes
//
// Links that keep the order, one for all kinds of messages. Requests of 1 to k units, k at most ℓ; requests of 0 units are
// not offered. Every section ends, but (k,ℓ)-liveness holds without that: --forever names processes that never release.
// The counter has 2(n-1)(garbage+1)+1 values unless --counter says otherwise, where garbage is the number of
// arbitrary messages that a link may hold at the start.
//
// # What is guaranteed
//
// From the clean start the numbers of tokens are exact in every configuration, no more than ℓ units are in use, whoever
// uses a unit holds a token for it, and every request is served under weak fairness. From any start the protocol reaches
// configurations of which the same holds. The property census is the reason: the tokens behind the controller are those
// that it has counted.
//
// # Any network
//
// Network is the same protocol on any connected network: protocol/internal/spanning builds a breadth-first tree under it and
// elects a root where none is given. While the tree changes nothing is promised; when it stands, the protocol stabilizes on it.
//
//	allot lab check network --topology path:2 --counter 2
//	allot lab sim network --topology random:12,seed=3 --l 4 --k 2 --ticks 200 --root elected --start arbitrary --seed 3
//
// # Departures from the paper
//
// The variant printed is the paper's listing, the variant corrected differs in this (docs/errata.md has the
// counterexamples):
//
//   - the pusher moves those who do not hold the priority token; the listing has it the other way round;
//   - the root counts what it holds before it judges a circulation, not afterwards for the next one;
//   - a priority token that finds another one at the root is counted;
//   - a reset spares the tokens of units in use and counts them, and takes the priority token also on its way back;
//   - a controller that the timer sent again carries a mark, and its sums are not acted on;
//   - a process may have no number at all, and has none when it starts.
//
// A restart of the root with its memory lost is not covered: it puts new tokens on their way while the old ones are still
// there, and until the next circulation has found that out two may use one unit.
package tree
