// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import "allot/model"

// shape is a tree in a graph: which channels of a process belong to it, in what order, and the virtual ring that follows
// from that. The graph may have more links, and the tree need not reach all processes.
type shape struct {
	graph   *model.Graph
	root    int
	degree  []int32 // by process: channels that belong to the tree
	channel []int32 // by link: the channel of the algorithm at the process that it leaves, or none
	graphs  []int32 // by process and channel of the algorithm: the channel of the graph
	ring    []int32 // the links in the order in which a token goes over them
}

// shapeOf is the shape of a graph that is a tree.
func shapeOf(g *model.Graph) *shape {
	distance := g.Distances(g.Root)
	parent := make([]int, g.Len())
	for p := range parent {
		parent[p] = none
		for i, q := range g.Neighbours(p) {
			if distance[q] < distance[p] {
				parent[p] = i
			}
		}
	}
	return newShape(g, g.Root, parent)
}

// newShape makes a shape of the channels that lead to the parents, none where there is no parent. The channels of a
// process stand in the cyclic order of the graph and begin with the parent's, at the root with the first.
func newShape(g *model.Graph, root int, parent []int) *shape {
	sh := &shape{graph: g, root: root, degree: make([]int32, g.Len()), channel: make([]int32, g.Links()), graphs: make([]int32, g.Links())}
	for link := range sh.channel {
		sh.channel[link] = none
	}
	isIn := func(p, i int) bool {
		link := g.Link(p, i)
		q := g.Neighbours(p)[i]
		return parent[p] == i || parent[q] == g.Channel(link)
	}
	for p := range g.Len() {
		degree := g.Degree(p)
		for k := range degree {
			i := (max(0, parent[p]) + k) % degree
			if isIn(p, i) {
				link := g.Link(p, i)
				sh.channel[link] = sh.degree[p]
				sh.graphs[g.Link(p, 0)+int(sh.degree[p])] = int32(i)
				sh.degree[p]++
			}
		}
	}
	if sh.degree[root] == 0 {
		return sh
	}
	first := g.Link(root, int(sh.graphs[g.Link(root, 0)]))
	for link := first; ; {
		sh.ring = append(sh.ring, int32(link))
		_, to := g.Ends(link)
		next := sh.arrives(link) + 1
		if next >= sh.degree[to] {
			next = 0
		}
		if link = g.Link(to, int(sh.graphs[g.Link(to, 0)+int(next)])); link == first {
			return sh
		}
	}
}

// arrives is the channel of the receiver on which the messages of a link arrive.
func (sh *shape) arrives(link int) int32 { return sh.channel[sh.graph.Back(link)] }

// channels of the graph that belong to the tree, in the order of the algorithm.
func (sh *shape) channels(p int) []int32 {
	first := sh.graph.Link(p, 0)
	return sh.graphs[first : first+int(sh.degree[p])]
}
