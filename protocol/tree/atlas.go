// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"slices"

	"allot/model"
	"allot/protocol/internal/spanning"
)

// This file says when a network is in order: the tree stands, and on it all is as on any tree.

func memberOf(v *model.View, p int) *state {
	return &model.StateOf[member](v.Network(), v.C, p).state
}

func letterOf(v *model.View, link, i int) *message {
	return &model.MessageOf[letter](v.Network(), v.C, link, i).message
}

// atlas keeps the trees from step to step; they change only when a process or a link comes or goes.
type atlas struct {
	status []uint64
	plan   *plan
}

// plan is the tree of each leader, as it should be.
type plan struct {
	truth   *spanning.Truth
	surveys []*survey
	tree    []int // by process: the number of its survey, or none
}

// Refresh has nothing to do: whether the trees are still the same is asked when they are needed.
func (*atlas) Refresh(*model.View, int) {}

func (w *network) planOf(v *model.View) *plan {
	x, ok := v.Index.(*atlas)
	if !ok {
		if w.whole != nil && !slices.ContainsFunc(spanning.StatusOf(v), func(word uint64) bool { return word != 0 }) {
			return w.whole
		}
		return w.newPlan(v)
	}
	if status := spanning.StatusOf(v); x.plan == nil || !slices.Equal(status, x.status) {
		x.status, x.plan = append(x.status[:0], status...), w.newPlan(v)
	}
	return x.plan
}

func (w *network) newPlan(v *model.View) *plan {
	t := spanning.NewTruth(v.Network(), v.C, w.rules, w.self)
	c := &plan{truth: t, tree: make([]int, w.graph.Len())}
	for p := range c.tree {
		c.tree[p] = none
	}
	for root := range t.Own {
		if !t.IsUp[root] || !t.Own[root].IsRoot() {
			continue
		}
		parent := make([]int, len(t.Own))
		for p := range parent {
			parent[p] = none
			if t.IsUp[p] && w.rules.IsInTree(t.Own[p]) && t.Own[p].Leader == t.Own[root].Leader {
				parent[p] = t.Own[p].Parent
				c.tree[p] = len(c.surveys)
			}
		}
		c.surveys = append(c.surveys, &survey{newShape(w.graph, root, parent), reader{memberOf, letterOf}, w.units})
	}
	return c
}

// illegitimate says what is wrong, in words; nothing if all is well.
func (w *network) illegitimate(v *model.View) string {
	if w.graph.Len() == 1 {
		return ""
	}
	c := w.planOf(v)
	if why := c.truth.Unsettled(v,
		func(p int) *spanning.State { return &model.StateOf[member](v.Network(), v.C, p).span },
		func(link, i int) (spanning.Word, bool) {
			l := model.MessageOf[letter](v.Network(), v.C, link, i)
			return l.word, l.kind == word
		}); why != "" {
		return why
	}
	have := w.count(v, c)
	for i, y := range c.surveys {
		if len(y.ring) == 0 {
			continue // a leader that is alone
		}
		switch h := have[i]; {
		case h.tokens != w.units || h.prios != 1 || h.pushers != 1:
			return fmt.Sprintf("in the tree of process %s are %d resource tokens, %d pushers and %d priority tokens", w.graph.Name(y.root), h.tokens, h.pushers, h.prios)
		case h.unbacked > 0:
			return fmt.Sprintf("%d units are in use without a token", h.unbacked)
		case memberOf(v, y.root).root.reset:
			return "there is a reset"
		}
		if why := y.census(v); why != "" {
			return why
		}
	}
	return ""
}

type treeTokens struct {
	hopTokens
	unbacked int32
}

// count adds up the tokens of each tree. Those on links beside the trees, and those for which there is no place, count for the
// tree of the receiver.
func (w *network) count(v *model.View, c *plan) []treeTokens {
	have := make([]treeTokens, len(c.surveys))
	for p, tree := range c.tree {
		if tree == none {
			continue
		}
		s, h := memberOf(v, p), &have[tree]
		h.tokens += int32(len(s.held))
		if s.prio != none {
			h.prios++
		}
		if s.phase == in {
			h.unbacked += max(0, s.need-int32(len(s.held)))
		}
	}
	for link := range w.graph.Links() {
		_, to := w.graph.Ends(link)
		if c.tree[to] == none {
			continue
		}
		h := &have[c.tree[to]]
		for i := range v.Network().Length(v.C, link) {
			switch letterOf(v, link, i).kind {
			case resource:
				h.tokens++
			case priority:
				h.prios++
			case pusher:
				h.pushers++
			case controller, word:
			}
		}
	}
	return have
}

func (w *network) phaseOf(v *model.View, p int) model.Phase { return phases[memberOf(v, p).phase] }

func (w *network) gauges() []model.Gauge {
	list := w.machine.gauges()
	for i := range list {
		list[i].Of = func(v *model.View, site int) int64 {
			var shares [gauges]int64
			w.shares(v, site, shares[:])
			return shares[i]
		}
	}
	return list
}

func (w *network) shares(v *model.View, site int, shares []int64) {
	w.sharesBy(reader{memberOf, letterOf}, v, site, shares)
}

func (w *network) properties() []model.Property {
	return []model.Property{
		{
			Name: "legitimate", Text: "the tree stands; on it all numbers of tokens are right, all units in use have tokens, the controller counts right",
			Claim: model.Stabilizes,
			Holds: func(v *model.View) bool { return w.illegitimate(v) == "" },
			Why:   w.illegitimate,
		},
		{
			Name: "all used", Text: "all units are in use at once",
			Claim: model.Sometimes, CleanOnly: true,
			Holds: func(v *model.View) bool {
				return v.Sum(gaugeUsed) == min(int64(w.units), int64(w.most)*int64(w.graph.Len()))
			},
		},
		{
			Name: "served", Text: "every request is served",
			Claim: model.Recurs, CleanOnly: true,
			HoldsFor: func(v *model.View, p int) bool { return memberOf(v, p).phase != req },
		},
	}
}
