// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package pool is the machine that runs in production: a pool of numbered units, shared by the members of a network, of which any
// request takes 1..k.
//
// # The idea
//
// It is the tree protocol of package tree, made for real networks. There, ℓ tokens, a pusher, a priority token and a
// controller go round the virtual ring of a tree, each by itself. Here they travel together. The controller goes round the
// members, one after the other and back to the root, and carries what is free (Visit.Board). It counts as it goes: what a
// member holds it presents, so that at the end of a circulation each unit was seen once, or is missing, or was seen twice. A
// member takes units only as far as they satisfy a request, and puts back what it cannot use, which is what the pusher is
// for. One member that waits may have the priority: it may keep units that do not suffice yet, and nobody takes what it lacks.
//
// Because everything that moves moves with the controller, nothing can overtake it. Links need not be reliable nor keep
// their order: a controller that was lost, late or repeated is recognized by its number.
//
// # Time
//
// What a member holds is good for Lease ticks of its own clock, counted from a moment that lies before the departure of the
// controller that renewed it: the moment in which it passed on the last controller that got home before this one left, or
// in which it sent the wake-up call that this one answers. So, when the root has not sent a controller for
// Lease ticks and a margin, whatever others held has run out, whatever was delayed and whoever was stopped.
//
// # Generations
//
// A generation is an agreement on who the members are, in which order the controller visits them and who is its root. It comes
// from the control plane, see package reign. Everything that belongs to another generation is dropped. Members present what
// they hold to the controller of the new generation, so that grants outlive the change. A unit that nobody presented is
// made anew when Lease and the margin have passed since the root began: by then whoever was not visited has let go.
//
// # Duties of the caller
//
// A Seat is the part of one member in one pool. The caller tells it of the time that passes (Advance) before anything else,
// of generations (Begin), of the right to act as root (Reign), of what arrives (OnVisit, OnWake) and of what its clients
// want (Request, Cancel, Release). The seat answers through its Out at once. It has no clock, no goroutine and no lock.
//
// What it tells its clients is never good for longer than Good. It makes a new generation when Out.Stuck asks for one. A member that
// restarts takes no part in the generation in which it was. A pool is made smaller than a waiting request only after that
// was cancelled. So that a fault in the memory of a seat heals, the caller tells it of the present generation again from time
// to time, and has it forget what no client knows of (Audit).
package pool
