// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package link

import (
	"fmt"

	"allot/model"
)

// Algorithm puts two ends to the test: process 0 sends numbered loads, process 1 receives them, and both restart.
var Algorithm = model.Algorithm{
	Name:     "link",
	Summary:  "a reliable link, first in first out, over one that loses, repeats and reorders, with restarts of both ends",
	Source:   "allot; sequence numbers and cumulative acknowledgements as in Stenning's data transfer protocol, 1976",
	Model:    "message passing",
	Topology: "path:2",
	Links:    "unordered,lossy,capacity=2",
	Start:    "clean",
	Variants: []string{"corrected"},
	Mutants:  []string{"any-sender", "any-address", "any-number", "keep-buffer", "keep-numbers", "ack-any", "no-hello"},
	Parameters: []model.Parameter{
		{Name: "loads", Text: "loads that are sent in a session", Default: "2", Min: 1, Max: 1 << 20},
		{Name: "window", Text: "loads that the sender keeps", Default: "2", Min: 1, Max: 1 << 10},
		{Name: "incarnations", Text: "of either end; one less is how often it restarts", Default: "2", Min: 1, Max: 1 << 20},
	},
	New: newInstance,
}

// load knows where it belongs, so that the receiver can tell whether it arrived where it should.
type load struct {
	index    int64 // in its session
	from, to int64 // the session in which the user sent it
}

type state struct {
	end   End[load]
	taken int64 // by the receiver in this session; for the properties
	wrong bool  // set for good when a load arrives that is not the next one of this session
}

type machine struct {
	loads, incarnations int64
	window              int
	flaw                string
}

func newInstance(o model.Options) (*model.Instance, error) {
	if o.Graph.Len() != 2 || o.Graph.Links() != 2 {
		return nil, fmt.Errorf("it is made for 2 processes that are joined, not %d", o.Graph.Len())
	}
	if o.Links.Capacity == 0 {
		return nil, fmt.Errorf("links %s: the ends repeat without end, so give the links a capacity", o.Links)
	}
	m := &machine{loads: int64(o.Int("loads")), incarnations: int64(o.Int("incarnations")), window: o.Int("window")}
	if o.Variant != "corrected" {
		m.flaw = o.Variant
	}
	return &model.Instance{System: model.NewNetwork(o.Graph, m, o.Links, o.Budget), Properties: m.properties()}, nil
}

func (m *machine) Clean(int) state { return m.restarted(1) }

func (m *machine) restarted(incarnation int64) state {
	s := state{end: NewEnd[load](incarnation, m.window)}
	s.end.flaw = m.flaw
	return s
}

func (m *machine) VisitState(p int, s *state, f *model.Fields) {
	model.Int(f, "me", &s.end.Me, 1, m.incarnations)
	model.Int(f, "peer", &s.end.Peer, 0, m.incarnations)
	if p == 0 {
		model.Int(f, "base", &s.end.Base, 0, m.loads)
		model.List(f, "buffer", &s.end.Buffer, m.window, m.visitLoad)
		return
	}
	model.Int(f, "want", &s.end.Want, 0, m.loads)
	model.Int(f, "taken", &s.taken, 0, m.loads)
	model.Bool(f, "wrong", &s.wrong)
}

func (m *machine) visitLoad(f *model.Fields, name string, l *load) {
	model.Int(f, name, &l.index, 0, m.loads-1)
	model.Int(f, name+".from", &l.from, 1, m.incarnations)
	model.Int(f, name+".to", &l.to, 1, m.incarnations)
}

func (m *machine) VisitMessage(p *Packet[load], f *model.Fields) {
	model.Union(f, "kind", &p.Kind, []string{"hello", "data", "ack"}, func(f *model.Fields, k Kind) {
		model.Int(f, "from", &p.From, 1, m.incarnations)
		model.Int(f, "to", &p.To, 0, m.incarnations)
		switch k {
		case Data:
			model.Int(f, "seq", &p.Seq, 0, m.loads)
			m.visitLoad(f, "load", &p.Load)
		case Ack:
			model.Int(f, "want", &p.Seq, 0, m.loads)
		case Hello:
		}
	})
}

// The inputs. Restarts and loads are the environment's, the timer is owed.
const (
	timer = iota
	send
	restart
)

func (m *machine) Inputs(p int, s *state, inputs []model.Input) []model.Input {
	if s.end.HasRetry() {
		inputs = append(inputs, model.Input{Name: "timer: send again", Code: timer})
	}
	if p == 0 && s.end.IsOpen() && len(s.end.Buffer) < m.window && m.sent(s) < m.loads {
		inputs = append(inputs, model.Input{Name: "sends the next load", Code: send, Environment: true})
	}
	if s.end.Me < m.incarnations {
		inputs = append(inputs, model.Input{Name: "restarts", Code: restart, Environment: true})
	}
	return inputs
}

func (m *machine) sent(s *state) int64 { return s.end.Base + int64(len(s.end.Buffer)) }

func (m *machine) Step(_ int, s *state, e model.Event[Packet[load]], out *model.Outbox[Packet[load]]) {
	switch e.Kind {
	case model.Given:
		m.onInput(s, e.Input.Code, out)
	case model.Received:
		m.onPacket(s, e.Message, out)
	case model.Ticked, model.LinkCut, model.LinkHealed:
	}
}

func (m *machine) onInput(s *state, code int, out *model.Outbox[Packet[load]]) {
	switch code {
	case timer:
		for _, p := range s.end.Retry() {
			out.Send(0, p)
		}
	case send:
		s.end.Send(load{index: m.sent(s), from: s.end.Me, to: s.end.Peer})
	case restart:
		*s = m.restarted(s.end.Me + 1)
	}
}

func (m *machine) onPacket(s *state, p Packet[load], out *model.Outbox[Packet[load]]) {
	before := s.end.Peer
	got := s.end.Receive(p)
	if s.end.Peer != before {
		s.taken = 0
	}
	if got.HasLoad {
		isNext := got.Load.index == s.taken && got.Load.from == s.end.Peer && got.Load.to == s.end.Me
		s.wrong = s.wrong || !isNext
		s.taken = min(s.taken+1, m.loads)
	}
	if got.HasReply {
		out.Send(0, got.Reply)
	}
}

func stateOf(v *model.View, p int) *state { return model.StateOf[state](v.Network(), v.C, p) }

// isSession tells whether both ends are in the same session.
func isSession(a, b *state) bool { return a.end.Peer == b.end.Me && b.end.Peer == a.end.Me }

func (m *machine) properties() []model.Property {
	return []model.Property{
		{
			Name: "order", Text: "every load that is delivered is the next one of the session that both ends are in", Claim: model.Always, CleanOnly: true,
			Holds: func(v *model.View) bool { return !stateOf(v, 1).wrong },
			Why:   func(*model.View) string { return "a load was delivered that is not the next one of this session" },
		},
		{
			Name: "kept", Text: "in a session no load is let go before it is delivered", Claim: model.Always, CleanOnly: true,
			Holds: func(v *model.View) bool {
				a, b := stateOf(v, 0), stateOf(v, 1)
				return !isSession(a, b) || a.end.Base <= b.end.Want && b.end.Want <= m.sent(a)
			},
			Why: func(v *model.View) string {
				a, b := stateOf(v, 0), stateOf(v, 1)
				return fmt.Sprintf("the sender has %d acknowledged and %d sent, the receiver has delivered %d", a.end.Base, m.sent(a), b.end.Want)
			},
		},
		{
			Name: "delivered", Text: "all loads of a session of last incarnations are delivered", Claim: model.Sometimes,
			Holds: func(v *model.View) bool {
				a, b := stateOf(v, 0), stateOf(v, 1)
				return isSession(a, b) && a.end.Me == m.incarnations && b.end.Me == m.incarnations && b.taken == m.loads
			},
		},
		{
			Name: "progress", Text: "a session opens, and what was sent in it is acknowledged, unless an end restarts", Claim: model.Recurs, CleanOnly: true,
			HoldsFor: func(v *model.View, p int) bool { return !stateOf(v, p).end.HasRetry() },
		},
	}
}
