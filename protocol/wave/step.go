// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave

import "allot/model"

// The actions, under the numbers of the paper and in its order. The last three are not in the paper.
const (
	a1 = iota
	a2
	a3
	a4
	a5
	a6
	a7
	a8
	a9
	a10
	a11
	taken
	join
	giveBack
)

var actions = []model.Action{
	{Name: "a1 hold out the first token"},
	{Name: "a2 hold out the next token"},
	{Name: "a3 all tokens are out, get ready"},
	{Name: "a4 begin the broadcast"},
	{Name: "a5 end the wave"},
	{Name: "a6 take the token"},
	{Name: "a7 pass the broadcast on"},
	{Name: "a8 feed back"},
	{Name: "a9 clean"},
	{Name: "a10 leave the parent"},
	{Name: "a11 correct T"},
	{Name: "note that the token was taken"},
	{Name: "join on the broadcast"},
	{Name: "give back", Environment: true},
}

// privileged are the actions that come with the critical section.
const privileged = 1<<a1 | 1<<a2 | 1<<a6

func (w *program) Actions() []model.Action { return actions }

func (w *program) Enabled(p int, c model.Configuration) uint64 {
	if p == w.root {
		return w.enabledRoot(c) | w.enabledKeeper(p, c)
	}
	v := w.look(p, c)
	return w.enabledOther(&v) | w.enabledKeeper(p, c)
}

// sight is what a process other than the root sees of itself and its neighbours.
type sight struct {
	t, s, p, l            uint64
	parentT, parentP      uint64 // of the parent, if there is one
	parentL               uint64
	isSentTo              bool // S of the parent is here
	isChildNotC           bool // some child is not in C
	isChildNotF, isChildF bool
	isFree                bool   // some neighbour has no parent
	next                  uint64 // Next, as a channel plus 1
	isNextC               bool
	isHeir                bool   // S is among those that a token can go to
	isHeirTok             bool   // T_S = Tok
	isHeirChild           bool   // S is a child
	potential             uint64 // Par, as a channel plus 1; 0 if nobody holds a token out
	kept                  uint64 // tokens that are kept below and here, as far as the last feedback knows
	joinable              uint64 // the first neighbour to join, as a channel plus 1
}

// look gathers all that the guards of p need, in one walk over its neighbours.
func (w *program) look(p int, c model.Configuration) sight {
	n := &w.nodes[p]
	v := sight{t: n.t.Get(c[p]), s: n.s.Get(c[p]), p: w.parent(p, c), l: w.level(p, c)}
	r := w.rules
	var first, after, firstT, afterT uint64
	for i := range n.degree {
		link := n.links + i
		if w.isCut != nil && w.isCut(c, link) {
			continue
		}
		q, here, channel := int(w.target[link]), w.back[link], uint64(i)+1
		k, qp := w.kind(q, c), w.parent(q, c)
		isChild := qp == here
		isSentTo := w.slot(q, c) == here
		if isChild {
			v.kept += w.nodes[q].k.Get(c[q])
			v.isChildNotC = v.isChildNotC || k != isC
			v.isChildNotF = v.isChildNotF || k != isF
			v.isChildF = v.isChildF || k == isF
		}
		v.isFree = v.isFree || qp == 0
		if channel == v.p {
			v.parentT, v.parentP, v.parentL, v.isSentTo = k, qp, w.level(q, c), isSentTo
		}
		isOpen := isChild || qp == 0 && !r.has(joinOnBroadcast)
		if channel == v.s {
			v.isHeir, v.isHeirTok, v.isHeirChild = isOpen, k == isTok, isChild
		}
		if isOpen && first == 0 {
			first, firstT = channel, k
		}
		if isOpen && channel > v.s && after == 0 {
			after, afterT = channel, k
		}
		if (isOffering(k) || !r.has(a6Offered)) && (isSentTo || !r.has(a6Sent)) {
			w.consider(&v, p, i, c)
		}
		if k == isB && v.joinable == 0 && w.level(q, c) < w.depth && (qp != 0 && !isChild || !r.has(joinParent)) {
			v.joinable = channel
		}
	}
	if r.has(keeping) {
		own := uint64(n.degree) + 1
		isFree := n.h.Get(c[p]) == 0 || !r.has(keepOnce)
		v.kept += n.h.Get(c[p])
		if isFree && first == 0 {
			first, firstT = own, isC
		}
		if isFree && after == 0 && own > v.s {
			after, afterT = own, isC
		}
	}
	if after == 0 || !r.has(rotor) {
		after, afterT = first, firstT
	}
	v.next, v.isNextC = after, afterT == isC
	return v
}

// consider weighs the i-th neighbour, which holds a token out to p, as the parent to take it from: Potential and Par.
func (w *program) consider(v *sight, p, i int, c model.Configuration) {
	link, channel := w.nodes[p].links+i, uint64(i)+1
	q, here := int(w.target[link]), w.back[link]
	qp := w.parent(q, c)
	if w.rules.has(joinOnBroadcast) {
		if channel == v.p {
			v.potential = channel
		}
		return
	}
	if qp == here || w.level(q, c) >= w.depth {
		return
	}
	if w.rules.has(steadyParent) && (qp == 0 || v.p != 0 && v.p != channel) {
		return
	}
	switch root := w.nodes[p].root; {
	case q == w.root:
		v.potential = channel
	case root != 0 && v.potential == root: // the root goes first, then the parent, then the first channel
	case v.potential == 0, channel == v.p:
		v.potential = channel
	}
}

// isNormal is the predicate Normal of the paper. The root's "taken" counts as R.
func (w *program) isNormal(v *sight) bool {
	if v.p == 0 {
		return v.t == isC || !w.rules.has(normalAlone)
	}
	return w.isOnPath(v) && w.isInPhase(v)
}

// isOnPath is the part of Normal about the tree.
func (w *program) isOnPath(v *sight) bool {
	return (v.parentP != 0 || !w.rules.has(normalParent)) && (v.l == v.parentL+1 || !w.rules.has(normalLevel))
}

// isInPhase is the part of Normal about T.
func (w *program) isInPhase(v *sight) bool {
	k := v.parentT
	switch v.t {
	case isB:
		return k == isB || !w.rules.has(normalB)
	case isF:
		return k == isB || k == isF || k == isC || !w.rules.has(normalF)
	case isTok:
		return k == isTok || k == isOffer || k == isR || k == isC || !w.rules.has(normalTok)
	}
	return true
}

func (w *program) enabledOther(v *sight) uint64 {
	r := w.rules
	var set uint64
	isNormal := w.isNormal(v)
	if v.t == isC && (isNormal || !r.has(a6Normal)) && v.potential != 0 &&
		(v.next == 0 || v.isNextC || !r.has(a6Clean)) && (!v.isChildF || !r.has(a6NoF)) {
		set |= 1 << a6
	}
	if v.t == isC && v.p != 0 && (isNormal || !r.has(a7Normal)) && (v.parentT == isB || !r.has(a7Parent)) &&
		(!v.isChildNotC || !r.has(a7Clean)) {
		set |= 1 << a7
	}
	if v.t == isC && v.p == 0 && r.has(joinOnBroadcast) && v.joinable != 0 && (!v.isChildNotC || !r.has(joinClean)) {
		set |= 1 << join
	}
	if v.t == isB && (isNormal || !r.has(a8Normal)) && (!v.isChildNotF || !r.has(a8Fed)) &&
		(!r.has(joinOnBroadcast) || !v.isFree || v.l >= w.depth || !r.has(a8Free)) {
		set |= 1 << a8
	}
	if w.isCleaning(v, isNormal) {
		set |= 1 << a9
	}
	if isNormal {
		return set
	}
	isOnPath := w.isOnPath(v)
	if v.p != 0 && !isOnPath || v.p == 0 && !r.has(a10Parent) {
		set |= 1 << a10
	}
	if v.p == 0 || isOnPath {
		set |= 1 << a11
	}
	return set
}

// isCleaning is the guard of a9.
func (w *program) isCleaning(v *sight, isNormal bool) bool {
	r := w.rules
	if !isNormal && r.has(a9Normal) {
		return false
	}
	switch v.t {
	case isF:
		return v.parentT == isF || v.parentT == isC || !r.has(a9F)
	case isTok:
		if v.isSentTo && v.parentT != isR && v.parentT != isC && r.has(a9Sent) {
			return false
		}
		return w.isPassedOn(v) || !r.has(a9Passed)
	}
	return !r.has(a9TokOrF)
}

// isPassedOn is the last clause of a9: the token that the process holds out has been taken, or nobody is there to
// take it.
func (w *program) isPassedOn(v *sight) bool {
	if w.rules.has(heirIsChild) {
		return v.s == 0 || !v.isHeir || v.isHeirTok && v.isHeirChild || v.l >= w.depth && w.rules.has(a9Depth)
	}
	return v.s == 0 || v.isHeirTok || v.l >= w.depth
}

func (w *program) Next(p, action int, c model.Configuration) uint64 {
	if p == w.root {
		return w.nextRoot(action, c)
	}
	n, word := &w.nodes[p], c[p]
	switch action {
	case a6:
		v := w.look(p, c)
		word = n.t.Set(n.s.Set(word, v.next), isTok)
		if int(v.next) > n.degree {
			word = n.h.Set(word, 1)
		}
		if !w.rules.has(joinOnBroadcast) {
			word = w.setParent(p, word, v.potential, c)
		}
		return word
	case a7:
		return w.endKeeping(p, n.t.Set(word, isB))
	case join:
		v := w.look(p, c)
		return w.endKeeping(p, w.setParent(p, n.t.Set(word, isB), v.joinable, c))
	case a8:
		if w.rules.has(keeping) {
			v := w.look(p, c)
			word = n.k.Set(word, min(v.kept, w.tokens))
		}
		return n.t.Set(word, isF)
	case giveBack:
		return n.h.Set(word, 0)
	case a10:
		return n.p.Set(word, 0)
	}
	return n.t.Set(word, isC) // a9, a11
}

// setParent makes the neighbour at a channel the parent. Constants stay what they are.
func (w *program) setParent(p int, word, channel uint64, c model.Configuration) uint64 {
	n := &w.nodes[p]
	if n.p.Size == 1 {
		return word
	}
	q := int(w.target[n.links+int(channel)-1])
	return n.l.Set(n.p.Set(word, channel), w.level(q, c)+1-n.lBase)
}
