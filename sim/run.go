// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"fmt"

	"allot/model"
)

// Run simulates one run and measures it. A run that is cancelled is no error: the report says how far it came.
func Run(ctx context.Context, inst *model.Instance, o Options) (report *Report, err error) {
	defer model.CatchDomain(&err)
	r, err := newRunner(ctx, inst, o)
	if err != nil {
		return nil, err
	}
	r.begin()
	if err := r.loop(); err != nil {
		return nil, err
	}
	return r.report(), nil
}

// runner is one run. Its time is the number of steps that the daemon has taken; faults and ticks happen between them.
type runner struct {
	ctx     context.Context
	o       Options
	world   *world
	watcher *watcher
	daemon  Daemon
	// isRecorded tells that the daemon plays a recording, which holds faults and ticks too.
	isRecorded bool
	schedule   Schedule
	faultTaker
	clocks *clocks // nil if there are none
	record recording

	now     int64
	horizon int64 // the time of the next thing that is not a step of the daemon
	polled  int64 // the time of the next look at the context
	shown   int64 // the time of the next report of progress
	stopped string

	idle, moves, ticks, messages, bytes int64
	trace                               uint64
	step                                []model.Move
	one                                 [1]model.Move
}

// pollEvery is how many steps pass between two looks at the context.
const pollEvery = 4096

func newRunner(ctx context.Context, inst *model.Instance, o Options) (*runner, error) {
	if err := o.validate(inst); err != nil {
		return nil, err
	}
	if o.Daemon == nil {
		o.Daemon = &Central{}
	}
	_, isGreedy := o.Daemon.(*Greedy)
	if n, ok := inst.System.(*model.Network); ok && !o.Interned && !isGreedy && n.Table() != nil {
		inst = inst.With(n.Live())
	}
	c, ranks, err := start(inst.System, o)
	if err != nil {
		return nil, err
	}
	w := newWorld(inst, c)
	w.buf.CountBytes = o.CountBytes
	w.watchPhases()
	o = o.withDefaults(w)
	r := &runner{ctx: ctx, o: o, world: w, daemon: o.Daemon, schedule: Schedule{world: w, Chance: newChance(o.Seed, chanceSchedule)}}
	r.watcher = newWatcher(w, ranks == nil, isLive(inst.System))
	r.faultTaker = newFaultTaker(o)
	r.watcher.isFinal = func() bool { return r.isScriptDone() && !r.isRecorded }
	if _, r.isRecorded = o.Daemon.(*Recorded); r.isRecorded && o.Script != nil {
		return nil, errors.New("daemon recorded: the faults are in the recording, leave the script away")
	}
	if err := o.Daemon.Begin(&r.schedule); err != nil {
		return nil, err
	}
	if w.firstClock < w.sites && !r.isRecorded {
		chance := newChance(o.Seed, chanceClocks)
		r.clocks = newClocks(w, o.TickEvery, &chance)
	}
	if o.Record {
		r.record.isOn, r.record.start = true, ranks
	}
	return r, nil
}

// begin looks at the start.
func (r *runner) begin() {
	r.trace = traceStart
	r.shown = r.o.ProgressEvery
	isBroken := r.watcher.look(nil, Moment{}, 0)
	if isBroken && r.o.StopWhenViolated {
		r.stopped = StoppedViolated
	}
	r.attend()
}

// loop is the run. What is not a step of the daemon is looked at only when its time has come.
func (r *runner) loop() error {
	for r.stopped == "" {
		if r.now >= r.horizon {
			if r.attend(); r.stopped != "" {
				return nil
			}
		}
		if len(r.world.enabled) == 0 && !r.isRecorded {
			r.wait()
			continue
		}
		step, err := r.daemon.Choose(&r.schedule, r.step[:0])
		if err != nil {
			return fmt.Errorf("daemon %s: %w", r.daemon, err)
		}
		if r.step = step; len(step) == 0 {
			r.stopped = StoppedRecording
			r.watcher.rest(len(r.record.steps))
			return nil
		}
		r.now++
		r.take(step, byDaemon)
		if r.awaitsStable && r.watcher.isStable() {
			r.horizon = r.now
		}
	}
	return nil
}

// who decided that a step is taken.
type who uint8

const (
	byDaemon who = iota
	byClock
	byScript
)

// take takes a step, counts it and looks at what it has come to.
func (r *runner) take(step []model.Move, by who) {
	w := r.world
	w.now = r.now
	isOwn := !r.isRecorded || !step[0].Kind.IsFault() && step[0].Kind != model.Tick // a recording holds faults and ticks too
	w.apply(step, by == byDaemon && isOwn)
	r.messages += int64(w.buf.Sent)
	r.bytes += int64(w.buf.SentBytes)
	for _, m := range step {
		r.trace = mix(r.trace, m)
	}
	r.trace = r.trace*traceFactor ^ uint64(len(step))
	if step[0].Kind.IsFault() {
		r.noteFault(step[0].Kind)
		if by == byScript || r.isRecorded {
			r.noteLast()
		}
		if k := step[0].Kind; k == model.Corrupt || k == model.Forge {
			r.watcher.isCorrupted = true
		}
	} else {
		r.moves += int64(len(step))
		if step[0].Kind == model.Tick {
			r.ticks++
		}
	}
	if r.record.isOn && !r.record.add(step) {
		r.stopped = StoppedFull
	}
	isBroken := r.watcher.look(step, Moment{r.now, r.moves, w.rounds.count}, len(r.record.steps))
	switch {
	case w.buf.Overflow:
		r.stopped = StoppedOverflow
	case isBroken && r.o.StopWhenViolated:
		r.stopped = StoppedViolated
	}
}

// attend does what is due now and works out when the next such thing will be.
func (r *runner) attend() {
	if r.now >= r.polled {
		if r.ctx.Err() != nil {
			r.stopped = StoppedInterrupted
		}
		r.polled = r.now + pollEvery
	}
	if r.o.Progress != nil && r.now >= r.shown {
		r.o.Progress(Progress{r.now, r.o.Steps, r.moves, r.world.rounds.count, r.watcher.isStable()})
		r.shown = r.now + r.o.ProgressEvery
	}
	r.endDelays()
	r.runScript()
	if r.clocks != nil {
		r.tickClocks()
	}
	isDone := r.o.StopWhenStable && r.isScriptDone()
	switch {
	case r.stopped != "":
	case isDone && r.watcher.isStable():
		r.stopped = StoppedStable
	case r.now >= r.o.Steps:
		r.stopped = StoppedSteps
	}
	r.awaitsStable = isDone || r.hasWaiting()
	r.horizon = min(r.nextEvent(), r.o.Steps, r.polled)
	if r.o.Progress != nil {
		r.horizon = min(r.horizon, r.shown)
	}
}

// nextEvent is the time of the next fault, tick or end of a delay.
func (r *runner) nextEvent() int64 {
	next := min(r.events.next(), r.delays.next())
	if r.clocks != nil {
		next = min(next, r.clocks.due.next())
	}
	return next
}

// wait lets time pass while nobody can move. If nothing will ever happen again the run has ended.
func (r *runner) wait() {
	next := r.nextEvent()
	if next == never {
		r.stopped = StoppedRest
		r.watcher.rest(len(r.record.steps))
		return
	}
	next = min(max(next, r.now+1), r.o.Steps)
	r.idle += next - r.now
	r.now, r.horizon = next, next
}

// report sums up at the end.
func (r *runner) report() *Report {
	rep := &Report{
		Stopped: r.stopped, Seed: r.o.Seed, Daemon: r.daemon.String(), Start: r.o.Start,
		Trace: fmt.Sprintf("%016x", r.trace),
		Steps: r.now, Idle: r.idle, Moves: r.moves, Ticks: r.ticks, Rounds: r.world.rounds.count,
		Messages: r.messages, Bytes: r.bytes, LastFault: r.lastFault, LastFaultRound: r.lastRound,
		Faults: r.faultCounts(), Statements: r.statements,
	}
	if rep.Start == "" {
		rep.Start = Clean
		if len(r.o.Ranks) > 0 {
			rep.Start = "given"
		}
	}
	r.watcher.report(rep)
	if r.stopped == StoppedOverflow && rep.Verdict == Held {
		rep.Verdict = Unknown
	}
	if r.world.waits != nil {
		rep.Waiting = r.world.waits.report(r.world.spots, r.now)
	}
	if r.record.isOn {
		rep.Run, rep.Counterexample = r.recorded(), r.counterexample()
	}
	return rep
}
