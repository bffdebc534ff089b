// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package allot is the Go client of allot, which shares scarce things among many parties.
//
//	client, err := allot.Dial(ctx, "127.0.0.1:4710")
//	...
//	defer client.Close()
//	grant, err := client.Acquire(ctx, "gpus", 2, allot.WithReason("training"))
//	...
//	defer grant.Release(ctx)
//	train(ctx, grant.Units, grant.Fence)
//
// # What a grant promises
//
// The units of a grant belong to its holder alone until it releases them or the channel Lost is closed. A client that hears
// nothing from its node counts for itself: a grant is good for as long as the node said, from the moment when the client sent
// the question that the node last answered, by the client's monotonic clock. When that has passed the grant is lost, whether or
// not anybody could say so, and nobody else has the units before. Whoever does something that cannot be undone asks Err right
// before, or passes Fence on to what it changes, so that it can refuse a holder that comes too late: fences only grow.
//
// # Sessions
//
// All grants of a client hang on one session, over one connection, which the first Acquire opens. When the connection breaks,
// the client connects again, to the same node or another, and goes on with the session if it still lives; what it asked and
// released in the meantime is made up for, once. Requests have ids for that: asking again for the same is the same request.
// When the session is over its grants are lost, and requests that still wait are asked anew in the next session.
//
// # Errors
//
// What a node refuses comes back as an error that wraps one of the sentinels of this package (ErrNotNow, ErrUnknownPool, ...)
// and, for a value that makes no sense, as a *ValueError. The loss of a grant is a *LostError, which wraps ErrLost and the
// reason.
package allot
