// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import "allot/model"

// message is one of the four tokens. All of them share one first-in, first-out link in each direction; the counting
// rests on that.
type message struct {
	kind kind
	// The rest is carried by the controller only.
	counter int32 // C: the number of the circulation, modulo the domain
	reset   bool  // R: drop what you hold
	passed  int32 // PT: resource tokens that the controller has passed, at most ℓ+1
	prios   int32 // PPr: priority tokens that it has passed, at most 2
	// resent marks a controller that the timer sent, and whoever continues it: its sums are not those of a whole
	// circulation. The paper does not have it.
	resent bool
}

type kind uint8

const (
	resource   kind = iota // ResT: one unit
	pusher                 // PushT: makes those who wait in vain let go
	priority               // PrioT: whoever holds it need not obey the pusher
	controller             // ctrl: counts the others
	word                   // no token, but a word about the tree; see network.go
)

var kindNames = []string{"ResT", "PushT", "PrioT", "ctrl"}

// VisitMessage names the fields; a stage has only the tokens that it uses.
func (m *machine) VisitMessage(msg *message, f *model.Fields) {
	model.Union(f, "kind", &msg.kind, kindNames[:m.stage+1], func(f *model.Fields, k kind) { m.visitToken(msg, f, k) })
}

// visitToken names the fields of a token of one kind.
func (m *machine) visitToken(msg *message, f *model.Fields, k kind) {
	if k != controller {
		return
	}
	model.Int(f, "C", &msg.counter, 0, m.counters-1)
	model.Bool(f, "R", &msg.reset)
	model.Int(f, "PT", &msg.passed, 0, m.units+1)
	model.Int(f, "PPr", &msg.prios, 0, 2)
	if m.hasMark() {
		model.Bool(f, "resent", &msg.resent)
	}
}
