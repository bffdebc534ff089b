// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package reign

import (
	"fmt"
	"slices"

	"allot/model"
)

// verb is what the world does; it is in the argument of an input, with the number of a node.
type verb uint64

const (
	doTick verb = iota
	doApply
	doAnswer
	doTell
	doArrive
	doBeat
	fair // what is above happens in the end
	doTickAll
	doLose
	doLoseBeat
	doApplyLate
	doCrash
	doRestart
	doStop
	doGoOn
	doLeave
	doLeaveAtRest
	doRenew
)

const mostCode = 30

var verbNames = map[verb]string{doTick: "the clock of %d ticks", doApply: "the write of %d reaches the store", doAnswer: "the answer reaches %d",
	doTell: "the store sends its news to %d", doArrive: "the news reaches %d", doBeat: "the beat of %d arrives", doTickAll: "all clocks tick",
	doLose: "the answer to %d is lost", doLoseBeat: "the beat of %d is lost", doApplyLate: "a late write reaches the store (number %d)",
	doCrash: "%d crashes", doRestart: "%d comes back", doStop: "%d stops", doGoOn: "%d goes on", doLeave: "%d leaves",
	doLeaveAtRest: "%d leaves, at rest", doRenew: "%d asks for a new generation"}

func (m *lab) input(v verb, p int) model.Input {
	name := verbNames[v]
	if v != doTickAll {
		name = fmt.Sprintf(name, p)
	}
	code := mostCode
	switch {
	case v == doTickAll:
		code = 0
	case v == doGoOn:
		code = mostCode - 1
	case v < fair:
		code = min(int(v)*m.nodes+p, mostCode-2)
	}
	return model.Input{Name: name, Code: code, Arg: uint64(v)<<32 | uint64(p), Environment: code == mostCode}
}

// Inputs are what clocks, the store and misfortune may do. Only the world has any.
func (m *lab) Inputs(p int, s *state, inputs []model.Input) []model.Input {
	if p != m.world() {
		return inputs
	}
	w := &s.world
	add := func(v verb, p int, isPossible bool) {
		if isPossible {
			inputs = append(inputs, m.input(v, p))
		}
	}
	add(doTickAll, 0, m.skew == 0)
	for p := range m.nodes {
		t := &w.sites[p]
		isUp := !t.isDead && !t.isStopped
		add(doTick, p, w.ahead[p] < m.skew)
		add(doTell, p, !t.isTold && !t.hasNews && isUp)
		add(doCrash, p, !t.isDead && w.budget.crashes > 0)
		add(doRestart, p, t.isDead && w.budget.restarts > 0)
		add(doStop, p, isUp && w.budget.stops > 0)
		add(doGoOn, p, t.isStopped)
		add(doLeave, p, isUp && !t.isLeaving && w.budget.leaves > 0)
		add(doLeaveAtRest, p, isUp && !t.isLeaving && w.budget.leaves > 0)
		add(doRenew, p, isUp && w.budget.renewals > 0)
		if !m.isSlow {
			continue
		}
		add(doApply, p, t.isWriting && m.isPossible(&t.write.record))
		add(doAnswer, p, t.answer != none && isUp)
		add(doLose, p, (t.isWriting || t.answer == done) && isUp && w.budget.losses > 0)
		add(doArrive, p, t.hasNews && isUp)
		add(doBeat, p, t.hasBeat)
		add(doLoseBeat, p, t.hasBeat)
	}
	for i := range w.late {
		add(doApplyLate, i, m.isPossible(&w.late[i].record))
	}
	return inputs
}

// isPossible: a bounded question looks at runs with so many generations only. Writes beyond them do not reach the store.
func (m *lab) isPossible(r *Record) bool { return m.generations == 0 || r.Generation <= m.generations }

// Step lets one thing happen.
func (m *lab) Step(p int, s *state, e model.Event[message], box *model.Outbox[message]) {
	o := &post{m: m, p: p, box: box}
	switch {
	case p != m.world() && e.Kind == model.Received:
		m.stepNode(p, s, e.Message, o)
	case p == m.world() && e.Kind == model.Received:
		from := int(m.graph.Neighbours(p)[e.Channel])
		m.onAsked(&s.world, from, e.Message, o)
	case p == m.world() && e.Kind == model.Given:
		m.onInput(&s.world, verb(e.Input.Arg>>32), int(e.Input.Arg&0xffffffff), o)
	}
}

func (m *lab) stepNode(p int, s *state, msg message, o *post) {
	n := &s.node
	if s.isDead && msg.kind != rise {
		return
	}
	if s.isStopped && msg.kind != goOn && msg.kind != die {
		if msg.kind == tick {
			s.slept = min(s.slept+1, m.most)
		}
		return
	}
	n.options, n.rule, n.self, n.out = m.options, m.rule, m.member(p, s.life), o
	generation := n.record.Generation
	switch msg.kind {
	case tick:
		n.Advance(1)
	case written:
		n.OnWritten(uint64(msg.revision), msg.isGood)
	case news:
		n.OnRecord(msg.record, uint64(msg.revision))
	case beat:
		n.OnBeat(m.member(int(msg.who), msg.life), msg.isLeaving)
	case die:
		*s = state{isDead: true, life: s.life}
		return
	case rise:
		*s = state{life: msg.life, floor: msg.record.Generation}
		return
	case stop:
		s.isStopped = true
	case goOn:
		slept := s.slept
		s.isStopped, s.slept = false, 0
		n.Advance(slept)
	case leave:
		n.Leave(msg.isGood)
	case renew:
		n.Renew()
	case write:
	}
	s.hasFallen = s.hasFallen || n.record.Generation < generation
	m.tidy(s)
	n.out = nil
}

// tidy gives variables whose value cannot matter any more one value, so that there are fewer configurations.
func (m *lab) tidy(s *state) {
	n := &s.node
	n.quiet, n.ago = min(n.quiet, m.most), min(n.ago, m.most)
	if !n.isWriting {
		n.written, n.ago = Record{}, 0
	}
	if s.floor > 0 && n.record.Generation > s.floor {
		s.floor = 0 // it only grows from here
	}
	if !n.isAtRest {
		n.restIn = 0
	}
	if n.IsRoot() {
		n.quiet = 0
	} else {
		n.heard, n.isStuck = nil, false
	}
	for i := range n.heard {
		h := &n.heard[i]
		h.ago = min(h.ago, m.options.Silence)
		if h.Name == n.self.Name {
			*h = heard{Member: n.self}
		}
	}
	if n.isLeaving && n.Place() < 0 {
		n.quiet, n.touch = 0, 0
	}
}

// onAsked: a node writes, or sends a beat.
func (m *lab) onAsked(w *worldState, from int, msg message, o *post) {
	t := &w.sites[from]
	switch {
	case msg.kind == beat && m.isSlow:
		t.beat, t.hasBeat = message{kind: beat, who: msg.who, life: t.life, isLeaving: msg.isLeaving}, true
	case msg.kind == beat:
		o.send(int(msg.who), message{kind: beat, who: int32(from), life: t.life, isLeaving: msg.isLeaving})
	case msg.kind == write && m.isSlow:
		t.write, t.isWriting = late{msg.record, msg.revision}, true
		m.refuse(w)
	case msg.kind == write:
		isGood := m.isPossible(&msg.record) && m.apply(w, late{msg.record, msg.revision})
		o.send(from, message{kind: written, revision: w.revision, isGood: isGood})
		if isGood {
			t.isTold = true
			m.tellAll(w, o)
		}
	}
}

// apply is the store: it writes if the revision is the one that the writer knows.
func (m *lab) apply(w *worldState, l late) bool {
	if l.revision != w.revision && m.rule != revisionIgnored {
		return false
	}
	old, r := &w.record, &l.record
	isSame := r.Generation == old.Generation && slices.EqualFunc(r.Members, old.Members, Member.is)
	w.isBroken = w.isBroken || !isSame && r.Generation <= old.Generation
	w.record, w.revision = l.record, w.revision+1
	for i := range w.sites {
		w.sites[i].isTold = false
	}
	m.refuse(w)
	return true
}

// refuse answers writes that come too late, so that there are fewer configurations: when the store looks at them does not matter.
func (m *lab) refuse(w *worldState) {
	if m.rule == revisionIgnored {
		return
	}
	for i := range w.sites {
		if t := &w.sites[i]; t.isWriting && t.write.revision != w.revision {
			t.isWriting, t.write, t.answer = false, late{}, failed
		}
	}
	w.late = slices.DeleteFunc(w.late, func(l late) bool { return l.revision != w.revision })
}

func (m *lab) tellAll(w *worldState, o *post) {
	for p := range w.sites {
		if t := &w.sites[p]; !t.isTold && !t.isDead && !t.isStopped {
			t.isTold = true
			o.send(p, message{kind: news, record: w.record, revision: w.revision})
		}
	}
}

// setLate lets a write reach the store later, or never.
func (m *lab) setLate(w *worldState, t *site) {
	if t.isWriting && !slices.ContainsFunc(w.late, func(l late) bool { return l.revision == t.write.revision && sameRecord(&l.record, &t.write.record) }) {
		w.late = append(w.late, t.write)
	}
	t.isWriting, t.write = false, late{}
}

func (m *lab) onInput(w *worldState, v verb, p int, o *post) {
	if v == doTickAll {
		for i := range m.nodes {
			o.send(i, message{kind: tick})
		}
		return
	}
	if v == doApplyLate {
		l := w.late[p]
		w.late = slices.Delete(slices.Clone(w.late), p, p+1)
		m.apply(w, l)
		return
	}
	t := &w.sites[p]
	switch v {
	case doTick:
		w.ahead[p]++
		if slowest := slices.Min(w.ahead); slowest > 0 {
			for i := range w.ahead {
				w.ahead[i] -= slowest
			}
		}
		o.send(p, message{kind: tick})
	case doApply:
		l := t.write
		t.isWriting, t.write, t.answer = false, late{}, failed
		if m.apply(w, l) {
			t.answer, t.answered = done, w.revision
		}
	case doAnswer:
		msg := message{kind: written, revision: t.answered, isGood: t.answer == done}
		t.answer, t.answered = none, 0
		o.send(p, msg)
	case doTell, doArrive:
		m.inform(w, v, p, o)
	case doBeat:
		b := t.beat
		t.beat, t.hasBeat = message{}, false
		o.send(int(b.who), message{kind: beat, who: int32(p), life: b.life, isLeaving: b.isLeaving})
	case doLoseBeat:
		t.beat, t.hasBeat = message{}, false
	case doLose:
		w.budget.losses--
		m.setLate(w, t)
		t.answer, t.answered = none, 0
		o.send(p, message{kind: written})
	case doCrash, doRestart:
		m.onLife(w, v, p, o)
	case doStop:
		w.budget.stops--
		t.isStopped = true
		o.send(p, message{kind: stop})
	case doGoOn:
		t.isStopped = false
		o.send(p, message{kind: goOn})
	case doLeave, doLeaveAtRest:
		w.budget.leaves--
		t.isLeaving = true
		o.send(p, message{kind: leave, isGood: v == doLeaveAtRest})
	case doRenew:
		w.budget.renewals--
		o.send(p, message{kind: renew})
	case fair, doTickAll, doApplyLate:
	}
}

// inform sends the news of the store, or lets it arrive.
func (m *lab) inform(w *worldState, v verb, p int, o *post) {
	t := &w.sites[p]
	if v == doTell {
		t.isTold, t.hasNews, t.news = true, true, late{w.record, w.revision}
	}
	if v == doTell && m.isOld {
		return
	}
	l := t.news
	t.hasNews, t.news = false, late{}
	o.send(p, message{kind: news, record: l.record, revision: l.revision})
}

// onLife: a node crashes, and what it has sent stays under way; or it comes back.
func (m *lab) onLife(w *worldState, v verb, p int, o *post) {
	t := &w.sites[p]
	if v == doCrash {
		w.budget.crashes--
		m.setLate(w, t)
		*t = site{isDead: true, life: t.life, beat: t.beat, hasBeat: t.hasBeat}
		o.send(p, message{kind: die})
		return
	}
	w.budget.restarts--
	t.isDead = false
	t.life++
	o.send(p, message{kind: rise, life: t.life, record: Record{Generation: w.record.Generation}})
}
