// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"

	"allot/model"
)

// stamps is the machine of the protocol by stamps.
type stamps struct {
	shape
	isAny  bool
	losses int
	losers int // so many of the resources, from the first on, may lose their queue
	fences int
	loans  int
	names  []string // of the clients
}

func newStamps(s shape, g *model.Graph, o model.Options, losses int) (*model.Instance, error) {
	m := &stamps{shape: s, isAny: o.Values["stamps"] == "any", losses: losses, fences: o.Int("fences"), loans: o.Int("loans")}
	if m.losers = o.Int("losers"); m.losers == 0 {
		m.losers = s.resources
	}
	for c := range s.clients {
		m.names = append(m.names, g.Name(c))
	}
	if losses > 0 && s.clients > maxResources {
		return nil, fmt.Errorf("--losses %d: at most %d clients then", losses, maxResources)
	}
	w := &observer{shape: &m.shape, userOf: func(v *model.View, c int) *user {
		return &model.StateOf[state](v.Network(), v.C, c).user
	}}
	properties := append(w.properties(), m.properties()...)
	return &model.Instance{System: model.NewNetwork(g, m, o.Links, o.Budget), Properties: properties, Phase: w.phase}, nil
}

// HasStamps tells that only the order of stamps matters.
func (m *stamps) HasStamps() bool { return m.isAny }

// Clean is an idle client, or a resource with an empty queue.
func (m *stamps) Clean(p int) state {
	st := state{user: m.cleanUser(), losses: m.losses}
	if p-m.clients >= m.losers {
		st.losses = 0
	}
	if m.isClient(p) {
		st.losses = 0
		st.epochs, st.fences = make([]uint8, m.resources), make([]int64, m.resources)
	}
	return st
}

// VisitState names the variables.
func (m *stamps) VisitState(p int, s *state, f *model.Fields) { s.visit(p, f, m) }

// VisitMessage names the variables.
func (m *stamps) VisitMessage(msg *message, f *model.Fields) { msg.visit(f, m) }

// Inputs of a client are its user's. A resource that may offer any stamp chooses one; so many choices are enough to
// reach every place among the stamps that there can be.
func (m *stamps) Inputs(p int, s *state, inputs []model.Input) []model.Input {
	if m.isClient(p) {
		return s.inputs(&m.shape, inputs)
	}
	if s.losses > 0 {
		inputs = append(inputs, model.Input{Name: "lose the queue", Code: doOther, Environment: true})
	}
	if !m.isAny || s.unheard != 0 {
		return inputs
	}
	for _, e := range s.queue {
		for above := 1; e.stage == fresh && above < model.StampGap*m.clients*m.stampsOfOne(); above++ {
			inputs = append(inputs, model.Input{
				Name: fmt.Sprintf("offer c%d the stamp +%d", e.client+1, above), Code: doOther + 1 + int(e.client)%20,
				Arg: uint64(e.client)<<32 | uint64(above),
			})
		}
	}
	return inputs
}

// stampsOfOne is how many different stamps of one client there can be: an offer of each resource, one of which becomes the
// final stamp. Where queues are lost, offers from before may still be on their way, and the largest is remembered.
func (m *stamps) stampsOfOne() int {
	if m.losses > 0 {
		return (m.losses+1)*m.most + 1
	}
	return m.most
}

// Step is the protocol.
func (m *stamps) Step(p int, s *state, e model.Event[message], out *model.Outbox[message]) {
	switch {
	case m.isClient(p) && e.Kind == model.Given:
		m.onUser(s, e.Input, out)
	case m.isClient(p) && e.Kind == model.Received:
		m.onAnswer(p, s, e.Channel, e.Message, out)
	case e.Kind == model.Received:
		m.onClient(s, e.Channel, e.Message, out)
	case e.Kind == model.Given && e.Input.Code == doOther:
		m.onLoss(s, out)
	case e.Kind == model.Given:
		m.offer(s, s.find(int(e.Input.Arg>>32)), int64(e.Input.Arg&(1<<32-1)), out)
	}
}

// onUser does what the user of a client asks for.
func (m *stamps) onUser(s *state, in model.Input, out *model.Outbox[message]) {
	switch in.Code {
	case doClaim:
		s.becomeWaiting(&m.shape, set(in.Arg))
		m.toAll(s, message{kind: request}, out)
	case doRelease, doCancel:
		s.phase = closing
		s.need.each(func(r int) {
			out.Send(r, message{kind: leave, epoch: s.epochs[r], isFinal: s.isFinal, isAsked: s.asked.has(r), isBack: s.back.has(r), isOdd: s.turns.has(r)})
		})
		s.stamp, s.tops, s.firsts = 0, 0, 0
		if m.rule.isHasty {
			m.becomeIdle(s)
		}
	case doVanish:
		m.toAll(s, message{kind: expired}, out)
		m.becomeIdle(s)
		s.phase = gone
	}
}

func (m *stamps) toAll(s *state, msg message, out *model.Outbox[message]) {
	s.need.each(func(r int) {
		msg.epoch = s.epochs[r]
		out.Send(r, msg)
	})
}

func (m *stamps) becomeIdle(s *state) {
	s.phase, s.need, s.isFinal, s.stamp, s.tops, s.firsts = idle, 0, false, 0, 0, 0
	s.offered, s.readied, s.ended, s.owesOffer, s.owesReady, s.owesRecall = 0, 0, 0, 0, 0, 0
	s.asked, s.recalled, s.back, s.turns, s.lent = 0, 0, 0, 0, 0
	for r := range s.fences {
		s.fences[r] = 0
	}
}

// onAnswer is what a client does with a message of resource r.
func (m *stamps) onAnswer(p int, s *state, r int, msg message, out *model.Outbox[message]) {
	if s.phase == gone {
		return
	}
	if msg.kind == lost {
		m.onLost(p, s, r, msg, out)
		return
	}
	if msg.epoch != s.epochs[r] || !s.need.has(r) {
		return
	}
	switch msg.kind {
	case offer:
		s.offered = s.offered.with(r)
		if s.phase == waiting {
			m.onOffer(s, r, msg, out)
		}
	case ready:
		s.readied = s.readied.with(r)
		s.fences[r] = msg.fence
		switch {
		case s.phase != waiting:
		case m.loans == 0:
			m.maybeUse(s)
		default:
			m.onLoanReady(s, r, msg, out)
		}
	case ended:
		s.ended = s.ended.with(r)
		if msg.hasOffered {
			s.owesOffer = s.owesOffer.with(r)
		}
		if msg.hasReadied {
			s.owesReady = s.owesReady.with(r)
		}
		if msg.hasRecalled {
			s.owesRecall = s.owesRecall.with(r)
		}
	case recall:
		m.onRecall(s, r, out)
	case request, final, leave, expired, lost, present, ask, back:
	}
	m.maybeClose(s, r)
}

// onOffer keeps the largest offer, and tells all when it is the last one. Where that very stamp was offered and nobody is
// ahead the client need not wait for a ready: it stays the first there.
func (m *stamps) onOffer(s *state, r int, msg message, out *model.Outbox[message]) {
	isTop := msg.stamp > s.stamp
	if m.rule.isLowest && s.stamp > 0 {
		isTop = msg.stamp < s.stamp
	}
	if isTop {
		s.stamp, s.tops = msg.stamp, 0
		if !m.rule.isCocky {
			s.firsts = 0
		}
	}
	if msg.stamp == s.stamp {
		s.tops = s.tops.with(r)
	}
	if msg.isFirst && (msg.stamp == s.stamp || m.rule.isCocky) {
		s.firsts = s.firsts.with(r)
		s.fences[r] = msg.fence
	}
	if s.isFinal || s.offered != s.need {
		return
	}
	s.isFinal, s.readied = true, s.firsts
	s.need.each(func(r int) {
		out.Send(r, message{kind: final, epoch: s.epochs[r], stamp: s.stamp, client: msg.client, isFirst: s.firsts.has(r), isSame: s.tops.has(r)})
	})
	s.tops, s.firsts = 0, 0
	m.maybeUse(s)
	m.maybeAsk(s, out)
}

// maybeUse begins to use what was claimed once everything is ready. Only who may be asked again by a resource that lost
// its queue remembers its stamp.
func (m *stamps) maybeUse(s *state) {
	if s.readied == s.need {
		s.phase = using
	}
	if m.losses == 0 {
		s.stamp = 0
	}
}

// maybeClose is done with resource r when it has ended and nothing from it is still on the way.
func (m *stamps) maybeClose(s *state, r int) {
	isOwed := s.owesOffer&^s.offered | s.owesReady&^s.readied | s.owesRecall&^s.recalled
	if s.phase != closing || !s.ended.has(r) || isOwed.has(r) && !m.rule.isCareless {
		return
	}
	m.close(s, r)
}

func (m *stamps) close(s *state, r int) {
	s.need, s.offered, s.readied, s.ended = s.need.without(r), s.offered.without(r), s.readied.without(r), s.ended.without(r)
	s.owesOffer, s.owesReady, s.owesRecall = s.owesOffer.without(r), s.owesReady.without(r), s.owesRecall.without(r)
	s.asked, s.recalled, s.back, s.turns = s.asked.without(r), s.recalled.without(r), s.back.without(r), s.turns.without(r)
	if s.need == 0 {
		m.becomeIdle(s)
	}
}

// properties beside those that all protocols have.
func (m *stamps) properties() []model.Property {
	if m.fences == 1 {
		return nil
	}
	wrong := func(v *model.View) (client, resource int) {
		for c := range m.clients {
			s := model.StateOf[state](v.Network(), v.C, c)
			for r := range m.resources {
				if s.phase == using && s.need.has(r) && s.fences[r] != model.StateOf[state](v.Network(), v.C, m.clients+r).fence {
					return c, r
				}
			}
		}
		return -1, -1
	}
	return []model.Property{{
		Name: "fenced", Text: "who uses a resource has its last fence, so nobody was given a later one", Claim: model.Always,
		Holds: func(v *model.View) bool {
			c, _ := wrong(v)
			return c < 0
		},
		Why: func(v *model.View) string {
			c, r := wrong(v)
			return fmt.Sprintf("c%d uses r%d with a fence that is not the last", c+1, r+1)
		},
	}}
}
