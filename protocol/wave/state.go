// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"errors"
	"fmt"

	"allot/model"
)

// The values of T at a process other than the root, and what a neighbour makes of the root's T. They are one scale, so
// that a guard need not ask who it looks at.
const (
	isC     uint64 = iota // clean: nothing under way
	isTok                 // has had the token and holds it out to S
	isB                   // the broadcast has come by
	isF                   // everything below has been cleaned
	isR                   // root only: it holds nothing out
	isOffer               // root only: it holds a token out to S
)

// The values of T at the root: C, R and B, then "token i is held out" for i in 0..l-1, then "token i was taken" for
// i in 0..l-2.
const (
	rootC uint64 = iota
	rootR
	rootB
	rootToken
)

// node is where the variables of one process are in its word. A variable that is constant at a process has one value and
// takes no bits; its base is the constant.
type node struct {
	t, s, p, l   model.Field
	h, k         model.Field // only where tokens are kept, see hold.go
	pBase, lBase uint64
	layout       model.Layout
	links        int    // the first of its links
	degree       int    // how many it has
	root         uint64 // the channel to the root plus 1; 0 if there is none
}

// rootParent is the constant P of the root: no channel of anybody, and not bottom.
const rootParent = 1 << 32

// program is the wave as guarded actions. S and P are channels plus 1; 0 is bottom.
type program struct {
	graph  *model.Graph
	root   int
	tokens uint64 // l
	depth  uint64 // D
	rules  rules
	stays  uint64 // bit p: process p never gives back what it keeps
	// areFree tells that nobody gives back before it likes.
	areFree bool
	nodes   []node
	target  []int32  // by link: the neighbour
	back    []uint64 // by link: the neighbour's channel that leads here, plus 1
	// isCut is set where the network may change.
	isCut func(c model.Configuration, link int) bool
}

func newProgram(g *model.Graph, r rules, tokens, depth int, changing bool) (*program, error) {
	w := &program{graph: g, root: g.Root, tokens: uint64(tokens), depth: uint64(depth), rules: r}
	if err := w.checkNetwork(); err != nil {
		return nil, err
	}
	w.target, w.back = make([]int32, g.Links()), make([]uint64, g.Links())
	for link := range g.Links() {
		_, to := g.Ends(link)
		w.target[link], w.back[link] = int32(to), uint64(g.Channel(link))+1
	}
	w.nodes = make([]node, g.Len())
	for p := range w.nodes {
		if err := w.place(p, changing); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *program) checkNetwork() error {
	if w.graph.Len() < 2 {
		return errors.New("a network needs at least 2 processes")
	}
	for p, d := range w.graph.Distances(w.root) {
		if d < 0 {
			return fmt.Errorf("process %s cannot be reached from the root", w.graph.Name(p))
		}
		if uint64(d) > w.depth {
			return fmt.Errorf("process %s is %d hops from the root, but --d allows levels up to %d", w.graph.Name(p), d, w.depth)
		}
	}
	return nil
}

// place lays out the variables of p.
func (w *program) place(p int, changing bool) error {
	n := &w.nodes[p]
	n.links, n.degree = w.graph.Link(p, 0), w.graph.Degree(p)
	if link := w.graph.FindLink(p, w.root); link >= 0 {
		n.root = uint64(link-n.links) + 1
	}
	channels := uint64(n.degree) + 1
	show := func(v uint64) string { return w.showChannel(p, v) }
	n.t = model.Field{Name: "T", Size: 4, Show: showT}
	n.s = model.Field{Name: "S", Size: channels, Show: show}
	n.p = model.Field{Name: "P", Size: channels, Show: show}
	n.l = model.Field{Name: "L", Size: w.depth + 1}
	isConstant := w.rules.has(constantsNearRoot)
	fields := []*model.Field{&n.t, &n.s, &n.p, &n.l}
	if w.rules.has(keeping) {
		n.s.Size++ // the process itself comes after its channels
	}
	if isConstant {
		// Next to the root the level is always 1, so elsewhere it is at least 2.
		n.lBase, n.l.Size = 2, max(w.depth, 2)-1
		n.l.Show = func(v uint64) string { return fmt.Sprint(v + 2) }
	}
	switch {
	case p == w.root:
		n.t.Size, n.t.Show = w.rootValues(), w.showRoot
		n.s.Size, n.s.Show = n.s.Size-1, func(v uint64) string { return show(v + 1) }
		n.p.Size, n.pBase, n.l.Size, n.lBase = 1, rootParent, 1, 0
		fields = fields[:2]
	case isConstant && n.root != 0 && !changing:
		n.p.Size, n.pBase, n.l.Size, n.lBase = 1, n.root, 1, 1
		fields = fields[:2]
	}
	if w.rules.has(keeping) {
		n.h, n.k = model.Field{Name: "H", Size: 2}, model.Field{Name: "K", Size: w.tokens + 1}
		fields = append(fields, &n.h)
		if p != w.root {
			fields = append(fields, &n.k)
		}
	}
	var err error
	if n.layout, err = model.NewLayout(fields...); err != nil {
		return fmt.Errorf("process %s: %w", w.graph.Name(p), err)
	}
	return nil
}

// rootValues is the number of values of the root's T.
func (w *program) rootValues() uint64 {
	if w.rules.has(tokenTaken) {
		return rootToken + 2*w.tokens - 1
	}
	return rootToken + w.tokens
}

func showT(v uint64) string { return [...]string{"C", "Tok", "B", "F"}[v] }

func (w *program) showRoot(v uint64) string {
	switch {
	case v < rootToken:
		return [...]string{"C", "R", "B"}[v]
	case v < rootToken+w.tokens:
		return fmt.Sprint(v - rootToken)
	}
	return fmt.Sprintf("%d taken", v-rootToken-w.tokens)
}

func (w *program) showChannel(p int, v uint64) string {
	if v == 0 {
		return "_"
	}
	if int(v) > w.graph.Degree(p) {
		return "itself"
	}
	return w.graph.Name(int(w.graph.Neighbours(p)[v-1]))
}

func (w *program) Layout(p int) model.Layout { return w.nodes[p].layout }

// Clean is all C and no tree, but for what is constant.
func (w *program) Clean(int) uint64 { return 0 }

// kind is T of q on the one scale of guards.
func (w *program) kind(q int, c model.Configuration) uint64 {
	t := w.nodes[q].t.Get(c[q])
	if q != w.root {
		return t
	}
	switch {
	case t == rootC:
		return isC
	case t == rootB:
		return isB
	case t-rootToken < w.tokens:
		return isOffer
	}
	return isR
}

func isOffering(kind uint64) bool { return kind == isTok || kind == isOffer }

// slot is S of q as a channel plus 1.
func (w *program) slot(q int, c model.Configuration) uint64 {
	s := w.nodes[q].s.Get(c[q])
	if q == w.root {
		s++
	}
	return s
}

// parent is P of q as a channel plus 1.
func (w *program) parent(q int, c model.Configuration) uint64 {
	n := &w.nodes[q]
	if w.isCut != nil {
		return w.changingParent(q, c)
	}
	return n.p.Get(c[q]) + n.pBase
}

// changingParent is P where links may be cut: a parent behind a cut link is none, and a link to the root decides.
func (w *program) changingParent(q int, c model.Configuration) uint64 {
	n := &w.nodes[q]
	if q == w.root {
		return rootParent
	}
	if n.root != 0 && !w.isCut(c, n.links+int(n.root)-1) {
		return n.root
	}
	p := n.p.Get(c[q])
	if p != 0 && w.isCut(c, n.links+int(p)-1) {
		return 0
	}
	return p
}

// level is L of q.
func (w *program) level(q int, c model.Configuration) uint64 {
	n := &w.nodes[q]
	if w.isCut != nil && n.root != 0 && !w.isCut(c, n.links+int(n.root)-1) {
		return 1
	}
	return n.l.Get(c[q]) + n.lBase
}
