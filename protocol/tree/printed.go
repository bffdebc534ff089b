// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import "slices"

// rule is the corrected algorithm, the printed one, or a mutant: the corrected one with a single thing taken away.
type rule uint8

const (
	asCorrected rule = iota
	asPrinted

	// One error of the paper each.
	pushIfPriority
	countLate
	prioPassUncounted
	hardReset
	resetKeepsPriorityBack
	resentJudged

	// Who takes and keeps tokens.
	takeAnyPhase
	takeTooMany
	resourceTurnsBack
	pushDespitePriority
	pushInside
	pushSatisfied
	pushNobody
	priorityOverwritten
	priorityNotHeld
	priorityHeldInside
	enterEarly
	releaseKeeps

	// What is counted.
	tokenPassUncounted
	tokenPushUncounted
	tokenReleaseUncounted
	pusherUncounted
	prioHandUncounted
	rootPassUncounted
	rootPrioUncounted
	passUncounted
	prioUncounted
	countTwice
	passedKept
	priosKept
	tokensKept
	priosSeenKept
	pushersKept

	// What is made and taken away.
	excessTokensAllowed
	excessPriosAllowed
	excessPushersAllowed
	noNewTokens
	noNewPriority
	noNewPusher
	makeDuringReset
	resetAccepts
	resetKeepsRootTokens
	resetKeepsRootPriority
	resetKeepsTokens
	resetKeepsPriority
	resetKeepsTokensBack

	// How the controller goes round.
	rootAnyChannel
	rootAnyCounter
	counterStands
	childAnyChannel
	childAnyCounter
	backFromParent
	doubleNotForwarded
	succKept
	counterNotTaken
	noTimeout
	restartNumbered
)

var rules = map[string]rule{
	"corrected": asCorrected,
	"printed":   asPrinted,

	"push-if-priority":        pushIfPriority,         // the pusher moves those who hold the priority token, not the others
	"count-late":              countLate,              // the root counts what it holds after judging, for the next circulation
	"prio-pass-uncounted":     prioPassUncounted,      // a priority token that finds another one at the root is not counted
	"hard-reset":              hardReset,              // a reset takes units that are in use
	"reset-keeps-prio-back":   resetKeepsPriorityBack, // a reset that returns from a child leaves the priority token
	"resent-judged":           resentJudged,           // counts are judged although a resent controller brought them
	"take-any-phase":          takeAnyPhase,           // processes that want nothing take tokens too
	"take-too-many":           takeTooMany,            // waiting processes take more than they need
	"resource-turns-back":     resourceTurnsBack,      // resource tokens leave on the channel on which they came
	"push-despite-priority":   pushDespitePriority,    // the holder of the priority token obeys the pusher
	"push-inside":             pushInside,             // the pusher takes units that are in use
	"push-satisfied":          pushSatisfied,          // the pusher takes units of those who are about to enter
	"push-nobody":             pushNobody,             // the pusher does nothing
	"priority-overwritten":    priorityOverwritten,    // a second priority token replaces the one that is held
	"priority-not-held":       priorityNotHeld,        // nobody keeps the priority token
	"priority-held-inside":    priorityHeldInside,     // the priority token is kept until the release
	"enter-early":             enterEarly,             // one unit fewer than needed is enough
	"release-keeps":           releaseKeeps,           // a release leaves the tokens where they are
	"token-pass-uncounted":    tokenPassUncounted,     // the root does not count resource tokens that it passes on
	"token-push-uncounted":    tokenPushUncounted,     // nor those that the pusher makes it let go
	"token-release-uncounted": tokenReleaseUncounted,  // nor those that it releases
	"pusher-uncounted":        pusherUncounted,        // nor pushers
	"prio-hand-uncounted":     prioHandUncounted,      // nor priority tokens that it held
	"root-pass-uncounted":     rootPassUncounted,      // the controller does not count what the root holds
	"root-prio-uncounted":     rootPrioUncounted,      // nor the priority token that it holds
	"pass-uncounted":          passUncounted,          // the controller does not count what the others hold
	"prio-uncounted":          prioUncounted,          // nor the priority token that they hold
	"count-twice":             countTwice,             // what the root holds when a circulation ends is counted for the next too
	"passed-kept":             passedKept,             // PT is not set to 0 for a new circulation
	"prios-kept":              priosKept,              // nor PPr
	"tokens-kept":             tokensKept,             // nor SToken
	"prios-seen-kept":         priosSeenKept,          // nor SPrio
	"pushers-kept":            pushersKept,            // nor SPush
	"excess-tokens-allowed":   excessTokensAllowed,    // too many resource tokens cause no reset
	"excess-prios-allowed":    excessPriosAllowed,     // nor too many priority tokens
	"excess-pushers-allowed":  excessPushersAllowed,   // nor too many pushers
	"no-new-tokens":           noNewTokens,            // missing resource tokens are not made
	"no-new-priority":         noNewPriority,          // nor a priority token
	"no-new-pusher":           noNewPusher,            // nor a pusher
	"make-during-reset":       makeDuringReset,        // what is missing is made in the step in which a reset begins
	"reset-accepts":           resetAccepts,           // the root does not drop tokens during a reset
	"reset-keeps-root-tokens": resetKeepsRootTokens,   // the root keeps its resource tokens at a reset
	"reset-keeps-root-prio":   resetKeepsRootPriority, // and its priority token
	"reset-keeps-tokens":      resetKeepsTokens,       // the others keep their resource tokens when a reset arrives
	"reset-keeps-prio":        resetKeepsPriority,     // and the priority token
	"reset-keeps-tokens-back": resetKeepsTokensBack,   // and resource tokens when it returns from a child
	"root-any-channel":        rootAnyChannel,         // the root takes a controller from any channel
	"root-any-counter":        rootAnyCounter,         // and with any number
	"counter-stands":          counterStands,          // all circulations have the same number
	"child-any-channel":       childAnyChannel,        // the others take a controller from any child
	"child-any-counter":       childAnyCounter,        // and from the right child with any number
	"back-from-parent":        backFromParent,         // and from the parent as if it had come back from a child
	"double-not-forwarded":    doubleNotForwarded,     // a controller with a number that is already here is dropped
	"succ-kept":               succKept,               // a new circulation does not begin with the first child
	"counter-not-taken":       counterNotTaken,        // the others do not take the number of a new circulation
	"restart-numbered":        restartNumbered,        // a process restarts with a number that the circulation may have
	"no-timeout":              noTimeout,              // the timer never runs out
}

func mutantNames() []string {
	var names []string
	for name, r := range rules {
		if r != asCorrected && r != asPrinted {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// hasMark tells whether controllers carry the mark of a resend; the paper's do not.
func (m *machine) hasMark() bool { return m.rule != asPrinted && m.rule != resentJudged }

// dropsPriorityBack tells whether a reset that returns from a child takes the priority token too.
func (m *machine) dropsPriorityBack() bool {
	return m.rule != asPrinted && m.rule != resetKeepsPriorityBack
}

// hasUnknown tells whether a process can have no number at all.
func (m *machine) hasUnknown() bool { return m.rule != asPrinted && m.rule != restartNumbered }
