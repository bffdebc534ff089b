// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"allot/model"
)

// Holding is a Program whose critical sections are not inside actions: IsHolding tells by the variables of a process whether it is
// inside, in its turn or not.
type Holding interface {
	IsHolding(p int, word uint64) bool
}

// mutants lack one mechanism each.
var mutants = []string{"any-answer", "any-token", "keep-all", "keep-token", "no-jump", "old-cache", "one-token-is-enough",
	"same-number", "send-before", "send-once", "take-twice"}

var parameters = []model.Parameter{
	{Name: "handshake", Text: "how the ends of an edge tell old messages from new ones; auto takes numbered where links are unordered", Default: "auto", Words: []string{"auto", "ordered", "numbered"}},
	{Name: "numbers", Text: "how many numbers the handshake has; 0 means as many as the capacity of the links needs, or 2^40 if numbered", Default: "0", Min: 0, Max: maxNumbers},
	{Name: "work", Text: "steps that an action takes, critical section included, before it is done", Default: "0", Min: 0, Max: 1 << 10},
}

const maxNumbers = 1 << 40

// Over makes the entry of a guarded-action algorithm carried over links. Its variants are those of the algorithm, its mutants are
// those of the transformer.
func Over(inner *model.Algorithm, topology string) model.Algorithm {
	a := model.Algorithm{
		Name:     inner.Name + "-links",
		Summary:  inner.Summary + ", over links that lose, repeat and delay",
		Source:   inner.Source + "; carried over links by allot",
		Model:    "message passing",
		Topology: topology,
		Links:    "fifo,lossy,capacity=1,garbage=1",
		Start:    "arbitrary",
		Fairness: "strong",
		Variants: inner.Variants,
		Mutants:  mutants,
	}
	a.Parameters = slices.Concat(inner.Parameters, parameters)
	a.New = func(o model.Options) (*model.Instance, error) {
		within := model.Options{Graph: o.Graph, Variant: o.Variant, Values: maps.Clone(o.Values)}
		for _, p := range parameters {
			delete(within.Values, p.Name)
		}
		flaw := ""
		if slices.Contains(mutants, o.Variant) {
			within.Variant, flaw = inner.Variants[0], o.Variant
		}
		inst, err := inner.Make(within)
		if err != nil {
			return nil, err
		}
		return newInstance(inst, o, flaw)
	}
	return a
}

// newInstance carries an instance of guarded actions over links.
func newInstance(inner *model.Instance, o model.Options, flaw string) (*model.Instance, error) {
	guarded, ok := inner.System.(*model.Guarded)
	if !ok {
		return nil, errors.New("only guarded actions can be carried over links")
	}
	m := &machine{graph: o.Graph, guarded: guarded, program: guarded.Program(), words: guarded.Words(), work: o.Int("work"), flaw: flaw}
	m.isNumbered = o.Values["handshake"] == "numbered" || o.Values["handshake"] == "auto" && o.Links.Unordered
	if err := m.count(o); err != nil {
		return nil, err
	}
	m.actions = m.program.Actions()
	for a, action := range m.actions {
		if !action.Environment {
			m.owed |= 1 << a
		}
	}
	for p := range o.Graph.Len() {
		m.layouts = append(m.layouts, m.program.Layout(p))
		m.most = max(m.most, m.layouts[p].Size()-1)
		m.degree = max(m.degree, o.Graph.Degree(p))
	}
	if _, m.isChanging = m.program.(model.Rewirable); m.isChanging && m.degree > 64 {
		return nil, fmt.Errorf("a process has %d neighbours: in networks that change over links it may have 64", m.degree)
	}
	m.order, m.names = collectingOrder(o.Graph), namesOf(o.Graph)
	t := &carried{machine: m, inner: inner}
	inst := &model.Instance{System: model.NewNetwork(o.Graph, m, o.Links, o.Budget), Gauges: t.gauges(), Properties: t.properties()}
	if inner.Phase != nil {
		inst.Phase = t.phase
	}
	return inst, nil
}

// count finds how many numbers the handshake has. Where links keep the order, one more than can be on the way and at the ends is
// enough: then the leading end comes to a number that nobody else has.
func (m *machine) count(o model.Options) error {
	m.numbers = int64(o.Int("numbers"))
	switch {
	case m.numbers == 1:
		return errors.New("--numbers 1: there must be at least 2")
	case m.numbers > 0:
	case m.isNumbered:
		m.numbers = maxNumbers
	case o.Links.Capacity == 0:
		return fmt.Errorf("links %s: give them a capacity, or the numbers of the handshake run out", o.Links)
	default:
		m.numbers = 2*int64(o.Links.Capacity) + 1
	}
	return nil
}
