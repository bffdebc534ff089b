// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package slots lets at most k goroutines of a program be somewhere at once.
//
//	var conversions = slots.New(4)
//
//	slot, err := conversions.Acquire(ctx)
//	if err != nil {
//		return err // the context ended first
//	}
//	defer slot.Release()
//
// It is k-exclusion as in package allot/protocol/slots, where every claim below is stated as a property and checked on
// small instances for every order of single memory accesses. This package runs the same machine over atomics.
//
// # What is guaranteed
//
//   - At most k slots are held at any time.
//   - Whoever waits in Acquire gets in, however many others come and go, as long as fewer than k holders never let go. A
//     counter with compare-and-swap does not give that.
//   - Giving up, by the context or because TryAcquire finds no room, keeps nobody else from getting in.
//   - Slot.Number is 0..k-1 and no two held slots have the same: a slot can stand for one of k buffers or connections.
//
// The machine is slots.Counted there; the checker's questions about it begin with --express counted.
//
// # How it works
//
// One word has a bit for every slot and counts the goroutines that are slow. A goroutine that finds nobody slow and a bit
// clear sets it by one compare-and-swap and is in; to get out it takes the bit away. The others take one of the seats, become
// slow, and go through the rounds of the algorithm, in which those inside count as winners. Whoever has to wait looks a few
// times and then sleeps; it is woken by the one whose step may let it pass. Goroutines that find no seat wait for one in the
// order in which they came.
//
// # What it is not
//
// It has no weights: every slot counts one. It is not for processes of an operating system; their memory outlives them.
package slots
