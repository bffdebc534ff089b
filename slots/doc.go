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
// # How it works
//
// Goroutines are bound to n seats while they hold or want a slot, and those with a seat compete. A goroutine that comes
// while nobody waits and fewer than k are inside takes the express lane: it announces itself and looks at the others once.
// The others go through the rounds of the algorithm. Whoever has to wait looks a few times and then sleeps; it is woken
// by the one whose step may let it pass. Goroutines beyond n wait for a seat in the order in which they came.
//
// # What it is not
//
// It has no weights: every slot counts one. It is not for processes of an operating system; their memory outlives them.
package slots
