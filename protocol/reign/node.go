// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package reign

import "slices"

// Member is one life of a node.
type Member struct {
	Name string
	// Life tells two lives of a node with the same name apart.
	Life    uint64
	Address string // of its API
}

// is tells whether two members are the same life of the same node.
func (m Member) is(n Member) bool { return m.Name == n.Name && m.Life == n.Life }

// Record is what the store holds.
type Record struct {
	Generation int64
	// Members, in the order in which they are visited, the root first.
	Members []Member
	Beat    uint64 // grows with every write, so that a touch is a change
	// Rest tells that the last member left in good order when nobody held anything. Fresh tells that the generation began after
	// such a rest.
	Rest, Fresh bool
}

// Options are times in ticks.
type Options struct {
	// Reign is how long a root may act without a successful write.
	Reign int32
	// Margin is the most by which two clocks can differ over that time, and one tick for counting in whole ticks.
	Margin int32
	// Touch is the time between writes of the root and between beats of the others. It must be well below Reign.
	Touch int32
	// Silence is how long the root hears nothing of a member before it cuts it out.
	Silence int32
	// Stagger is how much longer each further member waits before it takes over, so that they do not all try at once.
	Stagger int32
}

// Out is told what a node does.
type Out interface {
	// Write asks for the record to be written if the store's revision is still the given one; 0 means that there is none. The
	// answer is OnWritten. There is at most one question at a time.
	Write(r Record, revision uint64)
	// Beat sends a beat to the root.
	Beat(to string, isLeaving bool)
	// Changed tells that the generation, or the right to act as root, is another.
	Changed()
}

// Node is one node's part.
type Node struct {
	options Options
	self    Member
	out     Out
	rule    rule // a mutant, in the laboratory alone

	record   Record
	revision uint64
	isKnown  bool // the store was read once

	reign     int32 // ticks for which this node may act as root
	quiet     int32 // ticks since the record last changed
	touch     int32 // ticks until the next touch or beat
	pause     int32 // ticks until the next write may be sent, after one that failed
	isWriting bool
	written   Record
	ago       int32 // ticks since the write was sent

	heard     []heard // by the root
	isLeaving bool
	isAtRest  bool
	restIn    int64 // the generation in which that was said
	isStuck   bool
}

// heard is when the root last heard of a node.
type heard struct {
	Member
	ago       int32
	isLeaving bool
}

// NewNode makes a node that knows nothing yet.
func NewNode(o Options, self Member, out Out) *Node { return &Node{options: o, self: self, out: out} }

// Record is what the node knows.
func (n *Node) Record() Record { return n.record }

// Left is for how many ticks this node may act as root.
func (n *Node) Left() int32 { return n.reign }

// Place is this node's place in the order of visits, or -1.
func (n *Node) Place() int32 {
	return int32(slices.IndexFunc(n.record.Members, func(m Member) bool { return m.is(n.self) }))
}

// Quiet is for how many ticks the record has not changed.
func (n *Node) Quiet() int32 { return n.quiet }

// IsRoot tells whether this node is the root of the generation, whether or not it may act.
func (n *Node) IsRoot() bool { return n.Place() == 0 }

// Advance tells that ticks have passed.
func (n *Node) Advance(ticks int32) {
	n.ago = min(n.ago+ticks, 1<<30)
	n.quiet = min(n.quiet+ticks, 1<<30)
	for i := range n.heard {
		n.heard[i].ago = min(n.heard[i].ago+ticks, 1<<30)
	}
	if n.reign > 0 {
		if n.reign -= ticks; n.reign <= 0 {
			n.reign = 0
			n.out.Changed()
		}
	}
	n.touch, n.pause = max(n.touch-ticks, 0), max(n.pause-ticks, 0)
	n.act()
}

// OnRecord tells what the store holds. A revision of 0 means that it holds nothing.
func (n *Node) OnRecord(r Record, revision uint64) {
	if n.isKnown && revision <= n.revision && n.rule != oldRecordTaken {
		return
	}
	isNew := !n.isKnown || r.Generation != n.record.Generation
	if (n.rule != quietKept || isNew) && (n.rule != quietUnread || n.isKnown) {
		n.quiet = 0
	}
	n.isKnown, n.record, n.revision, n.pause = true, r, revision, 0
	if isNew {
		n.become()
	}
	n.act()
}

// become enters a generation.
func (n *Node) become() {
	n.heard = n.heard[:0]
	n.isStuck = false
	n.touch = 0
	if !n.IsRoot() {
		n.reign = 0
	}
	for _, m := range n.record.Members {
		n.heard = append(n.heard, heard{Member: m})
	}
	n.out.Changed()
}

// OnWritten answers Write. It may be called before or after the store tells of the change.
func (n *Node) OnWritten(revision uint64, ok bool) {
	if !n.isWriting {
		return
	}
	n.isWriting = false
	if !ok {
		if n.rule == renewedByFailed && n.IsRoot() {
			n.reign = max(n.reign, n.options.Reign-n.ago)
		}
		n.pause = n.options.Touch / 4
		n.touch = max(n.touch, n.pause)
		return
	}
	if revision > n.revision || n.revision == revision {
		isNew := n.written.Generation != n.record.Generation || !n.isKnown
		n.isKnown, n.record, n.revision, n.quiet = true, n.written, revision, 0
		if isNew {
			n.become()
		}
	}
	if n.IsRoot() && n.record.Generation == n.written.Generation || n.rule == rootUnchecked {
		wasReigning := n.reign > 0
		if n.rule == countedFromAnswer {
			n.ago = 0
		}
		n.reign = max(n.reign, n.options.Reign-n.ago)
		if n.reign > 0 && !wasReigning {
			n.out.Changed()
		}
	}
	n.touch = min(n.touch, n.options.Touch)
	n.act()
}

// OnBeat tells that a node is alive, or wants to leave.
func (n *Node) OnBeat(m Member, isLeaving bool) {
	if !n.IsRoot() {
		return
	}
	i := slices.IndexFunc(n.heard, func(h heard) bool { return h.Name == m.Name })
	if i < 0 {
		if len(n.heard) >= MaxMembers || n.rule == strangersIgnored {
			return
		}
		i = len(n.heard)
		n.heard = append(n.heard, heard{})
	}
	n.heard[i] = heard{Member: m, isLeaving: isLeaving}
	n.act()
}

// MaxMembers bounds a network.
const MaxMembers = 1024

// Renew asks for a new generation with the same members: a controller is stuck.
func (n *Node) Renew() {
	n.isStuck = true
	n.act()
}

// Leave makes this node leave in good order. It has given everything back. It has left when it is no member any more.
// isAtRest is whether it knows that nobody else can hold anything either, should it be the last.
func (n *Node) Leave(isAtRest bool) {
	n.isLeaving, n.isAtRest, n.restIn = true, isAtRest && (n.isLast() || n.rule == restUnchecked), n.record.Generation
	n.touch = 0
	n.act()
}

// isLast tells whether this node is a root without others, or whose others have all said that they leave.
func (n *Node) isLast() bool {
	return n.IsRoot() && !slices.ContainsFunc(n.record.Members[1:], func(m Member) bool {
		return !slices.ContainsFunc(n.heard, func(h heard) bool { return h.is(m) && h.isLeaving })
	})
}

// isRest tells whether a network that this node is the last to leave is at rest. It is not if somebody else was a member when, or after,
// this node looked: that one may have been given something since, even if it is silent now.
func (n *Node) isRest() bool {
	return n.isAtRest && (n.restIn == n.record.Generation || n.rule == restUnchecked)
}

// act does what is due.
func (n *Node) act() {
	if !n.isKnown || n.isWriting || n.pause > 0 {
		return
	}
	place := n.Place()
	switch {
	case n.isLeaving && place < 0:
	case place == 0:
		n.actAsRoot()
	case n.revision == 0 || n.record.Rest || len(n.record.Members) == 0:
		n.write(Record{Generation: n.record.Generation + 1, Members: []Member{n.self}, Fresh: n.revision == 0 || n.record.Rest})
	case n.quiet >= n.takeover(place) && n.rule != neverTakesOver && (n.rule != leaverWaits || !n.isLeaving):
		// Who is leaving takes over too: nobody else may be there to let it go.
		n.write(Record{Generation: n.record.Generation + 1, Members: n.heirs()})
	case n.touch <= 0:
		n.touch = n.options.Touch
		n.out.Beat(n.record.Members[0].Name, n.isLeaving)
	}
}

// takeover is how long the record must be quiet before this node takes over.
func (n *Node) takeover(place int32) int32 {
	if place < 0 {
		place = int32(len(n.record.Members))
	}
	wait := n.options.Reign + n.options.Margin + (place-1)*n.options.Stagger
	if n.rule == takenOverEarly {
		wait--
	}
	return wait
}

// heirs are the members after a takeover: this node is the root, the old root is out.
func (n *Node) heirs() []Member {
	list := []Member{n.self}
	for i, m := range n.record.Members {
		if i > 0 && m.Name != n.self.Name {
			list = append(list, m)
		}
	}
	return list
}

// actAsRoot touches the record, and changes the members if there is a reason to.
func (n *Node) actAsRoot() {
	members := n.wanted()
	isChange := n.isStuck || !slices.EqualFunc(members, n.record.Members, Member.is)
	if n.touch > 0 && !isChange {
		return
	}
	next := n.record
	if isChange && (len(members) == 0 || !members[0].is(n.self)) && n.reign > 0 && n.rule != keptOnLeaving {
		// Who hands over stops before the other may begin, which is as soon as the store has the record.
		n.reign = 0
		n.out.Changed()
	}
	if isChange {
		next = Record{Generation: n.record.Generation + 1, Members: members, Rest: len(members) == 0 && n.isRest()}
	}
	n.write(next)
}

// wanted are the members that the root would have: itself, then those who stay, then those who come.
func (n *Node) wanted() []Member {
	var list []Member
	if !n.isLeaving {
		list = append(list, n.self)
	}
	for i, m := range n.record.Members {
		h := slices.IndexFunc(n.heard, func(h heard) bool { return h.is(m) })
		isSilent := h >= 0 && n.heard[h].ago >= n.options.Silence && n.rule != silenceIgnored
		if i > 0 && h >= 0 && (!n.heard[h].isLeaving || n.rule == leavingIgnored) && !isSilent {
			list = append(list, m)
		}
	}
	for _, h := range n.heard {
		isIn := slices.ContainsFunc(n.record.Members, func(m Member) bool { return m.is(h.Member) })
		if !isIn && !h.isLeaving && h.ago < n.options.Silence && h.Name != n.self.Name {
			list = append(list, h.Member)
		}
	}
	return list
}

func (n *Node) write(r Record) {
	r.Beat = n.record.Beat + 1
	n.isWriting, n.written, n.ago, n.touch = true, r, 0, n.options.Touch
	n.out.Write(r, n.revision)
}
