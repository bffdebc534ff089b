// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package model holds the words that every algorithm of allot is written in, and the one transition relation that the
// checker, the simulator and the node share. It is pure: it has no clock, no chance, no goroutine and no I/O.
//
// An algorithm is written in one of three models of computation:
//
//   - Program: guarded actions over the variables of neighbours. A process looks at its own state and at those of its
//     neighbours, and if a guard holds it may change its own state, all in one step. A daemon decides who acts, and
//     several may act at once.
//   - Shared: registers in shared memory. Every single read, write or compare-and-swap is a step.
//   - Machine: messages over links. A state and an event give a state and messages to send. Links are first in first
//     out or unordered, reliable or lossy, repeating or not, bounded or not; this is chosen for each run (Links).
//
// NewGuarded, NewRegisters and NewNetwork make a System of each. A System says which moves are enabled in a
// Configuration and what a step makes of it, and nothing outside this package knows more than that:
//
//	inst, err := ring.Algorithm.Make(model.Options{Graph: g})
//	c := inst.System.Clean()
//	moves := inst.System.Enabled(c, site, nil)
//	var b model.Buffer
//	inst.System.Apply(c, moves[:1], &b)
//
// A Configuration is a vector of words. The variables of a Program, and the own state and registers of a Shared
// algorithm, are packed into words by a Layout. The states and messages of a Machine are Go values; the words are
// handles of a store that interns them (for the checker, where each step of a machine is computed once and then
// looked up) or keeps them in place (for the simulator, where nothing is encoded at all). One method of the algorithm
// names the variables and their domains, and encoding, decoding, describing, counting and corrupting follow from it
// (Fields).
//
// Faults are moves too: the adversary of the checker has a Budget of them, a script of the simulator names them one by
// one, and Apply treats both alike.
//
// An Algorithm is an entry in the list of the laboratory, an Instance is an algorithm with its parameters on a Graph,
// and a Property is what is claimed of it. A Gauge is a quantity such as the number of tokens that is a sum over the
// sites, so that the simulator keeps it up to date at the cost of a step rather than of a look at everything.
package model
