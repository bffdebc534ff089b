// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package reign

import (
	"errors"
	"slices"
	"strconv"

	"allot/model"
)

// Algorithm is the entry of the machine in the laboratory.
//
// The last process of the network is not a node: it is the world. It keeps the store, which does one write at a time and compares
// the revision first. Writes reach it late or never, its answers come late or never (then the node is told that it failed,
// though it may have happened, or may happen yet), its news comes late and leaves out what is old. Beats are late
// or lost. The clocks of the nodes differ by a bounded number of ticks. Nodes crash, come back as another life, stop for
// a while, leave, and ask for new generations. All this is done by the world, so that the links have nothing to do.
var Algorithm = model.Algorithm{
	Name:     "reign",
	Summary:  "who is root: members and generations over a store with compare-and-swap; the last process is the world",
	Source:   "the control plane of the service",
	Model:    "message passing",
	Topology: "complete:3",
	Links:    "fifo",
	Start:    "clean",
	Fairness: "weak",
	Variants: []string{"corrected"},
	Mutants: []string{"taken-over-early", "counted-from-answer", "quiet-kept", "quiet-unread", "renewed-by-failed", "root-unchecked", "kept-on-leaving",
		"old-record-taken", "revision-ignored", "life-forgotten", "strangers-ignored", "silence-ignored", "never-takes-over", "leaver-waits", "leaving-ignored",
		"rest-unchecked"},
	Parameters: []model.Parameter{
		{Name: "reign", Text: "ticks for which a root may act without a successful write", Default: "1", Min: 1, Max: 1 << 20},
		{Name: "margin", Text: "ticks added to the reign before another takes over", Default: "0", Max: 1 << 20},
		{Name: "skew", Text: "ticks by which clocks may differ; 0 means that they tick together", Default: "0", Max: 100},
		{Name: "touch", Text: "ticks between writes of the root and between beats of the others", Default: "1", Min: 1, Max: 1 << 20},
		{Name: "silence", Text: "ticks after which a silent member is cut out", Default: "2", Min: 1, Max: 1 << 20},
		{Name: "stagger", Text: "ticks that each further member waits before it takes over", Default: "0", Max: 1 << 20},
		{Name: "answers", Text: "whether the store answers, tells its news and passes beats on within the step, or at any time", Default: "prompt",
			Words: []string{"prompt", "slow"}},
		{Name: "news", Text: "whether the news of a slow store is new when it arrives, or may be old", Default: "new", Words: []string{"new", "old"}},
		{Name: "generations", Text: "generations at most; 0 means no bound", Default: "0", Max: 1 << 20},
		{Name: "losses", Text: "answers of the store that may be lost", Default: "0", Max: 1 << 20},
		{Name: "crashes", Text: "nodes that may crash", Default: "1", Max: 1 << 20},
		{Name: "restarts", Text: "nodes that may come back, as another life", Default: "1", Max: 1 << 20},
		{Name: "stops", Text: "nodes that may stop for a while", Default: "0", Max: 1 << 20},
		{Name: "leaves", Text: "nodes that may leave", Default: "0", Max: 1 << 20},
		{Name: "renewals", Text: "generations that a root may ask for", Default: "0", Max: 1 << 20},
	},
	New: newInstance,
}

// lab drives nodes as the laboratory wants it.
type lab struct {
	graph       *model.Graph
	nodes       int // processes but the world
	rule        rule
	options     Options
	skew        int32
	generations int64
	isSlow      bool
	isOld       bool // news may be old when it arrives
	budget      budget
	most        int32 // no time matters beyond this
}

// budget is what may still go wrong.
type budget struct {
	losses, crashes, restarts, stops, leaves, renewals int32
}

func newInstance(o model.Options) (*model.Instance, error) {
	number := func(name string) int32 { return int32(o.Int(name)) }
	m := &lab{graph: o.Graph, nodes: o.Graph.Len() - 1, rule: ruleNames[o.Variant], skew: number("skew"),
		generations: int64(o.Int("generations")), isSlow: o.Values["answers"] == "slow", isOld: o.Values["news"] == "old"}
	m.options = Options{Reign: number("reign"), Margin: number("margin"), Touch: number("touch"), Silence: number("silence"), Stagger: number("stagger")}
	m.budget = budget{number("losses"), number("crashes"), number("restarts"), number("stops"), number("leaves"), number("renewals")}
	m.most = max(m.options.Reign+m.options.Margin+m.options.Stagger*int32(m.nodes), m.options.Silence, m.options.Touch)
	// Two nodes that both believe to be root would write for ever within one step of a store that refuses nothing.
	m.isSlow = m.isSlow || m.rule == revisionIgnored
	switch {
	case o.Graph.Len() < 2 || o.Graph.Links() != o.Graph.Len()*(o.Graph.Len()-1):
		return nil, errors.New("it needs a complete network, in which the last process is the world: complete:3 has two nodes")
	case m.nodes > 30:
		return nil, errors.New("it is made for at most 30 nodes")
	case m.isOld && !m.isSlow:
		return nil, errors.New("--news old: only the news of a slow store is old (--answers slow)")
	}
	return &model.Instance{System: model.NewNetwork(o.Graph, m, o.Links, o.Budget), Properties: m.properties(), Phase: m.phase}, nil
}

func (m *lab) world() int { return m.nodes }

// member is a life of a node.
func (m *lab) member(p int, life int32) Member {
	if m.rule == lifeForgotten {
		life = 0
	}
	return Member{Name: strconv.Itoa(p), Life: uint64(life)}
}

// number of a node with a name.
func number(name string) int {
	p, err := strconv.Atoi(name)
	if err != nil {
		return 0
	}
	return p
}

// post passes on what a node asks for.
type post struct {
	m   *lab
	p   int
	box *model.Outbox[message]
}

func (o *post) send(to int, msg message) {
	o.box.Send(o.m.graph.FindLink(o.p, to)-o.m.graph.Link(o.p, 0), msg)
}

func (o *post) Write(r Record, revision uint64) {
	r.Beat = 0
	o.send(o.m.world(), message{kind: write, record: r, revision: int64(revision)})
}

func (o *post) Beat(to string, isLeaving bool) {
	o.send(o.m.world(), message{kind: beat, who: int32(number(to)), isLeaving: isLeaving})
}

func (o *post) Changed() {}

func stateOf(v *model.View, p int) *state { return model.StateOf[state](v.Network(), v.C, p) }

func isRootOf(r *Record, who Member) bool { return len(r.Members) > 0 && r.Members[0].is(who) }

func sameRecord(a, b *Record) bool {
	return a.Generation == b.Generation && a.Rest == b.Rest && a.Fresh == b.Fresh && slices.EqualFunc(a.Members, b.Members, Member.is)
}
