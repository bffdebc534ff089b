// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package memory is a fabric inside one process, for tests and for showing what faults do. It has the same contract as the
// one on NATS, and fails on demand:
//
//	net := memory.New(memory.Options{Seed: 1, Delay: time.Millisecond, Jitter: time.Millisecond, Loss: 0.01})
//	a, b := net.Open("a"), net.Open("b")   // node.Fabric
//	...
//	net.Cut("a", "b")                      // and net.Heal
//	net.Isolate("a")                       // from all others; net.Rejoin
//	a.Close()                              // a crash; net.Open("a") is the restart
//	net.Hold("a", "b")                     // frames wait; net.Release lets them go
//	net.LoseAnswers("a", 1)                // the next write happens, but its node does not hear of it
//
// Whether the n-th frame of a link is lost, and how long it takes, depends on the seed, the names and n alone, whatever
// order goroutines run in. Time is that of the package time, so that in a bubble of testing/synctest all of it is simulated.
//
// Frames keep the order of their link. Frames that are under way when a link is cut or a node is closed are lost, and Stats
// counts them. The store works at a node that is connected, both ways, to a majority of all nodes that were ever opened and
// not removed, itself included; elsewhere it answers node.ErrUnavailable at once, and watches wait. All nodes share one
// copy, so a read sees every write.
package memory
