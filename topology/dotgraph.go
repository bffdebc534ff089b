// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"allot/model"
)

// This file is the half of the parser that knows what the statements mean: processes, edges and the root.

// process is the number of a name, a new one if it was not met before.
func (p *dotParser) process(name token) (int32, error) {
	number, isKnown := p.number[name.text]
	if !isKnown {
		if name.kind == html {
			return 0, p.errorAt(name.at, "a process cannot be named by a text in angle brackets")
		}
		if !isName(name.text) {
			return 0, p.errorAt(name.at, "the name of a process has 1 to %d bytes of UTF-8 without control characters", maxName)
		}
		number = int32(len(p.names))
		p.number[name.text] = number
		p.names = append(p.names, name.text)
	}
	if p.depth > 1 {
		p.mentioned = append(p.mentioned, number)
	}
	return number, nil
}

func isName(text string) bool {
	return text != "" && len(text) <= maxName && utf8.ValidString(text) && strings.IndexFunc(text, unicode.IsControl) < 0
}

// distinct copies the list without repetitions.
func (p *dotParser) distinct(list []int32) []int32 {
	p.round++
	for len(p.seen) < len(p.names) {
		p.seen = append(p.seen, 0)
	}
	once := make([]int32, 0, len(list))
	for _, q := range list {
		if p.seen[q] != p.round {
			p.seen[q] = p.round
			once = append(once, q)
		}
	}
	return once
}

// join adds an edge from every process on the left to every one on the right. at is where the right end stands.
func (p *dotParser) join(left, right []int32, at int) error {
	if len(right) > 0 && len(left) > (maxDOTEdges-len(p.edges))/len(right) {
		return p.errorAt(at, "the text has more than %d edges", maxDOTEdges)
	}
	for _, a := range left {
		for _, b := range right {
			if a == b {
				return p.errorAt(at, "%s is joined to itself", show(p.names[a]))
			}
			p.edges = append(p.edges, [2]int{int(a), int(b)})
		}
	}
	return nil
}

func (p *dotParser) setRoot(process int, value token) error {
	switch strings.ToLower(value.text) {
	case "false":
		return nil
	case "true":
	default:
		return p.errorAt(value.at, "root is true or false, not %s", show(value.text))
	}
	if p.root >= 0 && p.root != process {
		return p.errorAt(value.at, "%s is already the root", show(p.names[p.root]))
	}
	p.root = process
	return nil
}

func (p *dotParser) finish() (*model.Graph, error) {
	if len(p.names) == 0 {
		return nil, errors.New("the graph has no node; a network has at least one process")
	}
	g, err := model.NewGraph(len(p.names), mergeTwice(len(p.names), p.edges))
	if err != nil {
		return nil, err
	}
	if !areNumbers(p.names) { // a network that was written without names shall have none when it is read again
		if g, err = g.WithNames(p.names); err != nil {
			return nil, err
		}
	}
	return g.WithRoot(max(p.root, 0))
}

func areNumbers(names []string) bool {
	for i, name := range names {
		if name != strconv.Itoa(i) {
			return false
		}
	}
	return true
}

// mergeTwice drops the edges that were given before, in either direction. It files the edges under their smaller end
// and looks at one end after the other, which takes a third of the memory of a set of edges.
func mergeTwice(n int, edges [][2]int) [][2]int {
	start := make([]int32, n+1)
	for _, e := range edges {
		start[min(e[0], e[1])+1]++
	}
	for p := range n {
		start[p+1] += start[p]
	}
	filed := make([]int32, len(edges))
	next := slices.Clone(start[:n])
	for i, e := range edges {
		p := min(e[0], e[1])
		filed[next[p]] = int32(i)
		next[p]++
	}
	met := make([]int32, n) // by larger end: the last smaller end, plus one, that was met with it
	again := make([]bool, len(edges))
	for p := range n {
		for _, i := range filed[start[p]:start[p+1]] {
			q := max(edges[i][0], edges[i][1])
			again[i] = met[q] == int32(p)+1
			met[q] = int32(p) + 1
		}
	}
	kept := edges[:0]
	for i, e := range edges {
		if !again[i] {
			kept = append(kept, e)
		}
	}
	return kept
}
