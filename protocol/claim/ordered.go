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
	held  set // of a client: what it was given
	asked set // of a client: what it has asked for
	// ended are the resources that know that the claim has ended, and owed those of them that had given before.
	ended, owed set

	queue []int32 // of a resource: the clients in the order of their requests; the first one has it
	// left are the clients that have left before their request came, over those whose session has ended.
	left, over set
}

type orderedMessage struct {
	kind     orderedKind
	hasGiven bool // ended: a given was sent before
}

type orderedKind uint8

const (
	oAsk orderedKind = iota
	oGiven
	oLeave
	oEnded
	oExpired
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
		visitSet(f, "asked", &s.asked, m.resources)
		if m.canLeave() {
			visitSet(f, "ended", &s.ended, m.resources)
			visitSet(f, "owed", &s.owed, m.resources)
		}
		return
	}
	model.List(f, "queue", &s.queue, m.clients, func(f *model.Fields, name string, c *int32) {
		model.Int(f, name, c, 0, int32(m.clients-1))
	})
	if m.canLeave() {
		visitSet(f, "left", &s.left, m.clients)
		visitSet(f, "over", &s.over, m.clients)
	}
}

// VisitMessage names the variables.
func (m *ordered) VisitMessage(msg *orderedMessage, f *model.Fields) {
	model.Union(f, "kind", &msg.kind, []string{"ask", "given", "leave", "ended", "expired"}, func(f *model.Fields, k orderedKind) {
		if k == oEnded && m.canLeave() {
			model.Bool(f, "after given", &msg.hasGiven)
		}
	})
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
	case m.isClient(p) && s.phase != gone:
		m.onAnswer(p, s, e.Channel, e.Message, out)
	case !m.isClient(p) && e.Kind == model.Received && !s.over.has(e.Channel):
		m.onClient(s, e.Channel, e.Message.kind, out)
	}
}

func (m *ordered) onUser(p int, s *orderedState, in model.Input, out *model.Outbox[orderedMessage]) {
	tell := func(k orderedKind) { s.asked.each(func(r int) { out.Send(r, orderedMessage{kind: k}) }) }
	switch in.Code {
	case doClaim:
		s.becomeWaiting(&m.shape, set(in.Arg))
		m.askNext(p, s, out)
	case doRelease, doCancel:
		s.phase, s.need = closing, s.asked
		tell(oLeave)
	case doVanish:
		tell(oExpired)
		s.phase, s.need, s.held, s.asked, s.ended, s.owed = gone, 0, 0, 0, 0, 0
	}
}

// onAnswer is what a client does with a message of resource r.
func (m *ordered) onAnswer(p int, s *orderedState, r int, msg orderedMessage, out *model.Outbox[orderedMessage]) {
	if !s.need.has(r) {
		return
	}
	switch msg.kind {
	case oGiven:
		if s.held = s.held.with(r); s.phase == waiting {
			m.askNext(p, s, out)
		}
	case oEnded:
		if s.ended = s.ended.with(r); msg.hasGiven {
			s.owed = s.owed.with(r)
		}
	case oAsk, oLeave, oExpired:
	}
	if s.phase != closing || !s.ended.has(r) || s.owed.has(r) && !s.held.has(r) {
		return
	}
	if s.need = s.need.without(r); s.need == 0 {
		s.phase, s.held, s.asked, s.ended, s.owed = idle, 0, 0, 0, 0
	}
}

// onClient is what a resource does with a message of client c.
func (m *ordered) onClient(s *orderedState, c int, k orderedKind, out *model.Outbox[orderedMessage]) {
	i := slices.Index(s.queue, int32(c))
	switch k {
	case oAsk:
		switch {
		case s.left.has(c):
			s.left = s.left.without(c)
			out.Send(c, orderedMessage{kind: oEnded})
		case i < 0 && len(s.queue) < m.clients:
			if s.queue = append(s.queue, int32(c)); len(s.queue) == 1 {
				out.Send(c, orderedMessage{kind: oGiven})
			}
		}
		return
	case oLeave:
		if i < 0 { // its request is still on its way
			s.left = s.left.with(c)
			return
		}
		out.Send(c, orderedMessage{kind: oEnded, hasGiven: i == 0})
	case oExpired:
		s.over, s.left = s.over.with(c), s.left.without(c)
	case oGiven, oEnded:
		return
	}
	if i < 0 {
		return
	}
	if s.queue = slices.Delete(s.queue, i, i+1); i == 0 && len(s.queue) > 0 {
		out.Send(int(s.queue[0]), orderedMessage{kind: oGiven})
	}
}

// askNext asks for the first resource that the client does not have yet, if there is one.
func (m *ordered) askNext(p int, s *orderedState, out *model.Outbox[orderedMessage]) {
	missing := s.need &^ s.held
	if missing == 0 {
		s.phase = using
		return
	}
	next := missing.first()
	if m.rule.isAnyOrder && p%2 == 1 {
		next = missing.last()
	}
	s.asked = s.asked.with(next)
	out.Send(next, orderedMessage{kind: oAsk})
}

// canLeave tells that clients may leave before they have what they asked for.
func (s *shape) canLeave() bool { return s.canCancel || s.canVanish }
