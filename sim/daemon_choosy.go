// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"

	"allot/model"
)

// LocallyCentral lets a random maximal independent set of the enabled processes move: it goes through them in random
// order and takes each of whom no neighbour has been taken. So no two neighbours move at once, and nobody else could be
// added.
type LocallyCentral struct {
	order []int32
	taken []bool
}

func (*LocallyCentral) String() string { return "locally-central" }

// Begin refuses systems in which one thing happens at a time.
func (d *LocallyCentral) Begin(s *Schedule) error {
	d.taken = make([]bool, s.world.processes)
	return s.needConcurrent(d)
}

// Choose draws the order as it goes.
func (d *LocallyCentral) Choose(s *Schedule, step []model.Move) ([]model.Move, error) {
	d.order = append(d.order[:0], s.Sites()...)
	g := s.world.sys.Graph()
	for i := range d.order {
		j := i + int(s.Chance.Below(uint64(len(d.order)-i)))
		d.order[i], d.order[j] = d.order[j], d.order[i]
		isFree := true
		for _, q := range g.Neighbours(int(d.order[i])) {
			isFree = isFree && !d.taken[q]
		}
		if isFree {
			d.taken[d.order[i]] = true
			step = append(step, s.Move(d.order[i]))
		}
	}
	for _, p := range d.order {
		d.taken[p] = false
	}
	return step, nil
}

// Unfair is a central daemon that lets the victim move only when nobody else can. In a network the victim's moves are its
// own inputs and what is delivered to it.
type Unfair struct{ Victim int }

func (d *Unfair) String() string { return fmt.Sprintf("unfair:%d", d.Victim) }

// Begin refuses a victim that does not exist.
func (d *Unfair) Begin(s *Schedule) error {
	if n := s.world.processes; d.Victim < 0 || d.Victim >= n {
		return fmt.Errorf("daemon %s: the processes are 0..%d", d, n-1)
	}
	return nil
}

// Choose draws until it has somebody else, once it knows that there is one.
func (d *Unfair) Choose(s *Schedule, step []model.Move) ([]model.Move, error) {
	site := s.any()
	if s.Owner(site) == d.Victim && d.count(s) < len(s.Sites()) {
		for s.Owner(site) == d.Victim {
			site = s.any()
		}
	}
	return append(step, s.Move(site)), nil
}

// count is how many of the enabled sites are the victim's.
func (d *Unfair) count(s *Schedule) int {
	w := s.world
	count := 0
	if s.IsEnabled(int32(d.Victim)) {
		count++
	}
	if w.firstClock > w.firstLink {
		g := w.sys.Graph()
		for i := range g.Degree(d.Victim) {
			if s.IsEnabled(int32(w.firstLink + g.Back(g.Link(d.Victim, i)))) {
				count++
			}
		}
	}
	return count
}

// Greedy is a central daemon that tries every enabled move, takes it back, and chooses among those that leave the
// potential highest, each with the same probability. With the instance's own potential it is a heuristic adversary;
// with the checker's distances to the legitimate set as the potential it is the optimal one.
type Greedy struct {
	// Potential to keep high. Nil means that of the instance.
	Potential func(v *model.View) int64
	// Name replaces "greedy" in reports, such as "optimal".
	Name string

	potential func(v *model.View) int64
	moves     []model.Move
}

func (d *Greedy) String() string {
	if d.Name != "" {
		return d.Name
	}
	return "greedy"
}

// Begin refuses systems that cannot take a step back, and instances without a potential.
func (d *Greedy) Begin(s *Schedule) error {
	d.potential = d.Potential
	if d.potential == nil {
		d.potential = s.world.inst.Potential
	}
	if d.potential == nil {
		return fmt.Errorf("daemon %s: this algorithm names no potential", d)
	}
	if isLive(s.world.sys) {
		return fmt.Errorf("daemon %s: a live network cannot take a step back", d)
	}
	return nil
}

// Choose costs a step for every enabled move.
func (d *Greedy) Choose(s *Schedule, step []model.Move) ([]model.Move, error) {
	w := s.world
	var best model.Move
	var highest int64
	ties := uint64(0)
	for _, site := range w.enabled {
		d.moves = w.sys.Enabled(w.c, int(site), d.moves[:0])
		for _, m := range d.moves {
			value := w.try(m, d.potential)
			if ties == 0 || value > highest {
				best, highest, ties = m, value, 0
			}
			if value == highest {
				// The k-th of equals replaces the choice with probability 1/k, which makes all alike.
				if ties++; s.Chance.Below(ties) == 0 {
					best = m
				}
			}
		}
	}
	return append(step, best), nil
}

// Recorded plays a recorded run: its steps, faults and ticks included. Script and clocks must be left to it. The run
// ends with the recording, or with an error at the first move that is not possible.
type Recorded struct {
	Run  *model.Run
	next int
}

func (*Recorded) String() string { return "recorded" }

// Begin starts at the first step.
func (d *Recorded) Begin(*Schedule) error {
	d.next = 0
	if d.Run == nil {
		return errors.New("daemon recorded: there is no run")
	}
	return nil
}

// Choose takes the next step, and none at the end.
func (d *Recorded) Choose(s *Schedule, step []model.Move) ([]model.Move, error) {
	if d.next == len(d.Run.Steps) {
		return step, nil
	}
	moves := d.Run.Steps[d.next]
	if err := s.world.check(moves); err != nil {
		return step, fmt.Errorf("step %d: %w", d.next, err)
	}
	d.next++
	return append(step, moves...), nil
}

// isLive tells whether the system changes its states in place.
func isLive(s model.System) bool {
	n, ok := s.(*model.Network)
	return ok && n.Table() == nil
}
