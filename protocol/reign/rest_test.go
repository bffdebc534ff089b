// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package reign

import "testing"

// desk keeps the last write that a node asked for.
type desk struct {
	record   Record
	revision uint64
	writes   int
}

func (d *desk) Write(r Record, revision uint64) { d.record, d.revision = r, revision; d.writes++ }
func (d *desk) Beat(string, bool)               {}
func (d *desk) Changed()                        {}

var times = Options{Reign: 40, Margin: 2, Touch: 10, Silence: 30, Stagger: 5}

// rootOfTwo is a root a with the member b in generation 2. One write, a touch, is under way.
func rootOfTwo(r rule) (*Node, *desk, Member) {
	d := &desk{}
	n := NewNode(times, Member{Name: "a", Life: 1}, d)
	n.rule = r
	b := Member{Name: "b", Life: 1}
	n.OnRecord(Record{}, 0)
	n.OnWritten(1, true) // a alone; it touches
	n.OnBeat(b, false)
	n.OnWritten(2, true)
	n.OnWritten(3, true) // a and b; it touches
	return n, d, b
}

// TestRestIsNotToldOfOthers: the root says that nobody holds anything while a touch is under way, and goes on reigning until it is
// answered. Meanwhile b may be given something. It is silent when the touch fails, so it is cut out, and nobody is left. That is no rest.
func TestRestIsNotToldOfOthers(t *testing.T) {
	for _, r := range []rule{asMeant, restUnchecked} {
		n, d, _ := rootOfTwo(r)
		n.Leave(true)
		n.Advance(30)
		n.OnWritten(0, false)
		n.Advance(2)
		if len(d.record.Members) != 0 || d.record.Generation != 3 {
			t.Fatalf("it writes %+v", d.record)
		}
		if d.record.Rest != (r == restUnchecked) {
			t.Errorf("rule %d: rest %v", r, d.record.Rest)
		}
	}
}

// TestRestIsOfItsGeneration: the same where b is cut out in a write of its own, which is under way when the root leaves.
func TestRestIsOfItsGeneration(t *testing.T) {
	for _, r := range []rule{asMeant, restUnchecked} {
		n, d, _ := rootOfTwo(r)
		for i := range 3 {
			n.OnWritten(uint64(4+i), true)
			n.Advance(10)
		}
		if len(d.record.Members) != 1 {
			t.Fatalf("it writes %+v", d.record)
		}
		n.Leave(true)
		n.OnWritten(7, true)
		if len(d.record.Members) != 0 || d.record.Generation != 4 || d.record.Rest != (r == restUnchecked) {
			t.Errorf("rule %d: it writes %+v", r, d.record)
		}
	}
}

// TestRest: who is alone, or whose others have left, tells of the rest, and the next one begins afresh.
func TestRest(t *testing.T) {
	n, d, b := rootOfTwo(asMeant)
	n.OnWritten(4, true)
	n.OnBeat(b, true)
	n.OnWritten(5, true) // a alone; it touches
	n.OnWritten(6, true)
	n.Leave(true)
	if len(d.record.Members) != 0 || !d.record.Rest || n.Left() != 0 {
		t.Fatalf("it writes %+v and may act for %d ticks", d.record, n.Left())
	}
	other := &desk{}
	NewNode(times, b, other).OnRecord(d.record, 7)
	if !other.record.Fresh || other.record.Generation != d.record.Generation+1 {
		t.Errorf("the next one writes %+v", other.record)
	}
}

// TestPause: a write that failed is not sent again at every tick.
func TestPause(t *testing.T) {
	d := &desk{}
	n := NewNode(times, Member{Name: "a", Life: 1}, d)
	n.OnRecord(Record{Generation: 7, Members: []Member{{Name: "b"}}}, 9)
	for range 142 {
		n.Advance(1)
		n.OnWritten(0, false)
	}
	if d.writes != 51 {
		t.Errorf("%d writes in 101 ticks", d.writes)
	}
}
