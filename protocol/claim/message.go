// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import "allot/model"

// message of the protocol by stamps.
type message struct {
	kind  kind
	epoch uint8 // of the resource: how often it has lost its queue
	stamp int64 // offer, final, present
	// client is whose stamp it is. The link says that too; the checker, which puts stamps in order, sees messages alone.
	client int32
	fence  int64 // ready, offer
	// isFirst tells, of an offer, that nobody is ahead in the queue, and of a final, that the client took this for the
	// ready: its stamp is the one offered, so nobody can have come ahead since.
	isFirst bool
	// isSame tells, of a final, that its stamp is the one offered. The checker alone asks (prompt.go).
	isSame bool
	// isFinal tells, of a leave, that a final stamp was sent before it.
	isFinal bool
	// hasOffered, hasReadied and hasRecalled tell, of an ended, that such a message was sent before it.
	hasOffered, hasReadied, hasRecalled bool
	// isWanted tells, of a ready, that others could use the resource, if the client has to wait for more.
	isWanted bool
	// isAsked tells, of a ready, that the client's ask has come; of a leave, that one was sent and not answered.
	isAsked bool
	// isBack tells, of a leave, that the client has given the resource back since the last ready that it had, and isOdd, of a
	// ready and a leave, which one that was.
	isBack, isOdd bool
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
	ask                 // client: you are all that I wait for
	recall              // resource: if you wait for others, give me back for a while
	back                // client: I wait for others, have it back
)

var kindNames = []string{"request", "offer", "final", "ready", "leave", "ended", "expired", "lost", "present", "ask", "recall", "back"}

func (m *message) visit(f *model.Fields, s *stamps) {
	model.Union(f, "kind", &m.kind, kindNames, func(f *model.Fields, k kind) {
		if s.losses > 0 {
			model.Int(f, "epoch", &m.epoch, 0, uint8(s.losses))
		}
		switch k {
		case offer:
			m.visitStamp(f, s)
			model.Bool(f, "first", &m.isFirst)
			s.visitFence(f, &m.fence)
		case final:
			m.visitStamp(f, s)
			model.Bool(f, "taken", &m.isFirst)
			if s.isPrompt {
				model.Bool(f, "same", &m.isSame)
			}
		case ready:
			s.visitFence(f, &m.fence)
			if s.loans > 0 {
				model.Bool(f, "wanted", &m.isWanted)
				model.Bool(f, "asked", &m.isAsked)
				m.visitOdd(f, s)
			}
		case leave:
			model.Bool(f, "after final", &m.isFinal)
			if s.loans > 0 {
				model.Bool(f, "after ask", &m.isAsked)
				model.Bool(f, "after back", &m.isBack)
				m.visitOdd(f, s)
			}
		case ended:
			model.Bool(f, "after offer", &m.hasOffered)
			model.Bool(f, "after ready", &m.hasReadied)
			if s.loans > 0 {
				model.Bool(f, "after recall", &m.hasRecalled)
			}
		case present:
			model.Enum(f, "as", &m.stage, stageNames...)
			m.visitStamp(f, s)
		case request, expired, lost, ask, recall, back:
		}
	})
}

func (m *message) visitStamp(f *model.Fields, s *stamps) {
	if s.isAny {
		model.Enum(f, "of", &m.client, s.names...)
	}
	s.visitStamp(f, "stamp", &m.stamp, m.client)
}

func (m *message) visitOdd(f *model.Fields, s *stamps) {
	if s.canCancel {
		model.Bool(f, "odd", &m.isOdd)
	}
}
