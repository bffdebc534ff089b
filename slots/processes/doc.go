// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package processes is k-exclusion between the processes of one machine, without a server: at most k of them are inside at
// once, and whatever is killed is recovered.
//
//	file, err := processes.Open(processes.Options{Name: "builds", K: 4})
//	hold, err := file.Acquire(ctx)
//	defer hold.Release()
//
// The memory of the algorithm (protocol/slots, the code that the checker has explored) is a mapped file in the user's
// runtime folder. Every access is atomic. A process takes one of n seats before it competes; a seat is a byte of the file
// under an open-file-description lock, which the kernel drops when its last owner is gone, by kill -9 too, and keeps while
// a process is stopped. Process numbers can be used again by the kernel, such locks cannot.
//
// A waiter spins for a moment and then sleeps on a futex in the file. Whoever gives way or leaves wakes the sleepers.
// From time to time a waiter looks for seats whose owner is dead and tidies up after them, as the model does when a
// process restarts: it lowers the level and drops the name.
//
// The lock belongs to the open file, so a child that inherits it (Hold.File) keeps the seat while it lives, even if its
// parent is killed. That is what a build that goes on running needs.
//
// Linux only: open-file-description locks and futexes are.
package processes
