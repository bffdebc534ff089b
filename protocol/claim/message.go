// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import "allot/model"

// message of the protocol by stamps.
type message struct {
	kind  kind
	epoch uint8 // of the resource: how often it has lost its queue
	stamp int64 // offer, final, present
	fence int64 // ready, offer
	// isFirst tells, of an offer, that nobody is ahead in the queue, and of a final, that the client took this for the
	// ready: its stamp is the one offered, so nobody can have come ahead since.
	isFirst bool
	// isFinal tells, of a leave, that a final stamp was sent before it.
	isFinal bool
	// hasOffered and hasReadied tell, of an ended, that such a message was sent before it.
	hasOffered, hasReadied bool
	// stage is, of a present, what the client has at the resource.
	stage stage
}

type kind uint8

const (
	request kind = iota // client: I claim you
	offer               // resource: you are in my queue, weakly, with this stamp
	final               // client: this is your stamp everywhere
	ready               // resource: you are the first of my queue
	leave               // client: I let go, or give up
	ended               // resource: you are no longer in my queue
	expired             // the session of the client has ended; its own clock said so first
	lost                // resource: I have lost my queue, this is a new epoch
	present             // client: and this is what you had of me
)

var kindNames = []string{"request", "offer", "final", "ready", "leave", "ended", "expired", "lost", "present"}

func (m *message) visit(f *model.Fields, s *stamps) {
	model.Union(f, "kind", &m.kind, kindNames, func(f *model.Fields, k kind) {
		if s.losses > 0 {
			model.Int(f, "epoch", &m.epoch, 0, uint8(s.losses))
		}
		switch k {
		case offer:
			s.visitStamp(f, "stamp", &m.stamp)
			model.Bool(f, "first", &m.isFirst)
			s.visitFence(f, &m.fence)
		case final:
			s.visitStamp(f, "stamp", &m.stamp)
			model.Bool(f, "taken", &m.isFirst)
		case ready:
			s.visitFence(f, &m.fence)
		case leave:
			model.Bool(f, "after final", &m.isFinal)
		case ended:
			model.Bool(f, "after offer", &m.hasOffered)
			model.Bool(f, "after ready", &m.hasReadied)
		case present:
			model.Enum(f, "as", &m.stage, stageNames...)
			s.visitStamp(f, "stamp", &m.stamp)
		case request, expired, lost:
		}
	})
}
