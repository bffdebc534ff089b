// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"allot/node"
	"allot/protocol/reign"
)

// network is this node's part in deciding who the members are. It turns what package reign asks for into writes and frames,
// and tells the seats of every new generation.
type network struct {
	a    *Allocator
	mu   sync.Mutex
	node *reign.Node
	self reign.Member
	now  int64
	// todo is what the machine asked for in the present step, done when the lock has been given back.
	todo      []func()
	isChanged bool

	// What the seats have been told, under told.
	told       sync.Mutex
	generation int64
	place      int32
	members    []reign.Member
	isFresh    bool
	gone       chan struct{} // closed when this node has left, if it wants to
}

// writeTimeout bounds a write to the control plane. What comes of it later is seen by the watch.
const writeTimeout = 5 * time.Second

func (n *network) init(a *Allocator, o reign.Options) {
	n.a = a
	n.place = -1
	n.self = reign.Member{Name: a.self, Life: a.options.Life, Address: a.options.Address}
	n.node = reign.NewNode(o, n.self, n)
	n.now = a.now()
}

// step gives the machine an event, after the time that has passed, and then does what it asked for.
func (n *network) step(event func()) {
	n.mu.Lock()
	now := n.a.now()
	if now > n.now {
		d := now - n.now
		n.now = now
		n.node.Advance(int32(min(d, 1<<30)))
	}
	event()
	todo, isChanged := n.todo, n.isChanged
	n.todo, n.isChanged = nil, false
	record, place := n.node.Record(), n.node.Place()
	n.mu.Unlock()
	if isChanged {
		n.tell(record, place)
	}
	for _, do := range todo {
		do()
	}
}

func (n *network) advance(now int64) {
	n.mu.Lock()
	isSame := now <= n.now
	n.mu.Unlock()
	if !isSame {
		n.step(func() {})
	}
}

// known: the control plane has been read once.
func (n *network) known() {
	n.step(func() { n.node.OnRecord(reign.Record{}, 0) })
}

func (n *network) onEntry(e node.Entry) {
	var r reign.Record
	if !e.IsDeleted {
		if err := json.Unmarshal(e.Value, &r); err != nil {
			n.a.observe(Event{Kind: EventGeneration, Text: "the record of the network cannot be read and is ignored", Why: err})
			return
		}
	}
	n.step(func() { n.node.OnRecord(r, e.Revision) })
}

// Write is asked for by the machine.
func (n *network) Write(r reign.Record, revision uint64) {
	n.todo = append(n.todo, func() {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
			defer cancel()
			var next uint64
			var err error
			if revision == 0 {
				next, err = n.a.store.Create(ctx, recordKey, marshal(r))
			} else {
				next, err = n.a.store.Update(ctx, recordKey, marshal(r), revision)
			}
			n.step(func() { n.node.OnWritten(next, err == nil) })
			if err == nil {
				n.refresh()
			}
		}()
	})
}

// Beat is asked for by the machine.
func (n *network) Beat(to string, isLeaving bool) {
	n.todo = append(n.todo, func() {
		n.a.send(to, append([]byte{frameBeat}, marshal(beat{Member: n.self, IsLeaving: isLeaving})...))
	})
}

// Changed is told by the machine.
func (n *network) Changed() { n.isChanged = true }

type beat struct {
	Member    reign.Member
	IsLeaving bool
}

func (n *network) onBeat(from string, data []byte) {
	var b beat
	if json.Unmarshal(data, &b) != nil || b.Member.Name != from || len(b.Member.Address) > MaxName {
		return
	}
	n.step(func() { n.node.OnBeat(b.Member, b.IsLeaving) })
}

// refresh tells the seats for how long this node may act as root.
func (n *network) refresh() {
	for _, s := range n.a.seats() {
		s.step(s.reign)
	}
}

// tell tells the seats of a generation.
func (n *network) tell(r reign.Record, place int32) {
	n.told.Lock()
	isNew := r.Generation != n.generation
	if r.Generation < n.generation {
		n.told.Unlock()
		return
	}
	n.generation, n.place, n.members, n.isFresh = r.Generation, place, r.Members, r.Fresh
	if n.gone != nil && place < 0 {
		close(n.gone)
		n.gone = nil
	}
	n.told.Unlock()
	for _, s := range n.a.seats() {
		s.begin()
	}
	if isNew {
		members := make([]Member, 0, len(r.Members))
		for _, m := range r.Members {
			members = append(members, Member{Name: m.Name, Address: m.Address})
		}
		n.a.observe(Event{Kind: EventGeneration, Generation: r.Generation, Members: members})
	}
}

// view is what the seats have been told.
func (n *network) view() view {
	n.told.Lock()
	defer n.told.Unlock()
	return view{n.generation, n.place, n.members, n.isFresh}
}

type view struct {
	generation int64
	place      int32
	members    []reign.Member
	isFresh    bool
}

// member is the name of the member at a place.
func (n *network) member(place int32) string {
	n.told.Lock()
	defer n.told.Unlock()
	if place < 0 || int(place) >= len(n.members) {
		return ""
	}
	return n.members[place].Name
}

// until is the tick until which this node may act as root. Seats ask for it while they hold their lock.
func (n *network) until() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now + int64(n.node.Left())
}

// isCutOff tells whether the control plane has been silent for longer than a change of the root takes: then this node is cut off
// from the majority, and a member of the past at best.
func (n *network) isCutOff() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Duration(n.node.Quiet())*tick > 2*n.a.options.Reign+silentMore
}

// silentMore is what the control plane may need to choose a leader.
const silentMore = 10 * time.Second

func (n *network) status() NetworkStatus {
	v := n.view()
	s := NetworkStatus{Node: n.a.self, Generation: uint64(v.generation), Ready: v.place >= 0 && !n.isCutOff()}
	for _, m := range v.members {
		s.Members = append(s.Members, Member{Name: m.Name, Address: m.Address})
	}
	if len(v.members) > 0 {
		s.Root = v.members[0].Name
	}
	return s
}

// Leave ends all sessions and takes this node out of the network. It returns when the others know.
func (a *Allocator) Leave(ctx context.Context) error {
	for _, s := range a.allSessions() {
		s.end(ErrUnavailable)
	}
	isAtRest := true
	for _, s := range a.seats() {
		s.step(func() { isAtRest = isAtRest && s.machine.IsAtRest() })
	}
	gone := make(chan struct{})
	n := &a.network
	n.told.Lock()
	if n.place < 0 {
		close(gone)
	} else {
		n.gone = gone
	}
	n.told.Unlock()
	n.step(func() { n.node.Leave(isAtRest) })
	select {
	case <-ctx.Done():
		return fmt.Errorf("leaving the network: %w", ctx.Err())
	case <-gone:
		return nil
	}
}
