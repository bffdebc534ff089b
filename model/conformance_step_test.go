// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"slices"

	"allot/model"
)

// takeStep takes a random step: one move, several where that is allowed, or a fault that nobody has a budget for. It
// tells whether there was one.
func (w *walker) takeStep(withFaults bool) bool {
	var step []model.Move
	if withFaults && w.r.IntN(4) == 0 {
		if m, ok := w.randomFault(); ok {
			step = append(step, m)
		}
	}
	if len(step) == 0 {
		step = w.randomStep()
	}
	if len(step) == 0 {
		return false
	}
	after := w.tryAndUndo(step...)
	if len(step) > 1 {
		w.compareWithSingles(step, after)
	}
	before := w.survey()
	w.sys.Apply(w.c, step, &w.b)
	if w.b.Overflow { // a checker does not go on from here
		w.b.Undo(w.c)
		return true
	}
	w.compareUntouched(step, before)
	return true
}

// randomStep prefers steps of several moves where they are allowed. The adversary moves alone.
func (w *walker) randomStep() []model.Move {
	var enabled []model.Move
	var sites [][]model.Move
	for site, moves := range w.moves {
		enabled = append(enabled, moves...)
		if len(moves) > 0 && !w.sys.Site(site).IsAdversary() {
			sites = append(sites, moves)
		}
	}
	if len(enabled) == 0 {
		return nil
	}
	if !w.sys.IsConcurrent() || len(sites) == 0 || w.r.IntN(3) == 0 {
		return enabled[w.r.IntN(len(enabled)):][:1]
	}
	var step []model.Move
	for _, moves := range sites {
		if w.r.IntN(2) == 0 {
			step = append(step, moves[w.r.IntN(len(moves))])
		}
	}
	w.r.Shuffle(len(step), func(i, j int) { step[i], step[j] = step[j], step[i] })
	if len(step) == 0 {
		return sites[0][:1]
	}
	return step
}

// randomFault is what a script might ask for.
func (w *walker) randomFault() (model.Move, bool) {
	for range 20 {
		m := model.Move{Kind: model.Lose + model.Kind(w.r.IntN(int(model.Join-model.Lose)+1)), Arg: w.r.Uint64N(3)}
		limit := w.sys.Graph().Len()
		if m.Kind.HasLink() {
			limit = w.sys.Graph().Links()
		}
		m.At = int32(w.r.IntN(limit + 1)) // one of them does not exist
		if m.Kind == model.Corrupt {
			m.Arg = w.r.Uint64()
			if size, _ := w.sys.Domain(int(m.At)); size < model.Uncountable {
				m.Arg %= size
			}
		}
		if w.sys.Check(w.c, m) == nil {
			if w.sys.Describe(w.c, m) == "" || w.sys.Class(w.c, m) != model.NoClass {
				w.Errorf("fault %v: %q, class %d", m, w.sys.Describe(w.c, m), w.sys.Class(w.c, m))
			}
			return m, true
		}
	}
	return model.Move{}, false
}

// compareWithSingles: the moves of a step read what was there before it, so together they write what each writes alone.
func (w *walker) compareWithSingles(step []model.Move, after model.Configuration) {
	want := clone(w.c)
	var writers []int32
	for i := range step {
		w.sys.Apply(w.c, step[i:i+1], &w.b)
		for _, word := range w.b.Written {
			if slices.Contains(writers, word) {
				w.Fatalf("%v: two moves write word %d", step, word)
			}
			want[word] = w.c[word]
		}
		writers = append(writers, w.b.Written...)
		w.b.Undo(w.c)
	}
	if !want.Equal(after) {
		w.Fatalf("%v makes %v, its moves one by one make %v", step, after, want)
	}
}

// survey is what a simulator keeps of each site.
type survey struct {
	moves  [][]model.Move
	shares [][]int64
	phases []model.Phase
}

func (w *walker) survey() survey {
	var s survey
	v := w.inst.View(w.c)
	for site := range w.sys.Sites() {
		s.moves = append(s.moves, w.sys.Enabled(w.c, site, nil))
		var shares []int64
		for _, g := range w.inst.Gauges {
			shares = append(shares, g.Of(&v, site))
		}
		s.shares = append(s.shares, shares)
	}
	if w.inst.Phase != nil {
		for p := range w.sys.Graph().Len() {
			s.phases = append(s.phases, w.inst.Phase(&v, p))
		}
	}
	return s
}

// compareUntouched: a site that was not touched has the same moves, gauges and phase as before.
func (w *walker) compareUntouched(step []model.Move, before survey) {
	after := w.survey()
	for site := range after.moves {
		isTouched := slices.Contains(w.b.Touched, int32(site))
		if w.sys.Site(site).IsAdversary() {
			if isTouched {
				w.Fatalf("%v touches the adversary, who is always looked at anew", step)
			}
			continue
		}
		switch {
		case isTouched:
		case !slices.Equal(before.moves[site], after.moves[site]):
			w.Fatalf("%v changes the moves of site %d (%+v) from %v to %v and does not touch it", step, site,
				w.sys.Site(site), before.moves[site], after.moves[site])
		case !slices.Equal(before.shares[site], after.shares[site]):
			w.Fatalf("%v changes the gauges of site %d (%+v) from %v to %v and does not touch it", step, site,
				w.sys.Site(site), before.shares[site], after.shares[site])
		case site < len(after.phases) && before.phases[site] != after.phases[site]:
			w.Fatalf("%v changes the phase of process %d and does not touch it", step, site)
		}
	}
}
