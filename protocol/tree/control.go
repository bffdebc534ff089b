// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

// This file is the controller: how tokens are counted, made and taken away.
//
// The tokens go round the virtual ring that depth-first order makes of the tree, and so does the controller. At the end of
// its circulation every token is behind it: either the controller has passed it, while some process held it (PT), or the
// token has left the root by channel 0 since the circulation began (SToken). A token that the root itself holds from its
// last channel is passed in the very step in which the circulation ends.

// start puts the tokens of a clean start on their way, and the controller behind them.
func (m *machine) start(s *state, o outbox) {
	s.root.starting = 0
	if m.stage >= stagePriority {
		o.send(0, message{kind: priority})
	}
	for range m.units {
		o.send(0, message{kind: resource})
	}
	if m.stage >= stagePusher {
		o.send(0, message{kind: pusher})
	}
	if m.stage == stageController {
		// Nobody has been visited yet, so the first circulation needs a number that is not the clean one.
		s.counter = m.after(s.counter)
		o.send(0, message{kind: controller, counter: s.counter})
	}
}

// onTick advances a timer that follows a clock.
func (m *machine) onTick(s *state, o outbox) {
	if s.root.starting == 1 {
		return
	}
	if s.root.ticks++; s.root.ticks >= m.timeout {
		s.root.ticks = 0
		m.resend(s, o)
	}
}

// resend is what the root does when its timer runs out: the controller may be lost.
func (m *machine) resend(s *state, o outbox) {
	o.send(s.succ, message{kind: controller, counter: s.counter, reset: s.root.reset, resent: m.hasMark()})
}

func (m *machine) onControllerAtRoot(at seat, s *state, q int32, msg message, o outbox) {
	isFromSucc := q == s.succ || m.rule == rootAnyChannel
	isPresent := msg.counter == s.counter || m.rule == rootAnyCounter
	if !isFromSucc || !isPresent || s.root.starting == 1 {
		return
	}
	s.root.ticks = 0
	if m.resends > 0 {
		s.root.fired = 0
	}
	last := at.degree - 1
	s.succ = at.next(s.succ)
	if !m.countsLate() {
		m.pass(s, q, &msg, rootPassUncounted, rootPrioUncounted)
	}
	if s.succ == 0 {
		if m.rule != counterStands {
			s.counter = m.after(s.counter)
		}
		m.endCirculation(s, &msg, o)
		if m.rule != passedKept {
			msg.passed = 0
		}
		if m.rule != priosKept {
			msg.prios = 0
		}
		msg.resent = false
	}
	if m.countsLate() {
		m.pass(s, q, &msg, rootPassUncounted, rootPrioUncounted)
	} else if m.rule == countTwice && q == last {
		m.pass(s, q, &msg, rootPassUncounted, rootPrioUncounted)
	}
	msg.counter, msg.reset = s.counter, s.root.reset
	o.send(s.succ, msg)
}

// countsLate: the paper has the root count what it holds after it has judged the circulation, for the next one. What the
// root took during this circulation is then in no count, and what it lets go during the next one is in two.
func (m *machine) countsLate() bool { return m.rule == asPrinted || m.rule == countLate }

// pass counts the tokens that the controller passes on its way through a process.
func (m *machine) pass(s *state, q int32, msg *message, resourceMutant, priorityMutant rule) {
	if m.rule != resourceMutant {
		msg.passed = min(msg.passed+s.heldFrom(q), m.units+1)
	}
	if s.prio == q && m.rule != priorityMutant {
		msg.prios = min(msg.prios+1, 2)
	}
}

// endCirculation judges the counts: too many of anything takes everything away in the next circulation, too few are made
// up for at once.
func (m *machine) endCirculation(s *state, msg *message, o outbox) {
	r := &s.root
	// Where part of the counts went missing with a lost controller, the next circulation counts anew.
	if !msg.resent || m.rule == resentJudged {
		tokens, prios := msg.passed+r.tokens, msg.prios+r.prios
		r.reset = tokens > m.units && m.rule != excessTokensAllowed ||
			prios > 1 && m.rule != excessPriosAllowed ||
			r.pushers > 1 && m.rule != excessPushersAllowed
		if r.reset {
			m.dropHeld(s, resetKeepsRootTokens)
			m.dropPriority(s, resetKeepsRootPriority)
		}
		if !r.reset || m.rule == makeDuringReset {
			m.makeUp(tokens, prios, r.pushers, o)
		}
	}
	if m.rule != tokensKept {
		r.tokens = 0
	}
	if m.rule != priosSeenKept {
		r.prios = 0
	}
	if m.rule != pushersKept {
		r.pushers = 0
	}
}

// makeUp makes the tokens that are missing. They leave before the controller, so it has them in front of it.
func (m *machine) makeUp(tokens, prios, pushers int32, o outbox) {
	if prios < 1 && m.rule != noNewPriority {
		o.send(0, message{kind: priority})
	}
	for ; tokens < m.units && m.rule != noNewTokens; tokens++ {
		o.send(0, message{kind: resource})
	}
	if pushers < 1 && m.rule != noNewPusher {
		o.send(0, message{kind: pusher})
	}
}

// dropHeld takes the resource tokens away that a process holds. Units in use are spared, and counted: the paper takes them
// too and makes them anew while the application still uses them.
func (m *machine) dropHeld(s *state, mutant rule) {
	if m.rule == mutant || s.phase == in && m.rule != asPrinted && m.rule != hardReset {
		return
	}
	s.held = s.held[:0]
}

func (m *machine) dropPriority(s *state, mutant rule) {
	if m.rule != mutant {
		s.prio = none
	}
}

func (m *machine) onController(at seat, s *state, q int32, msg message, o outbox) {
	isForwarded := false
	isBack := q == s.succ && (s.succ != 0 || m.rule == backFromParent)
	if m.rule == childAnyChannel {
		isBack = q != 0
	}
	if isBack && (msg.counter == s.counter || m.rule == childAnyCounter) {
		s.succ = at.next(s.succ)
		isForwarded = true
		if msg.reset {
			m.dropHeld(s, resetKeepsTokensBack)
			if m.dropsPriorityBack() {
				s.prio = none
			}
		}
	}
	if q == 0 && m.onControllerFromParent(at, s, msg) {
		isForwarded = true
	}
	if isForwarded {
		m.pass(s, q, &msg, passUncounted, prioUncounted)
		o.send(s.succ, msg)
	}
}

// onControllerFromParent tells whether the controller goes on. One with the number that is already here belongs to a
// circulation that the timer doubled; it goes on too, since the other one may be lost.
func (m *machine) onControllerFromParent(at seat, s *state, msg message) bool {
	if msg.counter == s.counter {
		return m.rule != doubleNotForwarded
	}
	if m.rule != succKept {
		s.succ = min(1, at.degree-1)
	}
	if msg.reset {
		m.dropHeld(s, resetKeepsTokens)
		m.dropPriority(s, resetKeepsPriority)
	}
	if m.rule != counterNotTaken {
		s.counter = msg.counter
	}
	return true
}
