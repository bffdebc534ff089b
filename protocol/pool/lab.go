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
		"minted-early", "minted-at-once", "fence-not-raised", "no-priority", "lack-ignored", "turns-renewed", "priority-kept",
		"burst-ignored", "taken-without-lease", "kept-without-lease", "present-ignored", "call-ignored", "taken-over-early",
		"life-forgotten", "minted-without-reign", "sent-without-reign"},
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
		{Name: "timers", Text: "whether patience and pace are kept, or run out at any time", Default: "kept", Words: []string{"kept", "any"}},
		{Name: "takeover", Text: "when another root may take over: as late as the control plane says, or as soon as the reign of the last is over", Default: "timed",
			Words: []string{"timed", "exact"}},
		{Name: "calls", Text: "whether wake-up calls travel, or are heard within the step that sends them", Default: "travel", Words: []string{"travel", "prompt"}},
		{Name: "burst", Text: "requests that a member may grant between visits", Default: "2", Min: 1, Max: 1 << 20},
		{Name: "next", Text: "further generations: any, or with the same or another root, which is alone or not", Default: "any",
			Words: []string{"any", "same", "same-alone", "other", "other-alone"}},
		{Name: "least", Text: "units at least, where the pool is resized", Default: "1", Min: 1, Max: 1 << 10},
		{Name: "resizes", Text: "how often the pool is resized", Default: "0", Max: 1 << 20},
		{Name: "heals", Text: "ticks after which everything must be right, whatever the start; 0 means that it is not asked", Default: "0", Max: 1 << 20},
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
	least       int32
	resizes     int32
	heals       int32
	next        string
	hasCancel   bool
	hasFences   bool
	isAnyTime   bool // patience and pace run out at any time
	isPrompt    bool // wake-up calls are heard at once
	isExact     bool // another root takes over as soon as the reign of the last one is over
	isOrderly   bool // the control plane does what it must, not whatever it may
}

// never is longer than any time in the laboratory.
const never = 1 << 24

func newInstance(o model.Options) (*model.Instance, error) {
	g := o.Graph
	m := &lab{graph: g, members: g.Len() - 1, rule: ruleNames[o.Variant], most: int32(o.Int("k")), skew: int32(o.Int("skew")),
		reign: int32(o.Int("reign")), generations: int64(o.Int("generations")), crashes: int32(o.Int("crashes")),
		restarts: int32(o.Int("restarts")), limit: o.Int("limit"), asks: int32(o.Int("asks")), forever: o.Int("forever"),
		hasCancel: o.Values["cancel"] == "yes", hasFences: o.Values["fences"] == "yes", isAnyTime: o.Values["timers"] == "any", isExact: o.Values["takeover"] == "exact", isPrompt: o.Values["calls"] == "prompt", next: o.Values["next"],
		least: int32(o.Int("least")), resizes: int32(o.Int("resizes")), heals: int32(o.Int("heals"))}
	m.options = Options{Units: int32(o.Int("l")), Lease: int32(o.Int("lease")), Margin: int32(o.Int("margin")),
		Pace: int32(o.Int("pace")), Audit: int32(o.Int("pace")), Patience: int32(o.Int("patience")), Turns: int32(o.Int("turns")),
		Passes: int32(o.Int("passes")), Burst: int32(o.Int("burst")), FenceShift: 20}
	m.isOrderly = m.heals > 0 || m.members > mostChosen
	if m.isAnyTime {
		m.options.Patience, m.options.Pace, m.options.Audit = never, never, never
	}
	switch {
	case g.Len() < 2 || g.Links() != g.Len()*(g.Len()-1):
		return nil, errors.New("it needs a complete network, in which the last process is the world: complete:3 has two members")
	case m.least > m.options.Units:
		return nil, fmt.Errorf("--least %d: that is more than the %d units that there are (--l)", m.least, m.options.Units)
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
	if to == o.p {
		return // only a fault can make a member take itself for another one
	}
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
		if u.Fence <= o.s.gave[u.Number] {
			o.s.fell = 1
		}
		o.s.gave[u.Number] = max(o.s.gave[u.Number], u.Fence)
	}
}

func (o *post) Lost(int64, Loss) {}
func (o *post) Stuck()           { o.send(o.m.world(), message{kind: stuck}) }

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
	case s.seat.queue.len() > 0:
		return model.Waiting
	case len(s.seat.held) > 0:
		return model.Inside
	}
	return model.Idle
}

func stateOf(v *model.View, p int) *state { return model.StateOf[state](v.Network(), v.C, p) }
