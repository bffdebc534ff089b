// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import "strings"

// mutants are the corrected variant with one thing broken, or with one of the two errors of the printed one put back. Those that
// begin with lean- are broken lean variants.
//
// Three things could be left out without an error that the checker sees, and are kept. That a grant ends what the same
// arbiter's failed said: without it grants are given back more often than needed. That acquire ends the reports to
// whoever counted: without it they go on, and are ignored. And the acknowledgement of acquire: it is superfluous because
// the mutual exclusion goes over the same links to the same quorum, so that whoever is granted next finds acquire done; the
// paper's is needed if mutual exclusion comes from elsewhere. The lean variant has none.
var mutants = []string{
	// The printed errors, one at a time.
	"maekawa-1985", "tell-once",
	// The mutual exclusion.
	"no-failed", "no-inquire", "no-defer", "relinquish-inside", "keep-inquiry", "no-clock", "no-mutex",
	// The register.
	"one-less", "keep-current", "no-again", "keep-registered",
	// The lean variant.
	"lean-merge", "lean-no-update", "lean-stays", "lean-maekawa-1985",
	// Crashes.
	"failstop-hasty", "failstop-keeps-dead", "failstop-forgets-nothing", "failstop-no-register", "failstop-no-request", "failstop-any-address",
	// Suspicion, loss and restarts.
	"tolerant-keeps-registered", "tolerant-restores", "tolerant-keeps-grant", "tolerant-any-number", "tolerant-any-address", "tolerant-any-answer",
	"tolerant-unsure", "tolerant-one-witness", "tolerant-stays-sure", "tolerant-says-yes", "tolerant-no-spent", "tolerant-trusts", "tolerant-no-recall", "tolerant-no-report", "tolerant-no-poke", "tolerant-one-less", "tolerant-stays-low",
	// Generations.
	"tolerant-any-generation", "tolerant-acts-frozen", "tolerant-no-promise", "tolerant-no-wait", "tolerant-keeps-book", "tolerant-drops-members",
}

// setVariant says what this variant does differently.
func (m *machine) setVariant(variant string) {
	m.tellsDisplaced = true
	switch variant {
	case "corrected":
	case "lean":
		m.isLean = true
	case "failstop":
		m.isLean, m.isFailStop = true, true
	case "tolerant":
		m.isTolerant = true
	case "printed":
		// The mutual exclusion is Maekawa's of 1985, which the paper takes as it is, and a member tells whoever counts of
		// one new registration only.
		m.isPrinted, m.tellsDisplaced, m.tellsOnce = true, false, true
	case "maekawa-1985":
		m.tellsDisplaced = false
	case "tell-once":
		m.tellsOnce = true
	case "lean-maekawa-1985":
		m.isLean, m.tellsDisplaced = true, false
	default:
		m.mutant = variant
		m.isFailStop, m.isTolerant = strings.HasPrefix(variant, "failstop-"), strings.HasPrefix(variant, "tolerant-")
		m.isLean = strings.HasPrefix(variant, "lean-") || m.isFailStop
	}
}
