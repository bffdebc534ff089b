// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package spanning

import "allot/model"

// Truth is what every process should be, seen from outside: breadth-first trees of those who are there, over the links
// that work. Tests and properties compare with it; no process knows it.
type Truth struct {
	Rules Rules
	Own   []Own // by process; of one that has crashed it means nothing
	IsUp  []bool
}

// NewTruth looks at who has crashed and what is cut. Self is the name of each process, or -1.
func NewTruth(n *model.Network, c model.Configuration, r Rules, self func(p int) int32) *Truth {
	g := n.Graph()
	t := &Truth{Rules: r, Own: make([]Own, g.Len()), IsUp: make([]bool, g.Len())}
	for p := range t.Own {
		t.IsUp[p] = !n.IsCrashed(c, p)
		t.Own[p] = Own{Dist: r.Most + 1, Parent: none}
	}
	for name := r.Leaders - 1; name >= 0; name-- {
		for p := range t.Own {
			if t.IsUp[p] && self(p) == name && !r.IsInTree(t.Own[p]) {
				t.grow(n, c, p, name)
			}
		}
	}
	return t
}

// grow adds the tree of a leader, over processes that belong to none yet.
func (t *Truth) grow(n *model.Network, c model.Configuration, leader int, name int32) {
	g := n.Graph()
	t.Own[leader] = Own{name, 0, none}
	queue := []int{leader}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		for i, q := range g.Neighbours(p) {
			link := g.Link(p, i)
			if t.isUsable(n, c, link) && !t.Rules.IsInTree(t.Own[q]) && t.Own[p].Dist < t.Rules.Most {
				t.Own[q] = Own{name, t.Own[p].Dist + 1, none}
				queue = append(queue, int(q))
			}
		}
	}
	// The parent is the neighbour on the first channel that is nearer to the leader.
	for p := range t.Own {
		if t.Own[p].Leader != name || t.Own[p].Dist == 0 || !t.Rules.IsInTree(t.Own[p]) {
			continue
		}
		for i, q := range g.Neighbours(p) {
			if t.isUsable(n, c, g.Link(p, i)) && t.Own[q].Dist == t.Own[p].Dist-1 {
				t.Own[p].Parent = i
				break
			}
		}
	}
}

func (t *Truth) isUsable(n *model.Network, c model.Configuration, link int) bool {
	from, to := n.Graph().Ends(link)
	return t.IsUp[from] && t.IsUp[to] && !n.IsCut(c, link)
}

// Expected is what the receiver of a link should have heard last: what the sender should say, or nothing where the link does not work.
func (t *Truth) Expected(n *model.Network, c model.Configuration, link int) Word {
	if !t.isUsable(n, c, link) {
		return t.Rules.Unknown()
	}
	from, _ := n.Graph().Ends(link)
	return t.Rules.Say(t.Own[from], link-n.Graph().Link(from, 0))
}
