// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import "allot/protocol/internal/coterie"

// The register, as in the paper: whoever has the mutual exclusion asks the members of its quorum who is registered there,
// waits until enough are, has itself struck off, and lets the mutual exclusion go.

// count asks who is registered.
func (t *turn) count(i int) {
	g := t.gadget(i)
	g.phase = counting
	if t.m.isPrinted && t.m.times > 0 {
		g.count++
	}
	t.toQuorum(message{gadget: uint8(i), kind: query, count: g.count})
}

func (t *turn) onQuery(i, from int, msg message) {
	g := t.gadget(i)
	t.send(from, message{gadget: uint8(i), kind: response1, procs: g.procs.Clone(), count: msg.count})
	g.again, g.againOf = int32(from), msg.count
}

// onResponse counts. The printed variant compares the number of the query; on a link that keeps the order it never
// differs, because a member acknowledges after its last response.
func (t *turn) onResponse(i int, msg message) {
	g := t.gadget(i)
	if g.phase != counting || t.m.isPrinted && msg.count != g.count {
		return
	}
	g.current.Unite(msg.procs)
	if g.current.Len() < t.m.need[i] {
		return
	}
	g.phase = acquiring
	if t.m.mutant != "keep-current" {
		g.current.Clear()
	}
	t.toQuorum(message{gadget: uint8(i), kind: acquire})
}

// onRelease registers a process and tells whoever is counting: every time, because the one that it waits for may come
// after one that it has heard of from another member. The paper tells it once.
func (t *turn) onRelease(i, from int, msg message) {
	g := t.gadget(i)
	g.procs.Add(from)
	if t.m.isFailStop {
		g.book[from] = msg.incarnation
	}
	if t.m.isLean {
		if g.lock >= 0 && t.m.mutant != "lean-no-update" {
			t.send(int(g.lock), message{gadget: uint8(i), kind: update, who: int32(from), incarnation: msg.incarnation})
		}
		return
	}
	if g.again < 0 || t.m.mutant == "no-again" {
		return
	}
	t.send(int(g.again), message{gadget: uint8(i), kind: response2, procs: g.procs.Clone(), count: g.againOf})
	if t.m.tellsOnce {
		g.again, g.againOf = -1, 0
	}
}

func (t *turn) onAcquire(i, from int) {
	g := t.gadget(i)
	if t.m.mutant != "keep-registered" {
		g.procs.Remove(from)
	}
	t.send(from, message{gadget: uint8(i), kind: ack})
	g.again, g.againOf = -1, 0
}

func (t *turn) onAck(i, from int) {
	g := t.gadget(i)
	if g.phase != acquiring {
		return
	}
	g.acked.Add(from)
	t.maybeFinish(i)
}

// maybeFinish lets the mutual exclusion go when every member has struck this process off.
func (t *turn) maybeFinish(i int) {
	g := t.gadget(i)
	if g.acked.Len() < len(t.m.quorums[t.p]) {
		return
	}
	g.acked.Clear()
	t.leaveMutex(i)
	t.complete(i)
}

// The lean variant merges the register with the arbiter: a grant says who is registered, news go to the holder of the
// grant, and giving the mutual exclusion back strikes the sender off. It needs no query and no acknowledgement.

// learn notes what a member says with its grant. It replaces what the member said with an earlier grant that was given
// back: whoever had the grant in between may have struck itself off.
func (t *turn) learn(g *gadget, member int, msg message) {
	if t.m.isFailStop {
		g.heard[t.position(member)] = append([]int8(nil), msg.incarnations...)
		return
	}
	known := msg.procs.Clone()
	if t.m.mutant == "lean-merge" {
		known.Unite(g.known[t.position(member)])
	}
	g.known[t.position(member)] = known
}

func (t *turn) onUpdate(i, from int, msg message) {
	g := t.gadget(i)
	if g.phase != wanting || !g.granted.Has(from) {
		return // about a grant that was given back
	}
	if t.m.isFailStop {
		heard := append([]int8(nil), g.heard[t.position(from)]...)
		heard[msg.who] = msg.incarnation
		g.heard[t.position(from)] = heard
		t.maybeProceed(i)
		return
	}
	set := g.known[t.position(from)].Clone()
	set.Add(int(msg.who))
	g.known[t.position(from)] = set
	t.maybeProceed(i)
}

// maybeTakeLean acts when all grants are there and say that enough are registered.
func (t *turn) maybeTakeLean(i int) {
	g := t.gadget(i)
	union := coterie.NewSet(t.m.n)
	for _, set := range g.known {
		union.Unite(set)
	}
	t.countHeard(g, union)
	if union.Len() < t.m.need[i] {
		return
	}
	clear(g.known)
	clear(g.heard)
	t.leaveMutex(i)
	t.complete(i)
}
