// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"slices"

	"allot/model"
)

// ordered is acquisition in the order of the resources: a client asks for the first of its resources, then, holding it,
// for the next one, and so on. No deadlock can be, because nobody waits for a smaller number than it holds; but whoever
// waits holds, and others wait behind it.
type ordered struct{ shape }

type orderedState struct {
	user
	held  set     // of a client: what it was given
	queue []int32 // of a resource: the clients in the order of their requests; the first one has it
}

type orderedMessage struct{ kind orderedKind }

type orderedKind uint8

const (
	oAsk orderedKind = iota
	oGiven
	oLeave
	oEnded
)

func newOrdered(s shape, g *model.Graph, o model.Options) (*model.Instance, error) {
	m := &ordered{s}
	w := &observer{shape: &m.shape, userOf: func(v *model.View, c int) *user {
		return &model.StateOf[orderedState](v.Network(), v.C, c).user
	}}
	return &model.Instance{System: model.NewNetwork(g, m, o.Links, o.Budget), Properties: w.properties(), Phase: w.phase}, nil
}

// Clean is an idle client, or a resource that nobody has asked for.
func (m *ordered) Clean(int) orderedState { return orderedState{user: m.cleanUser()} }

// VisitState names the variables.
func (m *ordered) VisitState(p int, s *orderedState, f *model.Fields) {
	if m.isClient(p) {
		s.visit(f, &m.shape)
		visitSet(f, "held", &s.held, m.resources)
		return
	}
	model.List(f, "queue", &s.queue, m.clients, func(f *model.Fields, name string, c *int32) {
		model.Int(f, name, c, 0, int32(m.clients-1))
	})
}

// VisitMessage names the variables.
func (m *ordered) VisitMessage(msg *orderedMessage, f *model.Fields) {
	model.Enum(f, "kind", &msg.kind, "ask", "given", "leave", "ended")
}

// Inputs are the user's.
func (m *ordered) Inputs(p int, s *orderedState, inputs []model.Input) []model.Input {
	if !m.isClient(p) {
		return inputs
	}
	return s.inputs(&m.shape, inputs)
}

// Step is the protocol.
func (m *ordered) Step(p int, s *orderedState, e model.Event[orderedMessage], out *model.Outbox[orderedMessage]) {
	switch {
	case m.isClient(p) && e.Kind == model.Given:
		m.onUser(p, s, e.Input, out)
	case m.isClient(p) && e.Message.kind == oGiven && s.phase == waiting && s.need.has(e.Channel):
		s.held = s.held.with(e.Channel)
		m.askNext(p, s, out)
	case m.isClient(p) && e.Message.kind == oEnded && s.phase == closing:
		if s.need = s.need.without(e.Channel); s.need == 0 {
			s.phase, s.held = idle, 0
		}
	case m.isClient(p):
	case e.Kind == model.Received && e.Message.kind == oAsk:
		if slices.Contains(s.queue, int32(e.Channel)) || len(s.queue) == m.clients {
			return // it came twice
		}
		s.queue = append(s.queue, int32(e.Channel))
		if len(s.queue) == 1 {
			out.Send(e.Channel, orderedMessage{oGiven})
		}
	case e.Kind == model.Received && e.Message.kind == oLeave:
		i := slices.Index(s.queue, int32(e.Channel))
		if i < 0 {
			return
		}
		s.queue = slices.Delete(s.queue, i, i+1)
		out.Send(e.Channel, orderedMessage{oEnded})
		if i == 0 && len(s.queue) > 0 {
			out.Send(int(s.queue[0]), orderedMessage{oGiven})
		}
	}
}

func (m *ordered) onUser(p int, s *orderedState, in model.Input, out *model.Outbox[orderedMessage]) {
	switch in.Code {
	case doClaim:
		s.becomeWaiting(&m.shape, set(in.Arg))
		m.askNext(p, s, out)
	case doRelease:
		s.phase = closing
		s.need.each(func(r int) { out.Send(r, orderedMessage{oLeave}) })
	}
}

// askNext asks for the first resource that the client does not have yet, if there is one.
func (m *ordered) askNext(p int, s *orderedState, out *model.Outbox[orderedMessage]) {
	missing := s.need &^ s.held
	switch {
	case missing == 0:
		s.phase = using
	case m.rule.isAnyOrder && p%2 == 1:
		out.Send(missing.last(), orderedMessage{oAsk})
	default:
		out.Send(missing.first(), orderedMessage{oAsk})
	}
}
