// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package bench measures allot. Benchmarks live here and nowhere else, because a test that looks at the clock fails on a
// busy machine; nothing imports this room.
//
//	make bench
//
// What the numbers mean: configurations a second per core for the checker, moves a second per core for the simulator, and
// the largest memory that the process has held. These machines are shared and noisy, so compare numbers of one run with
// each other, not with yesterday's. docs/performance.md says what was measured, on what, and how often.
package bench
