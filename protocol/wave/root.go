// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave

import "allot/model"

// rootSight is what the root sees of its neighbours.
type rootSight struct {
	t                              uint64
	next                           uint64 // the channel after S, plus 1
	isTaken, isNextC               bool   // T_S = Tok, T_Next = C
	allC, allF, allTokOrC, isAlone bool
	kept                           uint64 // tokens that are kept, as far as the last feedback knows
}

func (w *program) lookRoot(c model.Configuration) rootSight {
	n := &w.nodes[w.root]
	v := rootSight{t: n.t.Get(c[w.root]), allC: true, allF: true, allTokOrC: true}
	s := int(n.s.Get(c[w.root]))
	first := -1
	next := -1
	for i := range n.degree {
		link := n.links + i
		if w.isCut != nil && w.isCut(c, link) {
			continue
		}
		q := int(w.target[link])
		k := w.kind(q, c)
		v.allC = v.allC && k == isC
		v.allF = v.allF && (k == isF || w.rules.has(childrenFeed) && w.parent(q, c) != w.back[link])
		v.allTokOrC = v.allTokOrC && k <= isTok
		if i == s {
			v.isTaken = k == isTok
		}
		if first < 0 {
			first = i
		}
		if i > s && next < 0 {
			next = i
		}
	}
	if next < 0 {
		next = first
	}
	if next < 0 {
		v.isAlone = true
		return v
	}
	// A token that was held out over a link that is cut now is lost.
	if w.isCut != nil && s < n.degree && w.isCut(c, n.links+s) {
		v.isTaken = true
	}
	if w.rules.has(keeping) && w.lookKeepingRoot(&v, s, next, c) {
		return v
	}
	v.next = uint64(next) + 1
	v.isNextC = w.kind(int(w.target[n.links+next]), c) == isC
	return v
}

func (w *program) enabledRoot(c model.Configuration) uint64 {
	v := w.lookRoot(c)
	r := w.rules
	if v.isAlone {
		return 0
	}
	switch {
	case v.t == rootC:
		if v.allC || !r.has(a1Clean) {
			return 1 << a1
		}
	case v.t == rootR:
		if v.allC || !r.has(a4Clean) {
			return 1 << a4
		}
	case v.t == rootB:
		if v.allF || !r.has(a5Fed) {
			return 1 << a5
		}
	case v.t == rootToken+w.tokens-1:
		if (v.isTaken || !r.has(a3Taken)) && (v.allTokOrC || !r.has(a3TokOrC)) {
			return 1 << a3
		}
	case v.t >= rootToken+w.tokens:
		if v.isNextC || !r.has(a2Clean) {
			return 1 << a2
		}
	case r.has(tokenTaken):
		if v.isTaken || !r.has(a2Taken) {
			return 1 << taken
		}
	default:
		if v.isTaken && v.isNextC {
			return 1 << a2
		}
	}
	return 0
}

func (w *program) nextRoot(action int, c model.Configuration) uint64 {
	n, word := &w.nodes[w.root], c[w.root]
	t := n.t.Get(word)
	if w.rules.has(keeping) {
		switch action {
		case a1, a2:
			return w.nextKeepingRoot(action, c)
		case giveBack:
			return n.h.Set(word, 0)
		case a4:
			word = w.endKeeping(w.root, word)
		}
	}
	switch action {
	case a1, a2:
		switch {
		case action == a1:
			t = rootToken
		case w.rules.has(tokenTaken):
			t = t - w.tokens + 1
		default:
			t++
		}
		return n.t.Set(n.s.Set(word, w.lookRoot(c).next-1), t)
	case taken:
		return n.t.Set(word, t+w.tokens)
	case a3:
		return n.t.Set(word, rootR)
	case a4:
		return n.t.Set(word, rootB)
	}
	return n.t.Set(word, rootC) // a5
}
