// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"bytes"
	"fmt"

	"allot/model"
)

// MaxDOT is the longest text that ParseDOT reads, in bytes. WriteDOT needs 30 MB for a ring of a million processes.
const MaxDOT = 64 << 20

const (
	// maxDepth bounds nested braces, and with them the recursion of the parser.
	maxDepth = 50
	// maxDOTEdges is reached only through braces: {a b c} -- {d e f} is nine edges, and a few kilobytes of it would be
	// more than memory holds.
	maxDOTEdges = 1 << 24
	maxName     = 255
)

// ParseDOT reads a network from the text of a DOT file; the package comment says how. Where the text is at fault, the
// error is a *DOTError.
func ParseDOT(text []byte) (*model.Graph, error) {
	if len(text) > MaxDOT {
		return nil, fmt.Errorf("the text has %d bytes; at most %d are read", len(text), MaxDOT)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	p := &dotParser{lexer: lexer{text: text}, number: map[string]int32{}, root: -1}
	if err := p.graph(); err != nil {
		return nil, err
	}
	return p.finish()
}

type dotParser struct {
	lexer
	token token // the one to be looked at next

	directed bool
	depth    int
	number   map[string]int32
	names    []string
	edges    [][2]int
	root     int

	// mentioned lists the processes named so far inside the open subgraphs; each subgraph knows where its own begin.
	mentioned []int32
	seen      []int32 // by process: the last round of distinct that met it
	round     int32   // one per subgraph, of which the longest text holds fewer than 2^31
}

func (p *dotParser) advance() error {
	t, err := p.next()
	p.token = t
	return err
}

// expect passes the given mark.
func (p *dotParser) expect(text string) error {
	if !p.token.is(text) {
		return p.errorAt(p.token.at, "expected %s, not %s", text, p.token)
	}
	return p.advance()
}

func (p *dotParser) hasIdentifier() bool {
	return p.token.kind == identifier || p.token.kind == quoted || p.token.kind == html
}

// identifier reads a word, a number or a text in quotes or angle brackets, and joins "a" + "b".
func (p *dotParser) identifier() (token, error) {
	t := p.token
	if !p.hasIdentifier() {
		return t, p.errorAt(t.at, "expected a name, not %s", t)
	}
	if err := p.advance(); err != nil || t.kind != quoted || !p.token.is("+") {
		return t, err
	}
	joined := []byte(t.text) // grown in place: a chain of many + must not copy the text each time
	for p.token.is("+") {
		if err := p.advance(); err != nil {
			return t, err
		}
		if p.token.kind != quoted {
			return t, p.errorAt(p.token.at, "expected a text in quotes after +, not %s", p.token)
		}
		joined = append(joined, p.token.text...)
		if err := p.advance(); err != nil {
			return t, err
		}
	}
	t.text = string(joined)
	return t, nil
}

func (p *dotParser) graph() error {
	if err := p.advance(); err != nil {
		return err
	}
	if p.token.is("strict") {
		if err := p.advance(); err != nil {
			return err
		}
	}
	if !p.token.is("graph") && !p.token.is("digraph") {
		return p.errorAt(p.token.at, "expected graph or digraph, not %s", p.token)
	}
	p.directed = p.token.is("digraph")
	if err := p.advance(); err != nil {
		return err
	}
	if p.hasIdentifier() {
		if _, err := p.identifier(); err != nil {
			return err
		}
	}
	if err := p.block(); err != nil {
		return err
	}
	if p.token.kind != endOfText {
		return p.errorAt(p.token.at, "expected the end of the text after the graph, not %s", p.token)
	}
	return nil
}

// block reads { statements }.
func (p *dotParser) block() error {
	if p.depth == maxDepth {
		return p.errorAt(p.token.at, "braces are nested more than %d deep", maxDepth)
	}
	if err := p.expect("{"); err != nil {
		return err
	}
	p.depth++
	for !p.token.is("}") {
		if p.token.kind == endOfText {
			return p.errorAt(p.token.at, "the text ends inside braces")
		}
		if err := p.statement(); err != nil {
			return err
		}
		if p.token.is(";") {
			if err := p.advance(); err != nil {
				return err
			}
		}
	}
	p.depth--
	return p.advance()
}

func (p *dotParser) statement() error {
	if p.token.is("graph") || p.token.is("node") || p.token.is("edge") {
		if err := p.advance(); err != nil {
			return err
		}
		if !p.token.is("[") {
			return p.errorAt(p.token.at, "expected [, not %s; a process of that name needs quotes", p.token)
		}
		_, err := p.attributes()
		return err
	}
	left, isNode, err := p.end()
	if err != nil || left == nil {
		return err
	}
	chain := false
	for p.token.is("--") || p.token.is("->") {
		if p.token.is("->") != p.directed {
			return p.errorAt(p.token.at, "edges are written -- in a graph and -> in a digraph")
		}
		chain = true
		if err := p.advance(); err != nil {
			return err
		}
		at := p.token.at
		right, _, err := p.end()
		if err != nil {
			return err
		}
		if right == nil {
			return p.errorAt(at, "expected the other end of the edge, not an attribute")
		}
		if err := p.join(left, right, at); err != nil {
			return err
		}
		left = right
	}
	root, err := p.attributes()
	if err != nil {
		return err
	}
	if isNode && !chain && root.text != "" {
		return p.setRoot(int(left[0]), root)
	}
	return nil
}

// end reads one end of an edge: a process or a subgraph. It returns the different processes in it, in order, never
// nil; nil means that the statement was name = value, an attribute of the graph, and is over.
func (p *dotParser) end() (processes []int32, isNode bool, err error) {
	if p.token.is("{") || p.token.is("subgraph") {
		processes, err = p.subgraph()
		return processes, false, err
	}
	name, err := p.identifier()
	if err != nil {
		return nil, false, err
	}
	if p.token.is("=") {
		if err := p.advance(); err != nil {
			return nil, false, err
		}
		_, err := p.identifier()
		return nil, false, err
	}
	for p.token.is(":") { // a port says where a line touches a picture, which is nothing to us
		if err := p.advance(); err != nil {
			return nil, false, err
		}
		if _, err := p.identifier(); err != nil {
			return nil, false, err
		}
	}
	number, err := p.process(name)
	return []int32{number}, true, err
}

func (p *dotParser) subgraph() ([]int32, error) {
	if p.token.is("subgraph") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		if p.hasIdentifier() {
			if _, err := p.identifier(); err != nil {
				return nil, err
			}
		}
	}
	start := len(p.mentioned)
	if err := p.block(); err != nil {
		return nil, err
	}
	inside := p.distinct(p.mentioned[start:])
	if p.depth > 1 { // the processes inside are also inside the subgraph around it
		p.mentioned = append(p.mentioned[:start], inside...)
	} else {
		p.mentioned = p.mentioned[:0]
	}
	return inside, nil
}

// attributes reads any number of [name=value, ...] and returns the value of root, empty when there is none.
func (p *dotParser) attributes() (root token, err error) {
	for p.token.is("[") {
		if err := p.advance(); err != nil {
			return root, err
		}
		for !p.token.is("]") {
			name, err := p.identifier()
			if err != nil {
				return root, err
			}
			if err := p.expect("="); err != nil {
				return root, err
			}
			value, err := p.identifier()
			if err != nil {
				return root, err
			}
			if name.text == "root" {
				root = value
			}
			if p.token.is(",") || p.token.is(";") {
				if err := p.advance(); err != nil {
					return root, err
				}
			}
		}
		if err := p.advance(); err != nil {
			return root, err
		}
	}
	return root, nil
}
