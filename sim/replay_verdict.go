// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"slices"

	"allot/model"
)

// verdict says whether the run violates its property, and why, in words.
func (r *replayer) verdict() (bool, string) {
	if r.property == nil {
		return false, "every move is possible; the run names no property to verify"
	}
	p := r.property
	ok, text := false, ""
	switch p.Claim {
	case model.Always:
		ok, text = !r.holds(), "it does not hold in the last configuration"
		if !ok {
			text = "it holds in the last configuration"
		}
	case model.AlwaysStep:
		ok, text = r.verdictStep()
	case model.Rests:
		ok, text = r.verdictRests()
	case model.Stabilizes:
		if r.run.Loop < 0 && r.isLeft() {
			ok, text = true, "the last step leads out of the legitimate set"
			break
		}
		ok, text = r.verdictForever("outside the legitimate set")
	case model.Recurs:
		ok, text = r.verdictForever("without it for process " + r.world.sys.Graph().Name(r.run.Process))
	case model.Sometimes:
		// The run of such a claim is not a counterexample but a witness.
		if r.holds() {
			return true, fmt.Sprintf("property %s is seen in the last configuration", p.Name)
		}
		text = "that it is never seen is not shown by one run"
	}
	if !ok {
		return false, fmt.Sprintf("property %s is not shown to be violated: %s", p.Name, text)
	}
	text = fmt.Sprintf("property %s is violated: %s", p.Name, text)
	if p.Why != nil && p.Claim != model.AlwaysStep {
		text += "; " + p.Why(&r.world.view)
	}
	return true, text
}

// isShown tells whether a run that ended here, without going round, would show what it is kept for. It is the verdict
// without words, cheap enough to be asked after every step.
func (r *replayer) isShown() bool {
	switch r.property.Claim {
	case model.Always:
		return !r.holds()
	case model.AlwaysStep:
		return r.lastIsStep && !r.holdsStep()
	case model.Stabilizes:
		return r.isLeft() || r.world.atRest() && !r.holds()
	case model.Rests, model.Recurs:
		return r.world.atRest() && !r.holds()
	case model.Sometimes:
		return r.holds()
	}
	return false
}

// isLeft tells that the last step, which was no fault, leads out of the legitimate set.
func (r *replayer) isLeft() bool { return r.lastIsStep && r.wasHeld && !r.holds() }

func (r *replayer) holdsStep() bool {
	before := r.world.inst.View(r.before)
	return r.property.HoldsStep(&before, &r.world.view, r.last)
}

func (r *replayer) verdictStep() (bool, string) {
	switch {
	case !r.lastIsStep:
		return false, "the run does not end with a step of the algorithm"
	case r.holdsStep():
		return false, "it holds for the last step"
	}
	return true, "it does not hold for the last step"
}

func (r *replayer) verdictRests() (bool, string) {
	switch {
	case !r.world.atRest():
		return false, "somebody owes a move in the last configuration"
	case r.holds():
		return false, "the run may rest in the last configuration"
	}
	return true, "nobody owes a move in the last configuration, and it is not one to rest in"
}

// verdictForever is for claims that something is reached: a run violates them by going round, or by ending, where it is
// not.
func (r *replayer) verdictForever(where string) (bool, string) {
	if r.run.Loop < 0 || r.run.Loop == len(r.run.Steps) {
		switch {
		case r.holds():
			return false, "it holds in the last configuration"
		case !r.world.atRest():
			return false, "the run ends where somebody owes a move, and does not go round"
		}
		return true, "nobody owes a move in the last configuration, so the run stays for ever " + where
	}
	switch {
	case !r.world.c.Equal(r.loop.start):
		return false, fmt.Sprintf("the last configuration is not the one before step %d", r.run.Loop)
	case !r.isOutside:
		return false, "it holds somewhere in the loop"
	}
	unfairTo := r.loop.unfairTo()
	if len(unfairTo) > r.property.Stops || slices.Contains(unfairTo, r.run.Process) {
		return false, fmt.Sprintf("the loop is not fair (%s): it never takes what is owed to %s", r.run.Fairness, r.world.sys.ClassName(unfairTo[0]))
	}
	text := fmt.Sprintf("steps %d to %d can be repeated for ever, %s all the time", r.run.Loop, len(r.run.Steps)-1, where)
	if r.loop.isFair() {
		text += ", and they are " + r.run.Fairness + "ly fair"
	}
	for _, class := range unfairTo {
		text += fmt.Sprintf("; %s has stopped", r.world.sys.ClassName(class))
	}
	return true, text
}

// loop watches over the part of a run that is repeated for ever: where it began, and whether it is fair.
type loop struct {
	start    model.Configuration
	fairness string
	taken    map[int]bool
	enabled  map[int]int // by class: in how many configurations of the loop
	length   int
	classes  map[int]bool // scratch
	moves    []model.Move
}

// The words for fairness in the header of a run.
const (
	weak   = "weak"
	strong = "strong"
)

func (l *loop) isFair() bool { return l.fairness == weak || l.fairness == strong }

// leave notes what is owed in a configuration of the loop and what the step takes.
func (l *loop) leave(w *world, step []model.Move) {
	if !l.isFair() {
		return
	}
	if l.taken == nil {
		l.taken, l.enabled, l.classes = map[int]bool{}, map[int]int{}, map[int]bool{}
	}
	l.length++
	clear(l.classes)
	for site := range w.sites {
		l.moves = w.sys.Enabled(w.c, site, l.moves[:0])
		for _, m := range l.moves {
			if class := w.sys.Class(w.c, m); class != model.NoClass && !l.classes[class] {
				l.classes[class] = true
				l.enabled[class]++
			}
		}
	}
	for _, m := range step {
		if class := w.sys.Class(w.c, m); class != model.NoClass {
			l.taken[class] = true
		}
	}
}

// unfairTo lists the classes that the loop treats unfairly, in order: under weak fairness those that are always enabled
// and never taken, under strong fairness those that are enabled somewhere and never taken.
func (l *loop) unfairTo() []int {
	var unfair []int
	for class, n := range l.enabled {
		isOwed := n == l.length || l.fairness == strong
		if isOwed && !l.taken[class] {
			unfair = append(unfair, class)
		}
	}
	slices.Sort(unfair)
	return unfair
}
