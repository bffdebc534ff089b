// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

// Network is the System of a Machine. Its sites are the processes (their inputs), the links (their deliveries), the
// clocks and the adversary, in this order.
//
// The words of states and links are handles. A Network as made by NewNetwork holds an interned store, whose
// configurations are values like any other. Live gives a twin that changes its values in place, for long simulations;
// it can have one configuration only, which Clean makes. Fork gives a twin for another goroutine of a checker.
type Network struct {
	frame
	body    body
	links   Links
	store   store
	table   *Table
	clocks  []int32 // the processes with clocks
	clockOf []int32 // by process: its number among the clocks, or -1
	// isStamped tells that the machine has stamps, which an interned network renames.
	isStamped bool
	// hasPrompt tells that some messages arrive within the step that sends them.
	hasPrompt bool
	// hasIgnored tells that the machine knows messages that their receiver will ignore.
	hasIgnored bool
}

// NewNetwork makes a system of a machine on a network.
func NewNetwork[S, M any](g *Graph, m Machine[S, M], links Links, budget Budget) *Network {
	n := &Network{frame: frame{graph: g, own: g.Links(), budget: budget}, body: typed[S, M]{m}, links: links}
	n.table = newTable(n.body, g, unlocked{})
	n.store = newInterned(n.table)
	n.isStamped = n.body.hasStamps()
	n.hasPrompt = n.body.hasPrompt()
	n.hasIgnored = n.body.hasIgnored()
	n.clockOf = make([]int32, g.Len())
	for p := range g.Len() {
		n.clockOf[p] = -1
		if n.body.hasClock(p) {
			n.clockOf[p] = int32(len(n.clocks))
			n.clocks = append(n.clocks, int32(p))
		}
	}
	return n
}

// unlocked is the Locker of a Table that one goroutine uses.
type unlocked struct{}

func (unlocked) Lock()   {}
func (unlocked) Unlock() {}

// Live is a twin of the network for one long run.
func (n *Network) Live() *Network {
	twin := *n
	twin.table, twin.store = nil, n.body.newLive(n.graph)
	return &twin
}

// Share makes the network's table safe for Forks in several goroutines.
func (n *Network) Share(lock Locker) *Network {
	twin := *n
	twin.table = newTable(n.body, n.graph, lock)
	twin.store = newInterned(twin.table)
	return &twin
}

// Fork is a twin with the same table for another goroutine.
func (n *Network) Fork() *Network {
	twin := *n
	twin.store = newInterned(n.table)
	return &twin
}

// Table is where a network's values are interned; nil if it is live.
func (n *Network) Table() *Table { return n.table }

// Links of the network.
func (n *Network) LinkOptions() Links { return n.links }

func (n *Network) linkWord(link int) int { return n.ownWord() + link }

// Sites are processes, links, clocks, adversary.
func (n *Network) Sites() int { return n.adversary() + n.budgetWords() }

func (n *Network) linkSite(link int) int32 { return int32(n.graph.Len() + link) }

func (n *Network) clockSite(p int) int32 {
	return int32(n.graph.Len()+n.graph.Links()) + n.clockOf[p]
}

func (n *Network) adversary() int { return n.graph.Len() + n.graph.Links() + len(n.clocks) }

// Site tells what a site is.
func (n *Network) Site(site int) Site {
	processes, links := n.graph.Len(), n.graph.Links()
	switch {
	case site < processes:
		return Site{Process: site, Link: -1}
	case site < processes+links:
		return Site{Process: -1, Link: site - processes}
	case site < n.adversary():
		return Site{Process: int(n.clocks[site-processes-links]), Link: -1, Clock: true}
	}
	return Site{Process: -1, Link: -1}
}

// Clean is the start: clean states, empty links.
func (n *Network) Clean() Configuration {
	c := make(Configuration, n.Words())
	for p := range n.graph.Len() {
		c[p] = n.store.clean(p)
	}
	for link := range n.graph.Links() {
		c[n.linkWord(link)] = n.store.empty(link)
	}
	if !n.budget.IsZero() {
		c[n.budgetWord()] = n.fullBudget()
	}
	return c
}

// Domain lists the states of a process and, up to the Garbage of the link options, the contents of a link. Listing a
// value of a live network puts it in place.
func (n *Network) Domain(word int) (uint64, func(uint64) uint64) {
	switch {
	case word < n.graph.Len():
		return n.body.countStates(word), func(i uint64) uint64 { return n.store.chooseState(word, i) }
	case word >= n.ownWord() && word < n.budgetWord():
		link := word - n.ownWord()
		each := n.body.countMessages()
		size, power := uint64(1), uint64(1)
		for range n.links.Garbage {
			power = multiply(power, each)
			size = min(size+power, Uncountable)
		}
		return size, func(i uint64) uint64 { return n.chooseContent(link, each, i) }
	default:
		return n.statusDomain(word)
	}
}

// chooseContent gives a link content number i: first the empty one, then those of one message, and so on.
func (n *Network) chooseContent(link int, each, i uint64) uint64 {
	n.store.begin()
	length := 0
	for power := uint64(1); i >= power && length < n.links.Garbage; length++ {
		i -= power
		power = multiply(power, each)
	}
	content := n.store.empty(link)
	for range length {
		content = n.store.push(content, n.store.chooseMessage(i%each), n.links.Unordered)
		i /= each
	}
	return content
}

// Enabled appends the moves of a site.
func (n *Network) Enabled(c Configuration, site int, moves []Move) []Move {
	processes, links := n.graph.Len(), n.graph.Links()
	switch {
	case site < processes:
		if !n.IsCrashed(c, site) {
			for i := range n.store.inputs(site, c[site]) {
				moves = append(moves, Move{Kind: Act, At: int32(site), Arg: uint64(i)})
			}
		}
	case site < processes+links:
		moves = n.enabledLink(c, site-processes, moves)
	case site < n.adversary():
		if p := n.clocks[site-processes-links]; !n.IsCrashed(c, int(p)) {
			moves = append(moves, Move{Kind: Tick, At: p})
		}
	default:
		moves = n.processFaults(c, n.body.countStates, moves)
		moves = n.linkFaults(c, moves)
	}
	return moves
}

func (n *Network) enabledLink(c Configuration, link int, moves []Move) []Move {
	content := c[n.linkWord(link)]
	length := n.store.length(content)
	if length == 0 {
		return moves
	}
	_, to := n.graph.Ends(link)
	if !n.IsCrashed(c, to) {
		moves = n.positions(content, length, !n.links.Unordered, Move{Kind: Deliver, At: int32(link)}, moves)
	}
	if n.links.Lossy {
		moves = n.positions(content, length, false, Move{Kind: Lose, At: int32(link)}, moves)
	}
	if n.links.Duplicating && length < n.links.Capacity {
		moves = n.positions(content, length, false, Move{Kind: Duplicate, At: int32(link)}, moves)
	}
	return moves
}

// positions appends the move for each position of a link, equal messages of an unordered link only once.
func (n *Network) positions(content uint64, length int, headOnly bool, m Move, moves []Move) []Move {
	if headOnly {
		length = 1
	}
	for i := range length {
		if i > 0 && n.links.Unordered && n.store.isSame(content, i-1, i) {
			continue
		}
		m.Arg = uint64(i)
		moves = append(moves, m)
	}
	return moves
}

// isFree tells whether the links do a fault by themselves, so that no budget is spent on it.
func (n *Network) isFree(k Kind) bool {
	return k == Lose && n.links.Lossy || k == Duplicate && n.links.Duplicating
}

func (n *Network) linkFaults(c Configuration, moves []Move) []Move {
	lose, duplicate, forge := n.left(c, Lose), n.left(c, Duplicate), n.left(c, Forge)
	for link := range n.graph.Links() {
		content := c[n.linkWord(link)]
		length := n.store.length(content)
		isFull := n.links.Capacity > 0 && length >= n.links.Capacity
		if lose > 0 && !n.isFree(Lose) {
			moves = n.positions(content, length, false, Move{Kind: Lose, At: int32(link)}, moves)
		}
		if duplicate > 0 && !isFull && !n.isFree(Duplicate) {
			moves = n.positions(content, length, false, Move{Kind: Duplicate, At: int32(link)}, moves)
		}
		if forge > 0 && !isFull {
			for i := range n.body.countMessages() {
				moves = append(moves, Move{Kind: Forge, At: int32(link), Arg: i})
			}
		}
	}
	return moves
}
