// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import "allot/model"

func tree(r request) (*model.Graph, error) {
	edges, err := uniformTree(r, &chance{r.seed})
	if err != nil {
		return nil, err
	}
	return finish(r, edges)
}

// uniformTree draws a Prüfer word, n-2 processes each chosen from all n, and decodes it. Words and labelled trees
// correspond one to one, so every tree is equally likely.
func uniformTree(r request, c *chance) ([][2]int, error) {
	if r.n == 1 {
		return nil, nil
	}
	word := make([]int, r.n-2)
	degree := make([]int32, r.n) // less one: how often the word has yet to name the process
	for i := range word {
		word[i] = int(c.below(uint64(r.n)))
		degree[word[i]]++
	}
	edges := make([][2]int, 0, r.n-1)
	// The next leaf is always the smallest one. scan only moves up: a process below it that becomes a leaf is taken
	// at once, which makes the decoding linear.
	scan := 0
	for degree[scan] != 0 {
		scan++
	}
	leaf := scan
	for _, p := range word {
		edges = append(edges, [2]int{p, leaf})
		degree[p]--
		if degree[p] == 0 && p < scan {
			leaf = p
			continue
		}
		scan++
		for degree[scan] != 0 {
			scan++
		}
		leaf = scan
	}
	edges = append(edges, [2]int{leaf, r.n - 1})
	return fromRoot(r, edges)
}

// random is connected because it contains the tree of the same size and seed.
func random(r request) (*model.Graph, error) {
	wanted := scale(uint64(r.n), r.degree, 2*billion)
	if r.byShare {
		wanted = scale(pairs(r.n), r.share, billion)
	}
	wanted = min(max(wanted, uint64(r.n-1)), pairs(r.n))
	if err := affordable(wanted); err != nil {
		return nil, err
	}
	c := &chance{r.seed}
	edges, err := uniformTree(r, c)
	if err != nil {
		return nil, err
	}
	if wanted <= pairs(r.n)/2 {
		edges = addSparse(r.n, int(wanted), edges, c)
	} else {
		edges = addDense(r.n, int(wanted), edges, c)
	}
	return finish(r, edges)
}

// addSparse draws pairs until there are enough different ones. At most half of all pairs are wanted, so on average
// at most about two draws are needed for each.
func addSparse(n, wanted int, edges [][2]int, c *chance) [][2]int {
	taken := make(map[[2]int32]struct{}, wanted)
	for _, e := range edges {
		taken[ascending(e[0], e[1])] = struct{}{}
	}
	for len(edges) < wanted {
		p, q := int(c.below(uint64(n))), int(c.below(uint64(n)))
		pair := ascending(p, q)
		if _, isTaken := taken[pair]; p == q || isTaken {
			continue
		}
		taken[pair] = struct{}{}
		edges = append(edges, [2]int{int(pair[0]), int(pair[1])})
	}
	return edges
}

func ascending(p, q int) [2]int32 { return [2]int32{int32(min(p, q)), int32(max(p, q))} }

// addDense looks at every pair that the tree leaves free and takes it with the probability that is needed so that
// exactly enough are taken (Knuth's Algorithm S, TAOCP 3.4.2). Drawing pairs would mostly meet taken ones.
func addDense(n, wanted int, edges [][2]int, c *chance) [][2]int {
	parent := make([]int, n) // the tree's edges are (parent, child), and the root's parent is itself
	for _, e := range edges {
		parent[e[1]] = e[0]
	}
	if len(edges) > 0 {
		parent[edges[0][0]] = edges[0][0]
	}
	missing := uint64(wanted - len(edges))
	free := pairs(n) - uint64(len(edges))
	for p := range n {
		for q := p + 1; q < n && missing > 0; q++ {
			if parent[p] == q || parent[q] == p {
				continue
			}
			if c.below(free) < missing {
				edges = append(edges, [2]int{p, q})
				missing--
			}
			free--
		}
	}
	return edges
}

// scaleFree keeps the two ends of every edge in one list: a process stands there as often as it has edges, so a
// random entry is a process chosen in proportion to its degree.
func scaleFree(r request) (*model.Graph, error) {
	start := min(r.m+1, r.n)
	newcomers := r.n - start
	if err := affordable(pairs(start) + uint64(newcomers)*uint64(r.m)); err != nil {
		return nil, err
	}
	edges := clique(start, newcomers*r.m)
	c := &chance{r.seed}
	joined := make([]int, r.n) // by process: the last newcomer that chose it
	for p := start; p < r.n; p++ {
		ends := 2 * uint64(len(edges)) // the newcomer's own edges do not count yet
		for chosen := 0; chosen < r.m; {
			i := c.below(ends)
			q := edges[i/2][i%2]
			if joined[q] == p {
				continue
			}
			joined[q] = p
			edges = append(edges, [2]int{q, p})
			chosen++
		}
	}
	return finish(r, edges)
}
