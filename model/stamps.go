// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"slices"
)

// Stamp visits a number that matters only by how it compares with other stamps, such as a logical time; 0 means none.
//
// Such numbers grow without end, so that a checker would never have seen everything. An interned network therefore
// renames the stamps of a configuration after every step: the smallest becomes StampGap, the next one twice that, and
// so on, so that between two neighbours there is room for a new one. This keeps the order of all stamps and nothing
// else. It is right only for machines whose steps depend on nothing else: who makes a new stamp must be able to put it
// at any place in the order that its rule allows, not at a fixed distance from another one.
//
// The machine says that it has such numbers (Stamped). A live network, which a simulation runs, renames nothing.
func Stamp(f *Fields, name string, v *int64, hi int64) { StampOf(f, name, v, hi, 0) }

// StampOf visits a stamp that belongs to somebody. Of two equal stamps that of the smaller owner counts as the smaller
// one, and gets the smaller name, so that equal stamps of different owners do not stay equal: fewer orders are left, and
// none of them prefers an owner. There are at most MaxOwners of them, from 0 on.
func StampOf(f *Fields, name string, v *int64, hi int64, owner int) {
	stampAs(f, name, v, hi, int64(owner))
}

// StampIn visits a stamp that is never compared with one of another class, such as the number of a message of another sender.
// The stamps of each class are named by themselves, so that fewer orders are left. There are at most MaxClasses of them,
// from 0 on; Stamp and StampOf belong to class 0.
func StampIn(f *Fields, name string, v *int64, hi int64, class int) {
	stampAs(f, name, v, hi, int64(class)*classSize)
}

func stampAs(f *Fields, name string, v *int64, hi, mark int64) {
	switch f.mode {
	case gather:
		if *v > 0 {
			f.stamps = append(f.stamps, *v*MaxOwners+mark)
		}
	case rename:
		if *v > 0 {
			*v = f.renamed(*v*MaxOwners + mark)
		}
	case encode, decode, describe, count, choose, scatter:
		Int(f, name, v, 0, hi)
	}
}

// Stamped is a Machine that has stamps; HasStamps tells whether they are to be renamed.
type Stamped interface {
	HasStamps() bool
}

func (t typed[S, M]) hasStamps() bool {
	s, ok := t.machine.(Stamped)
	return ok && s.HasStamps()
}

// MaxOwners is how many owners stamps may have, and MaxClasses how many classes.
const (
	MaxOwners  = 1 << 8
	MaxClasses = 1 << 10
)

// classSize is beyond every stamp of class 0 with its owner: a stamp is at most 1 << 44.
const classSize = 1 << 52

// StampGap is the distance of two neighbouring stamps once they are renamed.
const StampGap = 2

// renamed is the new name of a stamp: by its place among those of its class, or 0 if there is no list of them.
func (f *Fields) renamed(v int64) int64 {
	place, ok := slices.BinarySearch(f.stamps, v)
	if !ok {
		return 0
	}
	first := 0
	if v >= classSize {
		first, _ = slices.BinarySearch(f.stamps, v/classSize*classSize)
	}
	return int64(place-first+1) * StampGap
}

// gatherStamps lists the stamps that visit shows.
func gatherStamps(visit func(*Fields)) []int64 {
	f := Fields{mode: gather}
	visit(&f)
	return f.stamps
}

// renameStamps gives every stamp its new name by its place in the sorted list; without a list, none.
func renameStamps(sorted []int64, visit func(*Fields)) {
	f := Fields{mode: rename, stamps: sorted}
	visit(&f)
}

func (t typed[S, M]) stateStamps(p int, state any) []int64 {
	return gatherStamps(t.visitState(p, state.(*S)))
}

func (t typed[S, M]) messageStamps(message any) []int64 {
	return gatherStamps(t.visitMessage(message.(*M)))
}

func (t typed[S, M]) renameState(p int, data []byte, sorted []int64) []byte {
	s := t.decodeState(p, data)
	renameStamps(sorted, t.visitState(p, s))
	return t.encodeState(p, s)
}

func (t typed[S, M]) renameMessage(data []byte, sorted []int64) []byte {
	m := t.decodeMessage(data)
	renameStamps(sorted, t.visitMessage(m))
	return t.encodeMessage(m)
}

// canonical renames the stamps of a configuration, if it has any that are not named by their place already.
func (n *Network) canonical(c Configuration, b *Buffer) {
	in, ok := n.store.(*interned)
	if !ok || !n.isStamped {
		return
	}
	stamps := b.stamps[:0]
	for p := range n.graph.Len() {
		stamps = append(stamps, in.state(c[p]).stamps...)
	}
	first := n.linkWord(0)
	for link := range n.graph.Links() {
		for _, m := range in.link(c[first+link]) {
			stamps = append(stamps, in.messageEntry(uint64(m)).stamps...)
		}
	}
	b.stamps = stamps
	if len(stamps) == 0 {
		return
	}
	slices.Sort(stamps)
	stamps = slices.Compact(stamps)
	if isNamed(stamps) {
		return
	}
	in.remember(stamps)
	for p := range n.graph.Len() {
		if len(in.state(c[p]).stamps) > 0 {
			b.write(c, p, in.renameState(p, c[p], stamps))
			b.Touched = append(b.Touched, int32(p))
		}
	}
	for link := range n.graph.Links() {
		if next := in.renameLink(c[first+link], stamps, n.links.Unordered); next != c[first+link] {
			b.write(c, first+link, next)
			b.Touched = append(b.Touched, n.linkSite(link))
		}
	}
}

func isNamed(stamps []int64) bool {
	class, first := int64(0), 0
	for i, s := range stamps {
		if s/classSize != class {
			class, first = s/classSize, i
		}
		if s%classSize/MaxOwners != int64(i-first+1)*StampGap {
			return false
		}
	}
	return true
}

// renaming is what was made of the values of one goroutine under one list of stamps: the same few lists come again and
// again.
type renaming struct {
	states, messages, links map[uint64]uint64
}

// remember finds what has been renamed under this list of stamps before.
func (n *interned) remember(sorted []int64) {
	n.names = n.names[:0]
	for _, s := range sorted {
		n.names = binary.AppendUvarint(n.names, uint64(s))
	}
	r, ok := n.renamings[string(n.names)]
	if !ok {
		if n.renamings == nil {
			n.renamings = map[string]*renaming{}
		}
		r = &renaming{map[uint64]uint64{}, map[uint64]uint64{}, map[uint64]uint64{}}
		n.renamings[string(n.names)] = r
	}
	n.renaming = r
}

func (n *interned) renameState(p int, state uint64, sorted []int64) uint64 {
	next, ok := n.renaming.states[state]
	if !ok {
		data := n.table.body.renameState(p, n.state(state).data, sorted)
		next = n.locked(func(t *Table) uint32 { return t.putState(p, data) })
		n.renaming.states[state] = next
	}
	return next
}

func (n *interned) renameMessage(message uint64, sorted []int64) uint64 {
	next, ok := n.renaming.messages[message]
	if !ok {
		next = message
		if entry := n.messageEntry(message); len(entry.stamps) > 0 {
			data := n.table.body.renameMessage(entry.data, sorted)
			next = n.locked(func(t *Table) uint32 { return t.putMessage(data) })
		}
		n.renaming.messages[message] = next
	}
	return next
}

// renameLink renames the messages of a link and sorts them anew, if the link is one that is sorted.
func (n *interned) renameLink(link uint64, sorted []int64, isUnordered bool) uint64 {
	if next, ok := n.renaming.links[link]; ok {
		return next
	}
	content := n.empty(0)
	for _, m := range n.link(link) {
		content = n.push(content, n.renameMessage(uint64(m), sorted), isUnordered)
	}
	n.renaming.links[link] = content
	return content
}
