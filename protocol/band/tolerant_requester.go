// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"allot/model"
	"allot/protocol/internal/coterie"
)

// visit is one step of one process of the variant tolerant. What it sends to itself it receives at the end of the step.
type visit struct {
	*tolerant
	p     int
	s     *person
	out   *model.Outbox[letter]
	local []letter
}

func (v *visit) send(to int, l letter) {
	if to == v.p {
		v.local = append(v.local, l)
		return
	}
	v.out.Send(int(v.channels[v.p][to]), l)
}

func (v *visit) now() *form { return &v.forms[v.s.form] }

func (v *visit) isMember() bool { return v.p < v.now().members }

// The codes of the inputs.
const (
	askCode = iota
	withdrawCode
	crashCode
	restartCode
	changeCode
	suspectCode
	buryCode
)

// Inputs: whoever rests may be asked to enter or to leave, whoever waits may give up, everybody may crash, and an arbiter may
// suspect whom it likes. A restart is owed.
func (d *tolerant) Inputs(p int, s *person, inputs []model.Input) []model.Input {
	if p == d.n {
		return d.controlInputs(&s.control, inputs)
	}
	if s.isDown {
		if s.isGone {
			return inputs
		}
		if d.isBurying && d.changes > 0 {
			inputs = append(inputs, model.Input{Name: "is given up for good", Code: buryCode, Environment: true})
		}
		return append(inputs, model.Input{Name: "restarts", Code: restartCode})
	}
	if p < d.crashers && s.incarnation <= d.crashes {
		inputs = append(inputs, model.Input{Name: "crashes", Code: crashCode, Environment: true})
	}
	if s.suspected < d.suspicions {
		inputs = d.suspects(s, inputs)
	}
	if s.wish != resting {
		if s.withdrawn < d.withdraw {
			inputs = append(inputs, model.Input{Name: "gives up", Code: withdrawCode, Environment: true})
		}
		return inputs
	}
	if s.wishes >= d.times || s.isFrozen || p >= d.forms[s.form].members {
		return inputs
	}
	name := "is asked to enter"
	if s.inside {
		name = "is asked to leave"
	}
	return append(inputs, model.Input{Name: name, Code: askCode, Environment: true})
}

func (d *tolerant) Step(p int, s *person, e model.Event[letter], out *model.Outbox[letter]) {
	v := visit{tolerant: d, p: p, s: s, out: out}
	switch e.Kind {
	case model.Given:
		v.onInput(e.Input)
	case model.Received:
		v.onLetter(int(d.graph.Neighbours(p)[e.Channel]), e.Message)
	case model.Ticked:
		v.onTick()
	case model.LinkCut, model.LinkHealed:
	}
	for i := 0; i < len(v.local); i++ {
		v.onLetter(p, v.local[i])
	}
}

func (v *visit) onInput(input model.Input) {
	switch input.Code {
	case askCode:
		v.s.wishes++
		v.becomeWishing()
	case withdrawCode:
		v.s.withdrawn++
		v.becomeResting()
	case crashCode:
		v.crash()
	case restartCode:
		v.restart()
	case changeCode:
		v.change()
	case suspectCode:
		v.s.suspected++
		v.strike(int(input.Arg))
		v.schedule(-1)
	case buryCode:
		v.s.isGone = true
		v.send(v.n, letter{topic: gone})
	}
}

func (v *visit) onLetter(from int, l letter) {
	switch l.topic {
	case frozen, hello, gone:
		v.onControl(from, l)
		return
	case tell, noted, given, recall, still, yes, poke, freeze, begin:
	}
	if v.s.isDown {
		return
	}
	switch l.topic {
	case freeze:
		v.onFreeze(l)
	case begin:
		v.onBegin(l)
	case tell, noted, given, recall, still, yes, poke:
		if l.generation != v.s.generation && v.mutant != "tolerant-any-generation" {
			return
		}
		switch l.topic {
		case tell:
			v.onTell(from, l)
		case still:
			v.onStill(from, l)
		case noted, given, recall, yes, poke, freeze, frozen, begin, hello, gone:
			v.onAnswer(from, l)
		}
	case frozen, hello, gone:
	}
}

// guard of a wish.
func guard(w op) int {
	if w == leaving {
		return floor
	}
	return ceiling
}

// becomeWishing begins what the process is asked for.
func (v *visit) becomeWishing() {
	s := v.s
	s.wish = entering
	if s.inside {
		s.wish = leaving
	}
	s.clock++
	s.time = s.clock
	if !v.has[guard(s.wish)] {
		v.act()
		return
	}
	v.renumber()
}

// becomeResting withdraws the wish.
func (v *visit) becomeResting() {
	v.s.wish, v.s.time = resting, 0
	v.renumber()
}

// act changes sides. It takes one step.
func (v *visit) act() {
	v.s.inside = !v.s.inside
	v.s.fell = v.s.fell && !v.s.inside
	v.becomeResting()
}

// renumber tells the whole quorum something new. Rounds are counted anew, since no answer to an old number counts.
func (v *visit) renumber() {
	v.s.round = 0
	for _, j := range v.now().quorums[v.p] {
		v.next(j)
	}
}

// next tells one arbiter something new, and so gives back what it has granted.
func (v *visit) next(j int) {
	t := &v.s.ties[j]
	*t = tie{incarnation: t.incarnation, number: t.number + 1}
	v.tell(j, false)
}

func (v *visit) tell(j int, isAgain bool) {
	t, where := &v.s.ties[j], without
	if v.s.inside {
		where = within
	}
	v.send(j, letter{topic: tell, generation: v.s.generation, from: v.s.incarnation, to: t.incarnation, number: t.number,
		time: v.s.time, where: where, wish: v.s.wish, isAgain: isAgain})
}

func (v *visit) onAnswer(from int, l letter) {
	if !v.now().in[v.p].Has(from) {
		return
	}
	t := &v.s.ties[from]
	switch {
	case l.to != v.s.incarnation && l.topic != poke || l.from < t.incarnation:
		return
	case l.from > t.incarnation:
		t.incarnation = l.from
		if v.mutant == "tolerant-keeps-grant" {
			t.number++
			v.tell(from, false)
			return
		}
		v.next(from)
		return
	case l.topic == poke:
		if !t.isHeard {
			v.tell(from, false)
		}
		return
	case l.number != t.number && v.mutant != "tolerant-any-answer":
		return
	}
	v.s.clock = max(v.s.clock, l.time)
	t.isHeard = true
	switch l.topic {
	case noted:
		if v.s.wish == resting && !v.s.inside {
			t.isLow, t.known = l.isLow, nil
			t.learn(l.who)
			v.maybeStepIn()
		}
	case given:
		v.onGiven(from, l)
	case recall:
		v.next(from)
	case yes:
		if t.isGranted && l.round == v.s.round {
			t.isSure = true
			v.maybeAct()
		}
	case tell, still, poke, freeze, frozen, begin, hello, gone:
	}
}

func (v *visit) onGiven(from int, l letter) {
	if v.s.wish == resting {
		return
	}
	t := &v.s.ties[from]
	t.learn(l.who)
	if !t.isGranted {
		t.isGranted = true
		if v.hasGrants() {
			v.becomeAsking()
		}
	}
	v.maybeAct()
}

// learn notes who is registered.
func (t *tie) learn(who coterie.Set) {
	if t.known == nil {
		t.known = who.Clone()
		return
	}
	t.known.Unite(who)
}

func (v *visit) hasGrants() bool {
	for _, j := range v.now().quorums[v.p] {
		if !v.s.ties[j].isGranted {
			return false
		}
	}
	return true
}

// becomeAsking begins a round in which all arbiters must say that they still grant. What they said in an earlier one is void: the moment at
// which all are granted is the beginning of the round.
func (v *visit) becomeAsking() {
	v.s.round++
	for j := range v.s.ties {
		v.s.ties[j].isSure = v.s.ties[j].isSure && v.mutant == "tolerant-stays-sure"
	}
	v.askStill()
}

// askStill asks those who have not said so in this round whether this process still has their grants.
func (v *visit) askStill() {
	for _, j := range v.now().quorums[v.p] {
		if t := &v.s.ties[j]; !t.isSure {
			v.send(j, letter{topic: still, generation: v.s.generation, from: v.s.incarnation, to: t.incarnation, number: t.number, round: v.s.round})
		}
	}
}

// maybeAct changes sides if all have granted, have said so again, and enough are registered.
func (v *visit) maybeAct() {
	if v.s.isFrozen && v.mutant != "tolerant-acts-frozen" {
		return
	}
	union, f := coterie.NewSet(v.n), v.now()
	for _, j := range f.quorums[v.p] {
		t := &v.s.ties[j]
		if !t.isGranted || !t.isSure && v.mutant != "tolerant-unsure" {
			return
		}
		union.Unite(t.known)
	}
	count := 1 // itself
	union.Each(func(x int) {
		if x != v.p && (v.isSaidByAll(x) || v.mutant == "tolerant-one-witness") {
			count++
		}
	})
	if count >= f.need[guard(v.s.wish)] {
		v.act()
	}
}

// isSaidByAll tells whether every arbiter that must know of a process, and was asked, says that it is registered: if one of them knows of a
// crash, nobody counts on the dead.
func (v *visit) isSaidByAll(x int) bool {
	f := v.now()
	for _, j := range f.quorums[v.p] {
		if f.in[x].Has(j) && !v.s.ties[j].known.Has(x) {
			return false
		}
	}
	return true
}

// maybeStepIn enters without being asked if the whole quorum says that too few are inside.
func (v *visit) maybeStepIn() {
	if v.s.isFrozen || !v.isStepping || v.mutant == "tolerant-stays-low" {
		return
	}
	union := coterie.NewSet(v.n)
	for _, j := range v.now().quorums[v.p] {
		if !v.s.ties[j].isLow {
			return
		}
		union.Unite(v.s.ties[j].known)
	}
	if union.Len() < v.l {
		v.becomeWishing()
	}
}

// retell lets a tick pass for the requester: what was not answered is told again, and what is registered is renewed.
func (v *visit) retell() {
	v.s.beat++
	isRenewal := v.s.beat >= v.expiry/3
	if isRenewal {
		v.s.beat = 0
	}
	if v.s.wish != resting && v.hasGrants() {
		v.askStill()
	}
	for _, j := range v.now().quorums[v.p] {
		switch t := &v.s.ties[j]; {
		case !t.isHeard:
			v.tell(j, false)
		case isRenewal && v.expiry > 0:
			v.tell(j, true)
		}
	}
}
