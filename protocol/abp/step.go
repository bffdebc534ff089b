// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package abp

import (
	"fmt"

	"allot/model"
)

// Algorithm is the entry in the list of the laboratory.
var Algorithm = model.Algorithm{
	Name:     "abp",
	Summary:  "the alternating bit protocol: items in order over links that lose and repeat",
	Source:   "Bartlett, Scantlebury and Wilkinson, Communications of the ACM 12(5), 1969",
	Model:    "message passing",
	Topology: "path:2",
	Links:    "fifo,lossy,capacity=2",
	Start:    "clean",
	Fairness: "strong",
	Variants: []string{"printed"},
	Mutants:  []string{"any-ack", "no-turn", "take-all"},
	Parameters: []model.Parameter{
		{Name: "m", Text: "items are numbered modulo m", Default: "3", Min: 2, Max: 1 << 16},
	},
	New: newInstance,
}

const (
	sender = iota
	receiver
)

type machine struct {
	variant string
	items   int
}

func newInstance(o model.Options) (*model.Instance, error) {
	if o.Graph.Len() != 2 || o.Graph.Links() != 2 {
		return nil, fmt.Errorf("it is made for 2 processes that are joined, not %d", o.Graph.Len())
	}
	if o.Links.Capacity == 0 {
		return nil, fmt.Errorf("links %s: the sender repeats without end, so give the links a capacity", o.Links)
	}
	m := &machine{variant: o.Variant, items: o.Int("m")}
	return &model.Instance{System: model.NewNetwork(o.Graph, m, o.Links, o.Budget), Properties: properties}, nil
}

func (m *machine) Clean(int) state { return state{} }

func (m *machine) VisitState(p int, s *state, f *model.Fields) { s.visit(p, f, m.items) }

func (m *machine) VisitMessage(msg *message, f *model.Fields) { msg.visit(f, m.items) }

// Inputs: the sender's timer may run out at any time.
func (m *machine) Inputs(p int, _ *state, inputs []model.Input) []model.Input {
	if p == sender {
		inputs = append(inputs, model.Input{Name: "timer: send the item (again)"})
	}
	return inputs
}

func (m *machine) Step(p int, s *state, e model.Event[message], out *model.Outbox[message]) {
	switch {
	case p == sender && e.Kind == model.Given:
		out.Send(0, message{kind: data, bit: s.bit, item: s.item})
	case p == sender && e.Kind == model.Received:
		m.onAck(s, e.Message)
	case p == receiver && e.Kind == model.Received:
		m.onData(s, e.Message, out)
	}
}

func (m *machine) onAck(s *state, msg message) {
	if msg.kind != ack || msg.bit != s.bit && m.variant != "any-ack" {
		return
	}
	if m.variant != "no-turn" {
		s.bit = 1 - s.bit
	}
	s.item = (s.item + 1) % m.items
}

func (m *machine) onData(s *state, msg message, out *model.Outbox[message]) {
	if msg.kind != data {
		return
	}
	if msg.bit == s.bit || m.variant == "take-all" {
		s.wrong = s.wrong || msg.item != s.item
		s.bit = 1 - s.bit
		s.item = (s.item + 1) % m.items
	}
	out.Send(0, message{kind: ack, bit: msg.bit})
}
