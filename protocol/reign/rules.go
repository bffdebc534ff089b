// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package reign

// rule is the machine as it runs, or one of its mutants: each lacks one thing that something rests on.
type rule uint8

const (
	asMeant           rule = iota
	takenOverEarly         // another root takes over one tick too early
	countedFromAnswer      // the reign is counted from the answer of the store instead of from the question
	quietKept              // a touch of the root does not end its quiet
	quietUnread            // a newcomer counts the time before it has read the record as quiet
	renewedByFailed        // a write that failed, or whose answer was lost, renews the reign as well
	rootUnchecked          // a write renews the reign of whoever wrote it, root or not
	keptOnLeaving          // a root that hands over keeps its reign
	oldRecordTaken         // news that is older than what the node knows is taken
	revisionIgnored        // the store writes whatever it is asked to
	lifeForgotten          // a node that restarted takes itself for the one before
	strangersIgnored       // the root takes nobody in
	silenceIgnored         // the root cuts nobody out who is silent
	neverTakesOver         // nobody takes over from a silent root
	leaverWaits            // who is leaving does not take over from a silent root
	leavingIgnored         // the root cuts nobody out who wants to leave
	restUnchecked          // the last to leave tells of a rest whatever became of the others
)

var ruleNames = map[string]rule{
	"corrected":           asMeant,
	"taken-over-early":    takenOverEarly,
	"counted-from-answer": countedFromAnswer,
	"quiet-kept":          quietKept,
	"quiet-unread":        quietUnread,
	"renewed-by-failed":   renewedByFailed,
	"root-unchecked":      rootUnchecked,
	"kept-on-leaving":     keptOnLeaving,
	"old-record-taken":    oldRecordTaken,
	"revision-ignored":    revisionIgnored,
	"life-forgotten":      lifeForgotten,
	"strangers-ignored":   strangersIgnored,
	"silence-ignored":     silenceIgnored,
	"never-takes-over":    neverTakesOver,
	"leaver-waits":        leaverWaits,
	"leaving-ignored":     leavingIgnored,
	"rest-unchecked":      restUnchecked,
}
