// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"strconv"
	"strings"
	"unicode"

	"allot/model"
)

// WriteDOT writes the network as a DOT file, for Graphviz to draw and for ParseDOT to read again. All nodes come
// first, which fixes their numbers, then the edges in an order that fixes the channels. When a name occurs twice or is one
// that ParseDOT refuses, the nodes are numbers and the names only labels.
func WriteDOT(g *model.Graph) []byte {
	asLabels := g.HasNames() && !hasUsableNames(g)
	id := func(out []byte, p int) []byte {
		if !g.HasNames() || asLabels {
			return strconv.AppendInt(out, int64(p), 10)
		}
		return appendName(out, g.Name(p))
	}
	out := []byte("graph allot {\n")
	for p := range g.Len() {
		out = id(append(out, '\t'), p)
		var attributes []string
		if p == g.Root {
			attributes = append(attributes, "root=true")
		}
		if asLabels {
			attributes = append(attributes, "label="+string(appendQuoted(nil, printable(g.Name(p)))))
		}
		if attributes != nil {
			out = append(append(append(out, " ["...), strings.Join(attributes, ", ")...), ']')
		}
		out = append(out, ";\n"...)
	}
	for _, e := range edgesByChannel(g) {
		out = id(append(out, '\t'), e[0])
		out = id(append(out, " -- "...), e[1])
		out = append(out, ";\n"...)
	}
	return append(out, "}\n"...)
}

func hasUsableNames(g *model.Graph) bool {
	met := make(map[string]struct{}, g.Len())
	for p := range g.Len() {
		name := g.Name(p)
		if _, isTwice := met[name]; isTwice || !isName(name) {
			return false
		}
		met[name] = struct{}{}
	}
	return true
}

// edgesByChannel lists the edges in an order from which model.NewGraph makes the same channels again. Sorting them
// would not: channel 0 of a process need not lead to its smallest neighbour. An edge may be written as soon as it is
// the next one at both of its ends.
func edgesByChannel(g *model.Graph) [][2]int {
	edges := make([][2]int, 0, g.Links()/2)
	next := make([]int32, g.Len())
	isNext := func(p, q int) bool {
		return int(next[p]) < g.Degree(p) && int(g.Neighbours(p)[next[p]]) == q
	}
	var again []int // processes that got further while another one was looked at
	look := func(p int) {
		for int(next[p]) < g.Degree(p) {
			q := int(g.Neighbours(p)[next[p]])
			if !isNext(q, p) {
				return
			}
			edges = append(edges, [2]int{min(p, q), max(p, q)})
			next[p]++
			next[q]++
			again = append(again, q)
		}
	}
	for p := range g.Len() {
		look(p)
		for len(again) > 0 {
			q := again[len(again)-1]
			again = again[:len(again)-1]
			if q <= p { // the others have their turn later, which keeps the edges roughly sorted
				look(q)
			}
		}
	}
	if len(edges) != g.Links()/2 {
		panic("topology: no order of edges gives these channels, so model.NewGraph cannot have made this graph")
	}
	return edges
}

// appendName writes a word or a number as it is and puts everything else in quotes.
func appendName(out []byte, name string) []byte {
	isNumber := strings.IndexFunc(name, func(r rune) bool { return r < '0' || r > '9' }) < 0
	isWord := !isDigit(name[0]) && !isKeyword(name) &&
		strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII || !isLetter(byte(r)) && !isDigit(byte(r)) }) < 0
	if isNumber || isWord {
		return append(out, name...)
	}
	return appendQuoted(out, name)
}

func appendQuoted(out []byte, text string) []byte {
	out = append(out, '"')
	for i := range len(text) {
		if text[i] == '"' || text[i] == '\\' {
			out = append(out, '\\')
		}
		out = append(out, text[i])
	}
	return append(out, '"')
}

// printable replaces what a DOT file cannot hold.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text) // which also replaces what is not UTF-8
}
