// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package abp is the alternating bit protocol (K. A. Bartlett, R. A. Scantlebury and P. T. Wilkinson, "A note on reliable
// full-duplex transmission over half-duplex links", Communications of the ACM 12(5), 1969). It calibrates the
// laboratory for algorithms that pass messages over links that lose and repeat them.
//
// The sender, process 0, repeats an item with a bit until it receives that bit as an acknowledgement, then turns the bit
// and goes on to the next item. The receiver, process 1, takes an item if it carries the bit that it expects, and
// acknowledges whatever comes. Over links that lose and repeat but keep the order, every item arrives once and in order;
// over links that do not keep the order it does not, and the checker shows how:
//
//	allot lab check abp
//	allot lab check abp --links unordered,lossy,capacity=2
//
// Progress needs strong fairness, because a link that loses every message is weakly fair. It also needs that a link does
// not repeat one message for ever: with links that may, and room for two messages, an old item can keep a new one out.
// The items are numbered modulo the parameter m.
package abp
