// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"

	"allot/model"
)

// Options says how a run goes. The zero value is a million steps from the clean start under the central daemon.
type Options struct {
	// Start is "clean" (or empty) or "arbitrary": every process, register and link gets a value drawn from its domain.
	Start string
	// Ranks, if given, is the start itself, as in the header of a recorded run; Start must then be empty.
	Ranks []uint64
	// Seed of all chance in the run. The same seed gives the same run, byte for byte.
	Seed uint64
	// Steps is the time at which the run ends at the latest, in steps of the daemon. 0 means DefaultSteps.
	Steps int64
	// Daemon decides who moves. Nil means central.
	Daemon Daemon
	// Script of faults. Nil means none.
	Script *Script
	// StopWhenStable ends the run when the legitimate set (the first property of the kind Stabilizes) holds and the
	// script has nothing left to do. With a script that never ends, neither does the run before its last step.
	StopWhenStable bool
	// StopWhenViolated ends the run at the first violation, so that a recording ends with it.
	StopWhenViolated bool
	// Record keeps every decision in Report.Run: 40 bytes a step and more.
	Record bool
	// CountBytes adds up the encoded size of messages. A run has no other reason to encode them, so it costs time.
	CountBytes bool
	// Interned keeps the states of a message-passing run as values, as the checker does. It is several times slower and
	// takes memory for every new state, but only so are properties of single steps (AlwaysStep) checked there.
	Interned bool
	// TickEvery is how many steps pass between two ticks of a clock of rate 1. 0 means one for every process and link,
	// so that each of them acts about once between two ticks.
	TickEvery int64
	// Progress, if given, is called every ProgressEvery steps (0 means a million), from the goroutine of the run.
	Progress      func(Progress)
	ProgressEvery int64
}

// DefaultSteps is the length of a run that asks for none.
const DefaultSteps = 1_000_000

// maxTime bounds every number of steps that comes from outside, so that sums of them cannot overflow.
const maxTime = 1 << 48

// Progress is what is known in the middle of a run.
type Progress struct {
	Step, Steps   int64 // how far it is, and the limit
	Moves, Rounds int64
	IsStable      bool
}

// The starts.
const (
	Clean     = "clean"
	Arbitrary = "arbitrary"
)

func (o Options) validate(inst *model.Instance) error {
	switch {
	case inst == nil || inst.System == nil:
		return errors.New("sim: there is no system to run")
	case o.Start != "" && o.Start != Clean && o.Start != Arbitrary:
		return fmt.Errorf("start %q: it must be %s or %s", o.Start, Clean, Arbitrary)
	case o.Start != "" && len(o.Ranks) > 0:
		return errors.New("start: give either a kind of start or the ranks, not both")
	case o.Steps < 0 || o.Steps > maxTime:
		return fmt.Errorf("steps %d: it must be 0 to %d", o.Steps, int64(maxTime))
	case o.TickEvery < 0 || o.TickEvery > maxTime/rateOne:
		return fmt.Errorf("tick every %d: it must be 0 to %d steps", o.TickEvery, int64(maxTime/rateOne))
	case o.ProgressEvery < 0:
		return fmt.Errorf("progress every %d: it must not be negative", o.ProgressEvery)
	case o.StopWhenStable && legitimate(inst) == nil:
		return errors.New("stop when stable: this algorithm has no property that says when it is stable")
	case o.Script != nil && o.Script.processes != inst.System.Graph().Len():
		return fmt.Errorf("the script was written for %d processes, the network has %d", o.Script.processes, inst.System.Graph().Len())
	}
	return nil
}

func (o Options) withDefaults(w *world) Options {
	if o.Steps == 0 {
		o.Steps = DefaultSteps
	}
	if o.TickEvery == 0 {
		o.TickEvery = int64(w.firstClock)
	}
	if o.ProgressEvery == 0 {
		o.ProgressEvery = 1_000_000
	}
	return o
}

// legitimate is the property that says when a run is stable, or nil.
func legitimate(inst *model.Instance) *model.Property {
	for i := range inst.Properties {
		if inst.Properties[i].Claim == model.Stabilizes {
			return &inst.Properties[i]
		}
	}
	return nil
}
