// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"

	"allot/model"
)

// reader looks into configurations: of a network that is a tree, or of one in which a tree was built.
type reader struct {
	state   func(v *model.View, p int) *state
	message func(v *model.View, link, i int) *message
}

// survey is a tree with the means to count the tokens on it.
type survey struct {
	*shape
	reader
	units int32
}

// place is a position on the virtual ring: a link, by its number on the ring, and a message on it.
type place struct{ hop, index int }

// census says what is wrong with the controller, in words; nothing if all is well. It is the invariant behind Lemmas 1 and
// 3 to 5 of the paper: the tokens behind the valid controller, which is the foremost one with the root's number, are
// those that its sums and the root's contain.
func (y *survey) census(v *model.View) string {
	root := y.state(v, y.root)
	valid, ok := y.findValid(v, root.counter)
	if !ok {
		return "no controller has the root's number"
	}
	msg := *y.message(v, int(y.ring[valid.hop]), valid.index)
	if why := y.checkOthers(v, root, valid); why != "" {
		return why
	}
	if why := y.checkVisited(v, root.counter, valid); why != "" {
		return why
	}
	if msg.resent {
		return "" // its sums will not be judged
	}
	tokens, prios, pushers := y.behind(v, valid)
	if msg.passed+root.root.tokens != min(tokens, y.units+1) && msg.passed+root.root.tokens != tokens {
		return fmt.Sprintf("%d resource tokens are behind the controller, and it has counted %d", tokens, msg.passed+root.root.tokens)
	}
	if msg.prios+root.root.prios != prios {
		return fmt.Sprintf("%d priority tokens are behind the controller, and it has counted %d", prios, msg.prios+root.root.prios)
	}
	if root.root.pushers != pushers {
		return fmt.Sprintf("%d pushers are behind the controller, and the root has counted %d", pushers, root.root.pushers)
	}
	return ""
}

// findValid finds the foremost controller with the given number.
func (y *survey) findValid(v *model.View, counter int32) (place, bool) {
	for hop := len(y.ring) - 1; hop >= 0; hop-- {
		link := int(y.ring[hop])
		for i := range v.Network().Length(v.C, link) {
			if msg := y.message(v, link, i); msg.kind == controller && msg.counter == counter {
				return place{hop, i}, true
			}
		}
	}
	return place{}, false
}

// checkOthers looks at the controllers that are not valid: those behind must be copies that a timer made, and those in
// front must not be taken for valid. None may reset anything.
func (y *survey) checkOthers(v *model.View, root *state, valid place) string {
	for hop, link := range y.ring {
		for i := range v.Network().Length(v.C, int(link)) {
			msg := y.message(v, int(link), i)
			isBehind := hop < valid.hop || hop == valid.hop && i > valid.index
			switch {
			case msg.kind != controller:
			case msg.reset != root.root.reset:
				return "a controller and the root disagree on whether there is a reset"
			case isBehind && msg.counter != root.counter:
				return "a controller with another number follows the valid one"
			}
		}
	}
	return ""
}

// checkVisited looks at who knows the number of the circulation, and where everybody has sent the controller.
func (y *survey) checkVisited(v *model.View, counter int32, valid place) string {
	for hop, link := range y.ring {
		from, to := y.graph.Ends(int(link))
		isDown := y.arrives(int(link)) == 0 && to != y.root
		s := y.state(v, to)
		if isDown && (hop < valid.hop) != (s.counter == counter) {
			return fmt.Sprintf("process %s has the number of a circulation that has not been there, or has not the one that has",
				y.graph.Name(to))
		}
		// The last link on which a process sent the valid controller is where Succ points.
		if hop == valid.hop || hop < valid.hop && y.lastSent(from, hop, valid.hop) {
			if y.state(v, from).succ != y.channel[link] {
				return fmt.Sprintf("process %s does not know where the controller went", y.graph.Name(from))
			}
		}
	}
	return ""
}

// lastSent tells whether no hop after the given one, up to the end, leaves the same process.
func (y *survey) lastSent(from, hop, end int) bool {
	for h := hop + 1; h <= end; h++ {
		if f, _ := y.graph.Ends(int(y.ring[h])); f == from {
			return false
		}
	}
	return true
}

// behind counts the tokens between the root's channel 0 and the valid controller.
func (y *survey) behind(v *model.View, valid place) (tokens, prios, pushers int32) {
	for hop, link := range y.ring[:valid.hop+1] {
		for i := range v.Network().Length(v.C, int(link)) {
			if hop == valid.hop && i <= valid.index {
				continue // in front of it
			}
			switch y.message(v, int(link), i).kind {
			case resource:
				tokens++
			case priority:
				prios++
			case pusher:
				pushers++
			case controller, word:
			}
		}
		if hop == valid.hop {
			break
		}
		_, to := y.graph.Ends(int(link))
		q := y.arrives(int(link))
		s := y.state(v, to)
		tokens += s.heldFrom(q)
		if s.prio == q {
			prios++
		}
	}
	return tokens, prios, pushers
}
