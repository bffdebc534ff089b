// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package spanning builds a spanning tree on any connected network, and elects its root where none is given. It stabilizes
// from any memory and any messages, and follows a network whose links and processes come and go. Algorithms that are made
// for trees run on the tree that it makes; see protocol/tree for one that does.
//
// # The idea
//
// Every process remembers what each neighbour said last, and nothing else. What it is itself follows from that: it belongs
// to the leader with the largest name that a neighbour knows of, is one step further away than the nearest such neighbour, and that
// neighbour is its parent; if nobody knows of a larger name than its own, it is the leader itself. Whenever what it would say
// has changed it says so, and now and then it repeats it. This is the breadth-first tree of Bellman and Ford, with the names
// of Afek, Kutten and Yung ("Memory-efficient self stabilizing protocols for general networks", 1990) in front of the distances.
//
// Where the root is given there is one name, and nobody but the root claims it.
//
// # Why false leaders die out
//
// A name that no process has may stand in any memory and any message after a fault. But nobody says it with the distance
// 0, so in the time that a message takes the smallest distance that is said with it grows by one, and a distance of n or more
// is not believed. For the same reason processes that lost their root forget it.
//
//	r := spanning.Rules{Leaders: n + 1, Most: n - 1}
//	s := spanning.NewState(degree, r)
//	before := r.Own(&s, self)
//	s.Heard[channel] = word                       // that arrived
//	after := r.Own(&s, self)
//	for i := range s.Heard {
//		if w := r.Say(after, i); w != r.Say(before, i) { … send w on channel i … }
//	}
//
// # What the caller owes
//
// Links that keep the order; each process repeats what it says again and again, because after a fault a neighbour may
// remember something else than what was said. When a link is cut, or nothing has come from it for long, Forget what was heard
// there. At most Most+1 processes, and different names below Leaders.
package spanning
