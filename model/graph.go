// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"
)

// Graph says who is joined to whom. Processes are numbered from 0. An edge joins two different processes and is
// used in both directions; each direction is one link. The neighbours of a process stand in a fixed order, its
// channels: channel i of p leads to the i-th neighbour of p. Root is the distinguished process of rooted
// algorithms. A Graph does not change once made; what is cut or crashed at a moment is part of the configuration.
type Graph struct {
	Root  int
	names []string

	offset  []int32 // links of p are offset[p] .. offset[p+1]
	target  []int32 // by link: the process that it leads to
	reverse []int32 // by link: the link that leads back
	source  []int32 // by link: the process that it leaves
}

// MaxProcesses bounds the size of a graph.
const MaxProcesses = 1 << 24

// NewGraph makes a graph of n processes. The order of the edges fixes the order of the channels.
func NewGraph(n int, edges [][2]int) (*Graph, error) {
	if n < 1 || n > MaxProcesses {
		return nil, fmt.Errorf("a network has 1 to %d processes, not %d", MaxProcesses, n)
	}
	if len(edges) > math.MaxInt32/2 {
		return nil, fmt.Errorf("a network has at most %d edges, not %d", math.MaxInt32/2, len(edges))
	}
	g := &Graph{offset: make([]int32, n+1)}
	for _, e := range edges {
		for _, p := range e {
			if p < 0 || p >= n {
				return nil, fmt.Errorf("edge %d-%d: process %d is not among 0..%d", e[0], e[1], p, n-1)
			}
		}
		if e[0] == e[1] {
			return nil, fmt.Errorf("edge %d-%d joins a process to itself", e[0], e[1])
		}
		g.offset[e[0]+1]++
		g.offset[e[1]+1]++
	}
	for p := range n {
		g.offset[p+1] += g.offset[p]
	}
	links := 2 * len(edges)
	g.target, g.reverse, g.source = make([]int32, links), make([]int32, links), make([]int32, links)
	next := append([]int32(nil), g.offset[:n]...)
	for _, e := range edges {
		a, b := next[e[0]], next[e[1]]
		next[e[0]]++
		next[e[1]]++
		g.target[a], g.source[a], g.reverse[a] = int32(e[1]), int32(e[0]), b
		g.target[b], g.source[b], g.reverse[b] = int32(e[0]), int32(e[1]), a
	}
	seen := make([]int32, n)
	for p := range n {
		for _, q := range g.Neighbours(p) {
			if seen[q] == int32(p)+1 {
				return nil, fmt.Errorf("edge %d-%d is given twice", p, q)
			}
			seen[q] = int32(p) + 1
		}
	}
	return g, nil
}

// WithNames returns the same graph with a name for every process, as an imported file gives them.
func (g *Graph) WithNames(names []string) (*Graph, error) {
	if len(names) != g.Len() {
		return nil, fmt.Errorf("%d names for %d processes", len(names), g.Len())
	}
	named := *g
	named.names = append([]string(nil), names...)
	return &named, nil
}

// WithRoot returns the same graph rooted at p.
func (g *Graph) WithRoot(p int) (*Graph, error) {
	if p < 0 || p >= g.Len() {
		return nil, fmt.Errorf("root %d is not among 0..%d", p, g.Len()-1)
	}
	rooted := *g
	rooted.Root = p
	return &rooted, nil
}

// Name of process p: the one it was given, or its number.
func (g *Graph) Name(p int) string {
	if g.names != nil {
		return g.names[p]
	}
	return fmt.Sprint(p)
}

// HasNames tells whether the processes were named by whoever made the graph.
func (g *Graph) HasNames() bool { return g.names != nil }

// Len is the number of processes.
func (g *Graph) Len() int { return len(g.offset) - 1 }

// Links is the number of links, two for every edge.
func (g *Graph) Links() int { return len(g.target) }

// Degree is the number of neighbours of p.
func (g *Graph) Degree(p int) int { return int(g.offset[p+1] - g.offset[p]) }

// Neighbours of p, in the order of its channels. The caller must not change the slice.
func (g *Graph) Neighbours(p int) []int32 { return g.target[g.offset[p]:g.offset[p+1]] }

// Link is the link that leaves p by the given channel.
func (g *Graph) Link(p, channel int) int { return int(g.offset[p]) + channel }

// Ends of a link: the process that it leaves and the one that it leads to.
func (g *Graph) Ends(link int) (from, to int) { return int(g.source[link]), int(g.target[link]) }

// Back is the link in the opposite direction.
func (g *Graph) Back(link int) int { return int(g.reverse[link]) }

// Channel is the receiver's channel on which the messages of a link arrive.
func (g *Graph) Channel(link int) int {
	back := g.reverse[link]
	return int(back - g.offset[g.source[back]])
}

// FindLink is the link from p to q, or -1.
func (g *Graph) FindLink(p, q int) int {
	for i, t := range g.Neighbours(p) {
		if int(t) == q {
			return g.Link(p, i)
		}
	}
	return -1
}

// Edges lists every edge once, as (smaller, larger).
func (g *Graph) Edges() [][2]int {
	edges := make([][2]int, 0, g.Links()/2)
	for p := range g.Len() {
		for _, q := range g.Neighbours(p) {
			if p < int(q) {
				edges = append(edges, [2]int{p, int(q)})
			}
		}
	}
	return edges
}

// Distances from p in hops; -1 where there is no way.
func (g *Graph) Distances(p int) []int32 {
	dist := make([]int32, g.Len())
	for i := range dist {
		dist[i] = -1
	}
	dist[p] = 0
	queue := make([]int32, 1, g.Len())
	queue[0] = int32(p)
	for len(queue) > 0 {
		q := queue[0]
		queue = queue[1:]
		for _, r := range g.Neighbours(int(q)) {
			if dist[r] < 0 {
				dist[r] = dist[q] + 1
				queue = append(queue, r)
			}
		}
	}
	return dist
}

// IsConnected tells whether every process can be reached from every other.
func (g *Graph) IsConnected() bool {
	for _, d := range g.Distances(0) {
		if d < 0 {
			return false
		}
	}
	return true
}
