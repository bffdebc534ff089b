// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"allot/model"
	"allot/protocol/internal/coterie"
)

// kind of a message. The first six belong to the mutual exclusion, the others to the register of who may be counted.
type kind uint8

const (
	request    kind = iota // may I? with a time stamp
	grant                  // you may; with the arbiter's clock, in the lean variant also with its register
	failed                 // somebody stronger is before you
	inquire                // would you give it back?
	relinquish             // I give it back
	free                   // I am done
	query                  // who is registered?
	response1              // these
	release                // register me
	response2              // one more has registered
	acquire                // strike me off
	ack                    // done
	update                 // lean: one more has registered, to the holder of the grant
	down                   // failstop: the failure detector says that the sender has crashed
	up                     // failstop: I have restarted, with this incarnation
	reset                  // failstop: I know, and hold no grant of your former incarnation
)

var kindNames = []string{"request", "grant", "failed", "inquire", "relinquish", "free", "query", "response1", "release",
	"response2", "acquire", "ack", "update", "down", "up", "reset"}

// message of one of the two gadgets, the floor and the ceiling.
type message struct {
	gadget uint8
	kind   kind
	time   int32 // request, grant
	count  int32 // query, response1, response2 of the printed variant
	who    int32 // update
	// failstop only: the incarnation of the sender (release, up, down), of who (update), of the receiver (reset), of everybody
	// who is registered (grant); and whether the crash took one from inside, which the properties ask.
	incarnation  int8
	incarnations []int8
	wasInside    bool
	to           int8        // up: the incarnation of the receiver, as far as the sender knows
	procs        coterie.Set // response1, response2; grant of the lean variant
}

var gadgetNames = []string{"floor", "ceiling"}

func (m *machine) VisitMessage(msg *message, f *model.Fields) {
	model.Union(f, "kind", &msg.kind, kindNames, func(f *model.Fields, k kind) {
		model.Enum(f, "of", &msg.gadget, gadgetNames...)
		switch k {
		case request, grant:
			model.Int(f, "time", &msg.time, 0, m.times)
			if k == grant && m.isFailStop {
				m.visitVector(f, "registered", &msg.incarnations)
			} else if k == grant && m.isLean && !m.isPlain {
				model.Set(f, "registered", &msg.procs, m.n)
			}
		case query:
			m.visitCount(f, "count", &msg.count)
		case response1, response2:
			model.Set(f, "registered", &msg.procs, m.n)
			m.visitCount(f, "count", &msg.count)
		case update:
			model.Int(f, "who", &msg.who, 0, int32(m.n-1))
			m.visitIncarnation(f, &msg.incarnation)
		case release, up, reset:
			m.visitIncarnation(f, &msg.incarnation)
			if k == up {
				model.Int(f, "to", &msg.to, 1, m.crashes+2)
			}
		case down:
			m.visitIncarnation(f, &msg.incarnation)
			model.Bool(f, "wasInside", &msg.wasInside)
		case failed, inquire, relinquish, free, acquire, ack:
		}
	})
}

func (m *machine) visitCount(f *model.Fields, name string, count *int32) {
	if m.isPrinted {
		model.Int(f, name, count, 0, m.times)
	}
}
