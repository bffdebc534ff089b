// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Package coterie opens protocol/internal/coterie to the command line and to programs that want to choose a quorum system
// for a band: which forms there are, what each costs, and what it survives. It adds nothing of its own; the lesson is in
// the inner package.
//
//	c, err := coterie.Parse("grid:25", 0)
//	fmt.Println(c.Worth().Load, c.Availability(0.1, 100_000, 1).Assigned)
package coterie

import inner "allot/protocol/internal/coterie"

// The words of the inner package.
type (
	Coterie      = inner.Coterie
	Flaw         = inner.Flaw
	Worth        = inner.Worth
	Availability = inner.Availability
)

// Forms lists what Parse reads. ExactUpTo is the largest number of processes whose availability is computed exactly.
const (
	Forms     = inner.Forms
	ExactUpTo = inner.ExactUpTo
)

// Parse builds a coterie from its form, such as grid:25.
func Parse(form string, n int) (*Coterie, error) { return inner.Parse(form, n) }
