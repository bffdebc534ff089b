// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"

	"allot/model"
)

// oneToken is the property that there is one token, at a resource or on a link.
func oneToken(s *shape, has func(v *model.View, p int) bool, is func(v *model.View, link, i int) bool) model.Property {
	count := func(v *model.View) int {
		tokens := 0
		for r := range s.resources {
			if has(v, s.clients+r) {
				tokens++
			}
		}
		for link := range v.Network().Graph().Links() {
			for i := range v.Network().Length(v.C, link) {
				if is(v, link, i) {
					tokens++
				}
			}
		}
		return tokens
	}
	return model.Property{
		Name: "one token", Text: "there is one token", Claim: model.Always,
		Holds: func(v *model.View) bool { return count(v) == 1 },
		Why:   func(v *model.View) string { return fmt.Sprintf("there are %d tokens", count(v)) },
	}
}

func (m *paper) oneToken() model.Property {
	return oneToken(&m.shape, func(v *model.View, p int) bool {
		return model.StateOf[paperState](v.Network(), v.C, p).hasToken
	}, func(v *model.View, link, i int) bool {
		return model.MessageOf[paperMessage](v.Network(), v.C, link, i).kind == pToken
	})
}

// bothHeads is what makes it right to allow a claim whose weak half is at the head: its strong half then is too.
func (m *paper) bothHeads() model.Property {
	at := func(v *model.View) int {
		n := v.Network()
		for r := range m.resources {
			s := model.StateOf[paperState](n, v.C, m.clients+r)
			if len(s.strong) == 0 || s.strong[0].role != weakHalf {
				continue
			}
			peer := model.StateOf[paperState](n, v.C, m.clients+int(s.strong[0].peer))
			if len(peer.strong) == 0 || peer.strong[0].client != s.strong[0].client {
				return r
			}
		}
		return -1
	}
	return model.Property{
		Name: "both heads", Text: "where a weak half is at the head of a queue, its strong half is at the head of the other", Claim: model.Always,
		Holds: func(v *model.View) bool { return at(v) < 0 },
		Why: func(v *model.View) string {
			return fmt.Sprintf("the weak half at the head of r%d has its strong half elsewhere in its queue", at(v)+1)
		},
	}
}

// realLoops is that no kill is for nothing: the dependency that gives way was on a loop at that very moment.
func (m *paper) realLoops() model.Property {
	return model.Property{
		Name: "real loops", Text: "a claim gives way only where it is on a loop", Claim: model.AlwaysStep,
		HoldsStep: func(before, after *model.View, _ []model.Move) bool {
			for r := range m.resources {
				was := model.StateOf[paperState](before.Network(), before.C, m.clients+r)
				is := model.StateOf[paperState](after.Network(), after.C, m.clients+r)
				for _, h := range was.strong {
					if h.role == weakHalf && find(is.weak, h.client) >= 0 && !m.isOnLoop(before, r, h) {
						return false
					}
				}
			}
			return true
		},
	}
}

// isOnLoop follows the dependencies from a weak half in the queue of resource r, whose strong resource is where the
// path must come back to.
func (m *paper) isOnLoop(v *model.View, r int, h half) bool {
	queue := func(r int) []half { return model.StateOf[paperState](v.Network(), v.C, m.clients+r).strong }
	goal := int(h.peer)
	if q := queue(goal); len(q) == 0 || q[0].client != h.client {
		return false
	}
	for range m.resources {
		if find(queue(r), h.client) <= 0 {
			return false
		}
		if r == goal {
			return true
		}
		h = queue(r)[0]
		if h.role != strongHalf {
			return false
		}
		r = int(h.peer)
	}
	return false
}
