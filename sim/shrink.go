// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"fmt"

	"allot/model"
)

// ShrinkProgress is how far shrinking has come.
type ShrinkProgress struct {
	Steps  int // of the shortest run so far
	Trials int // runs tried
}

// Shrink looks for a shorter run that still fails: it leaves out steps, chunk by chunk from large to small, then single
// moves of a step, and gives words of the start their clean value. Moves that are no longer possible then are left out
// too, so the result can always be replayed. stillFails is asked of replayable runs only. It is delta debugging (A. Zeller
// and R. Hildebrandt, IEEE TSE 28(2), 2002), and like it stops at a run from which nothing single can be left out.
//
// The run is returned unchanged if it does not fail to begin with. If the context ends, the best so far is returned.
// progress may be nil.
func Shrink(ctx context.Context, inst *model.Instance, run *model.Run, stillFails func(*model.Run) bool, progress func(ShrinkProgress)) *model.Run {
	s := &shrinker{ctx: ctx, inst: inst, stillFails: stillFails, progress: progress, best: run}
	if !s.try(run) {
		return run
	}
	for {
		before, start := s.size()
		s.cutSteps()
		s.cutMoves()
		s.cleanStart()
		if after, startAfter := s.size(); after == before && startAfter == start || ctx.Err() != nil {
			return s.best
		}
	}
}

// ShrinkProperty shrinks a run that violates, at its end, the property that its header names. It must be one whose
// violation shows at the end of a run: Always, AlwaysStep, Rests, or a step out of a legitimate set.
func ShrinkProperty(ctx context.Context, inst *model.Instance, run *model.Run, progress func(ShrinkProgress)) (*model.Run, error) {
	if run.Loop >= 0 {
		return nil, fmt.Errorf("shrink: the run goes round; only runs that end with the violation can be shrunk")
	}
	report, err := Replay(inst, run, nil)
	if err != nil {
		return nil, fmt.Errorf("shrink: %w", err)
	}
	if !report.IsVerified {
		return nil, fmt.Errorf("shrink: %s", report.Text)
	}
	short := Shrink(ctx, inst, run, func(r *model.Run) bool {
		n, ok := firstViolation(inst, r)
		if ok {
			r.Steps = r.Steps[:n]
		}
		return ok
	}, progress)
	short = clone(short)
	if _, err := Replay(inst, short, func(step int, v *model.View, _ []model.Move) {
		for i := range inst.Properties {
			if p := &inst.Properties[i]; step == len(short.Steps) && p.Name == short.Property && p.Why != nil {
				short.Why = p.Why(v)
			}
		}
	}); err != nil {
		return nil, fmt.Errorf("shrink: %w", err)
	}
	return short, nil
}

// firstViolation is after how many steps the property of the header is violated for the first time.
func firstViolation(inst *model.Instance, run *model.Run) (int, bool) {
	r, err := newReplayer(inst, run)
	if err != nil || r.property == nil {
		return 0, false
	}
	for i := 0; ; i++ {
		if r.isShown() {
			return i, true
		}
		if i == len(run.Steps) || r.take(i, run.Steps[i]) != nil {
			return 0, false
		}
	}
}

type shrinker struct {
	ctx        context.Context
	inst       *model.Instance
	stillFails func(*model.Run) bool
	progress   func(ShrinkProgress)
	best       *model.Run
	trials     int
}

func (s *shrinker) size() (moves, start int) {
	for _, step := range s.best.Steps {
		moves += len(step)
	}
	for _, rank := range s.best.Start {
		if rank != 0 {
			start++
		}
	}
	return moves + len(s.best.Steps), start + len(s.best.Start)
}

// try keeps a run if, made possible, it still fails.
func (s *shrinker) try(candidate *model.Run) bool {
	if s.ctx.Err() != nil {
		return false
	}
	s.trials++
	possible, ok := repair(s.inst, candidate)
	isKept := ok && s.stillFails(possible)
	if isKept {
		s.best = possible
	}
	if s.progress != nil {
		s.progress(ShrinkProgress{Steps: len(s.best.Steps), Trials: s.trials})
	}
	return isKept
}

// cutSteps leaves out chunks of steps, from half of the run down to single ones, from the end to the beginning: what
// comes late is more often not needed than what it stands on.
func (s *shrinker) cutSteps() {
	for size := (len(s.best.Steps) + 1) / 2; size > 0; size /= 2 {
		for end := len(s.best.Steps); end > 0 && s.ctx.Err() == nil; {
			from := max(0, end-size)
			candidate := *s.best
			candidate.Steps = append(append([][]model.Move{}, s.best.Steps[:from]...), s.best.Steps[end:]...)
			s.try(&candidate)
			end = min(from, len(s.best.Steps))
		}
	}
}

// cutMoves leaves out single moves of steps that have several.
func (s *shrinker) cutMoves() {
	for i := len(s.best.Steps) - 1; i >= 0; i-- {
		for j := 0; i < len(s.best.Steps) && len(s.best.Steps[i]) > 1 && j < len(s.best.Steps[i]) && s.ctx.Err() == nil; {
			step := s.best.Steps[i]
			candidate := clone(s.best)
			candidate.Steps[i] = append(append([]model.Move{}, step[:j]...), step[j+1:]...)
			if !s.try(candidate) {
				j++
			}
		}
	}
}

// cleanStart gives words of the start their clean value, first all, then chunks, then single ones.
func (s *shrinker) cleanStart() {
	if len(s.best.Start) == 0 {
		return
	}
	candidate := *s.best
	candidate.Start = nil
	if s.try(&candidate) {
		return
	}
	clean := cleanRanks(s.inst.System)
	for size := len(clean); size > 0; size /= 2 {
		for from := 0; from < len(clean) && s.ctx.Err() == nil; from += size {
			candidate := *s.best
			candidate.Start = append([]uint64{}, s.best.Start...)
			if copy(candidate.Start[from:], clean[from:min(from+size, len(clean))]); equal(candidate.Start, s.best.Start) {
				continue
			}
			s.try(&candidate)
		}
	}
}

func equal(a, b []uint64) bool { return model.Configuration(a).Equal(b) }

// cleanRanks is the clean start as numbers in the domains, as far as they can be found.
func cleanRanks(s model.System) []uint64 {
	if n, ok := s.(*model.Network); ok && n.Table() != nil {
		s = n.Fork()
	}
	c := s.Clean()
	ranks := make([]uint64, len(c))
	for word := range c {
		size, value := s.Domain(word)
		ranks[word] = cleanRank(size, value, c[word])
	}
	return ranks
}

// repair leaves out what is not possible. It fails if the start is not.
func repair(inst *model.Instance, run *model.Run) (*model.Run, bool) {
	r, err := newReplayer(inst, run)
	if err != nil {
		return nil, false
	}
	possible := &model.Run{Header: run.Header, Steps: make([][]model.Move, 0, len(run.Steps))}
	w := r.world
	for _, step := range run.Steps {
		if w.check(step) != nil {
			step = possibleMoves(w, step)
			if len(step) == 0 {
				continue
			}
		}
		w.apply(step, false)
		possible.Steps = append(possible.Steps, step)
		if w.buf.Overflow {
			return nil, false
		}
	}
	return possible, true
}

// possibleMoves is what can be taken of a step.
func possibleMoves(w *world, step []model.Move) []model.Move {
	var rest []model.Move
	for _, m := range step {
		if w.check(append(rest, m)) == nil {
			rest = append(rest, m)
		}
	}
	return rest
}

// clone is a copy whose list of steps may be changed.
func clone(run *model.Run) *model.Run {
	twin := *run
	twin.Steps = append([][]model.Move{}, run.Steps...)
	return &twin
}
