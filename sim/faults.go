// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"allot/model"
)

// faultTaker is the part of a runner that injects the faults of the script.
type faultTaker struct {
	script     []statement
	events     *timers // by statement: when it happens next
	waiting    []int32 // statements that wait for the run to be stable, in order
	waitsSince int64   // no earlier than this may the next of them happen
	delays     *timers // by link: until when it delivers nothing
	statements []StatementReport
	faults     map[string]int64
	counts     [16]int64 // by kind of move; faults is made of them at the end
	lastFault  int64
	lastRound  int64 // rounds completed before it
	chance     Chance
	forgeable  uint64 // how many messages there are to forge; 0 until it is asked for
	// awaitsStable tells that something happens as soon as the run is stable.
	awaitsStable bool
}

func newFaultTaker(o Options) faultTaker {
	f := faultTaker{faults: map[string]int64{}, lastFault: -1, lastRound: -1, chance: newChance(o.Seed, chanceFaults), delays: newTimers(0)}
	if o.Script != nil {
		f.script = o.Script.statements
	}
	f.events = newTimers(len(f.script))
	f.statements = make([]StatementReport, len(f.script))
	for i, st := range f.script {
		f.statements[i] = StatementReport{Line: st.line, Text: st.text}
		if st.isStable {
			f.waiting = append(f.waiting, int32(i))
		} else {
			f.events.set(int32(i), st.from)
		}
	}
	return f
}

// hasWaiting tells whether a statement waits for the run to be stable.
func (f *faultTaker) hasWaiting() bool { return len(f.waiting) > 0 }

// isScriptDone tells whether no statement will happen again.
func (f *faultTaker) isScriptDone() bool { return len(f.waiting) == 0 && f.events.next() == never }

// noteFault counts a fault that happened.
func (f *faultTaker) noteFault(k model.Kind) { f.counts[k]++ }

// runScript lets everything happen whose time has come, in the order of the lines.
func (r *runner) runScript() {
	for r.stopped == "" {
		i, ok := r.events.due(r.now)
		if !ok {
			break
		}
		st := &r.script[i]
		r.execute(st, &r.statements[i])
		if next := r.now + st.every; st.every > 0 && next <= st.to {
			r.events.set(i, next)
		}
	}
	// One at a time: each waits until the run is stable again after the one before.
	if r.stopped == "" && len(r.waiting) > 0 && r.now >= r.waitsSince && r.watcher.isStable() {
		i := r.waiting[0]
		r.waiting, r.waitsSince = r.waiting[1:], r.now+1
		r.execute(&r.script[i], &r.statements[i])
	}
}

func (r *runner) execute(st *statement, rep *StatementReport) {
	m := model.Move{Kind: verbs[st.verb].kind, At: st.process, Arg: st.number}
	switch st.verb {
	case verbCorrupt:
		r.corrupt(st, rep)
		return
	case verbDelay:
		r.delay(st, rep)
		return
	case verbRate:
		r.setRate(st, rep)
		return
	case verbForge:
		m.At = st.link
		if st.isRandom {
			m.Arg = r.randomMessage()
		}
	case verbDrop, verbDuplicate:
		m.At = st.link
	case verbCut, verbHeal:
		m.At, m.Arg = st.link, 0
	case verbCrash, verbResume, verbRestart, verbLeave, verbJoin:
	}
	r.inject(m, rep)
}

// inject lets a fault happen, unless it cannot.
func (r *runner) inject(m model.Move, rep *StatementReport) {
	if r.stopped != "" {
		return
	}
	if err := r.refuse(m); err != nil {
		rep.Skipped++
		rep.Reason = err.Error()
		return
	}
	rep.Fired++
	r.one[0] = m
	r.take(r.one[:], byScript)
}

// refuse tells why a fault cannot happen, or would change nothing.
func (r *runner) refuse(m model.Move) error {
	w := r.world
	if err := w.sys.Check(w.c, m); err != nil {
		return err
	}
	status, ok := w.sys.(interface {
		IsCrashed(c model.Configuration, p int) bool
		IsCut(c model.Configuration, link int) bool
	})
	if !ok {
		return nil
	}
	name := func() string { return w.sys.Graph().Name(int(m.At)) }
	switch m.Kind {
	case model.Crash, model.Leave:
		if status.IsCrashed(w.c, int(m.At)) {
			return fmt.Errorf("%s: process %s has crashed already", m.Kind, name())
		}
	case model.Resume, model.Join:
		if !status.IsCrashed(w.c, int(m.At)) {
			return fmt.Errorf("%s: process %s has not crashed", m.Kind, name())
		}
	case model.Cut, model.Heal:
		if status.IsCut(w.c, int(m.At)) == (m.Kind == model.Cut) {
			return fmt.Errorf("%s: the edge is in that state already", m.Kind)
		}
	case model.Forge, model.Duplicate:
		if status.IsCut(w.c, int(m.At)) {
			return fmt.Errorf("%s: the link is cut", m.Kind)
		}
	case model.Act, model.Deliver, model.Tick, model.Lose, model.Corrupt, model.Restart:
	}
	return nil
}

// corrupt overwrites the memory of one process, of some, or of all.
func (r *runner) corrupt(st *statement, rep *StatementReport) {
	n := r.world.processes
	switch {
	case st.isEverybody:
		for p := range n {
			r.corruptOne(int32(p), rep)
		}
	case st.isSome:
		// The first places of a shuffle of all processes. Only the places that were swapped are kept.
		swapped := map[uint64]uint64{}
		at := func(i uint64) uint64 {
			if v, ok := swapped[i]; ok {
				return v
			}
			return i
		}
		for i := range st.number {
			j := i + r.chance.Below(uint64(n)-i)
			p := at(j)
			swapped[j] = at(i)
			r.corruptOne(int32(p), rep)
		}
	case st.isRandom:
		r.corruptOne(st.process, rep)
	default:
		r.inject(model.Move{Kind: model.Corrupt, At: st.process, Arg: st.number}, rep)
	}
}

func (r *runner) corruptOne(p int32, rep *StatementReport) {
	size, _ := r.world.sys.Domain(int(p))
	var rank uint64
	if size > 0 && size < model.Uncountable {
		rank = r.chance.Below(size)
	} else {
		rank = r.chance.Uint64()
	}
	r.inject(model.Move{Kind: model.Corrupt, At: p, Arg: rank}, rep)
}

// randomMessage is the rank of a message to forge. How many there are is found by asking Check, which knows.
func (r *runner) randomMessage() uint64 {
	if r.forgeable == 0 {
		isOne := func(rank uint64) bool {
			return r.world.sys.Check(r.world.c, model.Move{Kind: model.Forge, Arg: rank}) == nil
		}
		for bit := uint64(1) << 62; bit > 0; bit >>= 1 {
			if isOne((r.forgeable | bit) - 1) {
				r.forgeable |= bit
			}
		}
	}
	if r.forgeable == 0 {
		return 0
	}
	return r.chance.Below(r.forgeable)
}

// delay stops a link for some steps. It acts on the schedule alone: a recording shows only what was delivered when.
func (r *runner) delay(st *statement, rep *StatementReport) {
	w := r.world
	if w.firstClock == w.firstLink {
		rep.Skipped++
		rep.Reason = "delay: this algorithm has no messages"
		return
	}
	if len(r.delays.at) == 0 {
		r.delays = newTimers(w.sys.Graph().Links())
	}
	site := int32(w.firstLink) + st.link
	w.spots[site].flags |= isBlocked
	w.refresh(site)
	r.delays.set(st.link, r.now+int64(st.number))
	r.noteScheduled("delay", rep)
}

// endDelays lets the links deliver again whose time has come.
func (r *runner) endDelays() {
	for {
		link, ok := r.delays.due(r.now)
		if !ok {
			return
		}
		site := int32(r.world.firstLink) + link
		r.world.spots[site].flags &^= isBlocked
		r.world.refresh(site)
	}
}

// setRate makes a clock run faster or slower. Like a delay it acts on the schedule alone.
func (r *runner) setRate(st *statement, rep *StatementReport) {
	w := r.world
	if r.clocks == nil || w.clockOf[st.process] < 0 {
		rep.Skipped++
		rep.Reason = fmt.Sprintf("rate: process %s has no clock", w.sys.Graph().Name(int(st.process)))
		return
	}
	r.clocks.setRate(int(w.clockOf[st.process])-w.firstClock, int64(st.number), r.now)
	r.noteScheduled("rate", rep)
}

func (r *runner) noteScheduled(name string, rep *StatementReport) {
	rep.Fired++
	r.faults[name]++
	r.noteLast()
}

// noteLast notes that a fault happens now.
func (r *runner) noteLast() {
	r.lastFault, r.lastRound, r.watcher.outside = r.now, r.world.rounds.count, 0
}

// faultCounts is what happened, by kind.
func (f *faultTaker) faultCounts() map[string]int64 {
	for k, n := range f.counts {
		if n > 0 {
			f.faults[model.Kind(k).String()] += n
		}
	}
	return f.faults
}
