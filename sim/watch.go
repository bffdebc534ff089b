// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import "allot/model"

// watcher follows the properties and gauges of a run, configuration by configuration.
type watcher struct {
	world   *world
	watches []watch
	legit   int // number of the watch that says when the run is stable, or -1
	outside int64
	gauges  []GaugeReport

	// before is the configuration before the step and its view, kept only where a property of single steps asks for it.
	before     model.Configuration
	beforeView model.View

	isCorrupted bool // the claims for clean starts are no longer made
	// isFinal tells that no fault will happen any more. A run that rests while one is still to come, such as the return
	// of a crashed process, has not ended.
	isFinal func() bool
	first   violation
}

// watch follows one property.
type watch struct {
	property *model.Property
	report   PropertyReport
	claim    model.Claim
	isOff    bool // it is not looked at
	holds    bool
	stretch  int64
	worst    []int64
}

// violation is the first one that breaks a claim.
type violation struct {
	watch *watch
	step  int // of the recording: the violation is there after so many steps
}

const (
	whyNoBefore = "it is about single steps, and a live network does not keep the state before a step (ask for an interned run)"
	whyRecurs   = "a run that ends cannot answer it"
)

func newWatcher(w *world, isClean, isLive bool) *watcher {
	m := &watcher{world: w, legit: -1, isCorrupted: !isClean}
	m.watches = make([]watch, len(w.inst.Properties))
	for i := range m.watches {
		p := &w.inst.Properties[i]
		x := &m.watches[i]
		x.property, x.claim, x.holds, x.worst = p, p.Claim, true, make([]int64, len(w.sums))
		x.report = PropertyReport{Name: p.Name, Claim: p.Claim.String(), First: -1, Since: noMoment}
		switch {
		case p.Claim == model.AlwaysStep && isLive:
			x.isOff, x.report.Skipped = true, whyNoBefore
		case p.Claim == model.AlwaysStep && m.before == nil:
			m.before = append(m.before, w.c...)
			m.beforeView = w.view
			m.beforeView.C, m.beforeView.Sums, m.beforeView.Index = m.before, append([]int64{}, w.sums...), nil
		case p.Claim == model.Recurs:
			x.isOff, x.report.Skipped = true, whyRecurs
		case p.Claim == model.Stabilizes && m.legit < 0:
			m.legit = i
		}
		if p.Claim == model.Sometimes || p.Claim == model.Stabilizes {
			x.holds = false
		}
	}
	for i, g := range w.inst.Gauges {
		m.gauges = append(m.gauges, GaugeReport{Name: g.Name, Min: w.sums[i], Max: w.sums[i]})
	}
	return m
}

// isStable tells whether the legitimate set holds.
func (m *watcher) isStable() bool { return m.legit >= 0 && m.watches[m.legit].holds }

// look is called at the start, with no step, and after every step. It tells whether a claim is broken here that none was
// before.
func (m *watcher) look(step []model.Move, here Moment, recorded int) bool {
	w := m.world
	isFirst := m.first.watch == nil
	isFault := len(step) > 0 && step[0].Kind.IsFault()
	for i := range m.watches {
		x := &m.watches[i]
		if x.isOff {
			continue
		}
		switch x.claim {
		case model.Always:
			x.holds = x.property.Holds(&w.view)
			if !x.holds {
				m.violated(x, m.isClaimed(x), here, recorded)
			} else if x.stretch > 0 {
				x.endStretch()
			}
		case model.Stabilizes:
			m.lookStable(x, len(step) == 0, isFault, here, recorded)
		case model.Rests:
			x.holds = !w.atRest() || x.property.Holds(&w.view)
			if !x.holds {
				m.violated(x, m.isClaimed(x) && m.isFinal(), here, recorded)
			} else if x.stretch > 0 {
				x.endStretch()
			}
		case model.Sometimes:
			x.holds = x.holds || x.property.Holds(&w.view)
		case model.AlwaysStep:
			m.lookStep(x, step, isFault, here, recorded)
		case model.Recurs:
		}
	}
	for i, sum := range w.sums {
		g := &m.gauges[i]
		g.Min, g.Max = min(g.Min, sum), max(g.Max, sum)
	}
	if m.before != nil {
		for _, word := range w.buf.Written {
			m.before[word] = w.c[word]
		}
		copy(m.beforeView.Sums, w.sums)
	}
	return isFirst && m.first.watch != nil
}

// lookStable follows a legitimate set: when it was entered, and whether it was left by anything but a fault, or the run
// came to rest outside, which breaks the claim.
func (m *watcher) lookStable(x *watch, isStart, isFault bool, here Moment, recorded int) {
	held := x.holds
	x.holds = x.property.Holds(&m.world.view)
	if x.holds {
		if !held {
			x.report.Since = here
			x.endStretch()
		}
		return
	}
	if m.legit >= 0 && x == &m.watches[m.legit] {
		m.outside++
	}
	isLeft := held && !isFault && !isStart
	m.violated(x, m.isClaimed(x) && (isLeft || m.world.atRest() && m.isFinal()), here, recorded)
}

// isClaimed tells whether the property is claimed for runs such as this one.
func (m *watcher) isClaimed(x *watch) bool { return !x.property.CleanOnly || !m.isCorrupted }

// rest is called when the run has come to rest for good. Where it rests was looked at already, but perhaps at a time
// when a fault was still to come.
func (m *watcher) rest(recorded int) {
	if !m.world.atRest() { // a clock that was stopped still owes its tick
		return
	}
	for i := range m.watches {
		x := &m.watches[i]
		isAbout := x.claim == model.Rests || x.claim == model.Stabilizes
		if isAbout && !x.holds && x.report.Judged == 0 && m.isClaimed(x) {
			m.judge(x, recorded)
		}
	}
}

// lookStep asks about one step. Faults are no steps of the algorithm.
func (m *watcher) lookStep(x *watch, step []model.Move, isFault bool, here Moment, recorded int) {
	if len(step) == 0 || isFault {
		return
	}
	x.holds = x.property.HoldsStep(&m.beforeView, &m.world.view, step)
	if !x.holds {
		m.violated(x, m.isClaimed(x), here, recorded)
	} else if x.stretch > 0 {
		x.endStretch()
	}
}

// violated counts a configuration in which a property does not hold. isJudged tells that this breaks its claim.
func (m *watcher) violated(x *watch, isJudged bool, here Moment, recorded int) {
	r := &x.report
	if r.Violations == 0 {
		r.First = here.Step
		copy(x.worst, m.world.sums)
	}
	r.Violations++
	if x.stretch++; x.stretch == 1 {
		r.Stretches++
	}
	for g, sum := range m.world.sums {
		x.worst[g] = max(x.worst[g], sum)
	}
	if isJudged {
		m.judge(x, recorded)
	}
}

// judge counts a violation that breaks the claim.
func (m *watcher) judge(x *watch, recorded int) {
	r := &x.report
	r.Judged++
	if r.Judged == 1 && x.property.Why != nil {
		r.Why = x.property.Why(&m.world.view)
	}
	if m.first.watch == nil {
		m.first = violation{x, recorded}
	}
}

func (x *watch) endStretch() {
	x.report.Longest = max(x.report.Longest, x.stretch)
	x.stretch = 0
}

// report sums up.
func (m *watcher) report(r *Report) {
	r.Verdict = Held
	if m.legit >= 0 && !m.watches[m.legit].holds {
		r.Verdict = Unknown
	}
	r.Stabilized, r.Outside = noMoment, m.outside
	for i := range m.watches {
		x := &m.watches[i]
		x.endStretch()
		p := x.report
		p.Holds = x.holds && !x.isOff
		if p.Judged > 0 {
			r.Verdict = Violated
		}
		if x.claim == model.Stabilizes && !x.holds {
			p.Since = noMoment
		}
		if i == m.legit {
			r.Stabilized = p.Since
		}
		if p.Violations > 0 && len(x.worst) > 0 {
			p.Worst = map[string]int64{}
			for g, v := range x.worst {
				p.Worst[m.gauges[g].Name] = v
			}
		}
		r.Properties = append(r.Properties, p)
	}
	for i, sum := range m.world.sums {
		m.gauges[i].Last = sum
	}
	r.Gauges = m.gauges
}
