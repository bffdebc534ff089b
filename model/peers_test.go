// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"testing"

	"allot/model"
)

// peers is a machine in which everything can be seen that links do: processes send numbered pings, answer them with
// pongs, remember the last pings in order, count the ticks of their clocks and greet over an edge that was healed.
type peers struct {
	graph  *model.Graph
	tags   uint8
	memory int
}

type peer struct {
	next, pongs, ticks, cuts, hellos uint8
	got                              []uint8
}

type note struct {
	kind noteKind
	tag  uint8
}

type noteKind uint8

const (
	ping noteKind = iota
	pong
	hello
)

// Codes of the inputs: 0 and on, ping by a channel.
const idleCode = 9

func newPeers(t testing.TB, spec string, tags uint8, memory int, links model.Links, budget model.Budget) *model.Instance {
	t.Helper()
	g := graphOf(t, spec)
	n := model.NewNetwork(g, &peers{graph: g, tags: tags, memory: memory}, links, budget)
	return &model.Instance{System: n, Gauges: []model.Gauge{
		{Name: "notes", Of: func(v *model.View, site int) int64 {
			if s := v.System.Site(site); s.Link >= 0 {
				return int64(v.Network().Length(v.C, s.Link))
			}
			return 0
		}},
		{Name: "pongs", Of: func(v *model.View, site int) int64 {
			if site < g.Len() {
				return int64(model.StateOf[peer](v.Network(), v.C, site).pongs)
			}
			return 0
		}},
	}}
}

func (m *peers) HasClock(p int) bool { return p != 1 }
func (m *peers) Clean(int) peer      { return peer{} }

func (m *peers) VisitState(p int, s *peer, f *model.Fields) {
	model.Int(f, "next", &s.next, 0, m.tags-1)
	model.Int(f, "pongs", &s.pongs, 0, 3)
	if m.HasClock(p) {
		model.Int(f, "ticks", &s.ticks, 0, 2)
	}
	model.Int(f, "cuts", &s.cuts, 0, 3)
	model.Int(f, "hellos", &s.hellos, 0, 3)
	model.List(f, "got", &s.got, m.memory, func(f *model.Fields, name string, tag *uint8) {
		model.Int(f, name, tag, 0, m.tags-1)
	})
}

func (m *peers) VisitMessage(n *note, f *model.Fields) {
	model.Union(f, "kind", &n.kind, []string{"ping", "pong", "hello"}, func(f *model.Fields, k noteKind) {
		if k != hello {
			model.Int(f, "tag", &n.tag, 0, m.tags-1)
		}
	})
}

func (m *peers) Inputs(p int, s *peer, inputs []model.Input) []model.Input {
	for i := range m.graph.Degree(p) {
		inputs = append(inputs, model.Input{Name: "ping", Code: i, Arg: uint64(i)})
	}
	if s.next%2 == 1 {
		inputs = append(inputs, model.Input{Name: "stay idle", Code: idleCode, Environment: true})
	}
	return inputs
}

func (m *peers) Step(_ int, s *peer, e model.Event[note], out *model.Outbox[note]) {
	switch e.Kind {
	case model.Given:
		if e.Input.Code != idleCode {
			out.Send(int(e.Input.Arg), note{kind: ping, tag: s.next})
		}
		s.next = (s.next + 1) % m.tags
	case model.Ticked:
		s.ticks = (s.ticks + 1) % 3
	case model.LinkCut:
		s.cuts = (s.cuts + 1) % 4
	case model.LinkHealed:
		out.Send(e.Channel, note{kind: hello})
	case model.Received:
		m.receive(s, e, out)
	}
}

func (m *peers) receive(s *peer, e model.Event[note], out *model.Outbox[note]) {
	switch e.Message.kind {
	case ping:
		if m.memory > 0 {
			if len(s.got) == m.memory {
				copy(s.got, s.got[1:])
				s.got = s.got[:m.memory-1]
			}
			s.got = append(s.got, e.Message.tag)
		}
		out.Send(e.Channel, note{kind: pong, tag: e.Message.tag})
	case pong:
		s.pongs = (s.pongs + 1) % 4
	case hello:
		s.hellos = (s.hellos + 1) % 4
	}
}

func networkOf(inst *model.Instance) *model.Network { return inst.System.(*model.Network) }

func peerOf(n *model.Network, c model.Configuration, p int) *peer {
	return model.StateOf[peer](n, c, p)
}

// notesOn lists the messages of a link.
func notesOn(n *model.Network, c model.Configuration, link int) []note {
	var notes []note
	for i := range n.Length(c, link) {
		notes = append(notes, *model.MessageOf[note](n, c, link, i))
	}
	return notes
}
