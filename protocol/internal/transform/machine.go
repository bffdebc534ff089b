// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"math/bits"

	"allot/model"
)

// end is one end of an edge. The end at the process with the smaller number leads: it alone makes new numbers.
type end struct {
	number int64  // of the leading end: of the present round trip; of the other: of the last one that it has taken
	has    bool   // the edge's token is here
	cache  uint64 // while it is here: the state of the neighbour
	cuts   uint64 // and its cut channels, one bit for each
	isCut  bool   // the link is cut, so there is no neighbour to wait for
}

// state of a process.
type state struct {
	word uint64 // the variables of the program
	ends []end  // by channel
	done int    // steps of work done in this turn
}

// message is a token on its way, or a copy of one that has gone before: the number of the round trip and the state of the
// sender. The state is its number in the sender's layout.
type message struct {
	number int64
	rank   uint64
	cuts   uint64 // the sender's cut channels; only where networks change
}

// machine carries a program over links.
type machine struct {
	graph   *model.Graph
	guarded *model.Guarded
	program model.Program
	actions []model.Action
	owed    uint64 // the actions that are not the environment's
	layouts []model.Layout
	order   [][]int32 // by process: its channels in the order in which it collects their tokens
	names   [][]names // by process and channel
	words   int       // of a configuration of the program
	most    uint64    // the largest number of a state of any process
	degree  int       // the largest degree

	isChanging bool  // the program heeds cut links
	numbers    int64 // a number is less than this
	isNumbered bool  // links may reorder
	work       int   // steps that an action takes before it is done
	flaw       string
}

// The codes of the inputs, which are their classes of fairness, and the arguments of those that are no action.
const (
	onTimer = iota
	onTurn

	passOn = 64
	workOn = 65
)

func (m *machine) leads(p, channel int) bool { return p < int(m.graph.Neighbours(p)[channel]) }

// Clean has every token at the end that leads.
func (m *machine) Clean(p int) state {
	s := state{word: m.program.Clean(p), ends: make([]end, m.graph.Degree(p))}
	for i, q := range m.graph.Neighbours(p) {
		if m.leads(p, i) {
			s.ends[i] = end{has: true, cache: m.program.Clean(int(q))}
		}
	}
	return s
}

// hasTurn tells whether the tokens of all edges are here, so that nobody near by can act and all caches are true.
func (m *machine) hasTurn(s *state) bool {
	missing := 0
	for i := range s.ends {
		if !s.ends[i].has && !s.ends[i].isCut {
			missing++
		}
	}
	return missing == 0 || m.flaw == "one-token-is-enough" && missing < len(s.ends)
}

// sight is what p knows, as a configuration of the program: itself and its neighbours.
func (m *machine) sight(p int, s *state) model.Configuration {
	c := make(model.Configuration, m.words)
	c[p] = s.word
	if m.isChanging {
		m.mark(p, s.cuts(), c)
	}
	for i, q := range m.graph.Neighbours(p) {
		c[q] = s.ends[i].cache
		if m.isChanging {
			m.mark(int(q), s.ends[i].cuts, c)
		}
	}
	return c
}

// cuts are the cut channels of a process, one bit for each.
func (s *state) cuts() uint64 {
	var set uint64
	for i := range s.ends {
		if s.ends[i].isCut {
			set |= 1 << i
		}
	}
	return set
}

// mark cuts channels of p in a configuration of the program.
func (m *machine) mark(p int, cuts uint64, c model.Configuration) {
	var b model.Buffer
	for ; cuts != 0; cuts &= cuts - 1 {
		if channel := bits.TrailingZeros64(cuts); channel < m.graph.Degree(p) {
			m.guarded.Apply(c, []model.Move{{Kind: model.Cut, At: int32(m.graph.Link(p, channel))}}, &b)
		}
	}
}

// Inputs: in its turn a process acts, or passes the turn on if there is nothing that it owes. Otherwise its timer may run out.
func (m *machine) Inputs(p int, s *state, inputs []model.Input) []model.Input {
	if !m.hasTurn(s) {
		return append(inputs, model.Input{Name: "timer", Code: onTimer})
	}
	set := m.program.Enabled(p, m.sight(p, s))
	isOwed := set&m.owed != 0
	if isOwed && s.done < m.work {
		return append(inputs, model.Input{Name: "go on with the action", Code: onTurn, Arg: workOn})
	}
	for ; set != 0; set &= set - 1 {
		a := bits.TrailingZeros64(set)
		inputs = append(inputs, model.Input{Name: m.actions[a].Name, Code: onTurn, Arg: uint64(a), Environment: m.actions[a].Environment})
	}
	if !isOwed {
		inputs = append(inputs, model.Input{Name: "pass the turn on", Code: onTurn, Arg: passOn})
	}
	return inputs
}

func (m *machine) Step(p int, s *state, e model.Event[message], out *model.Outbox[message]) {
	switch e.Kind {
	case model.Received:
		m.onMessage(p, s, e.Channel, e.Message)
	case model.Given:
		switch {
		case e.Input.Code == onTimer:
			m.onTimer(p, s, out)
		case e.Input.Arg == workOn:
			s.done++
		default:
			m.onTurn(p, s, int(e.Input.Arg), out)
		}
	case model.LinkCut, model.LinkHealed:
		m.onLink(s, e.Channel, e.Kind == model.LinkCut)
	case model.Ticked:
	}
}

// onLink lets the token of an edge go that is cut or healed: what came with it is not true any more. A program that does not heed
// cut links waits; for it a cut link is one that loses everything.
func (m *machine) onLink(s *state, channel int, isCut bool) {
	if !m.isChanging {
		return
	}
	e := &s.ends[channel]
	e.isCut, e.has, e.cache, e.cuts = isCut, false, 0, 0
}

// onMessage takes the token if the message brings it. A token that is here already is not on its way.
func (m *machine) onMessage(p int, s *state, channel int, msg message) {
	e := &s.ends[channel]
	sender := m.graph.Neighbours(p)[channel]
	if msg.rank >= m.layouts[sender].Size() || msg.cuts>>m.graph.Degree(int(sender)) != 0 {
		return // nothing that the sender could have said
	}
	if e.has && m.flaw != "take-twice" {
		return
	}
	var isToken bool
	if m.leads(p, channel) {
		isToken = msg.number == e.number || m.flaw == "any-answer"
		if m.isNumbered && msg.number > e.number && m.flaw != "no-jump" {
			e.number = min(msg.number+1, m.numbers-1) // the other end is ahead, so this one goes on from there
			return
		}
	} else {
		isToken = msg.number != e.number || m.flaw == "any-token"
		if m.isNumbered {
			isToken = msg.number > e.number
		}
	}
	if !isToken {
		return
	}
	e.number, e.has = msg.number, true
	if m.flaw != "old-cache" {
		e.cache, e.cuts = m.layouts[sender].Value(msg.rank), msg.cuts
	}
}

// onTimer sends again what may have been lost, and gives back what is of no use yet: to keep the token of an edge while one that
// comes before it is missing is how processes would come to wait for each other in a circle.
func (m *machine) onTimer(p int, s *state, out *model.Outbox[message]) {
	isComplete := true
	for _, channel := range m.order[p] {
		e := &s.ends[channel]
		switch {
		case e.isCut:
		case !e.has:
			isComplete = false
			if m.flaw != "send-once" {
				m.send(p, s, int(channel), out)
			}
		case !isComplete && m.flaw != "keep-all":
			m.pass(p, s, int(channel), out)
		}
	}
}

// onTurn takes an action, if there is one, and lets the others have their turns.
func (m *machine) onTurn(p int, s *state, action int, out *model.Outbox[message]) {
	before := s.word
	s.done = 0
	if action != passOn {
		s.word = m.program.Next(p, action, m.sight(p, s))
	}
	after := s.word
	if m.flaw == "send-before" {
		s.word = before
	}
	for channel := range s.ends {
		if s.ends[channel].has {
			m.pass(p, s, channel, out)
		}
	}
	s.word = after
}

// pass lets the token of an edge go, unless the numbers have run out.
func (m *machine) pass(p int, s *state, channel int, out *model.Outbox[message]) {
	e := &s.ends[channel]
	if m.leads(p, channel) && m.flaw != "same-number" {
		if e.number++; e.number == m.numbers {
			if m.isNumbered {
				e.number--
				return
			}
			e.number = 0
		}
	}
	if m.flaw != "keep-token" {
		e.has, e.cache, e.cuts = false, 0, 0
	}
	m.send(p, s, channel, out)
}

func (m *machine) send(p int, s *state, channel int, out *model.Outbox[message]) {
	msg := message{number: s.ends[channel].number, rank: m.layouts[p].Rank(s.word)}
	if m.isChanging {
		msg.cuts = s.cuts()
	}
	out.Send(channel, msg)
}
