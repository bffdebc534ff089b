// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import "allot/model"

// Codes of the inputs: their fairness classes.
const (
	codeStart = iota
	codeRequest
	codeRelease
	codeTimeout
	codeLocal
)

// Inputs are what the application, the timer and the start may do.
func (m *machine) Inputs(p int, s *state, inputs []model.Input) []model.Input {
	at := m.seat(p)
	if at.isRoot && s.root.starting == 1 && at.degree > 0 {
		// Nothing else happens at the root before the start, so that there is one clean start and not many.
		return append(inputs, model.Input{Name: "put the tokens on their way", Code: codeStart})
	}
	return m.inputs(at, s, inputs)
}

// inputs are those of a process that has started.
func (m *machine) inputs(at seat, s *state, inputs []model.Input) []model.Input {
	switch s.phase {
	case out:
		inputs = append(inputs, m.requests...)
	case in:
		if !m.isForever(at.p) {
			inputs = append(inputs, model.Input{Name: "release", Code: codeRelease})
		}
	case req:
	}
	if m.isLoop && m.hasLocal(s) {
		inputs = append(inputs, model.Input{Name: "go on after the receives", Code: codeLocal})
	}
	if m.hasTimer(at) && s.root.fired < max(1, m.resends) && m.rule != noTimeout {
		inputs = append(inputs, model.Input{Name: "the timer runs out", Code: codeTimeout})
	}
	return inputs
}

// hasTimer tells whether the timer of a process may run out at any time; a timer that follows a clock does not.
func (m *machine) hasTimer(at seat) bool {
	return at.isRoot && m.stage == stageController && m.timeout == 0 && at.degree > 0
}

// HasClock: the root's timer may follow a clock.
func (m *machine) HasClock(p int) bool {
	return p == m.shape.root && m.stage == stageController && m.timeout > 0 && m.shape.degree[p] > 0
}

// Step is the algorithm.
func (m *machine) Step(p int, s *state, e model.Event[message], box *model.Outbox[message]) {
	at, o := m.seat(p), outbox{m.shape.channels(p), box}
	switch e.Kind {
	case model.Received:
		m.onMessage(at, s, m.shape.channel[m.graph.Link(p, e.Channel)], e.Message, o)
	case model.Given:
		m.onInput(at, s, e.Input, o)
	case model.Ticked:
		m.onTick(s, o)
	case model.LinkCut, model.LinkHealed:
		// The tree does not change here; what is lost with a link the controller makes up for.
		return
	}
	if !m.isLoop || e.Kind == model.Given && e.Input.Code == codeLocal {
		m.local(at, s, o)
	}
}

func (m *machine) onInput(at seat, s *state, input model.Input, o outbox) {
	switch input.Code {
	case codeStart:
		m.start(s, o)
	case codeRequest:
		s.phase, s.need = req, int32(input.Arg)
	case codeRelease:
		m.release(at, s, o)
	case codeTimeout:
		s.root.fired++
		m.resend(s, o)
	}
}

// onMessage handles one message from channel q.
func (m *machine) onMessage(at seat, s *state, q int32, msg message, o outbox) {
	isDropped := at.isRoot && s.root.reset && m.rule != resetAccepts
	switch {
	case msg.kind == controller && at.isRoot:
		m.onControllerAtRoot(at, s, q, msg, o)
	case msg.kind == controller:
		m.onController(at, s, q, msg, o)
	case isDropped:
		// During a reset whatever comes back to the root is taken out.
	case msg.kind == resource:
		m.onResource(at, s, q, o)
	case msg.kind == pusher:
		m.onPusher(at, s, q, o)
	case msg.kind == priority:
		m.onPriority(at, s, q, o)
	}
}

func (m *machine) onResource(at seat, s *state, q int32, o outbox) {
	isTaken := s.phase == req && int32(len(s.held)) < s.need
	switch m.rule {
	case takeAnyPhase:
		isTaken = int32(len(s.held)) < m.most
	case takeTooMany:
		isTaken = s.phase == req && int32(len(s.held)) < m.most
	}
	if isTaken {
		s.held = append(s.held, q)
		return
	}
	m.passResource(at, s, q, o, tokenPassUncounted)
}

// passResource sends a resource token that came from channel q on its way. A token that leaves the root by channel 0
// starts a new round of the tree and is counted; mutant names the variant that forgets to.
func (m *machine) passResource(at seat, s *state, q int32, o outbox, mutant rule) {
	if at.isLast(q) && m.rule != mutant {
		s.root.tokens = min(s.root.tokens+1, m.units+1)
	}
	if m.rule == resourceTurnsBack {
		o.send(q, message{kind: resource})
		return
	}
	o.send(at.next(q), message{kind: resource})
}

func (m *machine) onPusher(at seat, s *state, q int32, o outbox) {
	if m.isPushed(s) {
		m.letGo(at, s, o, tokenPushUncounted)
	}
	if at.isLast(q) && m.rule != pusherUncounted {
		s.root.pushers = min(s.root.pushers+1, 2)
	}
	o.send(at.next(q), message{kind: pusher})
}

// isPushed tells whether a process must let go of what it holds when the pusher comes.
func (m *machine) isPushed(s *state) bool {
	mayEnter := s.phase == req && s.isSatisfied()
	switch m.rule {
	case asPrinted, pushIfPriority:
		return s.prio != none && s.phase != in && !mayEnter
	case pushDespitePriority:
		return s.phase != in && !mayEnter
	case pushInside:
		return s.prio == none && !mayEnter
	case pushSatisfied:
		return s.prio == none && s.phase != in
	case pushNobody:
		return false
	}
	return s.prio == none && s.phase != in && !mayEnter
}

// letGo sends all resource tokens held on their way.
func (m *machine) letGo(at seat, s *state, o outbox, mutant rule) {
	for _, q := range s.held {
		m.passResource(at, s, q, o, mutant)
	}
	s.held = s.held[:0]
}

func (m *machine) onPriority(at seat, s *state, q int32, o outbox) {
	if s.prio == none || m.rule == priorityOverwritten {
		s.prio = q
		return
	}
	// The paper does not count a priority token that finds another one at the root, so that two of them can look like one
	// for as long as the root waits.
	if at.isLast(q) && m.rule != asPrinted && m.rule != prioPassUncounted {
		s.root.prios = min(s.root.prios+1, 2)
	}
	o.send(at.next(q), message{kind: priority})
}

// hasLocal tells whether the code after the receives has something to do.
func (m *machine) hasLocal(s *state) bool {
	return s.phase == req && s.isSatisfied() || s.prio != none && !s.isWaiting()
}

// local is the code after the receives: it enters the critical section and hands the priority token on.
func (m *machine) local(at seat, s *state, o outbox) {
	if s.phase == req && (s.isSatisfied() || at.isAlone || m.rule == enterEarly && int32(len(s.held)) == s.need-1) {
		s.phase = in
	}
	isKept := s.isWaiting()
	switch m.rule {
	case priorityNotHeld:
		isKept = false
	case priorityHeldInside:
		isKept = s.phase != out
	}
	if s.prio == none || isKept {
		return
	}
	if at.isLast(s.prio) && m.rule != prioHandUncounted {
		s.root.prios = min(s.root.prios+1, 2)
	}
	o.send(at.next(s.prio), message{kind: priority})
	s.prio = none
}

// release ends the critical section.
func (m *machine) release(at seat, s *state, o outbox) {
	s.phase, s.need = out, 0
	if m.rule != releaseKeeps {
		m.letGo(at, s, o, tokenReleaseUncounted)
	}
}
