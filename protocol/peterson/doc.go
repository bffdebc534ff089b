// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package peterson is Peterson's mutual exclusion of two processes over three shared registers (G. L. Peterson, "Myths
// about the mutual exclusion problem", Information Processing Letters 12(3), 1981). It calibrates the laboratory for
// algorithms in which every single read and write of a register is a step.
//
// A process that wants to enter raises its flag, then gives way by writing its own number into turn, and waits until the
// other's flag is down or turn no longer names itself. The order of the two writes matters, and the mutant
// "turn-first" lets the checker show why:
//
//	allot lab check peterson
//	allot lab check peterson --variant turn-first
//
// At most one process is inside, a process that tries gets in under weak fairness, and it is not needed that the other
// ever tries.
package peterson
