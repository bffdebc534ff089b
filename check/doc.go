// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package check is the model checker of allot. It explores every interleaving of a small instance of an algorithm, the
// same code that runs in production, and answers each property with proved, counterexample or unknown.
//
//	result, err := check.Run(ctx, inst, check.Options{Arbitrary: true, Daemon: check.Distributed})
//
// # What can be asked
//
// Safety (Always, AlwaysStep, Rests, Sometimes) is decided by breadth-first search, so a counterexample is as short as
// one can be. Stabilizes asks that the legitimate set is closed and that every run from every start reaches it; under
// the unfair daemon that is so if and only if there is no cycle and no dead end outside the set, and then the longest
// path is the exact worst case. With weak or strong fairness, and for Recurs, the strongly connected components of the
// region are searched for one in which a fair run can stay, and the counterexample is a cycle of real steps in which
// everybody to whom the fairness owes something gets it.
//
// A Recurs property may also be about runs in which some processes stop for ever (model.Property.Stops): they are those whom
// the run owes nothing any more, so a component is judged once, without a configuration for every way to stop.
//
// Faults are moves of an adversary with a budget, which is part of the configuration (model.Budget).
//
// # How configurations are kept
//
// Where the product of all domains fits memory, a configuration is a number and its successors are found by adding
// (Direct). Otherwise every configuration is packed into a short key and kept exactly (Exact); the states and messages of
// a network are interned, and each step of a machine is computed once. Fingerprint keeps 64 bits of each configuration
// for very large safety searches and reports the probability that something was missed.
//
// # What the caller must know
//
// A search that is cut by a limit or by the context answers Unknown for whatever it has not decided. The numbers of
// states and transitions do not depend on the number of workers; which of several shortest counterexamples is found may.
package check
