// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"slices"

	"allot/model"
)

// The variant "keeping" has what the paper leaves open, high-level liveness: holders that stay do not block requests that
// fit in what is left. In the other variants the critical section is inside an action, and a process that takes its time
// over a6 stops every token above it.
//
// Here a process is one more place in its own rotor. When the token's next place is the process itself, it keeps the token: H
// becomes 1, and T goes on as at a leaf, so that nobody waits. It gives the token back by H := 0, whenever it likes. The next
// wave must not give out what is still kept, so the feedback counts: a8 sets K to the tokens kept in the subtree, at most
// ℓ, and a1 begins with as many tokens given as its neighbours' K add up to. Between a8 and a1 nobody in the subtree can
// take a token, so what is kept can only become less, and K is never too small.
//
// The price is that K takes log ℓ bits at every process.
//
// Users are modelled in two ways. Polite ones give back when the next broadcast comes by at the latest, but for those who stay
// (--stay) and never do: so "everybody else is served" can be asked under weak fairness, which owes a process some action
// but not a particular one. Free ones (--users free) give back whenever they like, after any number of waves or never. Then safety is asked, of
// critical sections of every length, and service cannot be, since ℓ of them may stay.

// enabledKeeper is the part of Enabled about giving back.
func (w *program) enabledKeeper(p int, c model.Configuration) uint64 {
	if w.rules.has(keeping) && w.nodes[p].h.Get(c[p]) == 1 && !w.isStaying(p) {
		return 1 << giveBack
	}
	return 0
}

func (w *program) isStaying(p int) bool { return p < 64 && w.stays>>p&1 != 0 }

// endKeeping gives back what p keeps, unless it stays or nobody can tell it to.
func (w *program) endKeeping(p int, word uint64) uint64 {
	if !w.rules.has(keeping) || w.isStaying(p) || w.areFree {
		return word
	}
	return w.nodes[p].h.Set(word, 0)
}

// lookKeepingRoot adds what the root sees of kept tokens. It tells whether the next place is the root itself; next is the
// channel that would come next otherwise.
func (w *program) lookKeepingRoot(v *rootSight, s, next int, c model.Configuration) bool {
	n := &w.nodes[w.root]
	h := n.h.Get(c[w.root])
	v.kept = h
	for i := range n.degree {
		if link := n.links + i; w.isCut == nil || !w.isCut(c, link) {
			q := w.target[link]
			v.kept += w.nodes[q].k.Get(c[q])
		}
	}
	if s >= n.degree {
		v.isTaken = true
	}
	if (h == 0 || !w.rules.has(keepOnce)) && s < n.degree && next <= s {
		v.next, v.isNextC = uint64(n.degree)+1, true
		return true
	}
	return false
}

// nextKeepingRoot is a1 and a2 where tokens may be kept.
func (w *program) nextKeepingRoot(action int, c model.Configuration) uint64 {
	n, word := &w.nodes[w.root], c[w.root]
	v := w.lookRoot(c)
	number := uint64(0)
	if w.rules.has(countKept) {
		number = min(v.kept, w.tokens)
	}
	if action == a2 {
		number = v.t - rootToken - w.tokens + 1
	}
	if number == w.tokens {
		return n.t.Set(word, rootR)
	}
	word = n.s.Set(word, v.next-1)
	switch {
	case int(v.next) <= n.degree:
		return n.t.Set(word, rootToken+number)
	case number == w.tokens-1:
		return n.h.Set(n.t.Set(word, rootR), 1)
	}
	return n.h.Set(n.t.Set(word, rootToken+w.tokens+number), 1)
}

// isAccounted is the part of the legitimate set about kept tokens: with those on the way they are at most ℓ, and where the
// feedback has been, and no token since, K is not too small.
func isAccounted(v *model.View) bool {
	w := programOf(v)
	if v.Sum(privileges)+v.Sum(inFlight) > int64(w.tokens) {
		return false
	}
	for p := range w.nodes {
		if p == w.root || !w.isFedBack(p, v.C) || v.System.(*model.Guarded).IsCrashed(v.C, p) {
			continue
		}
		if s := w.look(p, v.C); w.nodes[p].k.Get(v.C[p]) < min(s.kept, w.tokens) {
			return false
		}
	}
	return true
}

// isFedBack tells whether p is in F, or in C below an F or below a root that is clean.
func (w *program) isFedBack(p int, c model.Configuration) bool {
	for {
		switch k := w.kind(p, c); {
		case k == isF:
			return true
		case k != isC:
			return false
		case p == w.root:
			return true
		}
		parent := w.parent(p, c)
		if parent == 0 {
			return false
		}
		p = int(w.target[w.nodes[p].links+int(parent)-1])
	}
}

// keepingProperties are the properties with what a privilege is here: to keep a token.
func keepingProperties(all []model.Property, areFree bool) []model.Property {
	list := slices.Clone(all)
	if areFree {
		list = slices.DeleteFunc(list, func(p model.Property) bool { return p.Name == "service" })
	}
	// Tokens come to rest where they are kept, and are made anew when they are given back: delivery is not asked.
	list = slices.DeleteFunc(list, func(p model.Property) bool { return p.Name == "delivery" })
	for i := range list {
		if list[i].Name == "service" {
			list[i].Text = "everybody keeps a token again and again, whoever stays"
		}
	}
	return list
}
