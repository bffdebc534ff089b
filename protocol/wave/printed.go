// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave

import "slices"

// rules is the set of guards and mechanisms that a variant has. Every conjunct of every guard is one, so that a mutant
// is a variant with one of them taken away.
type rules uint64

func (r rules) has(rule rules) bool { return r&rule != 0 }

// What the corrections add to the paper.
const (
	a9TokOrF          rules = 1 << iota // R1: a9 is for T in {Tok, F}; as printed it is enabled in C and B too
	a10Parent                           // R2: a10 is for processes that have a parent
	constantsNearRoot                   // R3: P and L are constant next to the root
	tokenTaken                          // R4: the root notes that a token was taken before it looks for the next place
	heirIsChild                         // R5: a9 waits for a child, not for somebody who happens to be in Tok
	steadyParent                        // R6: a token is taken from a parent only, once there is one
	a6NoF                               // R7: a6 waits until no child is in F
	childrenFeed                        // a5 waits for Child(r); printed is "for all q in N_q", read as N_r
	keeping                             // tokens may be kept, see hold.go
	countKept                           // a1 takes what is kept off the tokens to give
	keepOnce                            // who keeps a token is no place for another
	joinOnBroadcast                     // tokens go to children only; who has no parent joins on the broadcast

	// The conjuncts of the guards.
	a1Clean
	a2Taken
	a2Clean
	a3Taken
	a3TokOrC
	a4Clean
	a5Fed
	a6Offered
	a6Sent
	a6Normal
	a6Clean
	a7Normal
	a7Parent
	a7Clean
	joinParent
	joinClean
	a8Normal
	a8Fed
	a8Free
	a9Normal
	a9F
	a9Sent
	a9Passed
	a9Depth
	normalAlone
	normalParent
	normalLevel
	normalB
	normalF
	normalTok
	rotor
	end
)

const (
	conjuncts = end - 1 - (a1Clean - 1)
	repairs   = a9TokOrF | a10Parent | constantsNearRoot | tokenTaken | heirIsChild | steadyParent | a6NoF | childrenFeed

	asPrinted  = conjuncts
	asRepaired = conjuncts | repairs
	// Three things of the paper and of the repairs are not needed where tokens go to children only: they take a token from the
	// parent alone (steadyParent); a neighbour in B or F corrects itself while the root holds a token out, and a4 waits
	// for it (a3TokOrC); whoever claims to be a child at level D has no right level, and leaves (a9Depth).
	corrected = (conjuncts | repairs | joinOnBroadcast) &^ (steadyParent | a3TokOrC | a9Depth)
	asKeeping = corrected | keeping | countKept | keepOnce
)

var variants = map[string]rules{
	"corrected": corrected,
	"printed":   asPrinted,
	"repaired":  asRepaired,
	"keeping":   asKeeping,
}

// mutants take one thing away.
var mutants = map[string]rules{
	"repaired-without-r1":    asRepaired &^ a9TokOrF,
	"repaired-without-r2":    asRepaired &^ a10Parent,
	"repaired-without-r3":    asRepaired &^ constantsNearRoot,
	"repaired-literal-a5":    asRepaired &^ (constantsNearRoot | childrenFeed),
	"repaired-without-r3-r6": asRepaired &^ (constantsNearRoot | steadyParent),
	"repaired-without-r4":    asRepaired &^ tokenTaken,
	"repaired-without-r5":    asRepaired &^ heirIsChild,
	"repaired-without-r6":    asRepaired &^ steadyParent,
	"repaired-without-r7":    asRepaired &^ a6NoF,

	"keeping-without-count": asKeeping &^ countKept,
	"keeping-without-once":  asKeeping &^ keepOnce,
	"without-r1":            corrected &^ a9TokOrF,
	"without-r2":            corrected &^ a10Parent,
	"without-r3":            corrected &^ constantsNearRoot,
	"without-r4":            corrected &^ tokenTaken,
	"without-r5":            corrected &^ heirIsChild,
	"without-r7":            corrected &^ a6NoF,
	"without-a1-clean":      corrected &^ a1Clean,
	"without-a2-taken":      corrected &^ a2Taken,
	"without-a2-clean":      corrected &^ a2Clean,
	"without-a3-taken":      corrected &^ a3Taken,
	"without-a4-clean":      corrected &^ a4Clean,
	"without-a5-fed":        corrected &^ a5Fed,
	"without-a6-normal":     corrected &^ a6Normal,
	"without-a6-offered":    corrected &^ a6Offered,
	"without-a6-sent":       corrected &^ a6Sent,
	"without-a6-clean":      corrected &^ a6Clean,
	"without-a7-normal":     corrected &^ a7Normal,
	"without-a7-parent":     corrected &^ a7Parent,
	"without-a7-clean":      corrected &^ a7Clean,
	"without-join-parent":   corrected &^ joinParent,
	"without-join-clean":    corrected &^ joinClean,
	"without-a8-normal":     corrected &^ a8Normal,
	"without-a8-fed":        corrected &^ a8Fed,
	"without-a8-free":       corrected &^ a8Free,
	"without-a9-normal":     corrected &^ a9Normal,
	"without-a9-f":          corrected &^ a9F,
	"without-a9-sent":       corrected &^ a9Sent,
	"without-a9-passed":     corrected &^ a9Passed,
	"without-normal-alone":  corrected &^ normalAlone,
	"without-normal-path":   corrected &^ normalParent,
	"without-normal-level":  corrected &^ normalLevel,
	"without-normal-b":      corrected &^ normalB,
	"without-normal-f":      corrected &^ normalF,
	"without-normal-tok":    corrected &^ normalTok,
	"without-normal":        corrected &^ (a6Normal | a7Normal | a8Normal | a9Normal),
	"without-rotor":         corrected &^ rotor,
}

func mutantNames() []string {
	var names []string
	for name := range mutants {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func rulesOf(variant string) rules {
	if r, ok := variants[variant]; ok {
		return r
	}
	return mutants[variant]
}
