// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package reign decides who the members of a network are and which of them is the root, over a small store with
// compare-and-swap. It makes the generations in which the machines of package pool run.
//
// The store holds one Record: a generation, and its members in the order in which they are visited; the first is the root.
// The root writes it again and again (it touches it), and may act for Reign ticks, counted from the moment in
// which it sent the last write that succeeded. Everybody else watches. Who has seen the record unchanged for Reign ticks and a
// margin writes the next generation with itself as root; the store lets one of them win. By then the old root has stopped:
// its write reached the store after it was sent and was seen after it reached the store, so that its ticks began earlier. The
// margin is for clocks that run at different rates: twice the ticks by which two of them may be apart. No clock is ever compared with another one.
//
// Members send the root a beat from time to time. The root takes in strangers who do, and cuts out members who do not. A node that
// has restarted is a stranger, even if it has the name of a member: it has forgotten what it held.
//
// A root that leaves stops first and then hands over. A member that leaves while the root is dead takes over first. The last one tells that
// the network is at rest, if it knows.
//
// The laboratory (Algorithm) explores the same Node with a store that is as slow as it likes: see docs/protocols/pool.md, "Who is root".
//
// The caller gives a Node its events one at a time, Advance before anything else, and does what it asks through Out.
package reign
