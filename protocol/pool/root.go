// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "slices"

// rootPart is what only the root of a generation has.
type rootPart struct {
	reign    int32 // ticks for which it may act as root
	isOut    bool  // the controller is under way
	isAgain  bool  // somebody asked for the controller after it had passed
	isStable bool  // the last circulation found every unit once
	away     int32 // ticks since it left
	rest     int32 // ticks until it leaves again by itself
	patience int32
	settle   int32 // ticks until what nobody presented may be made anew
	open     int32 // controllers lost since the last one came home
	gap      int32 // controllers lost since one came home with all units accounted for
	done     int64
	waiters  []Waiter // that the controller knows of
	late     []Waiter // that called while it was under way
	prio     int32
	lack     int32
	top      int64 // no fence that was ever given is above it, but for those given since the last circulation
	visit    Visit // memory of the controller that leaves
}

// mostOpen controllers are sent in vain before the root asks for a new generation. They are counted up to mostCounted, which
// nobody has the time to send within a lease.
const (
	mostOpen    = 4
	mostCounted = 1 << 20
)

func (s *Seat) becomeRoot(isNew bool) {
	r := &s.root
	r.prio = -1
	r.patience = s.patience()
	r.settle = s.options.Lease + s.options.Margin
	if s.rule == mintedEarly {
		r.settle--
	}
	if isNew || s.rule == mintedAtOnce {
		r.settle = 0
	}
	r.isAgain = true
}

// Reign tells the root that it may act for so many ticks from now. The caller has made sure that no other root begins before
// they have passed.
func (s *Seat) Reign(ticks int32) {
	if s.place != 0 {
		return
	}
	s.root.reign = ticks
	if ticks > 0 {
		// Nobody makes anew what is here before the reign has ended and the lease after it.
		s.lease = s.options.Lease
		s.serveHere()
		if s.root.isAgain || s.root.rest == 0 {
			s.maybeDepart()
		}
	}
}

func (s *Seat) isReigning() bool { return s.place == 0 && s.root.reign > 0 }

// OnWake handles a wake-up call.
func (s *Seat) OnWake(w Wake) {
	if s.place != 0 || w.Generation != s.generation || w.Place <= 0 || w.Place >= s.size {
		return
	}
	if w.Lack > 0 {
		list := &s.root.waiters
		if s.root.isOut {
			list = &s.root.late
		}
		v := Visit{Waiters: *list}
		if i := v.waiter(w.Place); i >= 0 && v.Waiters[i].Call >= w.Call {
			return // an older call that was delayed, or repeated
		}
		v.setWaiter(Waiter{Place: w.Place, Lack: min(w.Lack, s.options.Units), Call: w.Call})
		*list = v.Waiters
	}
	s.root.isAgain = true
	s.maybeDepart()
}

// Resize is called after the options have got another ℓ. What is held beyond it stays until it is released. Whoever makes a pool
// smaller than a request that waits must cancel it.
func (s *Seat) Resize() {
	s.stock = slices.DeleteFunc(s.stock, func(u Unit) bool { return u.Number >= s.options.Units })
	if s.place == 0 {
		s.root.isAgain = true
		s.maybeDepart()
	}
}

func (s *Seat) advanceRoot(ticks int32) {
	if s.place != 0 {
		return
	}
	r := &s.root
	r.settle = max(0, r.settle-ticks)
	if r.reign > 0 {
		r.reign = max(0, r.reign-ticks)
	}
	if r.isOut {
		if r.away = min(r.away+ticks, s.options.Lease); r.away >= r.patience {
			s.giveUp()
		}
		return
	}
	if r.rest = max(0, r.rest-ticks); r.rest == 0 {
		s.maybeDepart()
	}
}

func (s *Seat) dueRoot(most int32) int32 {
	r := &s.root
	switch {
	case s.place != 0:
		return most
	case r.isOut:
		return r.patience - r.away
	case r.reign == 0:
		return most
	}
	return max(1, r.rest)
}

// giveUp is for a controller that does not come home.
func (s *Seat) giveUp() {
	r := &s.root
	r.isOut, r.isAgain = false, true
	r.patience = min(2*r.patience, max(r.patience, s.options.Lease/2))
	r.gap = min(r.gap+1, mostCounted)
	if r.open = min(r.open+1, mostCounted); r.open >= mostOpen {
		s.out.Stuck()
	}
	s.maybeDepart()
}

// maybeDepart sends the controller if it is at home and may leave.
func (s *Seat) maybeDepart() {
	r := &s.root
	for s.place == 0 && (r.reign > 0 || s.rule == sentWithoutReign) && !r.isOut && (r.isAgain || r.rest == 0) {
		s.depart()
	}
}

func (s *Seat) depart() {
	r := &s.root
	r.isOut, r.isAgain, r.away = true, false, 0
	s.circ++
	v := &r.visit
	r.waiters, r.late = mergeCalls(r.waiters, r.late), r.late[:0]
	*v = Visit{Generation: s.generation, Circ: s.circ, Done: r.done, Units: s.options.Units, Board: v.Board[:0], Present: v.Present[:0],
		Waiters: append(v.Waiters[:0], r.waiters...), Prio: r.prio, Lack: r.lack}
	s.visit(v)
	s.keepAtHome(v)
	if s.size == 1 {
		s.arrive(v)
		return
	}
	s.out.Visit(1, v)
}

// keepAtHome takes off what nobody lacks.
func (s *Seat) keepAtHome(v *Visit) {
	most := v.lackOfOthers(s.place)
	for len(v.Board) > most {
		n := len(v.Board)
		u := v.Board[n-1]
		v.Board = v.Board[:n-1]
		v.Present.Add(u.Number)
		s.stock = append(s.stock, u)
	}
}

// arrive ends a circulation.
func (s *Seat) arrive(v *Visit) {
	r := &s.root
	if !r.isOut || v.Circ != s.circ {
		return // it was given up, or repeated
	}
	r.isOut, r.rest = false, s.options.Audit
	r.done, r.patience = s.circ, s.patience()
	s.comeHome(v)
	s.makeAnew(v)
	r.open = 0
	s.dropStrangers(v)
	v.Waiters, r.late = mergeCalls(v.Waiters, r.late), r.late[:0]
	isNews, isOther := isNews(r.waiters, v.Waiters), !slices.Equal(r.waiters, v.Waiters)
	r.waiters = append(r.waiters[:0], v.Waiters...)
	r.prio, r.lack = v.Prio, v.Lack
	if r.prio >= s.size || r.prio >= 0 && !v.Seen {
		r.prio, r.lack = -1, 0
	}
	s.isOthers = v.lackOfOthers(0) > 0
	if !s.isOthers || s.hasPrio {
		s.serveHere() // while others wait, what comes home is no more the root's than anybody's
	}
	if len(r.waiters) > 0 || s.queue.len() > 0 {
		// What came home too late for those who wait goes out again, and who does not know that others wait is told.
		r.isAgain = r.isAgain || isNews || len(s.stock) > 0 && !s.hasPrio && (v.Moved || s.given > 0 || isOther || r.prio < 0)
		r.rest = min(r.rest, s.options.Pace)
	}
	if s.isAbroad(v) || !r.isStable {
		r.rest = min(r.rest, s.options.Pace) // who holds needs a lease, and what was odd is looked at again
	}
	s.maybeDepart()
}

// comeHome takes everything off board.
func (s *Seat) comeHome(v *Visit) {
	for _, u := range v.Board {
		switch {
		case v.Present.Has(u.Number):
			v.Odd = true
		case s.isValid(v, u) && u.Number < v.Units:
			v.Present.Add(u.Number)
			v.Top = max(v.Top, u.Fence)
			s.stock = append(s.stock, u)
		}
	}
	v.Board = v.Board[:0]
}

// makeAnew makes the units that nobody presented. Everybody who could have one was visited in this circulation, or has run
// out of its lease since the generation began.
func (s *Seat) makeAnew(v *Visit) {
	r := &s.root
	r.isStable = !v.Odd
	if v.Top>>s.options.FenceShift <= v.Generation {
		r.top = max(r.top, v.Top)
	}
	if r.top-v.Generation<<s.options.FenceShift > 1<<(s.options.FenceShift-1) {
		s.out.Stuck() // the next generation has as many fences again
	}
	fence, isMissing := s.freshFence(), false
	for n := range s.options.Units {
		if v.Present.Has(n) && s.rule != presentIgnored {
			continue
		}
		r.isStable = false
		if r.settle > 0 || r.reign == 0 && s.rule != mintedWithoutReign {
			r.rest = min(r.rest, max(1, r.settle))
			isMissing = true
			continue
		}
		if fence>>s.options.FenceShift > v.Generation {
			s.out.Stuck() // there are no fences left in this generation
			return
		}
		r.top = fence
		s.stock = append(s.stock, Unit{Number: n, Fence: fence})
		v.Moved = true
	}
	if !isMissing {
		r.gap = 0
	}
}

// freshFence is above every fence that a unit can have got. One that is missing was on a way that nobody has seen: since it was
// presented last it may have been granted Burst times at each visit of each controller that was lost, and as often between
// them.
func (s *Seat) freshFence() int64 {
	r := &s.root
	if s.rule == fenceNotRaised {
		return 0
	}
	fence := max(r.top, s.generation<<s.options.FenceShift)
	if s.rule == burstIgnored {
		return fence
	}
	return fence + 2*int64(s.options.Burst)*int64(r.gap+2)
}

// dropStrangers leaves those members among v.Waiters who can be there.
func (s *Seat) dropStrangers(v *Visit) {
	kept := v.Waiters[:0]
	for _, w := range v.Waiters {
		if w.Place > 0 && w.Place < s.size && w.Lack > 0 {
			kept = append(kept, w)
		}
	}
	v.Waiters = kept
}

// mergeCalls adds what was said in calls that arrived while the controller was under way.
func mergeCalls(waiters, late []Waiter) []Waiter {
	v := Visit{Waiters: waiters}
	for _, w := range late {
		if i := v.waiter(w.Place); i < 0 || v.Waiters[i].Call < w.Call {
			v.setWaiter(w)
		}
	}
	return v.Waiters
}

// isAbroad tells whether some member other than the root has presented a unit.
func (s *Seat) isAbroad(v *Visit) bool {
	here := len(s.stock)
	for i := range s.held {
		here += len(s.held[i].Units)
	}
	total := 0
	for _, w := range v.Present {
		for ; w != 0; w &= w - 1 {
			total++
		}
	}
	return total > here
}

// isNews tells whether some member was told that others wait, or that nobody does, and it is not so any more. Where two or more
// wait, others wait for everybody.
func isNews(told, now []Waiter) bool {
	if len(told) != 1 || len(now) != 1 {
		return min(len(told), 2) != min(len(now), 2)
	}
	return told[0].Place != now[0].Place
}
