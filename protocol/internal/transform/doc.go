// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package transform makes a message-passing machine of any guarded-action program: each process runs the program on copies of its
// neighbours' variables, and the runs of the program that come out are those of a central, fair daemon. It is
// self-stabilizing itself, so a self-stabilizing program stays one over links that lose, repeat and delay messages.
//
//	var OverLinks = transform.Over(&Algorithm, "ring:2")   // one more entry for the list of the laboratory
//
//	allot lab check ring-links
//	allot lab sim wave-links --topology grid:3x3 --links fifo,lossy,duplicating,capacity=3,garbage=3 --steps 20000
//
// # How
//
// Every edge has one token, and with it travels the state of whoever sends it. A process that has the tokens of all its
// edges has its turn: no neighbour can change meanwhile, and what came with the tokens is what the neighbours are. It takes
// one action, if one is enabled, for as long as it likes, and passes all tokens on with its new state. So a critical
// section that is part of an action may take long; the neighbours wait and others do not.
//
// Nobody waits in a circle because tokens are collected in the order of the colours of the edges. A token that comes while one of a smaller colour is
// missing is given back when the timer runs out. Who waits for a token holds smaller ones only, and the process that
// it waits for waits for larger ones only. Nothing about this needs to be remembered, so nothing can be corrupted.
//
// One token on an edge, over links that lose and repeat, is a handshake of two counters: Dijkstra's K-state ring of the two ends and
// all that is on the way between them. The end with the smaller number leads. It takes the token when its own number comes back, and
// passes it on under the next number. The other end takes the token when a number comes that differs from its last, and sends
// that number back. Both send again when their timers run out. Links that hold c messages need 2c+1 numbers: the
// checker proves it enough for c = 1 and c = 2, and finds counterexamples for 2c.
//
// Where links do not keep the order, no finite number of numbers is enough. There numbers grow (handshake "numbered"): the
// following end takes larger numbers only, and the leading end that hears of a larger number than its own goes on from there. With
// 2^40 numbers, and garbage below that, nobody lives to see the last one; at it, the edge stops.
//
// # What the caller must know
//
// The promises need that timers run out again and again and that a message that is sent again and again arrives in the end
// (strong fairness), and that the links hold no more messages than the numbers allow for. A process that stops for good keeps its tokens,
// so its neighbours stop too; one that comes back, with its memory or without, is a fault like any other and heals.
//
// Where the program heeds cut links (model.Rewirable), nobody waits for the token of an edge that is cut, messages say which channels of their sender are cut,
// and an edge that is healed begins anew. Which of its links are cut is told to a process by its surroundings; one that loses its memory beside a cut link
// must be told again. For other programs a link that is cut is one that loses everything, and both its ends wait until it is healed.
//
// The daemon that comes out is central: a program that needs no more than that, such as Dijkstra's ring with one value fewer
// than there are processes, runs over links too. A process with d neighbours sends d messages for each turn, besides what its timer
// repeats.
package transform
