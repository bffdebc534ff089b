// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"errors"
	"fmt"
	"slices"

	"allot/model"
	"allot/protocol/internal/spanning"
)

// Spanning is the tree that Network builds, alone.
var Spanning = &spanning.Algorithm

// Network runs the protocol on any connected network: under it a spanning tree is built, and where no root is given one is
// elected. The paper names this composition and leaves it at that.
//
// A process takes its place from what its neighbours have said about the tree. While the tree changes, tokens may be lost
// and counts may be wrong; when it stands, the protocol stabilizes on it as on any other tree. What a process does when
// its place changes is in reseat.
var Network = model.Algorithm{
	Name:     "network",
	Summary:  "k-out-of-ℓ exclusion on any connected network: the tree protocol on a spanning tree that is built under it",
	Source:   "allot; the composition that Datta, Devismes, Horn and Larmore propose, 2009",
	Model:    "message passing",
	Topology: "path:2",
	Links:    "fifo",
	Start:    "clean",
	Fairness: "weak",
	Variants: []string{"corrected"},
	Mutants:  networkMutants,
	Parameters: []model.Parameter{
		{Name: "l", Text: "units in all", Default: "1", Min: 1, Max: 1 << 20},
		{Name: "k", Text: "units that one request may take at the most", Default: "1", Min: 1, Max: 1 << 20},
		{Name: "root", Text: "whether the root of the network is the root of the tree, or one is elected", Default: "given", Words: []string{"given", "elected"}},
		{Name: "counter", Text: "values of the controller's counter; 0 means 2(n-1)(garbage+1)+1", Default: "0", Min: 0, Max: 1 << 30},
		{Name: "resends", Text: "how often the timer of a root may run out too early, for each valid controller; 0 means once, after an arbitrary start",
			Default: "0", Max: 1 << 20},
		{Name: "ticks", Text: "ticks of the root's clock until the timer runs out; 0 means no clocks: timers run out at any time, and everybody says once where it stands",
			Default: "0", Max: 1 << 30},
		{Name: "patience", Text: "ticks after which a silent neighbour is given up; 0 means never", Default: "32", Max: 1 << 20},
	},
	New: newNetwork,
}

// Mutants of the composition.
const (
	seatForgets    = "seat-forgets"     // tokens of channels that left the tree are dropped
	seatNumbered   = "seat-numbered"    // a process that changes its place keeps its number
	rootJudgesOn   = "root-judges-on"   // a root whose children change goes on with the circulation
	strangersLost  = "strangers-lost"   // tokens that arrive beside the tree are dropped
	strangersCount = "strangers-accept" // controllers that arrive beside the tree are taken
)

var networkMutants = []string{rootJudgesOn, seatForgets, seatNumbered, strangersCount, strangersLost}

// member is the state of a process of a network.
type member struct {
	state
	span    spanning.State
	quiet   []int32 // by channel: ticks since the last word, where there are clocks
	repeats int32   // how often it has said where it stands, where there are none
}

// letter is a token, or a word about the tree.
type letter struct {
	message
	word spanning.Word
}

// network is the machine. Of the machine inside it uses the algorithm, not the shape.
type network struct {
	machine
	rules     spanning.Rules
	isElected bool
	patience  int32
	flaw      string
	whole     *plan // where everybody and every link is there
}

func newNetwork(o model.Options) (*model.Instance, error) {
	g := o.Graph
	w := &network{isElected: o.Values["root"] == "elected", patience: int32(o.Int("patience"))}
	w.machine = machine{graph: g, stage: stageController, units: int32(o.Int("l")), most: int32(o.Int("k")),
		counters: int32(o.Int("counter")), resends: int32(o.Int("resends")), timeout: int32(o.Int("ticks"))}
	if o.Variant != "corrected" {
		w.flaw = o.Variant
	}
	switch {
	case w.most > w.units:
		return nil, fmt.Errorf("--k %d: a request cannot take more than the %d units that there are (--l)", w.most, w.units)
	case o.Links.Unordered:
		return nil, errors.New("links unordered: the controller counts by what it passes, so the links must keep the order")
	case w.counters == 1:
		return nil, errors.New("--counter 1: with one value no circulation differs from the last")
	case !g.IsConnected():
		return nil, errors.New("it is made for connected networks")
	}
	if w.counters == 0 {
		w.counters = int32(2*(g.Len()-1)*(o.Links.Garbage+1) + 1)
	}
	w.addRequests()
	w.rules = spanning.NewRules(g.Len(), w.isElected, 0)
	inst := &model.Instance{System: model.NewNetwork(g, w, o.Links, o.Budget), Phase: w.phaseOf}
	inst.Gauges, inst.Shares = w.gauges(), w.shares
	inst.Properties = w.properties()
	inst.NewIndex = func() model.Index { return &atlas{} }
	view := inst.View(inst.System.Clean())
	w.whole = w.newPlan(&view)
	return inst, nil
}

func (w *network) self(p int) int32 { return spanning.Self(w.graph, p, w.isElected) }

func (w *network) HasClock(int) bool { return w.timeout > 0 }

func (w *network) Clean(p int) member {
	degree := w.graph.Degree(p)
	return member{state: state{prio: none, counter: none}, span: w.rules.NewState(degree), quiet: make([]int32, degree)}
}

func (w *network) VisitState(p int, s *member, f *model.Fields) {
	w.rules.Visit(f, &s.span)
	degree := int32(w.graph.Degree(p))
	w.visit(&s.state, f, degree, false)
	if degree > 0 && (w.isElected || p == w.graph.Root) {
		w.visitRoot(&s.root, f)
	}
	if w.timeout == 0 {
		model.Ghost(f, "repeats", &s.repeats, 0, 1)
		return
	}
	for i := range s.quiet {
		model.Int(f, "quiet", &s.quiet[i], 0, w.patience)
	}
}

func (w *network) VisitMessage(l *letter, f *model.Fields) {
	model.Union(f, "kind", &l.kind, letterNames, func(f *model.Fields, k kind) {
		if k == word {
			w.rules.VisitWord(f, "", &l.word)
		} else {
			w.visitToken(&l.message, f, k)
		}
	})
}

var letterNames = append(slices.Clone(kindNames), "word")

// place is where a process sits, as far as it knows, and the channels of the graph that belong to its tree.
func (w *network) place(p int, s *member) (spanning.Own, seat, []int32) {
	own := w.rules.Own(&s.span, w.self(p))
	var channels []int32
	if degree := len(s.span.Heard); degree > 0 && w.rules.IsInTree(own) {
		channels = make([]int32, 0, degree)
		for k := range degree {
			i := (max(0, own.Parent) + k) % degree
			h := s.span.Heard[i]
			if i == own.Parent || h.Child && h.Leader == own.Leader && h.Dist == own.Dist+1 {
				channels = append(channels, int32(i))
			}
		}
	}
	at := seat{p: p, isRoot: own.IsRoot(), isAlone: len(s.span.Heard) == 0, degree: int32(len(channels))}
	return own, at, channels
}

const codeRepeat = codeLocal + 1

func (w *network) Inputs(p int, s *member, inputs []model.Input) []model.Input {
	_, at, _ := w.place(p, s)
	inputs = w.inputs(at, &s.state, inputs)
	if w.timeout == 0 && s.repeats == 0 {
		inputs = append(inputs, model.Input{Name: "say where it stands", Code: codeRepeat})
	}
	return inputs
}

func (w *network) Step(p int, s *member, e model.Event[letter], out *model.Outbox[letter]) {
	own, at, channels := w.place(p, s)
	isWord := e.Kind == model.Received && e.Message.kind == word
	isRepeat := e.Kind == model.Ticked || e.Kind == model.Given && e.Input.Code == codeRepeat
	switch {
	case isWord:
		s.span.Heard[e.Channel], s.quiet[e.Channel] = e.Message.word, 0
		s.root.fired = 0 // of the model: a controller may have been lost while the tree changed, so the timer may run out again
	case e.Kind == model.Ticked:
		w.giveUp(s)
	case e.Kind == model.LinkCut:
		w.rules.Forget(&s.span, e.Channel)
	case isRepeat:
		s.repeats = 1
	}
	nowOwn, now, nowChannels := w.place(p, s)
	if now.isRoot != at.isRoot || !slices.Equal(nowChannels, channels) {
		w.reseat(s, at, now, channels, nowChannels)
	}
	for i := range s.span.Heard {
		said := w.rules.Say(nowOwn, i)
		if isRepeat || said != w.rules.Say(own, i) || e.Kind == model.LinkHealed && i == e.Channel {
			out.Send(i, letter{message: message{kind: word}, word: said})
		}
	}
	if !isWord {
		w.stepTree(s, e, now, nowChannels, out)
	}
}

// stepTree is a step of the tree protocol at the place that the process has.
func (w *network) stepTree(s *member, e model.Event[letter], at seat, channels []int32, out *model.Outbox[letter]) {
	var box model.Outbox[message]
	o := outbox{channels, &box}
	w.clamp(s, at)
	switch e.Kind {
	case model.Received:
		w.onLetter(s, e, at, channels, o)
	case model.Given:
		w.onInput(at, &s.state, e.Input, o)
	case model.Ticked:
		if at.isRoot {
			w.onTick(&s.state, o)
		}
	case model.LinkCut, model.LinkHealed:
	}
	w.local(at, &s.state, o)
	box.Each(func(channel int, m message) { out.Send(channel, letter{message: m}) })
}

// onLetter takes a token. One that comes from beside the tree was on its way when the tree changed; it is taken as if it came
// from the parent. A controller from there belongs to no circulation of this tree.
func (w *network) onLetter(s *member, e model.Event[letter], at seat, channels []int32, o outbox) {
	q := int32(slices.Index(channels, int32(e.Channel)))
	if q == none {
		switch {
		case at.degree == 0:
			return
		case e.Message.kind == controller && w.flaw != strangersCount, w.flaw == strangersLost:
			return
		}
		q = 0
	}
	w.onMessage(at, &s.state, q, e.Message.message, o)
}

// clamp brings the variables into the domains that the present place gives them.
func (w *network) clamp(s *member, at seat) {
	last := max(0, at.degree-1)
	for i := range s.held {
		s.held[i] = min(s.held[i], last)
	}
	s.prio, s.succ = min(s.prio, last), min(s.succ, last)
	if at.isRoot {
		s.counter = max(s.counter, 0)
	}
}

// giveUp forgets neighbours that have been silent for too long.
func (w *network) giveUp(s *member) {
	for i := range s.quiet {
		if s.quiet[i] = min(s.quiet[i]+1, w.patience); s.quiet[i] == w.patience && w.patience > 0 {
			w.rules.Forget(&s.span, i)
		}
	}
}

// reseat takes a new place. Tokens are kept, and those of channels that are no longer there count as the parent's. The number
// of the circulation is forgotten, as after a restart, so that the next controller goes into all channels. A root begins
// a new circulation, whose sums are not judged because the timer sends it: what was counted so far was counted on another tree.
func (w *network) reseat(s *member, old, now seat, channels, nowChannels []int32) {
	w.clamp(s, old)
	move := func(q int32) int32 {
		if int(q) < len(channels) {
			return int32(max(0, slices.Index(nowChannels, channels[q])))
		}
		return 0
	}
	if w.flaw == seatForgets && s.phase != in {
		s.held = slices.DeleteFunc(s.held, func(q int32) bool { return int(q) >= len(channels) || !slices.Contains(nowChannels, channels[q]) })
	}
	for i, q := range s.held {
		s.held[i] = move(q)
	}
	slices.Sort(s.held)
	if s.prio != none {
		s.prio = move(s.prio)
	}
	s.succ = move(s.succ)
	switch {
	case !now.isRoot:
		if w.flaw != seatNumbered {
			s.counter = none
		}
		s.root = rootState{}
	case w.flaw != rootJudgesOn:
		s.counter, s.succ = w.after(max(s.counter, 0)), 0
		s.root = rootState{}
	}
}
