// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"slices"

	"allot/model"
)

// tokens is the paper's sketch for claims of any size (section V). A claim is stored as weak at each of its resources; a
// token goes round and moves the claims, one at a time and at all their resources, from the weak to the strong queues.
// One token makes all moves, so all strong queues follow one order and no deadlock can be; but all moves wait for it.
//
// The sketch leaves open how a token moves a claim at several places. Here it takes up the oldest weak claim of the
// resource that it comes to, goes to the other resources of the claim, and then on to the next one of the ring.
type tokens struct{ shape }

type tokenState struct {
	user
	readied set // of a client

	weak     []tokenClaim // of a resource, in the order of arrival
	strong   []int32      // the first one has the resource
	hasToken bool         // it waits here for a claim that has not come yet
	errand   errand
}

type tokenClaim struct {
	client int32
	need   set
}

// errand is what the token is about: where it goes on afterwards, and which claim it still moves where.
type errand struct {
	home   int32
	client int32
	left   set
}

type tokenMessage struct {
	kind   tokenKind
	need   set
	errand errand
}

type tokenKind uint8

const (
	tAsk tokenKind = iota
	tReady
	tLeave
	tEnded
	tToken
)

func newToken(s shape, g *model.Graph, o model.Options) (*model.Instance, error) {
	m := &tokens{s}
	w := &observer{shape: &m.shape, userOf: func(v *model.View, c int) *user {
		return &model.StateOf[tokenState](v.Network(), v.C, c).user
	}}
	return &model.Instance{System: model.NewNetwork(g, m, o.Links, o.Budget), Properties: w.properties(), Phase: w.phase}, nil
}

// Clean gives the token to the first resource.
func (m *tokens) Clean(p int) tokenState {
	return tokenState{user: m.cleanUser(), hasToken: p == m.clients}
}

// VisitState names the variables.
func (m *tokens) VisitState(p int, s *tokenState, f *model.Fields) {
	if m.isClient(p) {
		s.visit(f, &m.shape)
		visitSet(f, "ready", &s.readied, m.resources)
		return
	}
	model.List(f, "weak", &s.weak, m.clients, func(f *model.Fields, name string, c *tokenClaim) {
		model.Int(f, name+".client", &c.client, 0, int32(m.clients-1))
		visitSet(f, name+".need", &c.need, m.resources)
	})
	model.List(f, "strong", &s.strong, m.clients, func(f *model.Fields, name string, c *int32) {
		model.Int(f, name, c, 0, int32(m.clients-1))
	})
	model.Bool(f, "token", &s.hasToken)
	if s.hasToken {
		m.visitErrand(f, &s.errand)
	}
}

func (m *tokens) visitErrand(f *model.Fields, e *errand) {
	model.Int(f, "home", &e.home, 0, int32(m.resources-1))
	model.Int(f, "client", &e.client, 0, int32(m.clients-1))
	visitSet(f, "left", &e.left, m.resources)
}

// VisitMessage names the variables.
func (m *tokens) VisitMessage(msg *tokenMessage, f *model.Fields) {
	names := []string{"ask", "ready", "leave", "ended", "token"}
	model.Union(f, "kind", &msg.kind, names, func(f *model.Fields, k tokenKind) {
		switch k {
		case tAsk:
			visitSet(f, "need", &msg.need, m.resources)
		case tToken:
			m.visitErrand(f, &msg.errand)
		case tReady, tLeave, tEnded:
		}
	})
}

// Inputs are the user's. The token sets out from the first resource by itself.
func (m *tokens) Inputs(p int, s *tokenState, inputs []model.Input) []model.Input {
	switch {
	case m.isClient(p):
		return s.inputs(&m.shape, inputs)
	case s.hasToken && s.errand.left == 0 && m.resources > 1:
		inputs = append(inputs, model.Input{Name: "send the token on its way", Code: doOther})
	}
	return inputs
}

// Step is the protocol.
func (m *tokens) Step(p int, s *tokenState, e model.Event[tokenMessage], out *model.Outbox[tokenMessage]) {
	if m.isClient(p) {
		m.stepClient(s, e, out)
		return
	}
	switch {
	case e.Kind == model.Given:
		m.moveOn(p-m.clients, s, out)
		return
	case e.Message.kind == tAsk:
		isKnown := slices.ContainsFunc(s.weak, func(c tokenClaim) bool { return int(c.client) == e.Channel })
		if !isKnown && !slices.Contains(s.strong, int32(e.Channel)) && len(s.weak) < m.clients {
			s.weak = append(s.weak, tokenClaim{int32(e.Channel), e.Message.need})
		}
	case e.Message.kind == tToken && !s.hasToken:
		s.hasToken, s.errand = true, e.Message.errand
	case e.Message.kind == tLeave:
		i := slices.Index(s.strong, int32(e.Channel))
		if i < 0 {
			break
		}
		s.strong = slices.Delete(s.strong, i, i+1)
		out.Send(e.Channel, tokenMessage{kind: tEnded})
		if i == 0 && len(s.strong) > 0 {
			out.Send(int(s.strong[0]), tokenMessage{kind: tReady})
		}
	}
	m.maybeMove(p-m.clients, s, e.Kind == model.Received && e.Message.kind == tToken, out)
}

func (m *tokens) stepClient(s *tokenState, e model.Event[tokenMessage], out *model.Outbox[tokenMessage]) {
	switch {
	case e.Kind == model.Given && e.Input.Code == doClaim:
		s.becomeWaiting(&m.shape, set(e.Input.Arg))
		s.need.each(func(r int) { out.Send(r, tokenMessage{kind: tAsk, need: s.need}) })
	case e.Kind == model.Given && e.Input.Code == doRelease:
		s.phase = closing
		s.need.each(func(r int) { out.Send(r, tokenMessage{kind: tLeave}) })
	case e.Message.kind == tReady && s.phase == waiting && s.need.has(e.Channel):
		if s.readied = s.readied.with(e.Channel); s.readied == s.need {
			s.phase = using
		}
	case e.Message.kind == tEnded && s.phase == closing:
		if s.need = s.need.without(e.Channel); s.need == 0 {
			s.phase, s.readied = idle, 0
		}
	}
}

// maybeMove does with the token what can be done here. hasCome tells that it has just arrived.
func (m *tokens) maybeMove(r int, s *tokenState, hasCome bool, out *model.Outbox[tokenMessage]) {
	if !s.hasToken {
		return
	}
	if s.errand.left == 0 && len(s.weak) > 0 && (hasCome || m.resources == 1) {
		s.errand = errand{home: int32(r), client: s.weak[0].client, left: s.weak[0].need}
	}
	if s.errand.left == 0 {
		if hasCome {
			m.moveOn(r, s, out)
		}
		return
	}
	i := slices.IndexFunc(s.weak, func(c tokenClaim) bool { return c.client == s.errand.client })
	if i < 0 && !m.rule.isImpatient {
		return // the claim has not come here yet
	}
	if i >= 0 && len(s.strong) < m.clients {
		s.weak = slices.Delete(s.weak, i, i+1)
		s.strong = append(s.strong, s.errand.client)
		if len(s.strong) == 1 {
			out.Send(int(s.errand.client), tokenMessage{kind: tReady})
		}
	}
	s.errand.left = s.errand.left.without(r)
	m.moveOn(r, s, out)
}

// moveOn sends the token to the next resource of its errand, or of the ring when there is none.
func (m *tokens) moveOn(r int, s *tokenState, out *model.Outbox[tokenMessage]) {
	if left := s.errand.left.without(r); left != 0 {
		m.send(r, left.first(), s, out)
		return
	}
	home := int(s.errand.home)
	if m.rule.isDrifting {
		home = r
	}
	next := (home + 1) % m.resources
	s.errand = errand{home: int32(next)}
	if next == r { // the errand has ended where the token goes next: it has come here
		if m.resources > 1 {
			m.maybeMove(r, s, true, out)
		}
		return
	}
	m.send(r, next, s, out)
}

func (m *tokens) send(r, to int, s *tokenState, out *model.Outbox[tokenMessage]) {
	out.Send(m.toResource(r, to), tokenMessage{kind: tToken, errand: s.errand})
	s.hasToken, s.errand = false, errand{}
}
