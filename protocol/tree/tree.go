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
	parent   []int32 // by process: the channel of the graph that leads to the parent; 0 at the root
	root     int
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
	ring     []int32       // the links in the order in which a token goes over them
}

func newInstance(o model.Options) (*model.Instance, error) {
	g := o.Graph
	m := &machine{graph: g, root: g.Root, rule: rules[o.Variant], units: int32(o.Int("l")), most: int32(o.Int("k")),
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
	for need := range m.most {
		m.requests = append(m.requests, model.Input{Name: fmt.Sprintf("request %d", need+1), Code: codeRequest, Arg: uint64(need + 1), Environment: true})
	}
	m.orient()
	inst := &model.Instance{System: model.NewNetwork(g, m, o.Links, o.Budget), Phase: m.phase}
	inst.Gauges, inst.Shares = m.gauges(), m.shares
	if m.stage == stageController {
		inst.NewIndex = m.newIndex
	}
	inst.Properties = m.properties()
	return inst, nil
}

// orient finds the parents and the virtual ring.
func (m *machine) orient() {
	g := m.graph
	m.parent = make([]int32, g.Len())
	distance := g.Distances(m.root)
	for p := range g.Len() {
		for i, q := range g.Neighbours(p) {
			if distance[q] < distance[p] {
				m.parent[p] = int32(i)
			}
		}
	}
	if g.Links() == 0 {
		return
	}
	link := g.Link(m.root, 0)
	for range g.Links() {
		m.ring = append(m.ring, int32(link))
		_, to := g.Ends(link)
		link = m.link(to, m.next(to, m.fromGraph(to, g.Channel(link))))
	}
}

func (m *machine) degree(p int) int32 { return int32(m.graph.Degree(p)) }

// next is the channel on which a token leaves that came from channel q.
func (m *machine) next(p int, q int32) int32 {
	if q+1 >= m.degree(p) {
		return 0
	}
	return q + 1
}

// isLast tells whether a token from channel q leaves the root by channel 0, and so ends a round of the tree.
func (m *machine) isLast(p int, q int32) bool { return p == m.root && q == m.degree(p)-1 }

// after is the counter that follows c.
func (m *machine) after(c int32) int32 { return (c + 1) % m.counters }

func (m *machine) isForever(p int) bool { return p < 31 && m.forever>>p&1 != 0 }

// fromGraph and toGraph turn the channels so that channel 0 leads to the parent, and keep their cyclic order.
func (m *machine) fromGraph(p, channel int) int32 {
	c := int32(channel) - m.parent[p]
	if c < 0 {
		c += m.degree(p)
	}
	return c
}

func (m *machine) toGraph(p int, channel int32) int {
	c := channel + m.parent[p]
	if d := m.degree(p); c >= d {
		c -= d
	}
	return int(c)
}

func (m *machine) link(p int, channel int32) int { return m.graph.Link(p, m.toGraph(p, channel)) }

// outbox sends on the channels of the algorithm.
type outbox struct {
	m   *machine
	p   int
	box *model.Outbox[message]
}

func (o outbox) send(channel int32, msg message) { o.box.Send(o.m.toGraph(o.p, channel), msg) }
