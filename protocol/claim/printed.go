// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import "slices"

// The variants that every algorithm has.
const (
	corrected = "corrected"
	printed   = "printed"
)

// rule is what a variant does otherwise. The zero rule is the corrected one. A variant that exists for one protocol
// only names it.
type rule struct {
	protocol string

	// By stamps.
	isHasty     bool // a client may claim again before the resources have said that the last claim has ended
	isLowest    bool // the final stamp is the smallest offer
	isCareless  bool // a client does not wait for what an ended says is still on the way
	isForgetful bool // a resource forgets that a session has ended
	isLow       bool // an offer is not above the stamps of the queue
	isRash      bool // a resource does not wait for a weak claim ahead
	isAbrupt    bool // a resource does not wait for what a client sent before it left
	isCocky     bool // a client takes a first place for good although its stamp has grown
	isGenerous  bool // a claim lends without end
	isEven      bool // a resource does not ask which of its readies a client that leaves has had
	isBlank     bool // a resource that lost its queue gives at once

	// The paper's protocol.
	isRaw      bool // as printed
	repairs    int  // of the printed listing: how many of its errors are repaired
	isBlind    bool // nobody looks for loops
	isGullible bool // a search does not check the dependencies on its way
	isCertain  bool // a loop that was found is broken without asking whether it is still there
	isFickle   bool // who has the token when the search comes by is above all, not who had it when the dependency began
	isUnmarked bool // a kill does not ask whether the dependency is the one that was seen
	isUntoken  bool // the token does not count when a loop is broken
	isStuck    bool // the token is never sent on
	isLazy     bool // the token is sent on only when a claim ends where it is, as lines 82-83 of the listing have it

	// In order, and by token.
	isAnyOrder  bool // every other client takes its resources in the opposite order
	isImpatient bool // the token does not wait for a claim that has not come to a resource yet
	isDrifting  bool // the token goes on from where its errand ended, not from where it began
}

var rules = map[string]rule{
	corrected: {},
	printed:   {protocol: paperName, isRaw: true},

	"stamps-hasty":     {protocol: stampsName, isHasty: true},
	"stamps-lowest":    {protocol: stampsName, isLowest: true},
	"stamps-careless":  {protocol: stampsName, isCareless: true},
	"stamps-forgetful": {protocol: stampsName, isForgetful: true},
	"stamps-low":       {protocol: stampsName, isLow: true},
	"stamps-rash":      {protocol: stampsName, isRash: true},
	"stamps-abrupt":    {protocol: stampsName, isAbrupt: true},
	"stamps-cocky":     {protocol: stampsName, isCocky: true},
	"stamps-generous":  {protocol: stampsName, isGenerous: true},
	"stamps-even":      {protocol: stampsName, isEven: true},
	"stamps-blank":     {protocol: stampsName, isBlank: true},

	"printed-1": {protocol: paperName, isRaw: true, repairs: fixPop},
	"printed-2": {protocol: paperName, isRaw: true, repairs: fixToken},
	"printed-3": {protocol: paperName, isRaw: true, repairs: fixLeast},
	"printed-4": {protocol: paperName, isRaw: true, repairs: fixNames},
	"printed-5": {protocol: paperName, isRaw: true, repairs: fixEdge},

	"ordered-any":     {protocol: orderedName, isAnyOrder: true},
	"token-impatient": {protocol: tokenName, isImpatient: true},
	"token-drifting":  {protocol: tokenName, isDrifting: true},

	"paper-blind":    {protocol: paperName, isBlind: true},
	"paper-gullible": {protocol: paperName, isGullible: true},
	"paper-certain":  {protocol: paperName, isCertain: true},
	"paper-fickle":   {protocol: paperName, isFickle: true},
	"paper-unmarked": {protocol: paperName, isUnmarked: true},
	"paper-untoken":  {protocol: paperName, isUntoken: true},
	"paper-lazy":     {protocol: paperName, isLazy: true},
	"paper-stuck":    {protocol: paperName, isStuck: true},
}

func mutantNames() []string {
	var names []string
	for name := range rules {
		if name != corrected && name != printed {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
