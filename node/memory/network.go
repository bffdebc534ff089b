// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"
)

// Options say how a network treats frames. The zero value loses nothing and delays nothing.
type Options struct {
	// Seed of all chance.
	Seed uint64
	// Delay is how long every frame takes, and Jitter how much longer it may take.
	Delay, Jitter time.Duration
	// Loss is the probability that a frame is lost, 0 to 1.
	Loss float64
	// MaxFrame is the largest frame in bytes. 0 means 4 MiB.
	MaxFrame int
}

// Network is a set of nodes with links between all of them. Its methods are safe for several goroutines.
type Network struct {
	o Options

	mu      sync.Mutex
	open    map[string]*Fabric
	members map[string]bool // all that were opened and not removed
	links   map[link]*state
	refused map[string]bool // nodes whose store was switched off
	muted   map[string]int  // how many answers of the store each node still loses
	order   uint64          // numbers deliveries, for a stable order
	stats   Stats
	data    data
	// changed is closed and replaced when the store or the connections change.
	changed chan struct{}
}

// link is one direction between two nodes.
type link struct{ from, to string }

// state of a link.
type state struct {
	chance *rand.Rand
	isCut  bool
	isHeld bool
	drop   int // how many of the next frames are lost
	held   []delivery
	last   time.Time // when the last frame arrives; later ones do not overtake it
	stats  Stats
}

// Stats count frames.
type Stats struct {
	Sent      int
	Delivered int // given to the handler
	Lost      int // by chance, by Drop, by a cut, or because nobody was there
}

// New makes a network without nodes.
func New(o Options) *Network {
	if o.MaxFrame == 0 {
		o.MaxFrame = 4 << 20
	}
	return &Network{
		o:       o,
		open:    map[string]*Fabric{},
		members: map[string]bool{},
		links:   map[link]*state{},
		refused: map[string]bool{},
		muted:   map[string]int{},
		data:    newData(),
		changed: make(chan struct{}),
	}
}

// Open starts a node, for the first time or again after its fabric was closed. It panics if the node is open: that is a
// mistake of the test.
func (n *Network) Open(name string) *Fabric {
	n.mu.Lock()
	defer n.mu.Unlock()
	if name == "" || n.open[name] != nil {
		panic("memory: the node " + name + " has no name, or is open already")
	}
	f := newFabric(n, name)
	n.open[name], n.members[name] = f, true
	n.change()
	return f
}

// Remove forgets a closed node, so that it no longer counts for the majority.
func (n *Network) Remove(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open[name] == nil {
		delete(n.members, name)
	}
	n.change()
}

// Set changes how frames are treated from now on. The seed stays.
func (n *Network) Set(delay, jitter time.Duration, loss float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.o.Delay, n.o.Jitter, n.o.Loss = delay, jitter, loss
}

// Cut breaks both links between two nodes. What is under way is lost.
func (n *Network) Cut(a, b string) { n.CutOneWay(a, b); n.CutOneWay(b, a) }

// Heal mends both links between two nodes.
func (n *Network) Heal(a, b string) { n.HealOneWay(a, b); n.HealOneWay(b, a) }

// CutOneWay breaks one link.
func (n *Network) CutOneWay(from, to string) { n.with(from, to, func(s *state) { s.isCut = true }) }

// HealOneWay mends one link.
func (n *Network) HealOneWay(from, to string) { n.with(from, to, func(s *state) { s.isCut = false }) }

// Isolate cuts a node off from all others that there are now.
func (n *Network) Isolate(name string) { n.each(name, n.Cut) }

// Rejoin undoes Isolate.
func (n *Network) Rejoin(name string) { n.each(name, n.Heal) }

// Partition cuts all links between nodes of one group and those of the others, and mends all within them.
func (n *Network) Partition(groups ...[]string) {
	for i, g := range groups {
		for j, h := range groups {
			for _, a := range g {
				for _, b := range h {
					switch {
					case i == j && a != b:
						n.HealOneWay(a, b)
					case i != j:
						n.CutOneWay(a, b)
					}
				}
			}
		}
	}
}

// Drop loses the next frames of a link, so many of them.
func (n *Network) Drop(from, to string, frames int) {
	n.with(from, to, func(s *state) { s.drop = frames })
}

// Hold makes the frames of a link wait.
func (n *Network) Hold(from, to string) { n.with(from, to, func(s *state) { s.isHeld = true }) }

// Release lets the frames of a link go that have waited, and those that come. It returns how many had waited.
func (n *Network) Release(from, to string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.state(link{from, to})
	held := s.held
	s.isHeld, s.held = false, nil
	for _, d := range held {
		n.deliver(s, d)
	}
	return len(held)
}

// Stats counts the frames of all links.
func (n *Network) Stats() Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stats
}

// LinkStats counts the frames of one link.
func (n *Network) LinkStats(from, to string) Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.state(link{from, to}).stats
}

func (n *Network) with(from, to string, do func(*state)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	do(n.state(link{from, to}))
	n.change()
}

func (n *Network) each(name string, do func(a, b string)) {
	n.mu.Lock()
	var others []string
	for m := range n.members {
		if m != name {
			others = append(others, m)
		}
	}
	n.mu.Unlock()
	for _, m := range others {
		do(name, m)
	}
}

// state finds a link. The lock is held, as in all that follows.
func (n *Network) state(l link) *state {
	s := n.links[l]
	if s == nil {
		h := fnv.New64a()
		_, _ = h.Write([]byte(l.from + "\x00" + l.to))
		s = &state{chance: rand.New(rand.NewPCG(n.o.Seed, h.Sum64()))}
		n.links[l] = s
	}
	return s
}

// delivery is a frame on its way.
type delivery struct {
	link  link
	frame []byte
	delay time.Duration
	at    time.Time
	order uint64
}

// send decides what becomes of a frame. It draws the same chances for every frame, so that a fault that is made by hand
// does not change the fate of later frames.
func (n *Network) send(l link, frame []byte) {
	s := n.state(l)
	isLost := s.chance.Float64() < n.o.Loss
	delay := n.o.Delay + time.Duration(s.chance.Float64()*float64(n.o.Jitter))
	s.stats.Sent++
	n.stats.Sent++
	isDropped := s.drop > 0
	if isDropped {
		s.drop--
	}
	d := delivery{link: l, frame: frame, delay: delay}
	switch {
	case isLost || isDropped || s.isCut || n.open[l.to] == nil:
		n.lose(s)
	case s.isHeld:
		s.held = append(s.held, d)
	default:
		n.deliver(s, d)
	}
}

// deliver gives a frame to the receiver, for the time at which it arrives.
func (n *Network) deliver(s *state, d delivery) {
	to := n.open[d.link.to]
	if to == nil {
		n.lose(s)
		return
	}
	d.at = time.Now().Add(d.delay)
	if d.at.Before(s.last) {
		d.at = s.last
	}
	s.last = d.at
	n.order++
	d.order = n.order
	to.put(d)
}

func (n *Network) lose(s *state) {
	s.stats.Lost++
	n.stats.Lost++
}

// isConnected tells whether two nodes are there and hear each other.
func (n *Network) isConnected(a, b string) bool {
	if n.open[a] == nil || n.open[b] == nil {
		return false
	}
	return a == b || !n.state(link{a, b}).isCut && !n.state(link{b, a}).isCut
}

// change tells those who wait that something is different.
func (n *Network) change() {
	close(n.changed)
	n.changed = make(chan struct{})
}
