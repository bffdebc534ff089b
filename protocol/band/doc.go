// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package band keeps the number of active members of a group between a floor l and a ceiling k, for 0 ≤ l < k ≤ n: at least
// l serve, at most k are on, and whoever wants to enter or leave waits until that allows it.
//
// It is the algorithm of S. Kamei and H. Kakugawa, "Asynchronous message-passing distributed algorithm for the global
// critical section problem", 2019, over any quorum system (a coterie, see protocol/internal/coterie):
//
//	allot lab check band --object gcs --n 4 --l 1 --k 3 --coterie majority --fairness weak
//	allot lab check band --object mutex --coterie own:0+1 --times 2 --variant printed
//	allot lab sim band --n 25 --l 10 --k 15 --coterie grid --times 1000000 --steps 1000000
//
// # The idea
//
// Entering is free as far as the floor goes, and leaving as far as the ceiling goes. So there are two gadgets, one for each
// bound, and one is the other with inside and outside exchanged. The floor's gadget has a register at every process, which
// holds who is inside among those whose quorum it is in. Whoever enters registers with its quorum and goes on. Whoever wants
// to leave takes a mutual exclusion, asks its quorum, waits until l+1 are known to be inside, itself among them, has itself
// struck off, and gives the mutual exclusion back. Any two quorums meet, so nobody inside is overlooked for long; and since
// only the holder of the mutual exclusion is struck off, nobody is counted who is about to go.
//
// A register that knows too little is safe: whoever is not known counts as outside. Everything that is late can therefore
// only block, never break a bound.
//
// # The objects
//
// mutex is the mutual exclusion alone, mutin the floor alone (k = n), kmutex the ceiling alone (l = 0), gcs both. A floor of
// 0 and a ceiling of n need no gadget and have none, but in the printed variant.
//
// # The variants, and where they depart from the paper
//
//   - printed: as in the paper, with the mutual exclusion that it cites, Maekawa's of 1985. Both halves can come to a stand
//     still: see docs/errata.md.
//   - corrected: a member that reports to whoever counts reports every new registration, not one; the mutual exclusion also
//     tells a waiting request when it is displaced from the head of a queue. Queries need no number, since links keep the order.
//     Clocks go with requests and grants only.
//   - lean: register and arbiter are one. A grant says who is registered, news go to the holder of the grant, and giving it
//     back strikes the sender off: 4 messages per member for leaving and entering again instead of 8, and 2 time units of
//     waiting instead of 6.
//   - failstop: the lean one, for processes that crash and restart without their memory; see failstop.go for what it assumes.
//   - tolerant: for links that lose, repeat and reorder, partitions, crashes in any state, suspicion that errs, withdrawal, and changes of
//     members and quorums; see tolerant.go. Its bounds need no assumption about time.
//
// # What the caller must do
//
// Links must be reliable and first in, first out (protocol/internal/link makes such links of others), but for tolerant. The start must be
// safe; an unsafe one, and l ≥ k, is refused. A process is asked for one thing at a time. Nobody needs to ask at all: a
// request waits only while a bound forbids it.
//
// # What is claimed
//
// floor and ceiling hold in every configuration. Nobody is stuck: when nothing is on its way, whoever still waits waits for
// a bound. Everybody is served under weak fairness. No request, once it has come to an arbiter, is overtaken there by the
// same process twice, so nobody starves.
//
// # How a question becomes finite
//
// Time stamps grow without end. With --times T requests are made until the clocks show T, and every run is finite. With
// --times 0 there are no clocks, ties are decided by the number of the process, and requests never end: this covers runs of
// any length, in which the smallest of those who wait is always served. The first shows that the clocks are fair, the second
// that nothing else depends on them.
//
// # Time
//
// A process handles what it sends to itself at once; such messages are not counted and take no time.
package band
