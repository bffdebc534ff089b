// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"fmt"

	"allot/model"
	"allot/protocol/internal/coterie"
)

// onTell notes where a process is and what it wishes, unless that is old or meant for a former incarnation of this arbiter.
func (v *visit) onTell(from int, l letter) {
	if !v.now().askers[v.p].Has(from) {
		return
	}
	if l.to != v.s.incarnation && v.mutant != "tolerant-any-address" {
		v.poke(from)
		return
	}
	s, e := v.s, &v.s.entries[from]
	s.clock = max(s.clock, l.time)
	isNew := l.from > e.incarnation || l.from == e.incarnation && l.number > e.number
	isSame := l.from == e.incarnation && l.number == e.number
	if v.mutant == "tolerant-any-number" {
		isNew = !isSame
	}
	before := e.where
	switch {
	case isNew:
		for i := range s.locks {
			if int(s.locks[i].holder) == from {
				s.locks[i] = lease{holder: -1}
			}
		}
		*e = entry{incarnation: l.from, number: l.number, where: l.where, wish: l.wish, time: l.time, fresh: v.expiry}
	case isSame && !e.isSpent:
		e.where, e.wish, e.time, e.fresh = l.where, l.wish, l.time, v.expiry
	case !isSame:
		return
	}
	if e.where != before {
		v.report(e.where)
	}
	if !v.schedule(from) {
		v.answer(from, l.isAgain)
	}
}

// onStill says whether a process has a lock for what it told last. If not, it hears how things stand.
func (v *visit) onStill(from int, l letter) {
	if !v.now().askers[v.p].Has(from) || l.to != v.s.incarnation {
		return
	}
	e := &v.s.entries[from]
	if l.from != e.incarnation || l.number != e.number {
		return
	}
	for i := range v.s.locks {
		if int(v.s.locks[i].holder) == from || v.mutant == "tolerant-says-yes" {
			v.reply(from, letter{topic: yes, round: l.round})
			return
		}
	}
	v.answer(from, false)
}

// report tells the holder of a lock that somebody has registered on the side that it counts.
func (v *visit) report(where place) {
	for i := range v.s.locks {
		if h := v.s.locks[i].holder; h >= 0 && (where == within) == (i == floor) && v.mutant != "tolerant-no-report" {
			v.give(i, int(h))
		}
	}
}

func (v *visit) poke(to int) {
	if v.mutant != "tolerant-no-poke" {
		v.send(to, letter{topic: poke, generation: v.s.generation, from: v.s.incarnation})
	}
}

// answer says how things stand with what a process has told. A renewal is answered only if there is need. Whoever tells what is spent has
// not noticed, because the grant was lost, and must tell something newer.
func (v *visit) answer(to int, isAgain bool) {
	e := &v.s.entries[to]
	if e.isSpent && v.mutant != "tolerant-no-spent" {
		v.reply(to, letter{topic: recall})
		return
	}
	for i := range v.s.locks {
		if int(v.s.locks[i].holder) == to {
			v.give(i, to) // the grant may have been lost
			return
		}
	}
	isLow := e.where == without && e.wish == resting && v.isLow()
	if isAgain && !isLow {
		return
	}
	l := letter{topic: noted, isLow: isLow}
	if isLow {
		l.who = v.registered(floor)
	}
	v.reply(to, l)
}

func (v *visit) reply(to int, l letter) {
	e := &v.s.entries[to]
	l.generation, l.from, l.to, l.number, l.time = v.s.generation, v.s.incarnation, e.incarnation, e.number, v.s.clock
	v.send(to, l)
}

// isLow tells whether fewer than the floor are inside, as far as this arbiter can know.
func (v *visit) isLow() bool {
	return v.isStepping && v.has[floor] && v.s.settle == 0 && v.registered(floor).Len() < v.l
}

// registered is who counts for a gadget.
func (v *visit) registered(i int) coterie.Set {
	set, want := coterie.NewSet(v.n), without
	if i == floor {
		want = within
	}
	for x := range v.s.entries {
		if v.s.entries[x].where == want {
			set.Add(x)
		}
	}
	return set
}

func (v *visit) give(i, to int) { v.reply(to, letter{topic: given, who: v.registered(i)}) }

// schedule grants what is free to the strongest wish, and recalls what a weaker one has. It tells whether a given process was granted
// something.
func (v *visit) schedule(who int) bool {
	isGranted := false
	for i := range v.s.locks {
		if !v.has[i] {
			continue
		}
		first := v.strongest(i)
		lock := &v.s.locks[i]
		switch {
		case first < 0 || first == int(lock.holder):
		case lock.holder < 0:
			*lock = lease{holder: int32(first)}
			v.give(i, first)
			isGranted = isGranted || first == who
		case !lock.isRecalled && v.isStronger(first, int(lock.holder)) && v.mutant != "tolerant-no-recall":
			lock.isRecalled = true
			v.reply(int(lock.holder), letter{topic: recall})
		}
	}
	return isGranted
}

// strongest is the process whose wish for a gadget comes first, or -1.
func (v *visit) strongest(i int) int {
	first := -1
	for x := range v.s.entries {
		if w := v.s.entries[x].wish; w != resting && guard(w) == i && (first < 0 || v.isStronger(x, first)) {
			first = x
		}
	}
	return first
}

func (v *visit) isStronger(x, y int) bool {
	return isBefore(v.s.entries[x].time, int32(x), v.s.entries[y].time, int32(y))
}

// suspects lists whom an arbiter may suspect: whoever is registered, waits or has a lock.
func (d *tolerant) suspects(s *person, inputs []model.Input) []model.Input {
	for x := range s.entries {
		if e := &s.entries[x]; e.where != unknown || e.wish != resting {
			inputs = append(inputs, model.Input{Name: fmt.Sprintf("suspects %d", x), Code: suspectCode, Arg: uint64(x), Environment: true})
		}
	}
	return inputs
}

// strike takes back the locks of a process that is suspected and forgets where it is. It may have changed sides with a lock, or may do
// so yet, so what it told for that lock never counts again.
func (v *visit) strike(x int) {
	e := &v.s.entries[x]
	e.wish, e.time = resting, 0
	if v.mutant != "tolerant-keeps-registered" {
		e.where = unknown
	}
	for i := range v.s.locks {
		if int(v.s.locks[i].holder) == x {
			v.s.locks[i] = lease{holder: -1}
			e.isSpent = v.mutant != "tolerant-restores"
		}
	}
	if !v.isLow() {
		return
	}
	v.now().askers[v.p].Each(func(y int) {
		if e := &v.s.entries[y]; e.where == without && e.wish == resting {
			v.answer(y, true)
		}
	})
}

// age lets a tick pass for the arbiter: whoever was not heard of for too long is suspected.
func (v *visit) age() {
	s := v.s
	s.settle = less(s.settle)
	for x := range s.entries {
		if e := &s.entries[x]; e.fresh > 0 && v.mutant != "tolerant-trusts" {
			if e.fresh--; e.fresh == 0 {
				v.strike(x)
			}
		}
	}
	for i := range s.locks {
		lock := &s.locks[i]
		if lock.holder >= 0 && lock.isRecalled {
			v.reply(int(lock.holder), letter{topic: recall})
		}
	}
	v.schedule(-1)
}

func less(n uint8) uint8 {
	if n > 0 {
		return n - 1
	}
	return 0
}
