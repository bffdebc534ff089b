// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import "allot/model"

// phase of a client.
type phase uint8

const (
	idle    phase = iota // it has no claim
	waiting              // it has asked and not been given everything yet
	using                // it has all that it claimed
	closing              // it has let go or given up, and waits until every resource has said that it knows
	gone                 // its session has ended and will not come back
)

var phaseNames = []string{"idle", "waiting", "using", "closing", "gone"}

// user is what all protocols keep of a client in the same way, so that the properties are written once.
type user struct {
	phase phase
	need  set // what it claims; while closing, what has not been closed yet
	left  int // claims that it may still make, if they are bounded
}

func (u *user) visit(f *model.Fields, s *shape) {
	model.Enum(f, "phase", &u.phase, phaseNames...)
	visitSet(f, "need", &u.need, s.resources)
	if s.claims > 0 {
		model.Ghost(f, "claims left", &u.left, 0, s.claims)
	}
}

// What the user of a client may do. The codes are those of the inputs.
const (
	doClaim = iota
	doRelease
	doCancel
	doVanish
	doOther // inputs of resources begin here
)

// inputs of a client. Nobody owes a claim, a cancellation or a disappearance; a release is owed.
func (u *user) inputs(s *shape, inputs []model.Input) []model.Input {
	switch u.phase {
	case idle:
		if s.claims > 0 && u.left == 0 {
			break
		}
		for _, choice := range s.choices {
			inputs = append(inputs, model.Input{Name: "claim" + choice.String(), Code: doClaim, Arg: uint64(choice), Environment: true})
		}
	case waiting:
		if s.canCancel {
			inputs = append(inputs, model.Input{Name: "cancel", Code: doCancel, Environment: true})
		}
	case using:
		inputs = append(inputs, model.Input{Name: "release", Code: doRelease})
	case closing, gone:
	}
	if s.canVanish && u.phase != idle && u.phase != gone {
		inputs = append(inputs, model.Input{Name: "vanish", Code: doVanish, Environment: true})
	}
	return inputs
}

// becomeWaiting starts a claim.
func (u *user) becomeWaiting(s *shape, need set) {
	u.phase, u.need = waiting, need
	if s.claims > 0 {
		u.left--
	}
}

func (s *shape) cleanUser() user { return user{left: s.claims} }
