// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"fmt"

	"allot/model"
	"allot/protocol/internal/coterie"
)

// person is the state of a process of the variant tolerant, or of its control process.
type person struct {
	inside bool
	wish   op
	time   int32 // of the wish
	clock  int32 // Lamport's
	round  int32 // of asking whether all grants are still there
	// How many wishes it had, and how many of them it has withdrawn; for the bounds of the checker.
	wishes               int32
	withdrawn, suspected int8 // suspected counts whom it has suspected

	isDown      bool
	isGone      bool // it has stopped for good, and the control process knows
	incarnation int8
	fell        bool // it crashed inside, and has not been inside since; for the properties

	generation int8 // -1: it does not know yet
	form       uint8
	promised   int8 // it has said that it is frozen, and takes part in no generation below this one
	isFrozen   bool

	ties    []tie   // by process, as a requester
	entries []entry // by process, as an arbiter
	locks   [2]lease
	settle  uint8 // ticks until silence means something
	beat    uint8 // ticks since it has renewed what is registered

	control control
}

// tie is what a requester knows of one arbiter of its quorum.
type tie struct {
	incarnation int8  // of the arbiter
	number      int32 // of what it was told last
	isHeard     bool  // the arbiter has answered it
	isGranted   bool
	isSure      bool        // the arbiter has said so again in this round
	isLow       bool        // the arbiter says that too few are inside
	known       coterie.Set // who is registered, as the arbiter says; nil if nobody is
}

// entry is what an arbiter knows of a process. What must hold: unless the process has crashed since, it is where the entry says, or the
// entry does not say, or the process has this arbiter's lock; because it changes sides only if it believes to have the lock, and whoever
// loses the lock is struck off.
type entry struct {
	incarnation int8
	number      int32
	where       place
	wish        op
	time        int32
	fresh       uint8 // ticks until it is struck off
	isSpent     bool  // its lock was taken back: only a newer number counts
}

type place uint8

const (
	unknown place = iota
	within
	without
)

// lease is a lock that an arbiter may take back.
type lease struct {
	holder     int32 // or -1
	isRecalled bool
}

// control is the process that changes generations. In production it is the control plane.
type control struct {
	generation int8
	form       uint8
	changes    int8
	isChanging bool
	frozen     coterie.Set
	gone       coterie.Set
	inside     coterie.Set // of those who are frozen
	known      []int8      // incarnations
}

func (d *tolerant) Clean(p int) person {
	if p == d.n {
		c := control{frozen: coterie.NewSet(d.n), gone: coterie.NewSet(d.n), inside: coterie.NewSet(d.n), known: make([]int8, d.n)}
		for i := range c.known {
			c.known[i] = 1
		}
		return person{control: c}
	}
	s := person{inside: d.start.Has(p), incarnation: 1}
	d.clear(&s)
	f := &d.forms[0]
	f.in[p].Each(func(j int) { s.ties[j] = tie{incarnation: 1, number: 1, isHeard: true} })
	f.askers[p].Each(func(x int) {
		s.entries[x] = entry{incarnation: 1, number: 1, where: without, fresh: d.expiry}
		if d.start.Has(x) {
			s.entries[x].where = within
		}
	})
	return s
}

// clear makes both roles empty.
func (d *tolerant) clear(s *person) {
	s.ties, s.entries = make([]tie, d.n), make([]entry, d.n)
	for i := range s.locks {
		s.locks[i] = lease{holder: -1}
	}
}

var opNames = []string{"resting", "entering", "leaving"}

func (d *tolerant) VisitState(p int, s *person, f *model.Fields) {
	if p == d.n {
		d.visitControl(&s.control, f)
		return
	}
	model.Bool(f, "inside", &s.inside)
	model.Enum(f, "wish", &s.wish, opNames...)
	model.Int(f, "time", &s.time, 0, maxNumber)
	model.Int(f, "clock", &s.clock, 0, maxNumber)
	model.Int(f, "round", &s.round, 0, maxNumber)
	model.Ghost(f, "wishes", &s.wishes, 0, d.times)
	model.Ghost(f, "withdrawn", &s.withdrawn, 0, d.withdraw)
	model.Ghost(f, "suspected", &s.suspected, 0, d.suspicions)
	model.Bool(f, "down", &s.isDown)
	if d.isBurying {
		model.Bool(f, "gone", &s.isGone)
	}
	model.Int(f, "incarnation", &s.incarnation, 1, d.crashes+1)
	model.Bool(f, "fell", &s.fell)
	if d.changes > 0 {
		model.Int(f, "generation", &s.generation, -1, d.changes)
		model.Int(f, "form", &s.form, 0, 1)
		model.Int(f, "promised", &s.promised, 0, d.changes)
		model.Bool(f, "frozen", &s.isFrozen)
	}
	for j := range d.n {
		if d.isEver(p, j) {
			d.visitTie(&s.ties[j], fmt.Sprintf("to[%d].", j), f)
		}
		if d.isEver(j, p) {
			d.visitEntry(&s.entries[j], fmt.Sprintf("of[%d].", j), f)
		}
	}
	for i := range s.locks {
		if d.has[i] {
			model.Int(f, gadgetNames[i]+".holder", &s.locks[i].holder, -1, int32(d.n-1))
			model.Bool(f, gadgetNames[i]+".recalled", &s.locks[i].isRecalled)
		}
	}
	model.Int(f, "settle", &s.settle, 0, d.expiry)
	model.Int(f, "beat", &s.beat, 0, d.expiry)
}

// isEver tells whether j is in the quorum of p in some generation.
func (d *tolerant) isEver(p, j int) bool {
	return d.forms[0].in[p].Has(j) || d.changes > 0 && d.forms[1].in[p].Has(j)
}

func (d *tolerant) visitTie(t *tie, of string, f *model.Fields) {
	model.Int(f, of+"incarnation", &t.incarnation, 0, d.crashes+1)
	model.Int(f, of+"number", &t.number, 0, maxNumber)
	model.Bool(f, of+"heard", &t.isHeard)
	model.Bool(f, of+"granted", &t.isGranted)
	model.Bool(f, of+"sure", &t.isSure)
	model.Bool(f, of+"low", &t.isLow)
	model.Set(f, of+"known", &t.known, d.n)
}

func (d *tolerant) visitEntry(e *entry, of string, f *model.Fields) {
	model.Int(f, of+"incarnation", &e.incarnation, 0, d.crashes+1)
	model.Int(f, of+"number", &e.number, 0, maxNumber)
	model.Enum(f, of+"where", &e.where, placeNames...)
	model.Enum(f, of+"wish", &e.wish, opNames...)
	model.Int(f, of+"time", &e.time, 0, maxNumber)
	model.Int(f, of+"fresh", &e.fresh, 0, d.expiry)
	model.Bool(f, of+"spent", &e.isSpent)
}

func (d *tolerant) visitControl(c *control, f *model.Fields) {
	model.Int(f, "generation", &c.generation, 0, d.changes)
	model.Int(f, "form", &c.form, 0, 1)
	model.Int(f, "changes", &c.changes, 0, d.changes)
	model.Bool(f, "changing", &c.isChanging)
	model.Set(f, "frozen", &c.frozen, d.n)
	model.Set(f, "gone", &c.gone, d.n)
	model.Set(f, "inside", &c.inside, d.n)
	for p := range c.known {
		model.Int(f, fmt.Sprintf("incarnation[%d]", p), &c.known[p], 1, d.crashes+1)
	}
}
