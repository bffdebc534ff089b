// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"errors"
	"fmt"

	"allot/model"
)

// Algorithm is the entry of the machine in the laboratory.
//
// The last process of the network is not a member: it is the world. It lets the clocks tick, which may differ by a bounded number
// of ticks; it keeps the record of the control plane, that is, the generation, its root and its members; it lets members
// crash and come back. What the others learn from it they learn within a step, because the times at which these steps
// happen are arbitrary anyway. Controllers and wake-up calls travel over links that may lose, repeat and delay them.
var Algorithm = model.Algorithm{
	Name:     "pool",
	Summary:  "the pools of the service: k-out-of-ℓ exclusion with leases, generations and fences; the last process is the world",
	Source:   "the production form of tree",
	Model:    "message passing",
	Topology: "complete:3",
	Links:    "fifo",
	Start:    "clean",
	Fairness: "weak",
	Variants: []string{"corrected"},
	Mutants: []string{"generation-unchecked", "old-visit-taken", "renewed-late", "renewed-from-now", "renewed-by-lost", "twice-kept",
		"minted-early", "minted-at-once", "fence-not-raised", "no-priority", "lack-ignored", "turns-renewed", "priority-kept"},
	Parameters: []model.Parameter{
		{Name: "l", Text: "units", Default: "1", Min: 1, Max: 1 << 10},
		{Name: "k", Text: "units that one request may take", Default: "1", Min: 1, Max: 1 << 10},
		{Name: "skew", Text: "ticks by which clocks may differ; 0 means that no time passes", Default: "0", Max: 100},
		{Name: "lease", Text: "ticks for which what a member holds stays good", Default: "2", Min: 1, Max: 1 << 20},
		{Name: "margin", Text: "ticks added to the lease before units are made anew", Default: "2", Max: 1 << 20},
		{Name: "reign", Text: "ticks for which a root may act without asking the control plane", Default: "1", Min: 1, Max: 1 << 20},
		{Name: "patience", Text: "ticks after which a controller counts as lost", Default: "1", Min: 1, Max: 1 << 20},
		{Name: "pace", Text: "ticks between circulations while something is held", Default: "1", Min: 1, Max: 1 << 20},
		{Name: "generations", Text: "generations at most", Default: "1", Min: 1, Max: 1 << 20},
		{Name: "crashes", Text: "members that may crash", Default: "0", Max: 1 << 20},
		{Name: "restarts", Text: "members that may come back, with empty memory", Default: "0", Max: 1 << 20},
		{Name: "limit", Text: "requests of one member, waiting or granted, at once", Default: "1", Min: 1, Max: 1 << 10},
		{Name: "asks", Text: "requests of one member in all; 0 means no bound", Default: "0", Max: 1 << 20},
		{Name: "turns", Text: "requests granted between visits while others wait", Default: "1", Max: 1 << 20},
		{Name: "passes", Text: "requests that may pass the first in the queue", Default: "1", Max: 1 << 20},
		{Name: "cancel", Text: "whether requests may be taken back", Default: "no", Words: []string{"yes", "no"}},
		{Name: "fences", Text: "whether fences are counted; needs a bound on the requests to end", Default: "no", Words: []string{"yes", "no"}},
		{Name: "forever", Text: "members that never release, as a sum of powers of 2", Default: "0", Max: 1<<31 - 1},
	},
	New: newInstance,
}

// lab drives seats as the laboratory wants it.
type lab struct {
	graph       *model.Graph
	members     int // processes but the world
	rule        rule
	options     Options
	most        int32
	skew        int32
	reign       int32
	generations int64
	crashes     int32
	restarts    int32
	limit       int
	asks        int32
	forever     int
	hasCancel   bool
	hasFences   bool
}

// burst is how many requests may be granted between visits in the laboratory.
const burst = 2

func newInstance(o model.Options) (*model.Instance, error) {
	g := o.Graph
	m := &lab{graph: g, members: g.Len() - 1, rule: ruleNames[o.Variant], most: int32(o.Int("k")), skew: int32(o.Int("skew")),
		reign: int32(o.Int("reign")), generations: int64(o.Int("generations")), crashes: int32(o.Int("crashes")),
		restarts: int32(o.Int("restarts")), limit: o.Int("limit"), asks: int32(o.Int("asks")), forever: o.Int("forever"),
		hasCancel: o.Values["cancel"] == "yes", hasFences: o.Values["fences"] == "yes"}
	m.options = Options{Units: int32(o.Int("l")), Lease: int32(o.Int("lease")), Margin: int32(o.Int("margin")),
		Pace: int32(o.Int("pace")), Audit: int32(o.Int("pace")), Patience: int32(o.Int("patience")), Turns: int32(o.Int("turns")),
		Passes: int32(o.Int("passes")), Burst: burst, FenceShift: 8}
	switch {
	case g.Len() < 2 || g.Links() != g.Len()*(g.Len()-1):
		return nil, errors.New("it needs a complete network, in which the last process is the world: complete:3 has two members")
	case m.most > m.options.Units:
		return nil, fmt.Errorf("--k %d: a request cannot take more than the %d units that there are (--l)", m.most, m.options.Units)
	case m.members > 30:
		return nil, errors.New("it is made for at most 30 members")
	case m.hasFences && m.asks == 0:
		return nil, errors.New("--fences yes: say how often a member may ask (--asks), or fences grow without end")
	}
	inst := &model.Instance{System: model.NewNetwork(g, m, o.Links, o.Budget), Phase: m.phase}
	inst.Properties = m.properties()
	return inst, nil
}

func (m *lab) world() int { return m.members }

// place of a member in a generation: the root is first, then the others by number, round the corner.
func (m *lab) place(p int, root, members int32) (place, size int32) {
	place = -1
	for i := range m.members {
		q := (int(root) + i) % m.members
		if members>>q&1 == 0 {
			continue
		}
		if q == p {
			place = size
		}
		size++
	}
	return place, size
}

// at is the member at a place.
func (m *lab) at(place, root, members int32) int {
	for i := range m.members {
		q := (int(root) + i) % m.members
		if members>>q&1 == 0 {
			continue
		}
		if place == 0 {
			return q
		}
		place--
	}
	return -1
}

// post puts what a seat sends into the outbox.
type post struct {
	m   *lab
	p   int
	s   *state
	box *model.Outbox[message]
}

func (o *post) send(to int, msg message) {
	o.box.Send(o.m.graph.FindLink(o.p, to)-o.m.graph.Link(o.p, 0), msg)
}

func (o *post) Visit(to int32, v *Visit) {
	if q := o.m.at(to, o.s.root, o.s.members); q >= 0 && q != o.p {
		o.send(q, message{kind: visit, visit: copyVisit(v)})
	}
}

func (o *post) Wake(w Wake) {
	o.send(int(o.s.root), message{kind: wake, wake: w})
}

func (o *post) Granted(_ int64, units []Unit) {
	if !o.m.hasFences {
		return
	}
	for _, u := range units {
		o.s.gave[u.Number] = max(o.s.gave[u.Number], u.Fence)
	}
}

func (o *post) Lost(int64, Loss) {}
func (o *post) Stuck()           {}

func copyVisit(v *Visit) Visit {
	c := *v
	c.Board = append([]Unit(nil), v.Board...)
	c.Present = append(Set(nil), v.Present...)
	c.Waiters = append([]Waiter(nil), v.Waiters...)
	return c
}

// phase of a member, for the measure of waiting times.
func (m *lab) phase(v *model.View, p int) model.Phase {
	if p == m.world() {
		return model.Idle
	}
	s := stateOf(v, p)
	switch {
	case len(s.seat.queue) > 0:
		return model.Waiting
	case len(s.seat.held) > 0:
		return model.Inside
	}
	return model.Idle
}

func stateOf(v *model.View, p int) *state { return model.StateOf[state](v.Network(), v.C, p) }
