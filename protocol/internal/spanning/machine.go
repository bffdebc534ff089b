// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package spanning

import (
	"errors"

	"allot/model"
)

// Algorithm is the tree alone, without anything that runs on it.
var Algorithm = model.Algorithm{
	Name:     "spanning",
	Summary:  "a spanning tree on any connected network, with a given or an elected root; self-stabilizing",
	Source:   "allot; breadth-first trees after Bellman and Ford, leaders after Afek, Kutten and Yung, 1990",
	Model:    "message passing",
	Topology: "path:3",
	Links:    "fifo",
	Start:    "arbitrary",
	Fairness: "weak",
	Variants: []string{"corrected"},
	Mutants:  []string{flawBelieves, flawNearest, flawFirst, flawSilent, flawNeverRepeats},
	Parameters: []model.Parameter{
		{Name: "root", Text: "whether the root of the network is the root of the tree, or one is elected", Default: "given", Words: []string{"given", "elected"}},
		{Name: "ticks", Text: "ticks of a clock after which a silent neighbour is given up; 0 means no clocks, and that everybody repeats what it says once",
			Default: "0", Max: 1 << 20},
		{Name: "repeats", Text: "how often everybody repeats what it says, where there are no clocks", Default: "1", Min: 1, Max: 1 << 10},
		{Name: "most", Text: "the largest distance that is believed; 0 means the number of processes less one", Default: "0", Max: 1 << 20},
	},
	New: newInstance,
}

// The mutants.
const (
	flawBelieves     = "any-distance"  // distances that are too large are believed and cut down
	flawNearest      = "nearest"       // the nearest leader counts, not the largest name
	flawFirst        = "first"         // the first neighbour is the parent, however far it is
	flawSilent       = "silent-change" // a change is not said
	flawNeverRepeats = "no-repeat"     // what was said is not repeated
)

type state struct {
	State
	repeats int32   // how often what is said was repeated; a bound of the model
	quiet   []int32 // by channel: ticks since the last word, where there are clocks
}

type machine struct {
	Rules
	graph     *model.Graph
	isElected bool
	patience  int32
	repeats   int32
	whole     *Truth // where everybody and every link is there
}

// NewRules are the rules for a network of n processes; most is the largest distance that is believed, 0 for n-1.
func NewRules(n int, isElected bool, most int) Rules {
	r := Rules{Leaders: 1, Most: int32(most)}
	if most == 0 {
		r.Most = int32(max(1, n-1))
	}
	if isElected {
		r.Leaders = int32(n) + 1 // one name more than there are processes: it can only be false, and is larger than all
	}
	return r
}

// Self is the name of a process: its number where all want to lead, otherwise 0 at the root and -1 elsewhere.
func Self(g *model.Graph, p int, isElected bool) int32 {
	switch {
	case isElected:
		return int32(p)
	case p == g.Root:
		return 0
	}
	return none
}

func newInstance(o model.Options) (*model.Instance, error) {
	m := &machine{graph: o.Graph, isElected: o.Values["root"] == "elected", patience: int32(o.Int("ticks")), repeats: int32(o.Int("repeats"))}
	m.Rules = NewRules(o.Graph.Len(), m.isElected, o.Int("most"))
	if o.Variant != "corrected" {
		m.flaw = o.Variant
	}
	if o.Links.Unordered {
		return nil, errors.New("links unordered: the last word counts, so the links must keep the order")
	}
	inst := &model.Instance{System: model.NewNetwork(o.Graph, m, o.Links, o.Budget)}
	inst.Properties = m.properties()
	view := inst.View(inst.System.Clean())
	m.whole = m.truthOf(&view)
	inst.NewIndex = func() model.Index { return &index{} }
	return inst, nil
}

func (m *machine) self(p int) int32 { return Self(m.graph, p, m.isElected) }

func (m *machine) HasClock(int) bool { return m.patience > 0 }

func (m *machine) Clean(p int) state {
	degree := m.graph.Degree(p)
	return state{State: m.NewState(degree), quiet: make([]int32, degree)}
}

func (m *machine) VisitState(_ int, s *state, f *model.Fields) {
	m.Visit(f, &s.State)
	if m.patience == 0 {
		model.Ghost(f, "repeats", &s.repeats, 0, m.repeats)
		return
	}
	for i := range s.quiet {
		model.Int(f, "quiet", &s.quiet[i], 0, m.patience)
	}
}

func (m *machine) VisitMessage(w *Word, f *model.Fields) { m.VisitWord(f, "", w) }

const codeRepeat = 0

func (m *machine) Inputs(_ int, s *state, inputs []model.Input) []model.Input {
	if m.patience == 0 && s.repeats < m.repeats && m.flaw != flawNeverRepeats {
		inputs = append(inputs, model.Input{Name: "repeat what it says", Code: codeRepeat})
	}
	return inputs
}

func (m *machine) Step(p int, s *state, e model.Event[Word], out *model.Outbox[Word]) {
	before := m.Own(&s.State, m.self(p))
	repeats := false
	switch e.Kind {
	case model.Received:
		s.Heard[e.Channel], s.quiet[e.Channel] = e.Message, 0
	case model.Given:
		s.repeats++
		repeats = true
	case model.Ticked:
		m.onTick(s)
		repeats = m.flaw != flawNeverRepeats
	case model.LinkCut:
		m.Forget(&s.State, e.Channel)
	case model.LinkHealed:
		out.Send(e.Channel, m.Say(before, e.Channel))
	}
	after := m.Own(&s.State, m.self(p))
	for i := range s.Heard {
		word := m.Say(after, i)
		if repeats || word != m.Say(before, i) && m.flaw != flawSilent {
			out.Send(i, word)
		}
	}
}

// onTick gives up neighbours that were silent for too long.
func (m *machine) onTick(s *state) {
	for i := range s.quiet {
		if s.quiet[i] = min(s.quiet[i]+1, m.patience); s.quiet[i] == m.patience {
			m.Forget(&s.State, i)
		}
	}
}
