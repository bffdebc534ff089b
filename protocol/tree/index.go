// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"math/bits"

	"allot/model"
)

// index answers the census at the cost of a step. It remembers what each hop of the virtual ring contributes, and keeps
// the sums over the hops before one of them, at, which follows the valid controller. So it does work for what a step
// touched, for the hops that the controller has gone since, and for all of them once in a circulation, when the root
// takes a new number.
type index struct {
	*survey
	hopOf []int32   // by link: its number on the ring
	from  []int32   // by hop: the process that it leaves
	to    []int32   // by hop: the process that it leads to
	prev  []int32   // by hop: the hop before it that leaves the same process, or -1
	in    [][]int32 // by process: the hops that lead to it
	first []int32   // by process: the hop from its parent; -1 at the root

	counter int32 // the root's
	reset   bool  // the root's

	links []hopTokens // by hop: what is on the link
	held  []hopTokens // by hop: what the process at its end holds from it
	known []bool      // by process: it has the root's number

	at     int       // a hop; the sums are over the hops below it
	behind hopTokens // the tokens of these
	wrong  int       // processes that know the root's number and should not, or the other way round
	active []int32   // by process: the last hop that leaves it, up to at; -1 if there is none
	isLost []bool    // by process: its Succ is not this hop
	lost   int       // how many are

	same, other hopSet  // hops with controllers of the root's number, and of others
	marks       []int32 // by hop: controllers that disagree with the root about the reset
	disagree    int32   // their sum
}

type hopTokens struct{ tokens, prios, pushers int32 }

func (a *hopTokens) add(b hopTokens, sign int32) {
	a.tokens += sign * b.tokens
	a.prios += sign * b.prios
	a.pushers += sign * b.pushers
}

func newIndex(m *survey) model.Index {
	n, hops := m.graph.Len(), len(m.ring)
	x := &index{survey: m, hopOf: make([]int32, hops), from: make([]int32, hops), to: make([]int32, hops), prev: make([]int32, hops),
		in: make([][]int32, n), first: make([]int32, n), counter: none, links: make([]hopTokens, hops), held: make([]hopTokens, hops),
		known: make([]bool, n), active: make([]int32, n), isLost: make([]bool, n), marks: make([]int32, hops),
		same: newHopSet(hops), other: newHopSet(hops)}
	for p := range n {
		x.active[p], x.first[p] = none, none
		x.in[p] = make([]int32, 0, m.degree[p])
	}
	last := make([]int32, n)
	for p := range last {
		last[p] = none
	}
	for hop, link := range m.ring {
		from, to := m.graph.Ends(int(link))
		x.hopOf[link], x.from[hop], x.to[hop], x.prev[hop] = int32(hop), int32(from), int32(to), last[from]
		last[from] = int32(hop)
		x.in[to] = append(x.in[to], int32(hop))
		if to != m.root && m.arrives(int(link)) == 0 {
			x.first[to] = int32(hop)
		}
	}
	if hops > 0 {
		x.active[x.from[0]] = 0
	}
	return x
}

// Refresh looks at a site again.
func (x *index) Refresh(v *model.View, site int) {
	n := x.graph.Len()
	switch {
	case len(x.hopOf) == 0:
	case site < n:
		x.refreshProcess(v, site)
	case site < n+len(x.hopOf):
		x.refreshLink(v, site-n)
	}
}

func (x *index) refreshProcess(v *model.View, p int) {
	s := x.state(v, p)
	for _, hop := range x.in[p] {
		q := x.arrives(int(x.ring[hop]))
		now := hopTokens{tokens: s.heldFrom(q)}
		if s.prio == q {
			now.prios = 1
		}
		if now != x.held[hop] {
			if int(hop) < x.at {
				x.behind.add(x.held[hop], -1)
				x.behind.add(now, 1)
			}
			x.held[hop] = now
		}
	}
	x.findLost(s, p)
	if p == x.root && (s.counter != x.counter || s.root.reset != x.reset) {
		x.counter, x.reset = s.counter, s.root.reset
		for p := range x.known {
			x.setKnown(p, x.state(v, p).counter == x.counter)
		}
		for link := range x.hopOf {
			x.refreshLink(v, link)
		}
		return
	}
	x.setKnown(p, s.counter == x.counter)
}

// setKnown notes whether p has the root's number. It should if the controller has come to it, which is so if at is beyond
// the hop from its parent.
func (x *index) setKnown(p int, known bool) {
	if x.first[p] < 0 || known == x.known[p] {
		return
	}
	x.known[p] = known
	if known == (int(x.first[p]) < x.at) {
		x.wrong--
	} else {
		x.wrong++
	}
}

// findLost notes whether p knows where it sent the controller last.
func (x *index) findLost(s *state, p int) {
	hop := x.active[p]
	isLost := hop >= 0 && s.succ != x.channel[x.ring[hop]]
	if isLost == x.isLost[p] {
		return
	}
	x.isLost[p] = isLost
	if isLost {
		x.lost++
	} else {
		x.lost--
	}
}

func (x *index) refreshLink(v *model.View, link int) {
	hop := x.hopOf[link]
	var now hopTokens
	var marks int32
	isSame, isOther := false, false
	for i := range v.Network().Length(v.C, link) {
		switch msg := x.message(v, link, i); msg.kind {
		case resource:
			now.tokens++
		case priority:
			now.prios++
		case pusher:
			now.pushers++
		case controller:
			if msg.counter == x.counter {
				isSame = true
			} else {
				isOther = true
			}
			if msg.reset != x.reset {
				marks++
			}
		case word:
		}
	}
	if now != x.links[hop] {
		if int(hop) < x.at {
			x.behind.add(x.links[hop], -1)
			x.behind.add(now, 1)
		}
		x.links[hop] = now
	}
	x.disagree += marks - x.marks[hop]
	x.marks[hop] = marks
	x.same.set(hop, isSame)
	x.other.set(hop, isOther)
}

// move brings at to a hop.
func (x *index) move(v *model.View, hop int) {
	for ; x.at < hop; x.at++ {
		x.cross(x.at, 1)
		next := x.at + 1
		x.setActive(v, int(x.from[next]), int32(next))
	}
	for ; x.at > hop; x.at-- {
		x.cross(x.at-1, -1)
		x.setActive(v, int(x.from[x.at]), x.prev[x.at])
	}
}

// cross takes a hop into the sums, or out of them.
func (x *index) cross(hop int, sign int32) {
	x.behind.add(x.links[hop], sign)
	x.behind.add(x.held[hop], sign)
	if to := x.to[hop]; int(x.first[to]) == hop {
		if x.known[to] == (sign > 0) {
			x.wrong--
		} else {
			x.wrong++
		}
	}
}

func (x *index) setActive(v *model.View, p int, hop int32) {
	x.active[p] = hop
	x.findLost(x.state(v, p), p)
}

// isRight is whether census has nothing to say.
func (x *index) isRight(v *model.View) bool {
	hop := x.same.last()
	if hop < 0 || x.disagree > 0 {
		return false
	}
	if first := x.other.first(); first >= 0 && first < hop {
		return false
	}
	x.move(v, hop)
	if x.wrong > 0 || x.lost > 0 {
		return false
	}
	link := int(x.ring[hop])
	var valid message
	isFound := false
	behind := x.behind
	for i := range v.Network().Length(v.C, link) {
		msg := x.message(v, link, i)
		switch {
		case !isFound:
			if msg.kind == controller && msg.counter == x.counter {
				valid, isFound = *msg, true
			}
		case msg.kind == controller:
			if msg.counter != x.counter {
				return false
			}
		case msg.kind == resource:
			behind.tokens++
		case msg.kind == priority:
			behind.prios++
		case msg.kind == pusher:
			behind.pushers++
		}
	}
	return valid.resent || x.isCounted(valid, &x.state(v, x.root).root, behind)
}

// isCounted tells whether the sums of the valid controller and the root are the tokens behind it.
func (y *survey) isCounted(valid message, r *rootState, behind hopTokens) bool {
	tokens := valid.passed + r.tokens
	return (tokens == behind.tokens || tokens == min(behind.tokens, y.units+1)) &&
		valid.prios+r.prios == behind.prios && r.pushers == behind.pushers
}

// hopSet is a set of hops with its smallest and largest element at hand.
type hopSet struct{ words, tops []uint64 }

func newHopSet(hops int) hopSet {
	words := (hops + 63) / 64
	return hopSet{make([]uint64, words), make([]uint64, (words+63)/64)}
}

func (s *hopSet) set(hop int32, isIn bool) {
	word := hop / 64
	if isIn {
		s.words[word] |= 1 << (hop % 64)
		s.tops[word/64] |= 1 << (word % 64)
		return
	}
	if s.words[word] &^= 1 << (hop % 64); s.words[word] == 0 {
		s.tops[word/64] &^= 1 << (word % 64)
	}
}

// last is the largest element, -1 if there is none.
func (s *hopSet) last() int {
	for t := len(s.tops) - 1; t >= 0; t-- {
		if s.tops[t] != 0 {
			word := t*64 + bits.Len64(s.tops[t]) - 1
			return word*64 + bits.Len64(s.words[word]) - 1
		}
	}
	return -1
}

// first is the smallest element, -1 if there is none.
func (s *hopSet) first() int {
	for t, top := range s.tops {
		if top != 0 {
			word := t*64 + bits.TrailingZeros64(top)
			return word*64 + bits.TrailingZeros64(s.words[word])
		}
	}
	return -1
}
