// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"allot/model"
)

// ReplayReport says what a replay came to.
type ReplayReport struct {
	Steps    int    `json:"steps"`
	Moves    int64  `json:"moves"` // faults included
	Property string `json:"property,omitempty"`
	// IsVerified tells that the run shows what it was kept for: it violates the property that its header names or, of a
	// Sometimes, has it. A run that names none has nothing to verify.
	IsVerified bool `json:"verified"`
	// Text says in words what was verified, or what is missing.
	Text string `json:"text"`
}

// Replay takes the steps of a recorded run one after the other. Every move is checked before it is taken; the first one
// that is not possible is an error that names its step. At the end the property of the header is looked at.
//
// visit, which may be nil, sees each configuration with the moves that are taken next, and the last one with none. What
// it is handed is good until it returns.
func Replay(inst *model.Instance, run *model.Run, visit func(step int, v *model.View, moves []model.Move)) (report *ReplayReport, err error) {
	defer model.CatchDomain(&err)
	r, err := newReplayer(inst, run)
	if err != nil {
		return nil, err
	}
	for i, step := range run.Steps {
		if visit != nil {
			visit(i, &r.world.view, step)
		}
		if err := r.take(i, step); err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
	}
	if visit != nil {
		visit(len(run.Steps), &r.world.view, nil)
	}
	report = &ReplayReport{Steps: len(run.Steps), Moves: r.moves, Property: run.Property}
	report.IsVerified, report.Text = r.verdict()
	return report, nil
}

// replayer is a world that follows a recording and remembers what the verdict needs.
type replayer struct {
	world    *world
	run      *model.Run
	property *model.Property // nil if the header names none
	moves    int64
	loop     *loop // nil if the run just ends

	last       []model.Move        // the last step, nil at the start
	before     model.Configuration // before the last step, for properties of single steps
	wasHeld    bool                // before the last step, for Stabilizes
	isOutside  bool                // the property has not held since the loop began
	lastIsStep bool                // the last step was one of the algorithm, not a fault
}

func newReplayer(inst *model.Instance, run *model.Run) (*replayer, error) {
	r := &replayer{run: run}
	if run.Loop < -1 || run.Loop > len(run.Steps) {
		return nil, fmt.Errorf("loop %d is not among the %d steps", run.Loop, len(run.Steps))
	}
	if run.Property != "" {
		for i := range inst.Properties {
			if inst.Properties[i].Name == run.Property {
				r.property = &inst.Properties[i]
			}
		}
		if r.property == nil {
			return nil, fmt.Errorf("this algorithm has no property %.40q", run.Property)
		}
		if p := r.property; p.Claim == model.Recurs && (run.Process < 0 || run.Process >= inst.System.Graph().Len()) {
			return nil, fmt.Errorf("property %s is about one process, and there is no process %d", p.Name, run.Process)
		}
	}
	sys, err := replaySystem(inst.System, run, r.property)
	if err != nil {
		return nil, err
	}
	inst = inst.With(sys)
	c, err := model.StartAt(sys, run.Start)
	if err != nil {
		return nil, err
	}
	r.world = newWorld(inst, c)
	if run.Loop >= 0 && r.property != nil {
		r.loop = &loop{fairness: run.Fairness}
	}
	if r.property != nil && r.property.Claim == model.AlwaysStep {
		r.before = append(r.before, c...)
	}
	r.look(0)
	return r, nil
}

// replaySystem chooses how a network keeps its values. Loops and properties of single steps compare configurations,
// which a live network has only one of.
func replaySystem(s model.System, run *model.Run, p *model.Property) (model.System, error) {
	n, ok := s.(*model.Network)
	if !ok || n.Table() == nil {
		return s, nil
	}
	needsValues := run.Loop >= 0 || p != nil && p.Claim == model.AlwaysStep
	switch {
	case run.Origin != originLive || needsValues && !n.LinkOptions().Unordered:
		return n.Fork(), nil
	case needsValues:
		return nil, fmt.Errorf("a recording of a live run with unordered links cannot be compared with itself; record it interned")
	}
	return n.Live(), nil
}

// take checks a step and takes it.
func (r *replayer) take(i int, step []model.Move) error {
	w := r.world
	if err := w.check(step); err != nil {
		return err
	}
	if r.before != nil {
		copy(r.before, w.c)
	}
	if r.property != nil && r.property.Claim == model.Stabilizes {
		r.wasHeld = r.property.Holds(&w.view)
	}
	if r.loop != nil && i >= r.run.Loop {
		r.loop.leave(w, step)
	}
	var budget uint64
	if w.sites < w.sys.Sites() {
		budget = w.c[len(w.c)-1]
	}
	w.apply(step, false)
	if w.buf.Overflow {
		return fmt.Errorf("a reliable link of bounded capacity overflows")
	}
	r.moves += int64(len(step))
	r.last, r.lastIsStep = step, !step[0].Kind.IsFault()
	if !r.lastIsStep && r.run.Origin == "check" && !r.isAllowed(step[0], budget) {
		return fmt.Errorf("%s: the adversary has no such fault left in its budget", step[0].Kind)
	}
	r.look(i + 1)
	return nil
}

// isAllowed tells whether a fault of a checked run was paid for, or is what the links do anyway.
func (r *replayer) isAllowed(m model.Move, budget uint64) bool {
	w := r.world
	if n, ok := w.sys.(*model.Network); ok {
		links := n.LinkOptions()
		if m.Kind == model.Lose && links.Lossy || m.Kind == model.Duplicate && links.Duplicating {
			return true
		}
	}
	return w.sites < w.sys.Sites() && w.c[len(w.c)-1] != budget
}

// look remembers whether the property holds in the configuration before step i.
func (r *replayer) look(i int) {
	if r.property == nil || r.run.Loop < 0 || i < r.run.Loop {
		return
	}
	if i == r.run.Loop {
		r.isOutside = true
		r.loop.start = append(r.loop.start[:0], r.world.c...)
	}
	r.isOutside = r.isOutside && !r.holds()
}

// holds asks the property about the configuration as it is now.
func (r *replayer) holds() bool {
	p, v := r.property, &r.world.view
	if p.Claim == model.Recurs {
		return p.HoldsFor(v, r.run.Process)
	}
	return p.Holds != nil && p.Holds(v)
}
