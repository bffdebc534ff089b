// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"slices"
)

// Locker is what sync.Mutex offers. Whoever shares a Table among goroutines hands one in.
type Locker interface {
	Lock()
	Unlock()
}

// Table interns the states, messages and link contents of a network: equal values have equal handles, and a handle is
// never reused. The encoding decides what is equal, so it is canonical.
type Table struct {
	body     body
	graph    *Graph
	lock     Locker
	states   interner[stateEntry]
	messages interner[messageEntry]
	links    interner[[]uint32]
}

type stateEntry struct {
	process int
	data    []byte
	value   any
	inputs  []Input
	stamps  []int64
}

type messageEntry struct {
	data   []byte
	value  any
	stamps []int64
	// class is the handle of the same message without its stamps. A message keeps it when its stamps are renamed, so
	// that fairness goes on to owe its delivery.
	class uint32
}

// interner numbers values by their encoding. Entries are written once, so a copy of the slice header can be read
// without a lock as far as it reaches.
type interner[E any] struct {
	byKey   map[string]uint32
	entries []E
}

func (t *interner[E]) put(key []byte, make func() E) uint32 {
	if id, ok := t.byKey[string(key)]; ok {
		return id
	}
	id := uint32(len(t.entries))
	t.entries = append(t.entries, make())
	t.byKey[string(key)] = id
	return id
}

func newTable(b body, g *Graph, lock Locker) *Table {
	t := &Table{body: b, graph: g, lock: lock}
	t.states.byKey, t.messages.byKey, t.links.byKey = map[string]uint32{}, map[string]uint32{}, map[string]uint32{}
	t.links.put(nil, func() []uint32 { return nil })
	return t
}

// Len is how many states, messages and link contents have been seen.
func (t *Table) Len() (states, messages, links int) {
	t.lock.Lock()
	defer t.lock.Unlock()
	return len(t.states.entries), len(t.messages.entries), len(t.links.entries)
}

func (t *Table) putState(p int, data []byte) uint32 {
	key := append([]byte{byte(p), byte(p >> 8), byte(p >> 16)}, data...)
	return t.states.put(key, func() stateEntry {
		value := t.body.state(p, data)
		return stateEntry{process: p, data: data, value: value, inputs: t.body.inputs(p, data), stamps: t.body.stateStamps(p, value)}
	})
}

func (t *Table) putMessage(data []byte) uint32 {
	if id, ok := t.messages.byKey[string(data)]; ok {
		return id
	}
	entry := messageEntry{data: data, value: t.body.message(data)}
	if entry.stamps = t.body.messageStamps(entry.value); len(entry.stamps) > 0 {
		entry.class = t.putMessage(t.body.renameMessage(data, nil))
	} else {
		entry.class = uint32(len(t.messages.entries))
	}
	return t.messages.put(data, func() messageEntry { return entry })
}

func (t *Table) putLink(content []uint32) uint32 {
	key := make([]byte, 0, 4*len(content))
	for _, m := range content {
		key = append(key, byte(m), byte(m>>8), byte(m>>16), byte(m>>24))
	}
	return t.links.put(key, func() []uint32 { return slices.Clone(content) })
}

// interned is one goroutine's way to a Table: copies of its slice headers, and memories of steps already computed. A
// step of a machine depends on nothing but its state and its event, so each is computed once.
type interned struct {
	table    *Table
	states   []stateEntry
	messages []messageEntry
	links    [][]uint32

	steps   map[stepKey]stepResult
	pushed  map[uint64]uint64
	removed map[uint64]uint64
	scratch []uint32

	renamings map[string]*renaming // by the list of stamps
	renaming  *renaming            // under the present list
	names     []byte
}

type stepKey struct {
	state, message, input uint32
	channel               int32
	kind                  EventKind
}

type stepResult struct {
	next uint32
	out  []sending
}

func newInterned(t *Table) *interned {
	return &interned{table: t, steps: map[stepKey]stepResult{}, pushed: map[uint64]uint64{}, removed: map[uint64]uint64{}}
}

// locked runs do with the table locked and looks at the table anew afterwards.
func (n *interned) locked(do func(t *Table) uint32) uint64 {
	t := n.table
	t.lock.Lock()
	id := do(t)
	n.states, n.messages, n.links = t.states.entries, t.messages.entries, t.links.entries
	t.lock.Unlock()
	return uint64(id)
}

// reach makes sure that handles given by another goroutine can be looked up.
func (n *interned) reach(handle uint64, have int) {
	if handle >= uint64(have) {
		n.locked(func(*Table) uint32 { return 0 })
	}
}

func (n *interned) state(h uint64) *stateEntry {
	n.reach(h, len(n.states))
	return &n.states[h]
}

func (n *interned) link(h uint64) []uint32 {
	n.reach(h, len(n.links))
	return n.links[h]
}

func (n *interned) messageEntry(h uint64) *messageEntry {
	n.reach(h, len(n.messages))
	return &n.messages[h]
}

func (n *interned) begin() {}

func (n *interned) clean(p int) uint64 {
	data := n.table.body.clean(p)
	return n.locked(func(t *Table) uint32 { return t.putState(p, data) })
}

func (n *interned) chooseState(p int, rank uint64) uint64 {
	data := n.table.body.chooseState(p, rank)
	return n.locked(func(t *Table) uint32 { return t.putState(p, data) })
}

func (n *interned) step(p int, state uint64, e happening, out []sending) (uint64, []sending) {
	key := stepKey{uint32(state), uint32(e.message), uint32(e.input), int32(e.channel), e.kind}
	result, ok := n.steps[key]
	if !ok {
		var message []byte
		if e.kind == Received {
			message = n.messageEntry(e.message).data
		}
		next, sends := n.table.body.step(p, n.state(state).data, e, message)
		result.next = uint32(n.locked(func(t *Table) uint32 {
			for _, s := range sends {
				result.out = append(result.out, sending{int32(s.channel), t.putMessage(s.message)})
			}
			return t.putState(p, next)
		}))
		n.steps[key] = result
	}
	return uint64(result.next), append(out, result.out...)
}

func (n *interned) inputs(_ int, state uint64) []Input { return n.state(state).inputs }

func (n *interned) stateValue(_ int, state uint64) any { return n.state(state).value }

func (n *interned) empty(int) uint64 { return 0 }

func (n *interned) length(link uint64) int { return len(n.link(link)) }

func (n *interned) at(link uint64, i int) uint64 { return uint64(n.link(link)[i]) }

func (n *interned) push(link, message uint64, sorted bool) uint64 {
	key := link<<32 | message
	if next, ok := n.pushed[key]; ok {
		return next
	}
	content := append(n.scratch[:0], n.link(link)...)
	at := len(content)
	if sorted {
		// Sorted by encoding, not by handle: handles depend on the order of the search.
		data := n.messageEntry(message).data
		at, _ = slices.BinarySearchFunc(content, data, func(m uint32, data []byte) int {
			return bytes.Compare(n.messageEntry(uint64(m)).data, data)
		})
	}
	n.scratch = slices.Insert(content, at, uint32(message))
	next := n.locked(func(t *Table) uint32 { return t.putLink(n.scratch) })
	n.pushed[key] = next
	return next
}

func (n *interned) repeat(link uint64, i int) uint64 {
	content := n.link(link)
	n.scratch = slices.Insert(append(n.scratch[:0], content...), i+1, content[i])
	return n.locked(func(t *Table) uint32 { return t.putLink(n.scratch) })
}

func (n *interned) remove(link uint64, i int) uint64 {
	key := link<<32 | uint64(i)
	if next, ok := n.removed[key]; ok {
		return next
	}
	n.scratch = slices.Delete(append(n.scratch[:0], n.link(link)...), i, i+1)
	next := n.locked(func(t *Table) uint32 { return t.putLink(n.scratch) })
	n.removed[key] = next
	return next
}

func (n *interned) chooseMessage(rank uint64) uint64 {
	data := n.table.body.chooseMessage(rank)
	return n.locked(func(t *Table) uint32 { return t.putMessage(data) })
}

func (n *interned) messageValue(message uint64) any { return n.messageEntry(message).value }

func (n *interned) peek(link uint64, i int) any { return n.messageValue(n.at(link, i)) }

func (n *interned) size(message uint64) int { return len(n.messageEntry(message).data) }

func (n *interned) class(message uint64) uint64 { return uint64(n.messageEntry(message).class) }

func (n *interned) isSame(link uint64, i, j int) bool {
	content := n.link(link)
	return content[i] == content[j]
}
