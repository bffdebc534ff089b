// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"allot/model"
)

// Run asks the checker. The error is for questions that make no sense; a search that was cut answers Unknown.
func Run(ctx context.Context, inst *model.Instance, o Options) (result *Result, err error) {
	defer model.CatchDomain(&err)
	o, err = o.validate(inst.System)
	if err != nil {
		return nil, err
	}
	s := &search{ctx: ctx, o: o}
	if s.properties, err = o.choose(inst.Properties); err != nil {
		return nil, err
	}
	for _, p := range s.properties {
		if p.Stops > 0 && o.Fairness == Strong {
			return nil, fmt.Errorf("property %q is about processes that stop, which can be asked under weak fairness, not strong", p.Name)
		}
	}
	s.found = make([]discovery, len(s.properties))
	s.makeWorkers(inst)
	if err := s.makeSpace(); err != nil {
		return nil, err
	}
	s.explore()
	if s.failed != nil {
		return nil, s.failed
	}
	return s.conclude(), nil
}

// search is one question and what is known of its answer.
type search struct {
	ctx        context.Context
	o          Options
	properties []model.Property
	workers    []*explorer
	sp         space
	// everything tells that all configurations of a direct space are starts, so that there is nothing to reach.
	everything bool
	starts     *starts

	states, transitions atomic.Uint64
	depth               int
	stop                atomic.Bool
	overflow            atomic.Bool

	mu  sync.Mutex
	cut string
	// failed is why the search cannot go on at all.
	failed error
	found  []discovery // by property
	stab   []*stabilization
}

// discovery is where a property was seen to fail (for Sometimes: to hold).
type discovery struct {
	is      bool
	run     *model.Run
	why     string
	id      uint64
	depth   int
	step    []model.Move // the last step, where it is the step that counts
	process int
}

// makeWorkers gives every goroutine a way of its own to the system.
func (s *search) makeWorkers(inst *model.Instance) {
	n := s.o.Workers
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	network, isNetwork := inst.System.(*model.Network)
	if isNetwork {
		network = network.Share(&sync.Mutex{})
	}
	for range n {
		twin := inst
		if isNetwork {
			twin = inst.With(network.Fork())
		}
		s.workers = append(s.workers, newExplorer(twin, s.o.Daemon))
	}
}

func (s *search) makeSpace() error {
	sys := s.workers[0].sys
	var err error
	if s.starts, err = newStarts(sys, s.o); err != nil {
		return err
	}
	if s.o.Keep == Auto || s.o.Keep == Direct {
		d, err := newDirect(sys, s.o)
		everything := err == nil && s.o.Arbitrary && s.starts.count == d.size
		if err == nil && !everything {
			err = s.canTrack(d)
		}
		if err == nil {
			s.everything = everything
			if !s.everything {
				d.track()
			}
			s.o.Keep, s.sp = Direct, d
			return nil
		}
		if s.o.Keep == Direct {
			return fmt.Errorf("store direct: %w", err)
		}
	}
	if s.o.Keep == Fingerprint {
		for _, p := range s.properties {
			if p.Claim == model.Recurs || p.Claim == model.Stabilizes {
				return fmt.Errorf("store fingerprint cannot answer %q, which needs the configurations again: use exact", p.Name)
			}
		}
		s.sp = newPrints(sys)
		return nil
	}
	s.o.Keep, s.sp = Exact, newExact(sys)
	return nil
}

// mostTracked is how many places Auto spends on a direct space of which only a part may be reached.
const mostTracked = 1 << 22

// canTrack tells why a direct space should not be used to note what has been reached: each place takes four bytes, however
// few of them are reached.
func (s *search) canTrack(d *direct) error {
	if d.size > s.o.MaxMemory/4 {
		return fmt.Errorf("the %d places would take more memory than the limit", d.size)
	}
	if s.o.Keep == Auto && d.size > mostTracked {
		return fmt.Errorf("most of the %d places might never be reached", d.size)
	}
	return nil
}

// explore reaches every configuration, asks what can be asked of each alone, then what needs the whole graph.
func (s *search) explore() {
	if !s.everything {
		s.breadthFirst()
	}
	if !s.isCut() {
		for i := range s.properties {
			if s.properties[i].Claim == model.Stabilizes {
				s.stab = append(s.stab, newStabilization(s, i))
			}
		}
	}
	switch {
	case s.everything:
		s.scanAll("looking at every configuration", func(e *explorer, id uint64) {
			e.look()
			e.counted += e.countSteps()
			s.examine(e, id, 0)
			for _, t := range s.stab {
				t.examine(s, e, id)
			}
		})
	case len(s.stab) > 0:
		s.scanAll("looking for the legitimate set", func(e *explorer, id uint64) {
			e.look()
			for _, t := range s.stab {
				t.examine(s, e, id)
			}
		})
	}
	if s.overflow.Load() {
		s.cutBy("a reliable link was sent more messages than its capacity; give it a larger one")
	}
	for i := range s.properties {
		switch s.properties[i].Claim {
		case model.Stabilizes: // below
		case model.Recurs:
			s.recur(i)
		case model.Always, model.AlwaysStep, model.Sometimes, model.Rests:
		}
	}
	for _, t := range s.stab {
		t.converge(s)
	}
}

// examine asks a configuration, loaded and looked at, about the properties that concern it alone or its steps.
func (s *search) examine(e *explorer, id uint64, depth int) {
	for i := range s.properties {
		p := &s.properties[i]
		switch p.Claim {
		case model.Always:
			if !p.Holds(&e.view) {
				s.discover(e, i, id, depth, nil)
			}
		case model.Sometimes:
			if p.Holds(&e.view) {
				s.discover(e, i, id, depth, nil)
			}
		case model.Rests:
			if !e.owes() && !p.Holds(&e.view) {
				s.discover(e, i, id, depth, nil)
			}
		case model.AlwaysStep:
			s.examineSteps(e, i, id, depth)
		case model.Recurs, model.Stabilizes:
		}
	}
}

func (s *search) examineSteps(e *explorer, i int, id uint64, depth int) {
	e.measure()
	e.combine()
	for k := range e.steps {
		e.compose(k)
		if step := e.step(k); !s.properties[i].HoldsStep(&e.view, &e.nextView, step) {
			s.discover(e, i, id, depth, step)
			return
		}
	}
}

// discover notes where a property failed first: at the smallest depth, and there at the smallest id.
func (s *search) discover(e *explorer, i int, id uint64, depth int, step []model.Move) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &s.found[i]
	if d.is && (d.depth < depth || d.depth == depth && d.id <= id) {
		return
	}
	*d = discovery{is: true, id: id, depth: depth, step: step, process: -1}
	if p := &s.properties[i]; p.Claim != model.Sometimes {
		view := &e.view
		if step != nil {
			view = &e.nextView
		}
		if p.Why != nil {
			d.why = p.Why(view)
		} else if p.Claim == model.Rests {
			d.why = "nobody has to do anything any more, and this is not a place to rest"
		}
	}
}

// cutBy notes why the search is not complete.
func (s *search) cutBy(why string) {
	s.mu.Lock()
	if s.cut == "" {
		s.cut = why
	}
	s.mu.Unlock()
	s.stop.Store(true)
}

func (s *search) isCut() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cut != ""
}

// interrupted looks at the caller's context and the limits. Workers ask it every so often.
func (s *search) interrupted() bool {
	if err := s.ctx.Err(); err != nil {
		why := "interrupted"
		if errors.Is(err, context.DeadlineExceeded) {
			why = "out of time"
		}
		s.cutBy(why)
	}
	return s.stop.Load()
}

// fan runs do once for every worker and waits for all.
func (s *search) fan(do func(n int, e *explorer)) {
	var wait sync.WaitGroup
	for n, e := range s.workers {
		wait.Go(func() {
			var err error
			defer func() {
				if err != nil {
					s.cutBy("failed")
					s.mu.Lock()
					s.failed = err
					s.mu.Unlock()
				}
			}()
			defer model.CatchDomain(&err)
			do(n, e)
		})
	}
	wait.Wait()
}

// parallel lets every worker take pieces of 0..total-1 until nothing is left.
func (s *search) parallel(total uint64, do func(e *explorer, from, to uint64)) {
	var next atomic.Uint64
	piece := max(1, min(total/uint64(len(s.workers)*8), 1<<14))
	s.fan(func(_ int, e *explorer) {
		for !s.interrupted() {
			from := next.Add(piece) - piece
			if from >= total {
				return
			}
			do(e, from, min(from+piece, total))
		}
	})
}

// scanAll visits every kept configuration, loaded into e.c.
func (s *search) scanAll(phase string, visit func(e *explorer, id uint64)) {
	total := s.sp.limit()
	if s.everything && total > s.o.MaxStates {
		total = s.o.MaxStates
		defer s.cutBy(fmt.Sprintf("the limit of %d configurations was reached", s.o.MaxStates))
	}
	d, isDirect := s.sp.(*direct)
	s.parallel(total, func(e *explorer, from, to uint64) {
		if isDirect {
			d.load(from, e.c)
		}
		for id := from; id < to; id++ {
			if s.sp.has(id) {
				if !isDirect {
					s.sp.load(id, e.c)
				}
				visit(e, id)
			}
			if isDirect {
				d.increment(e.c)
			}
		}
		if s.everything {
			s.states.Add(to - from)
		}
		s.transitions.Add(e.counted)
		e.counted = 0
		s.report(e, phase, total)
	})
}

// report tells the caller how far the search has come; only the first worker does, so that calls do not overlap.
func (s *search) report(e *explorer, phase string, total uint64) {
	if s.o.Progress != nil && e == s.workers[0] {
		s.o.Progress(Progress{Phase: phase, States: s.states.Load(), Transitions: s.transitions.Load(), Depth: s.depth, Total: total})
	}
}
