// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"allot/model"
	"allot/protocol/internal/coterie"
)

type topic uint8

const (
	tell   topic = iota // requester to arbiter: this is where I am, and what I wish
	noted               // arbiter to requester: I know
	given               // you have my lock, and these are registered
	recall              // give it back
	still               // requester to arbiter: do I still have it?
	yes                 // you do
	poke                // I may not know you: tell me
	freeze              // control to process: act no more, the generation ends
	frozen              // I do not, and this is where I am
	begin               // the next generation begins
	hello               // process to control: which generation is it?
	gone                // somebody to control, for a process that has stopped for good
)

var topicNames = []string{"tell", "noted", "given", "recall", "still", "yes", "poke", "freeze", "frozen", "begin", "hello", "gone"}

var placeNames = []string{"unknown", "inside", "outside"}

// letter is a message of the variant tolerant.
type letter struct {
	topic      topic
	generation int8
	from, to   int8 // incarnations; of the receiver as far as it is known
	number     int32
	round      int32 // still, yes
	time       int32 // of the wish; of an answer, the arbiter's clock
	where      place
	wish       op
	isAgain    bool // tell: nothing is new, it needs no answer
	isLow      bool // noted: fewer than the floor are registered
	who        coterie.Set
	form       uint8
}

func (d *tolerant) VisitMessage(l *letter, f *model.Fields) {
	model.Union(f, "topic", &l.topic, topicNames, func(f *model.Fields, t topic) {
		if d.changes > 0 {
			model.Int(f, "generation", &l.generation, -1, d.changes)
		}
		model.Int(f, "from", &l.from, 0, d.crashes+1)
		model.Int(f, "to", &l.to, 0, d.crashes+1)
		switch t {
		case tell:
			model.Int(f, "number", &l.number, 0, maxNumber)
			model.Int(f, "time", &l.time, 0, maxNumber)
			model.Enum(f, "where", &l.where, placeNames...)
			model.Enum(f, "wish", &l.wish, opNames...)
			model.Bool(f, "again", &l.isAgain)
		case noted, given, recall:
			model.Int(f, "number", &l.number, 0, maxNumber)
			model.Int(f, "time", &l.time, 0, maxNumber)
			model.Bool(f, "low", &l.isLow)
			model.Set(f, "who", &l.who, d.n)
		case still, yes:
			model.Int(f, "number", &l.number, 0, maxNumber)
			model.Int(f, "round", &l.round, 0, maxNumber)
		case frozen:
			model.Enum(f, "where", &l.where, placeNames...)
		case begin:
			model.Int(f, "form", &l.form, 0, 1)
		case poke, freeze, hello, gone:
		}
	})
}
