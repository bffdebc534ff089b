// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"slices"

	"allot/model"
)

func path(r request) (*model.Graph, error) {
	return rooted(r, func(p int) int { return p - 1 })
}

func star(r request) (*model.Graph, error) {
	return rooted(r, func(int) int { return 0 })
}

func binary(r request) (*model.Graph, error) {
	return rooted(r, func(p int) int { return (p - 1) / 2 })
}

// ring is laid from the root on, so that the one process whose channels point the other way is the root.
func ring(r request) (*model.Graph, error) {
	if r.n < 3 {
		return path(r)
	}
	edges := make([][2]int, r.n)
	for i := range edges {
		edges[i] = [2]int{(r.root + i) % r.n, (r.root + i + 1) % r.n}
	}
	return finish(r, edges)
}

func grid(r request) (*model.Graph, error) {
	edges := make([][2]int, 0, 2*r.n)
	for p := range r.n {
		if (p+1)%r.columns != 0 {
			edges = append(edges, [2]int{p, p + 1})
		}
		if p+r.columns < r.n {
			edges = append(edges, [2]int{p, p + r.columns})
		}
	}
	return finish(r, edges)
}

func complete(r request) (*model.Graph, error) {
	if err := affordable(pairs(r.n)); err != nil {
		return nil, err
	}
	return finish(r, clique(r.n, 0))
}

// clique joins the processes 0..n-1 with one another. The caller says how much more room it needs.
func clique(n, more int) [][2]int {
	edges := make([][2]int, 0, int(pairs(n))+more)
	for p := range n {
		for q := p + 1; q < n; q++ {
			edges = append(edges, [2]int{p, q})
		}
	}
	return edges
}

func pairs(n int) uint64 { return uint64(n) * uint64(n-1) / 2 }

func affordable(edges uint64) error {
	if edges > MaxEdges {
		return fmt.Errorf("this network would have %d edges; at most %d are allowed", edges, MaxEdges)
	}
	return nil
}

func finish(r request, edges [][2]int) (*model.Graph, error) {
	g, err := model.NewGraph(r.n, edges)
	if err != nil {
		return nil, err
	}
	return g.WithRoot(r.root)
}

// rooted makes a tree from the parents of the processes 1..n-1 as they are when 0 is the root.
func rooted(r request, parent func(p int) int) (*model.Graph, error) {
	edges := make([][2]int, 0, r.n-1)
	for p := 1; p < r.n; p++ {
		edges = append(edges, [2]int{parent(p), p})
	}
	edges, err := fromRoot(r, edges)
	if err != nil {
		return nil, err
	}
	return finish(r, edges)
}

// fromRoot orders the edges of a tree breadth first from the root, as (parent, child). The order of edges is the order
// of channels, so every process meets its parent first and then its children by increasing number.
func fromRoot(r request, edges [][2]int) ([][2]int, error) {
	g, err := model.NewGraph(r.n, edges)
	if err != nil {
		return nil, err
	}
	ordered := edges[:0] // g has its own copy
	seen := make([]bool, r.n)
	seen[r.root] = true
	queue := make([]int32, 1, r.n)
	queue[0] = int32(r.root)
	var children []int32
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		children = append(children[:0], g.Neighbours(int(p))...)
		slices.Sort(children)
		for _, q := range children {
			if !seen[q] {
				seen[q] = true
				ordered = append(ordered, [2]int{int(p), int(q)})
				queue = append(queue, q)
			}
		}
	}
	return ordered, nil
}
