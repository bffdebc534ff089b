// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

// The mutual exclusion: every process asks the arbiters of its quorum, and is in when all have granted. Requests are
// ordered by (time, process), smaller is stronger. An arbiter that has granted to a weaker request inquires whether it
// would give the grant back, and a requester does so once it knows that it must wait elsewhere. So of all requests that
// wait the strongest is never kept waiting by a weaker one that waits too.

// take asks for the mutual exclusion.
func (t *turn) take(i int) {
	g := t.gadget(i)
	if t.m.mutant == "no-mutex" {
		t.count(i)
		return
	}
	if t.m.times > 0 {
		g.clock++
	}
	g.time, g.phase = g.clock, wanting
	t.toQuorum(message{gadget: uint8(i), kind: request, time: g.time})
}

// leaveMutex gives it back.
func (t *turn) leaveMutex(i int) {
	g := t.gadget(i)
	g.phase, g.time = idle, 0
	g.granted.Clear()
	g.failed.Clear()
	g.deferred.Clear()
	t.toQuorum(message{gadget: uint8(i), kind: free})
}

func (t *turn) onGrant(i, from int, msg message) {
	g := t.gadget(i)
	if g.phase != wanting {
		return
	}
	if t.m.mutant != "no-clock" {
		g.clock = max(g.clock, msg.time)
	}
	g.granted.Add(from)
	g.failed.Remove(from)
	if t.m.isLean && !t.m.isPlain {
		t.learn(g, from, msg)
	}
	t.maybeProceed(i)
}

// hasAll tells whether every arbiter has granted.
func (t *turn) hasAll(g *gadget) bool { return g.granted.Len() == len(t.m.quorums[t.p]) }

// maybeProceed goes on once every arbiter has granted.
func (t *turn) maybeProceed(i int) {
	g := t.gadget(i)
	if g.phase != wanting || !t.hasAll(g) {
		return
	}
	g.failed.Clear()
	if !t.m.isFailStop {
		g.deferred.Clear()
	}
	switch {
	case t.m.isPlain:
		g.phase = holding
		t.complete(i)
	case t.m.isLean:
		t.maybeTakeLean(i)
	default:
		t.count(i)
	}
}

func (t *turn) onFailed(i, from int) {
	g := t.gadget(i)
	g.failed.Add(from)
	g.deferred.Clone().Each(func(j int) { t.giveBack(i, j) })
}

// onInquire answers if it is known that this request must wait, and otherwise keeps the inquiry until it is. An inquiry
// may arrive late, after the mutual exclusion was given back or while the next request waits; then this arbiter's grant
// is not there, since the link keeps the order. Whoever has all grants keeps them; but where arbiters crash it may lose
// one again while it waits for a bound, and then the inquiry must not be forgotten.
func (t *turn) onInquire(i, from int) {
	g := t.gadget(i)
	isLate := g.phase != wanting || !g.granted.Has(from) || t.hasAll(g) && !t.m.isFailStop
	isMad := t.m.mutant == "relinquish-inside" && g.granted.Has(from)
	switch {
	case isLate && !isMad:
	case !g.failed.IsEmpty() || isMad:
		t.giveBack(i, from)
	case t.m.mutant != "no-defer":
		g.deferred.Add(from)
	}
}

// giveBack returns the grant of one arbiter.
func (t *turn) giveBack(i, to int) {
	g := t.gadget(i)
	g.granted.Remove(to)
	g.deferred.Remove(to)
	g.failed.Add(to)
	t.send(to, message{gadget: uint8(i), kind: relinquish})
}

// The arbiter.

func (t *turn) onRequest(i, from int, msg message) {
	g := t.gadget(i)
	g.clock = max(g.clock, msg.time)
	w := waiter{time: msg.time, who: int32(from)}
	if t.m.isFailStop && t.isKnownOrEarly(i, w) {
		return
	}
	if g.lock < 0 {
		t.grantTo(i, w)
		return
	}
	isWeaker := isBefore(g.lockAt, g.lock, w.time, w.who)
	if len(g.waiting) > 0 {
		first := &g.waiting[0]
		isWeaker = isWeaker || isBefore(first.time, first.who, w.time, w.who)
	}
	if isWeaker {
		t.enqueue(g, w, true)
		if t.m.mutant != "no-failed" {
			t.send(from, message{gadget: uint8(i), kind: failed})
		}
		return
	}
	// Whoever was the first to wait until now has not been told to, and must be: it may hold grants that the stronger
	// one needs. Maekawa's rule of 1985 does not tell it.
	if len(g.waiting) > 0 && !g.waiting[0].isTold && t.m.tellsDisplaced {
		g.waiting[0].isTold = true
		t.send(int(g.waiting[0].who), message{gadget: uint8(i), kind: failed})
	}
	t.enqueue(g, w, false)
	if !g.inquiry && t.m.mutant != "no-inquire" {
		g.inquiry = true
		t.send(int(g.lock), message{gadget: uint8(i), kind: inquire})
	}
}

func isBefore(time1, who1, time2, who2 int32) bool {
	return time1 < time2 || time1 == time2 && who1 < who2
}

// enqueue keeps the strongest first. A new request notes with those behind it that it went ahead.
func (t *turn) enqueue(g *gadget, w waiter, isTold bool) {
	w.isTold = isTold
	at := len(g.waiting)
	for at > 0 && isBefore(w.time, w.who, g.waiting[at-1].time, g.waiting[at-1].who) {
		at--
	}
	g.waiting = append(g.waiting, waiter{})
	copy(g.waiting[at+1:], g.waiting[at:])
	g.waiting[at] = w
	if t.m.isPlain {
		t.noteAhead(g, at)
	}
}

// noteAhead is for the checker: the request at a position has come and is put before those after it.
func (t *turn) noteAhead(g *gadget, at int) {
	who := int(g.waiting[at].who)
	for i := at + 1; i < len(g.waiting); i++ {
		ahead := g.waiting[i].ahead.Clone()
		if len(ahead) == 0 {
			ahead = make([]uint64, (t.m.n+63)/64)
		}
		g.unfair = g.unfair || ahead.Has(who)
		ahead.Add(who)
		g.waiting[i].ahead = ahead
	}
}

// onRelinquish puts the holder's request back among those that wait.
func (t *turn) onRelinquish(i, from int) {
	g := t.gadget(i)
	if int(g.lock) != from {
		return
	}
	back := waiter{time: g.lockAt, who: g.lock, isTold: true}
	next := g.waiting
	g.waiting = nil
	for _, w := range next {
		if isBefore(back.time, back.who, w.time, w.who) && back.who >= 0 {
			g.waiting = append(g.waiting, back)
			back.who = -1
		}
		g.waiting = append(g.waiting, w)
	}
	if back.who >= 0 {
		g.waiting = append(g.waiting, back)
	}
	t.grantNext(i)
}

func (t *turn) onFree(i, from int) {
	g := t.gadget(i)
	if t.m.isFailStop {
		g.book[from] = 0
	}
	if int(g.lock) != from {
		return
	}
	if t.m.isLean && !t.m.isPlain && t.m.mutant != "lean-stays" {
		g.procs.Remove(from)
	}
	t.grantNext(i)
}

// grantNext lets the strongest that waits have the lock.
func (t *turn) grantNext(i int) {
	g := t.gadget(i)
	if t.m.mutant != "keep-inquiry" {
		g.inquiry = false
	}
	g.lock, g.lockAt = -1, 0
	if len(g.waiting) > 0 {
		first := g.waiting[0]
		g.waiting = append([]waiter(nil), g.waiting[1:]...)
		t.grantTo(i, first)
	}
}

func (t *turn) grantTo(i int, w waiter) {
	g := t.gadget(i)
	g.lock, g.lockAt = w.who, w.time
	msg := message{gadget: uint8(i), kind: grant, time: g.clock, incarnations: append([]int8(nil), g.book...)}
	if t.m.isLean && !t.m.isPlain {
		msg.procs = g.procs.Clone()
	}
	t.send(int(w.who), msg)
}
