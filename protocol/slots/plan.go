// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import "fmt"

// round is one competition as one process sees it.
type round struct {
	code uint64 // what the process writes into its level; codes grow from round to round
	last uint64 // the highest code that still counts as being in the competition or beyond
	turn int    // number of the turn register that is written
	look int    // number of the turn register that is read: the same, but in the printed gcheck
	// The group is the processes from..to-1; limit is how many others may be at this round or beyond.
	from, to int
	limit    int
	lane     bool // those in the lane count as well
}

// others is the number of other processes in the group.
func (r *round) others() int { return r.to - r.from - 1 }

// other is the i-th of the other processes in the group, beginning with the one after me. Any order will do; with this one all
// processes of a group are alike, and not all begin by reading the same register.
func (r *round) other(me, i int) int { return r.from + (me-r.from+1+i)%(r.to-r.from) }

// plan is the course of every process: its rounds in order, and the names of the turn registers.
type plan struct {
	rounds [][]round
	turns  []string
	top    uint64 // the code of those who have nothing before them any more
}

// node is a group of the tournament: a range of processes and the rounds that are held in it.
type node struct {
	label    string
	from, to int
	height   int // leaves have 0
	turns    int // number of its first turn register
	rounds   int
	capacity int // at most so many compete in it at once
	base     uint64
	lane     bool
}

func newPlan(c Config) *plan {
	p := &plan{rounds: make([][]round, c.N)}
	if c.N <= c.K {
		p.top = 1
		return p
	}
	tree := newTree(c)
	for i, nd := range tree {
		for q := 1; q <= nd.rounds; q++ {
			p.addRound(c, tree, i, q)
		}
	}
	p.top++
	return p
}

// newCountedPlan is the course of every seat where those inside are counted in the lane. They are k more, who compete with all
// seats in EXCL, and in GTEX with the k that have won the tournament of the seats.
func newCountedPlan(c Config) *plan {
	p := &plan{rounds: make([][]round, c.Seats)}
	seats := c
	seats.N = c.Seats
	var tree []node
	winners := c.Seats
	if c.Algorithm == GTEX && c.Seats > c.K {
		tree, winners = newTree(seats), c.K
	}
	gate := node{label: "gate", to: c.Seats, height: len(tree), rounds: winners, capacity: winners + c.K, lane: c.rule != countedBlind}
	for _, nd := range tree {
		gate.base = max(gate.base, nd.base+uint64(nd.rounds))
		gate.turns = max(gate.turns, nd.turns+nd.rounds)
	}
	tree = append(tree, gate)
	for i, nd := range tree {
		for q := 1; q <= nd.rounds; q++ {
			p.addRound(seats, tree, i, q)
		}
	}
	p.top++
	return p
}

// newTree lists the nodes, leaves first, so that every process meets its rounds in order. NAIVE and EXCL have one node.
func newTree(c Config) []node {
	depth := 0
	if c.Algorithm == GTEX {
		depth = depthOf(c.N, c.K)
	}
	largest := (c.N + 1<<depth - 1) >> depth
	rounds := largest - c.K // of the largest leaf; the codes of all leaves are below those of inner nodes
	if c.rule.isLeafPrinted() && c.Algorithm == GTEX {
		rounds = c.K
	}
	turns := 0
	var tree []node
	for height := 0; height <= depth; height++ {
		for _, nd := range split(0, c.N, depth-height, "") {
			nd.height, nd.turns = height, turns
			switch {
			case height > 0:
				nd.capacity, nd.rounds, nd.base = 2*c.K, c.K, uint64(rounds+(height-1)*c.K)
			case c.rule.isLeafPrinted() && c.Algorithm == GTEX:
				nd.capacity, nd.rounds = 2*c.K, c.K
			default:
				nd.capacity, nd.rounds = nd.to-nd.from, nd.to-nd.from-c.K
			}
			turns += nd.rounds
			tree = append(tree, nd)
		}
	}
	return tree
}

// depthOf is the depth of the tournament tree, the largest b with (k+1)·2^b ≤ n. Integers only: a floating logarithm
// is wrong next to powers of two.
func depthOf(n, k int) int {
	b := 0
	for (k+1)<<(b+1) <= n {
		b++
	}
	return b
}

// split halves a range of processes again and again. The lower half takes the middle one.
func split(from, to, times int, label string) []node {
	if times == 0 {
		return []node{{label: label, from: from, to: to}}
	}
	middle := from + (to-from+1)/2
	return append(split(from, middle, times-1, label+"0"), split(middle, to, times-1, label+"1")...)
}

// addRound adds round q of a node to the course of each of its processes.
func (p *plan) addRound(c Config, tree []node, i, q int) {
	nd := tree[i]
	if c.rule == fewerRounds && nd.to-nd.from == c.N && q == nd.rounds {
		return
	}
	r := round{
		code: nd.base + uint64(q), turn: len(p.turns), from: nd.from, to: nd.to,
		limit: nd.capacity - q - 1, lane: nd.lane,
	}
	r.last = ^uint64(0)
	switch c.rule {
	case sameHeight:
		r.last = nd.base + uint64(nd.rounds)
	case sameLevel:
		r.last = r.code
	case threshold:
		r.limit++
	}
	if c.Algorithm == NAIVE {
		r.limit -= nd.capacity - q - 1
	}
	r.look = c.rule.registerToLook(tree, i, q, r.turn)
	if c.rule == turnByHeight {
		r.turn = r.look
	}
	p.turns = append(p.turns, turnName(c, nd, q))
	p.top = max(p.top, r.code)
	for j := nd.from; j < nd.to; j++ {
		p.rounds[j] = append(p.rounds[j], r)
	}
}

func turnName(c Config, nd node, q int) string {
	if c.Algorithm != GTEX {
		return fmt.Sprintf("turn[%d]", q)
	}
	if nd.label == "" {
		return fmt.Sprintf("turn[λ,%d]", q)
	}
	return fmt.Sprintf("turn[%s,%d]", nd.label, q)
}
