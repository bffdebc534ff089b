// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"fmt"

	"allot/model"
)

// carried is an instance over links together with the one that it carries.
type carried struct {
	*machine
	inner *model.Instance
}

func stateOf(v *model.View, p int) *state { return model.StateOf[state](v.Network(), v.C, p) }

// project is the configuration of the program: what all processes are, whatever they know of each other.
func (t *carried) project(v *model.View) model.View {
	c := make(model.Configuration, t.words)
	for p := range t.graph.Len() {
		c[p] = stateOf(v, p).word
	}
	if t.isChanging {
		t.projectChanges(v, c)
	}
	return t.inner.View(c)
}

// projectChanges puts into a configuration of the program what is cut and who has stopped.
func (t *carried) projectChanges(v *model.View, c model.Configuration) {
	var b model.Buffer
	for link := range t.graph.Links() {
		if v.Network().IsCut(v.C, link) {
			t.guarded.Apply(c, []model.Move{{Kind: model.Cut, At: int32(link)}}, &b)
		}
	}
	for p := range t.graph.Len() {
		if v.Network().IsCrashed(v.C, p) {
			t.guarded.Apply(c, []model.Move{{Kind: model.Crash, At: int32(p)}}, &b)
		}
	}
}

// isSound tells whether every edge has exactly one token, whose holder sees the other end as it is, and will for ever.
func (t *carried) isSound(v *model.View) bool {
	for link := range t.graph.Links() {
		if from, to := t.graph.Ends(link); from < to && !t.isEdgeSound(v, link) {
			return false
		}
	}
	return true
}

// edge is both ends of an edge and both directions between them.
type edge struct {
	v             *model.View
	there, back   int // the links from and to the leading end
	lead, follow  *end
	leads, others uint64 // the states of the two processes, by number
	leadW, otherW uint64 // and as words
	leadC, otherC uint64 // and their cut channels
}

func (t *carried) edgeAt(v *model.View, link int) edge {
	g := t.graph
	p, q := g.Ends(link)
	a, b := stateOf(v, p), stateOf(v, q)
	back := g.Back(link)
	return edge{v: v, there: link, back: back, lead: &a.ends[g.Channel(back)], follow: &b.ends[g.Channel(link)],
		leads: t.layouts[p].Rank(a.word), others: t.layouts[q].Rank(b.word), leadW: a.word, otherW: b.word,
		leadC: a.cuts(), otherC: b.cuts()}
}

// each walks over the messages of a link, the newest first.
func (e *edge) each(link int, isGood func(m *message) bool) bool {
	n := e.v.Network()
	for i := n.Length(e.v.C, link) - 1; i >= 0; i-- {
		if !isGood(model.MessageOf[message](n, e.v.C, link, i)) {
			return false
		}
	}
	return true
}

// isOfLead and isOfOther tell whether a message says what its sender is.
func (e *edge) isOfLead(m *message) bool  { return m.rank == e.leads && m.cuts == e.leadC }
func (e *edge) isOfOther(m *message) bool { return m.rank == e.others && m.cuts == e.otherC }

func (t *carried) isEdgeSound(v *model.View, link int) bool {
	e := t.edgeAt(v, link)
	if t.isChanging && v.Network().IsCut(v.C, link) {
		p, q := t.graph.Ends(link)
		return (e.lead.isCut || v.Network().IsCrashed(v.C, p)) && (e.follow.isCut || v.Network().IsCrashed(v.C, q))
	}
	if e.lead.isCut || e.follow.isCut {
		return false
	}
	if e.lead.has && (e.follow.has || e.lead.cache != e.otherW || e.lead.cuts != e.otherC) ||
		e.follow.has && (e.follow.cache != e.leadW || e.follow.cuts != e.leadC) {
		return false
	}
	if t.isNumbered {
		return e.isNumberedSound()
	}
	return e.isOrderedSound(t.numbers)
}

// isOrderedSound walks once round, from the leading end over the link there, the other end and the link back: first there is
// the present number, then the one before it, and nothing else.
func (e *edge) isOrderedSound(numbers int64) bool {
	now := e.lead.number
	before := (now + numbers - 1) % numbers
	isOld := false
	fits := func(number int64) bool {
		if number != now {
			isOld = true
		}
		return number == before || number == now && !isOld
	}
	isGood := e.each(e.there, func(m *message) bool {
		return fits(m.number) && (m.number != now || e.follow.number == now || e.isOfLead(m))
	})
	if !isGood || !fits(e.follow.number) || e.follow.has && isOld {
		return false
	}
	isOld = isOld || e.follow.has // the token has not been sent back yet
	isGood = e.each(e.back, func(m *message) bool {
		return fits(m.number) && (m.number != now || e.lead.has || e.isOfOther(m))
	})
	return isGood && (!e.lead.has || !isOld)
}

// isNumberedSound is the same where the order tells nothing: what is new has the largest number.
func (e *edge) isNumberedSound() bool {
	now := e.lead.number
	isThere := e.follow.number == now
	if e.follow.number > now || (e.lead.has || e.follow.has) && !isThere {
		return false
	}
	return e.each(e.there, func(m *message) bool {
		return m.number <= e.follow.number || m.number == now && e.isOfLead(m)
	}) && e.each(e.back, func(m *message) bool {
		return m.number < now || m.number == now && isThere && !e.follow.has && (e.lead.has || e.isOfOther(m))
	})
}

// isExact tells whether whoever has its turn sees its neighbours as they are, and none of them has a turn too.
func (t *carried) isExact(v *model.View) bool {
	for p := range t.graph.Len() {
		s := stateOf(v, p)
		if !t.hasTurn(s) {
			continue
		}
		for i, q := range t.graph.Neighbours(p) {
			n := stateOf(v, int(q))
			if !s.ends[i].isCut && (n.word != s.ends[i].cache || t.hasTurn(n)) {
				return false
			}
		}
	}
	return true
}

func (t *carried) phase(v *model.View, p int) model.Phase {
	s := stateOf(v, p)
	if h, ok := t.program.(Holding); ok && h.IsHolding(p, s.word) {
		return model.Inside
	}
	if !t.hasTurn(s) {
		return model.Waiting
	}
	view := t.inner.View(t.sight(p, s))
	return t.inner.Phase(&view, p)
}

func (t *carried) gauges() []model.Gauge {
	count := func(is func(v *model.View, p int) bool) func(*model.View, int) int64 {
		return func(v *model.View, site int) int64 {
			if site < t.graph.Len() && !v.Network().IsCrashed(v.C, site) && is(v, site) {
				return 1
			}
			return 0
		}
	}
	gauges := []model.Gauge{{Name: "turns", Text: "processes that have their turn", Of: count(func(v *model.View, p int) bool { return t.hasTurn(stateOf(v, p)) })}}
	if t.inner.Phase != nil {
		gauges = append(gauges, model.Gauge{Name: "inside", Text: "processes in their critical sections", Of: count(func(v *model.View, p int) bool { return t.phase(v, p) == model.Inside })})
	}
	return gauges
}

// properties are those of the program, asked of what all processes are, and what the transformer adds. The first is the one that
// says when all is well, so those of the program come first.
func (t *carried) properties() []model.Property {
	var list []model.Property
	for _, p := range t.inner.Properties {
		if p.Claim != model.Rests { // timers never rest
			list = append(list, t.property(p))
		}
	}
	return append(list,
		model.Property{
			Name:  "sound",
			Text:  "from some moment on every edge has one token and its holder sees the other end as it is, whatever the start",
			Claim: model.Stabilizes,
			Holds: t.isSound,
			Why:   t.whyUnsound,
		},
		model.Property{
			Name:      "exact",
			Text:      "who has its turn sees its neighbours as they are, and no neighbour has its turn too",
			Claim:     model.Always,
			CleanOnly: true,
			Holds:     t.isExact,
		},
		model.Property{
			Name:      "faithful",
			Text:      "once all edges are sound, every step is one action of the program that was enabled, or none",
			Claim:     model.AlwaysStep,
			HoldsStep: t.isFaithful,
		},
		model.Property{
			Name:     "turns",
			Text:     "everybody has its turn again and again",
			Claim:    model.Recurs,
			HoldsFor: func(v *model.View, p int) bool { return t.hasTurn(stateOf(v, p)) },
		})
}

func (t *carried) whyUnsound(v *model.View) string {
	for link := range t.graph.Links() {
		if from, to := t.graph.Ends(link); from < to && !t.isEdgeSound(v, link) {
			return fmt.Sprintf("the edge %s-%s has not one token, or a wrong state with it", t.graph.Name(from), t.graph.Name(to))
		}
	}
	return ""
}

// property asks a property of the program.
func (t *carried) property(p model.Property) model.Property {
	if holds := p.Holds; holds != nil {
		isStabilizing := p.Claim == model.Stabilizes
		p.Holds = func(v *model.View) bool {
			inner := t.project(v)
			return holds(&inner) && (!isStabilizing || t.isSound(v))
		}
	}
	if holds := p.HoldsFor; holds != nil {
		p.HoldsFor = func(v *model.View, process int) bool {
			inner := t.project(v)
			return holds(&inner, process)
		}
	}
	if holds := p.HoldsStep; holds != nil {
		p.HoldsStep = func(before, after *model.View, step []model.Move) bool {
			if !t.isSound(before) {
				return true
			}
			a, b := t.project(before), t.project(after)
			return holds(&a, &b, t.projectStep(before, step))
		}
	}
	if why := p.Why; why != nil {
		isStabilizing := p.Claim == model.Stabilizes
		p.Why = func(v *model.View) string {
			if isStabilizing && !t.isSound(v) {
				return t.whyUnsound(v)
			}
			inner := t.project(v)
			return why(&inner)
		}
	}
	return p
}

// isFaithful tells whether a step is one of the program under the central daemon, or none of it. That it is so is why whatever is
// proved of the program holds over links.
func (t *carried) isFaithful(before, after *model.View, step []model.Move) bool {
	if step[0].Kind.IsFault() || !t.isSound(before) {
		return true
	}
	a, b := t.project(before), t.project(after)
	if moves := t.projectStep(before, step); len(moves) > 0 {
		if t.inner.System.Check(a.C, moves[0]) != nil {
			return false
		}
		var buffer model.Buffer
		t.inner.System.Apply(a.C, moves, &buffer)
	}
	return a.C.Equal(b.C)
}

// projectStep is what a step is for the program: an action, a fault, or nothing.
func (t *carried) projectStep(before *model.View, step []model.Move) []model.Move {
	m := step[0]
	switch {
	case m.Kind == model.Act:
		in := t.Inputs(int(m.At), stateOf(before, int(m.At)), nil)[m.Arg]
		if in.Code == onTurn && in.Arg < passOn {
			return []model.Move{{Kind: model.Act, At: m.At, Arg: in.Arg}}
		}
		return nil
	case m.Kind.IsFault():
		return step
	}
	return nil
}
