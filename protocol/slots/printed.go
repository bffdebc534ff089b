// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"slices"
	"strconv"
)

// rule is the algorithm as corrected, as printed, or a mutant of it.
type rule uint8

const (
	corrected rule = iota
	wholeScan
	printed
	printedLeaves
	printedTurn
	turnByHeight
	turnFirst
	noLevel
	noTurn
	noEscape
	threshold
	skipRead
	sameHeight
	sameLevel
	fewerRounds
	stayUp
	cancelEarly
	cancelSilently
	keepLevel
	keepName
	arriveThenSweep
	leaveThenDrop
	expressFull
	expressBlind
	expressLate
	expressHasty
	expressByLevels
	tryHasty
	countedBlind
	countedOpen
	countedGlanceFirst
	countedVacateFirst
	countedSettleFirst
	countedDropLate
	countedCareless
)

var variants = map[string]rule{
	"corrected":  corrected,
	"printed":    printed,   // word for word, every read made
	"whole-scan": wholeScan, // corrected, but every read made and turn always read, as in the paper
}

var mutants = map[string]rule{
	"printed-leaves":       printedLeaves,      // of printed, only the rounds and thresholds of the leaves
	"printed-turn":         printedTurn,        // of printed, only the register that gcheck reads
	"turn-by-height":       turnByHeight,       // the kinder reading of gcheck: the nodes of one height share their turn registers
	"turn-first":           turnFirst,          // turn is written before level
	"no-level":             noLevel,            // level is written in the first round only
	"no-turn":              noTurn,             // turn is not written
	"no-escape":            noEscape,           // only the count lets a process pass
	"threshold":            threshold,          // one more than the limit may be there
	"skip-read":            skipRead,           // one of the others is not looked at
	"same-height":          sameHeight,         // those who have moved up in the tree are not counted any more
	"same-level":           sameLevel,          // those who have moved up at all are not counted any more
	"fewer-rounds":         fewerRounds,        // the last round of all is left out
	"stay-up":              stayUp,             // leaving does not lower the level
	"cancel-early":         cancelEarly,        // giving up before turn is written
	"cancel-silently":      cancelSilently,     // giving up without lowering the level
	"keep-level":           keepLevel,          // taking over a dead process's number leaves its level
	"keep-name":            keepName,           // taking over a dead process's number leaves its name
	"arrive-then-sweep":    arriveThenSweep,    // taking over a dead process's number lowers its level before dropping its name
	"leave-then-drop":      leaveThenDrop,      // the level is lowered before the name is dropped
	"express-by-levels":    expressByLevels,    // the express lane counts the levels one by one instead of joining in one step
	"express-full":         expressFull,        // the express lane is open with k others inside
	"express-blind":        expressBlind,       // the express lane does not know who is slow
	"counted-blind":        countedBlind,       // the rounds do not count those in the lane
	"counted-open":         countedOpen,        // the lane lets somebody in while others are slow
	"counted-glance-first": countedGlanceFirst, // a count looks at the lane before the levels
	"counted-vacate-first": countedVacateFirst, // a winner lowers its level before it is in the lane
	"counted-settle-first": countedSettleFirst, // a winner is not slow any more before it is in the lane
	"counted-drop-late":    countedDropLate,    // a name beyond the bits is dropped when its holder is not counted any more
	"counted-careless":     countedCareless,    // a winner does not look whether the name that it takes is free
	"try-hasty":            tryHasty,           // trying without waiting announces itself before it has looked
	"express-hasty":        expressHasty,       // the express lane is announced before anybody has looked whether it is open
	"express-late":         expressLate,        // the express lane is joined before the level is raised
}

func mutantNames() []string {
	var names []string
	for name := range mutants {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// readsEverything tells whether a count makes all its reads, even when its outcome is certain.
func (r rule) readsEverything() bool {
	return r == wholeScan || r == printed || r == printedLeaves || r == printedTurn
}

// isLeafPrinted tells whether leaves have the rounds of the listing, which is made for leaves of 2k processes.
func (r rule) isLeafPrinted() bool { return r == printed || r == printedLeaves }

// registerToLook is the turn register that is read in round q of node i. The printed gcheck reads turn(p,q), where p is
// the height, but the turn registers are numbered by nodes. Word for word, the node is the one with the label p; where
// there is none, nothing else can be meant than the node's own.
func (r rule) registerToLook(tree []node, i, q, own int) int {
	for _, nd := range tree {
		switch {
		case q > nd.rounds:
		case (r == printed || r == printedTurn) && nd.label == strconv.FormatInt(int64(tree[i].height), 2):
			return nd.turns + q - 1
		case r == turnByHeight && nd.height == tree[i].height:
			return nd.turns + q - 1
		}
	}
	return own
}

// nextOfAll is the process that me looks at next, where it looks at all of them.
func (m *Machine) nextOfAll(me int, local uint64) int {
	all := round{to: m.N}
	return min(all.other(me, int(m.next.Get(local))), m.N-1)
}

// afterLevels lets a process pass that has announced itself, seen nobody slow and fewer than k others at the top.
func (m *Machine) afterLevels(local, found uint64) uint64 {
	high := m.high.Get(local)
	if found > 0 {
		high++
	}
	next := m.next.Get(local) + 1
	switch {
	case int(high) >= m.K || found > 0 && found < m.plan.top:
		return enlist
	case int(next) < m.N-1:
		return m.high.Set(m.next.Set(local, next), high)
	}
	return m.high.Set(settle, 1)
}
