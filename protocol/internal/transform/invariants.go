// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package transform

import "allot/model"

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
