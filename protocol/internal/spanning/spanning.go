// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package spanning

import (
	"fmt"

	"allot/model"
)

// none is the parent of whoever has none, and the name of whoever does not want to lead.
const none = -1

// Word is what a process says to a neighbour.
type Word struct {
	Leader int32 // the largest name that it knows of
	Dist   int32 // how far the leader is away; more than Rules.Most if it knows of none
	Child  bool  // the neighbour is its parent
}

// State is what a process remembers: the last word from each channel.
type State struct {
	Heard []Word
}

// Own is what follows from a State: where a process is in the tree.
type Own struct {
	Leader int32
	Dist   int32 // 0 at the root, more than Rules.Most outside of any tree
	Parent int   // the channel that leads to the parent, -1 where there is none
}

// Rules of a network.
type Rules struct {
	// Leaders is how many names there are, 0 to Leaders-1. With one name the root is given.
	Leaders int32
	// Most is the largest distance that is believed. It must be at least the largest that there is; the number of processes
	// less one will do. The larger it is, the longer a false leader lives.
	Most int32

	flaw string // the mutant, see machine.go
}

// Unknown is what a neighbour is taken to have said that has said nothing.
func (r Rules) Unknown() Word { return Word{Dist: r.Most + 1} }

// NewState knows nothing.
func (r Rules) NewState(degree int) State {
	s := State{Heard: make([]Word, degree)}
	for i := range s.Heard {
		s.Heard[i] = r.Unknown()
	}
	return s
}

// Forget what was heard on a channel: it is cut, or nobody is there any more.
func (r Rules) Forget(s *State, channel int) { s.Heard[channel] = r.Unknown() }

// IsRoot tells whether a process is the root of its tree.
func (o Own) IsRoot() bool { return o.Dist == 0 }

// IsInTree tells whether a process belongs to a tree.
func (r Rules) IsInTree(o Own) bool { return o.Dist <= r.Most }

// Own is what a process with this memory is. Its own name is self, or -1 if it does not want to lead.
func (r Rules) Own(s *State, self int32) Own {
	own := Own{Dist: r.Most + 1, Parent: none}
	if self != none {
		own.Leader, own.Dist = self, 0
	}
	for i := range s.Heard {
		h := &s.Heard[i]
		dist := h.Dist + 1
		if dist > r.Most {
			if r.flaw != flawBelieves {
				continue
			}
			dist = r.Most
		}
		isBetter := h.Leader > own.Leader || h.Leader == own.Leader && dist < own.Dist
		switch r.flaw {
		case flawNearest:
			isBetter = dist < own.Dist
		case flawFirst:
			isBetter = h.Leader > own.Leader || h.Leader == own.Leader && own.Dist > r.Most
		}
		if isBetter {
			own = Own{h.Leader, dist, i}
		}
	}
	return own
}

// Say is what a process says on a channel.
func (r Rules) Say(o Own, channel int) Word {
	if !r.IsInTree(o) {
		return r.Unknown()
	}
	return Word{o.Leader, o.Dist, channel == o.Parent}
}

// Visit names the variables of a memory.
func (r Rules) Visit(f *model.Fields, s *State) {
	for i := range s.Heard {
		r.VisitWord(f, fmt.Sprintf("heard[%d].", i), &s.Heard[i])
	}
}

// VisitWord names the parts of a word. Whoever knows of no leader says no name.
func (r Rules) VisitWord(f *model.Fields, prefix string, w *Word) {
	model.Int(f, prefix+"dist", &w.Dist, 0, r.Most+1)
	if r.Leaders > 1 {
		model.Int(f, prefix+"leader", &w.Leader, 0, r.Leaders-1)
	}
	model.Bool(f, prefix+"child", &w.Child)
}
