// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import "slices"

// rule is the program as printed or a mutant of it.
type rule uint8

const (
	asPrinted rule = iota
	rootGuardTurned
	otherGuardTurned
	rootStill
	lastStill
	copyPlusOne
	rootCopies
)

var rules = map[string]rule{
	"printed":            asPrinted,
	"root-guard-turned":  rootGuardTurned,  // the root acts when the counters differ
	"other-guard-turned": otherGuardTurned, // the others act when the counters are equal
	"root-still":         rootStill,        // the root's action is dropped
	"last-still":         lastStill,        // the action of the root's predecessor is dropped
	"copy-plus-one":      copyPlusOne,      // the others copy a wrong value
	"root-copies":        rootCopies,       // the root behaves like everybody else
}

func mutantNames() []string {
	var names []string
	for name, r := range rules {
		if r != asPrinted {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// enabledMutant is Enabled for the mutants; each differs from the printed guard in one place.
func (r *program) enabledMutant(p int, isEqual bool) uint64 {
	isRoot := p == r.root
	switch r.rule {
	case rootGuardTurned:
		isEqual = isEqual != isRoot
	case otherGuardTurned:
		isEqual = isEqual == isRoot
	case rootStill:
		if isRoot {
			return 0
		}
	case lastStill:
		if p == int(r.before[r.root]) {
			return 0
		}
	case rootCopies:
		isRoot = false
	case asPrinted, copyPlusOne:
	}
	switch {
	case isRoot && isEqual:
		return 1 << addOne
	case !isRoot && !isEqual:
		return 1 << copyPredecessor
	}
	return 0
}
