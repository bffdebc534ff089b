// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

// rule is the machine as it runs, or one of its mutants: each lacks one thing that something rests on.
type rule uint8

const (
	asMeant             rule = iota
	generationUnchecked      // controllers of other generations are taken
	oldVisitTaken            // a controller that was here already is taken again
	renewedLate              // a lease that has run out comes to life again
	renewedFromNow           // the lease is counted from the arrival of the controller
	renewedByLost            // a controller that never came home renews as well
	twiceKept                // a unit that another member presented is kept
	mintedEarly              // units are made anew one tick too early
	mintedAtOnce             // units are made anew without waiting
	fenceNotRaised           // a grant gets the fence of the one before
	noPriority               // nobody may keep units that do not suffice
	lackIgnored              // others take what the member with the priority lacks
	turnsRenewed             // every visit renews the turns of a member
	priorityKept             // the member with the priority keeps it after its turn
	burstIgnored             // units that are made anew get a fence that others may have got meanwhile
	takenWithoutLease        // a member takes units off board without a lease
	keptWithoutLease         // what is free survives the end of the lease
	presentIgnored           // units are made anew though a member presented them
	callIgnored              // any wake-up call counts as answered, not only the last one
	takenOverEarly           // another root takes over one tick too early
	lifeForgotten            // a member that restarted takes part in the generation in which it crashed
	mintedWithoutReign       // a root that may not act makes units anew
	sentWithoutReign         // a root that may not act sends controllers
)

var ruleNames = map[string]rule{
	"corrected":            asMeant,
	"generation-unchecked": generationUnchecked,
	"old-visit-taken":      oldVisitTaken,
	"renewed-late":         renewedLate,
	"renewed-from-now":     renewedFromNow,
	"renewed-by-lost":      renewedByLost,
	"twice-kept":           twiceKept,
	"minted-early":         mintedEarly,
	"minted-at-once":       mintedAtOnce,
	"fence-not-raised":     fenceNotRaised,
	"no-priority":          noPriority,
	"lack-ignored":         lackIgnored,
	"turns-renewed":        turnsRenewed,
	"priority-kept":        priorityKept,
	"burst-ignored":        burstIgnored,
	"taken-without-lease":  takenWithoutLease,
	"kept-without-lease":   keptWithoutLease,
	"present-ignored":      presentIgnored,
	"call-ignored":         callIgnored,
	"taken-over-early":     takenOverEarly,
	"life-forgotten":       lifeForgotten,
	"minted-without-reign": mintedWithoutReign,
	"sent-without-reign":   sentWithoutReign,
}
