// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"errors"
	"fmt"

	"allot/model"
)

// Algorithm is the entry in the list of the laboratory.
var Algorithm = model.Algorithm{
	Name:     "tree",
	Summary:  "k-out-of-ℓ exclusion on a tree: ℓ units, any request takes 1 to k of them; self-stabilizing",
	Source:   "Datta, Devismes, Horn and Larmore, Self-Stabilizing k-out-of-ℓ Exclusion on Tree Networks, 2009",
	Model:    "message passing",
	Topology: "path:3",
	Links:    "fifo",
	Start:    "clean",
	Fairness: "weak",
	Variants: []string{"corrected", "printed"},
	Mutants:  mutantNames(),
	Parameters: []model.Parameter{
		{Name: "l", Text: "units in all", Default: "2", Min: 1, Max: 1 << 20},
		{Name: "k", Text: "units that one request may take at the most", Default: "1", Min: 1, Max: 1 << 20},
		{Name: "stage", Text: "how much of the construction takes part", Default: "controller", Words: stageNames},
		{Name: "counter", Text: "values of the controller's counter; 0 means as the paper says, 2(n-1)(garbage+1)+1",
			Default: "0", Min: 0, Max: 1 << 30},
		{Name: "resends", Text: "how often the timer may run out too early, for each valid controller; 0 means once, after an arbitrary start",
			Default: "0", Max: 1 << 20},
		{Name: "ticks", Text: "ticks of the root's clock until the timer runs out; 0 means that it may at any time",
			Default: "0", Max: 1 << 30},
		{Name: "grain", Text: "whether the code after the receives runs with each message or in a step of its own",
			Default: "message", Words: []string{"message", "loop"}},
		{Name: "forever", Text: "processes that never release what they use, as a sum of powers of 2: 5 means processes 0 and 2",
			Default: "0", Max: 1<<31 - 1},
	},
	New: newInstance,
}

// stage is how much of the construction takes part. It is also the last kind of message that is used.
type stage kind

const (
	stageTokens     = stage(resource)
	stagePusher     = stage(pusher)
	stagePriority   = stage(priority)
	stageController = stage(controller)
)

var stageNames = []string{"tokens", "pusher", "priority", "controller"}

type machine struct {
	graph    *model.Graph
	shape    *shape
	survey   *survey // for the properties
	rule     rule
	stage    stage
	units    int32 // ℓ
	most     int32 // k
	counters int32
	resends  int32
	timeout  int32
	isLoop   bool
	forever  int
	requests []model.Input // what a process that is out may ask for
}

func newInstance(o model.Options) (*model.Instance, error) {
	g := o.Graph
	m := &machine{graph: g, rule: rules[o.Variant], units: int32(o.Int("l")), most: int32(o.Int("k")),
		counters: int32(o.Int("counter")), resends: int32(o.Int("resends")), timeout: int32(o.Int("ticks")),
		isLoop: o.Values["grain"] == "loop", forever: o.Int("forever")}
	for i, name := range stageNames {
		if name == o.Values["stage"] {
			m.stage = stage(i)
		}
	}
	switch {
	case m.most > m.units:
		return nil, fmt.Errorf("--k %d: a request cannot take more than the %d units that there are (--l)", m.most, m.units)
	case o.Links.Unordered:
		return nil, errors.New("links unordered: the controller counts by what it passes, so the links must keep the order")
	case m.counters == 1:
		return nil, errors.New("--counter 1: with one value no circulation differs from the last")
	case g.Links() != 2*(g.Len()-1) || !g.IsConnected():
		return nil, fmt.Errorf("it is made for trees, and this network of %d processes has %d edges", g.Len(), g.Links()/2)
	}
	if m.counters == 0 {
		m.counters = int32(2*(g.Len()-1)*(o.Links.Garbage+1) + 1)
	}
	m.addRequests()
	m.shape = shapeOf(g)
	m.survey = &survey{m.shape, reader{stateOf, messageOf}, m.units}
	inst := &model.Instance{System: model.NewNetwork(g, m, o.Links, o.Budget), Phase: m.phase}
	inst.Gauges, inst.Shares = m.gauges(), m.shares
	if m.stage == stageController {
		inst.NewIndex = func() model.Index { return newIndex(m.survey) }
	}
	inst.Properties = m.properties()
	return inst, nil
}

// addRequests lists what a process that is out may ask for.
func (m *machine) addRequests() {
	for need := range m.most {
		m.requests = append(m.requests, model.Input{Name: fmt.Sprintf("request %d", need+1), Code: codeRequest, Arg: uint64(need + 1), Environment: true})
	}
}

func (m *machine) seat(p int) seat {
	degree := m.shape.degree[p]
	return seat{p: p, isRoot: p == m.shape.root, isAlone: degree == 0, degree: degree}
}

// seat is the place of a process in the tree. Its channels are 0 to degree-1; channel 0 leads to the parent, at the root to
// its first child.
type seat struct {
	p       int
	isRoot  bool
	isAlone bool // it has no neighbours, and all units to itself
	degree  int32
}

// next is the channel on which a token leaves that came from channel q.
func (at seat) next(q int32) int32 {
	if q+1 >= at.degree {
		return 0
	}
	return q + 1
}

// isLast tells whether a token from channel q leaves the root by channel 0, and so ends a round of the tree.
func (at seat) isLast(q int32) bool { return at.isRoot && q == at.degree-1 }

// after is the counter that follows c.
func (m *machine) after(c int32) int32 { return (c + 1) % m.counters }

func (m *machine) isForever(p int) bool { return p < 31 && m.forever>>p&1 != 0 }

// outbox sends on the channels of the algorithm.
type outbox struct {
	channels []int32 // those of the graph
	box      *model.Outbox[message]
}

// send does nothing where there is no such channel: the tree may be about to change.
func (o outbox) send(channel int32, msg message) {
	if int(channel) < len(o.channels) {
		o.box.Send(int(o.channels[channel]), msg)
	}
}
