// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"allot/model"
)

// Daemon decides who moves next. A Daemon serves one run at a time, and Begin makes it as new.
type Daemon interface {
	// String is the form that ParseDaemon reads.
	String() string
	// Begin is called before a run. It refuses systems that the daemon is not made for.
	Begin(s *Schedule) error
	// Choose appends the moves of the next step. Somebody is enabled when it is called, and a step has at least one move.
	Choose(s *Schedule, step []model.Move) ([]model.Move, error)
}

// Schedule is what a daemon sees of a run.
type Schedule struct {
	world *world
	// Chance is the daemon's own stream.
	Chance Chance
}

// Sites lists the enabled sites in no particular order. The daemon must not change it. Clocks are not among them, they
// follow the time; nor is the adversary, whose part in a simulation is the script.
func (s *Schedule) Sites() []int32 { return s.world.enabled }

// System that runs.
func (s *Schedule) System() model.System { return s.world.sys }

// IsEnabled tells whether a site can move.
func (s *Schedule) IsEnabled(site int32) bool { return s.world.spots[site].position >= 0 }

// Owner is the process that acts when a site moves: of a link, the one that receives.
func (s *Schedule) Owner(site int32) int { return s.world.owner(site) }

// Move is a move of an enabled site; if it has several, each with the same probability.
func (s *Schedule) Move(site int32) model.Move {
	p := &s.world.spots[site]
	if p.count == 1 {
		return p.first
	}
	w := s.world
	w.moves = w.sys.Enabled(w.c, int(site), w.moves[:0])
	return w.moves[s.Chance.Below(uint64(len(w.moves)))]
}

// any is an enabled site, each with the same probability.
func (s *Schedule) any() int32 {
	list := s.world.enabled
	return list[s.Chance.Below(uint64(len(list)))]
}

var errOneAtATime = errors.New("in this model of computation one thing happens at a time; use central, round-robin, unfair:P or greedy")

func (s *Schedule) needConcurrent(d Daemon) error {
	if !s.world.sys.IsConcurrent() {
		return fmt.Errorf("daemon %s: %w", d, errOneAtATime)
	}
	return nil
}

const daemonForms = "central, distributed, distributed:0.3, synchronous, locally-central, round-robin, unfair:P (P is a process), greedy"

// ParseDaemon reads the name of a daemon, with its argument after a colon.
func ParseDaemon(spec string) (Daemon, error) {
	name, arg, hasArg := strings.Cut(spec, ":")
	switch name {
	case "distributed":
		d := &Distributed{Probability: 0.5}
		if hasArg {
			p, err := strconv.ParseFloat(arg, 64)
			if err != nil || !(p > 0 && p <= 1) {
				return nil, fmt.Errorf("daemon %.40q: the probability must be above 0 and at most 1, as in distributed:0.3", spec)
			}
			d.Probability = p
		}
		return d, nil
	case "unfair":
		p, err := strconv.ParseUint(arg, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("daemon %.40q: name the victim by its number, as in unfair:3", spec)
		}
		return &Unfair{Victim: int(p)}, nil
	}
	if !hasArg {
		switch name {
		case "central":
			return &Central{}, nil
		case "synchronous":
			return &Synchronous{}, nil
		case "locally-central":
			return &LocallyCentral{}, nil
		case "round-robin":
			return &RoundRobin{}, nil
		case "greedy":
			return &Greedy{}, nil
		}
	}
	return nil, fmt.Errorf("unknown daemon %.40q; allowed are %s", spec, daemonForms)
}

// Central lets one site move, each enabled one with the same probability.
type Central struct{}

func (*Central) String() string { return "central" }

// Begin has nothing to refuse.
func (*Central) Begin(*Schedule) error { return nil }

// Choose takes one site.
func (*Central) Choose(s *Schedule, step []model.Move) ([]model.Move, error) {
	return append(step, s.Move(s.any())), nil
}

// Synchronous lets everybody move who can.
type Synchronous struct{}

func (*Synchronous) String() string { return "synchronous" }

// Begin refuses systems in which one thing happens at a time.
func (d *Synchronous) Begin(s *Schedule) error { return s.needConcurrent(d) }

// Choose takes every enabled site.
func (*Synchronous) Choose(s *Schedule, step []model.Move) ([]model.Move, error) {
	for _, site := range s.Sites() {
		step = append(step, s.Move(site))
	}
	return step, nil
}

// Distributed lets each enabled site move with a probability, independently. If that chooses nobody, one site moves,
// each with the same probability.
type Distributed struct{ Probability float64 }

func (d *Distributed) String() string {
	return "distributed:" + strconv.FormatFloat(d.Probability, 'g', -1, 64)
}

// Begin refuses systems in which one thing happens at a time.
func (d *Distributed) Begin(s *Schedule) error {
	if !(d.Probability > 0 && d.Probability <= 1) {
		return fmt.Errorf("daemon %s: the probability must be above 0 and at most 1", d)
	}
	return s.needConcurrent(d)
}

// Choose throws a coin for every enabled site.
func (d *Distributed) Choose(s *Schedule, step []model.Move) ([]model.Move, error) {
	for _, site := range s.Sites() {
		if s.Chance.Float() < d.Probability {
			step = append(step, s.Move(site))
		}
	}
	if len(step) == 0 {
		step = append(step, s.Move(s.any()))
	}
	return step, nil
}

// RoundRobin lets one site move after the other, in the order of their numbers; those that cannot move are passed over.
type RoundRobin struct{ next int32 }

func (*RoundRobin) String() string { return "round-robin" }

// Begin starts at the first site.
func (d *RoundRobin) Begin(*Schedule) error {
	d.next = 0
	return nil
}

// Choose looks for the next enabled site. It costs the number of sites passed over.
func (d *RoundRobin) Choose(s *Schedule, step []model.Move) ([]model.Move, error) {
	last := int32(s.world.firstClock)
	for !s.IsEnabled(d.next % last) {
		d.next++
	}
	site := d.next % last
	d.next = site + 1
	return append(step, s.Move(site)), nil
}
