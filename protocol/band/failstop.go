// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"fmt"

	"allot/model"
	"allot/protocol/internal/coterie"
)

// The variant failstop is the lean one for processes that crash and restart without their memory.
//
// The assumption: a process that has crashed does nothing until it restarts, everybody is told of it in the end (down), not
// before everything that it has sent has arrived, and a restart has a larger incarnation than the one before. Links with
// sessions (protocol/internal/link) and a failure detector that does not err, such as a lease that runs out by a clock
// whose rate is bounded, are enough for that.
//
// What happens: whoever hears of a crash strikes the process off, takes back its lock and ignores what it is
// told of former incarnations. A process that restarts is outside, says so to all (up), and believes nobody until
// that one has answered (reset). As an arbiter it grants nothing before every living process that could hold a grant of its former
// incarnation has answered. Whoever answers registers anew and asks anew. A register that knows too little is safe, so
// nothing needs to be stored but the incarnation.

// life is what a process knows about who lives.
type life struct {
	isDown      bool
	incarnation int8
	heardOf     coterie.Set // whose messages are to this incarnation
	gone        coterie.Set // who is known to be down
	least       []int8      // by process, the smallest incarnation that may be alive
}

func (m *machine) newLife() life {
	l := life{incarnation: 1, heardOf: coterie.NewSet(m.n), gone: coterie.NewSet(m.n), least: make([]int8, m.n)}
	for p := range m.n {
		l.heardOf.Add(p)
		l.least[p] = 1
	}
	return l
}

func (m *machine) visitLife(l *life, f *model.Fields) {
	model.Bool(f, "down", &l.isDown)
	model.Int(f, "incarnation", &l.incarnation, 1, m.crashes+1)
	model.Set(f, "heardOf", &l.heardOf, m.n)
	model.Set(f, "gone", &l.gone, m.n)
	for p := range l.least {
		model.Int(f, fmt.Sprintf("least[%d]", p), &l.least[p], 1, m.crashes+2)
	}
}

func (m *machine) visitIncarnation(f *model.Fields, v *int8) {
	if m.isFailStop {
		model.Int(f, "incarnation", v, 0, m.crashes+1)
	}
}

// visitVector visits one incarnation for each process; a vector that is not there is one of zeros.
func (m *machine) visitVector(f *model.Fields, name string, v *[]int8) {
	vector := make([]int8, m.n)
	copy(vector, *v)
	for p := range vector {
		model.Int(f, fmt.Sprintf("%s[%d]", name, p), &vector[p], 0, m.crashes+1)
	}
	*v = vector
}

// The codes of the inputs, after those of asking. A restart is owed: what is claimed of progress is claimed for processes that come back.
const (
	codeCrash   = 2
	codeRestart = 3
)

func (m *machine) lifeInputs(p int, s *state, inputs []model.Input) []model.Input {
	switch {
	case s.life.isDown:
		return append(inputs, model.Input{Name: "restarts", Code: codeRestart})
	case p < m.crashers && s.life.incarnation <= m.crashes:
		return append(inputs, model.Input{Name: "crashes", Code: codeCrash, Environment: true})
	}
	return inputs
}

func (t *turn) toAll(msg message) {
	for q := range t.m.n {
		if q != t.p {
			t.send(q, msg)
		}
	}
}

// crash forgets everything but the incarnation and what the failure detector says.
func (t *turn) crash() {
	wasInside := t.s.inside
	kept := t.s.life
	*t.s = t.m.Clean(t.p)
	t.s.inside = false
	t.s.life = kept
	t.s.life.isDown = true
	t.s.life.heardOf.Clear()
	for i := range t.s.gadgets {
		clear(t.s.gadgets[i].book)
		t.s.gadgets[i].procs.Clear()
	}
	t.toAll(message{gadget: t.m.anyGadget(), kind: down, incarnation: kept.incarnation, wasInside: wasInside})
}

func (m *machine) anyGadget() uint8 {
	if m.has[floor] {
		return floor
	}
	return ceiling
}

// restart is outside, and says who it is.
func (t *turn) restart() {
	l := &t.s.life
	l.isDown = false
	l.incarnation++
	l.heardOf.Add(t.p)
	l.least[t.p] = l.incarnation
	for q := range t.m.n {
		if q != t.p {
			t.send(q, message{gadget: t.m.anyGadget(), kind: up, incarnation: l.incarnation, to: l.least[q]})
		}
	}
	if t.m.has[ceiling] {
		t.toQuorum(message{gadget: ceiling, kind: release, incarnation: l.incarnation})
	}
}

// accepts deals with what is said about crashes, and tells whether another message is for this incarnation.
func (t *turn) accepts(from int, msg message) bool {
	l := &t.s.life
	switch msg.kind {
	case down:
		l.gone.Add(from)
		l.least[from] = max(l.least[from], msg.incarnation+1)
	case up:
		l.gone.Remove(from)
		l.least[from] = max(l.least[from], msg.incarnation)
	case request, grant, failed, inquire, relinquish, free, query, response1, release, response2, acquire, ack, update, reset:
	}
	if l.isDown {
		return false
	}
	switch msg.kind {
	case down:
		l.heardOf.Remove(from)
		t.forget(from)
	case up:
		// What follows may still be meant for a former incarnation of this process, unless it was known.
		t.forget(from)
		l.heardOf.Remove(from)
		if msg.to == l.incarnation || t.m.mutant == "failstop-any-address" {
			l.heardOf.Add(from)
		}
		t.answer(from, msg)
	case reset:
		if msg.incarnation == l.incarnation {
			l.heardOf.Add(from)
		}
	case request, grant, failed, inquire, relinquish, free, query, response1, release, response2, acquire, ack, update:
		return l.heardOf.Has(from)
	}
	t.maybeGrant()
	return false
}

// answer tells a process that has restarted what its register and its queue should know.
func (t *turn) answer(to int, msg message) {
	t.send(to, message{gadget: t.m.anyGadget(), kind: reset, incarnation: msg.incarnation})
	if t.m.quorumSets[t.p].Has(to) {
		for i := range t.s.gadgets {
			if t.m.has[i] && t.s.inside == (i == floor) && t.m.mutant != "failstop-no-register" {
				t.send(to, message{gadget: uint8(i), kind: release, incarnation: t.s.life.incarnation})
			}
			if t.m.has[i] && t.gadget(i).phase == wanting && t.m.mutant != "failstop-no-request" {
				t.send(to, message{gadget: uint8(i), kind: request, time: t.gadget(i).time})
			}
		}
	}
}

// forget drops what a process that has crashed held, asked for and granted.
func (t *turn) forget(gone int) {
	for i := range t.s.gadgets {
		if !t.m.has[i] || t.m.mutant == "failstop-forgets-nothing" {
			continue
		}
		g := t.gadget(i)
		g.book[gone] = 0
		var kept []waiter
		for _, w := range g.waiting {
			if int(w.who) != gone {
				kept = append(kept, w)
			}
		}
		g.waiting = kept
		if int(g.lock) == gone {
			g.lock, g.lockAt, g.inquiry = -1, 0, false
		}
		if g.phase == wanting && t.m.quorumSets[t.p].Has(gone) {
			g.granted.Remove(gone)
			g.deferred.Remove(gone)
			g.heard[t.position(gone)] = nil
			t.onFailed(i, gone) // it cannot be had now, so others may have the rest
		}
	}
}

// maybeGrant lets the strongest that waits have a lock that nobody holds.
func (t *turn) maybeGrant() {
	for i := range t.s.gadgets {
		if g := t.gadget(i); t.m.has[i] && g.lock < 0 && len(g.waiting) > 0 && t.isReady() {
			t.grantNext(i)
		}
	}
}

// isReady tells whether nobody can hold a grant of a former incarnation of this process.
func (t *turn) isReady() bool {
	isReady := true
	t.m.askers[t.p].Each(func(x int) {
		isReady = isReady && (t.s.life.heardOf.Has(x) || t.s.life.gone.Has(x))
	})
	return isReady || t.m.mutant == "failstop-hasty"
}

// isKnownOrEarly tells whether a request is here already, or puts it into the queue because nothing can be granted yet.
func (t *turn) isKnownOrEarly(i int, w waiter) bool {
	g := t.gadget(i)
	if g.lock == w.who {
		return true
	}
	for _, other := range g.waiting {
		if other.who == w.who {
			return true
		}
	}
	if g.lock >= 0 || t.isReady() {
		return false
	}
	t.enqueue(g, w, true)
	t.send(int(w.who), message{gadget: uint8(i), kind: failed})
	return true
}

// countHeard adds who was said to be registered and may be alive in that incarnation.
func (t *turn) countHeard(g *gadget, union coterie.Set) {
	for _, heard := range g.heard {
		for x, incarnation := range heard {
			isLiving := incarnation >= t.s.life.least[x] || t.m.mutant == "failstop-keeps-dead"
			if incarnation > 0 && isLiving {
				union.Add(x)
			}
		}
	}
}
