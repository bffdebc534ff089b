// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package spanning

import (
	"fmt"
	"slices"

	"allot/model"
)

// index keeps the truth from step to step. It changes only when a process or a link comes or goes.
type index struct {
	status []uint64
	truth  *Truth
}

// Refresh has nothing to do: the words that say what has crashed and what is cut are compared when the truth is asked for.
func (*index) Refresh(*model.View, int) {}

// truthOf is the truth of a configuration.
func (m *machine) truthOf(v *model.View) *Truth {
	x, ok := v.Index.(*index)
	if !ok {
		if m.whole != nil && !slices.ContainsFunc(StatusOf(v), func(word uint64) bool { return word != 0 }) {
			return m.whole
		}
		return NewTruth(v.Network(), v.C, m.Rules, m.self)
	}
	status := StatusOf(v)
	if x.truth == nil || !slices.Equal(status, x.status) {
		x.status, x.truth = append(x.status[:0], status...), NewTruth(v.Network(), v.C, m.Rules, m.self)
	}
	return x.truth
}

// StatusOf is the part of a configuration that says what has crashed and what is cut.
func StatusOf(v *model.View) []uint64 {
	first := v.System.Graph().Len()
	last := first
	for last < len(v.C) && v.System.IsStatus(last) {
		last++
	}
	return v.C[first:last]
}

// Unsettled says what is wrong with the tree, in words; nothing if all is well. Heard is the memory of a process and word
// the message at a position of a link, false if it is none of ours.
func (t *Truth) Unsettled(v *model.View, heard func(p int) *State, word func(link, i int) (Word, bool)) string {
	n := v.Network()
	g := n.Graph()
	for link := range g.Links() {
		from, to := g.Ends(link)
		if !t.IsUp[to] {
			continue
		}
		want := t.Expected(n, v.C, link)
		if got := heard(to).Heard[g.Channel(link)]; got != want {
			return fmt.Sprintf("process %s has heard %v of %s, and should have heard %v", g.Name(to), got, g.Name(from), want)
		}
		for i := range n.Length(v.C, link) {
			if got, ok := word(link, i); ok && got != want {
				return fmt.Sprintf("on the link %s→%s is %v, and it should be %v", g.Name(from), g.Name(to), got, want)
			}
		}
	}
	return ""
}

// String writes a word for people.
func (w Word) String() string {
	text := fmt.Sprintf("leader %d at distance %d", w.Leader, w.Dist)
	if w.Child {
		text += ", my parent"
	}
	return text
}

func (m *machine) unsettled(v *model.View) string {
	return m.truthOf(v).Unsettled(v,
		func(p int) *State { return &model.StateOf[state](v.Network(), v.C, p).State },
		func(link, i int) (Word, bool) { return *model.MessageOf[Word](v.Network(), v.C, link, i), true })
}

func (m *machine) properties() []model.Property {
	return []model.Property{{
		Name: "settled", Text: "everybody belongs to the breadth-first tree of its leader, and all messages say so",
		Claim: model.Stabilizes,
		Holds: func(v *model.View) bool { return m.unsettled(v) == "" },
		Why:   m.unsettled,
	}}
}
