// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math/bits"
)

// Program is an algorithm of guarded actions over locally shared variables: a process reads its own variables and
// those of its neighbours, and writes its own, all in one step. Its state is one word.
type Program interface {
	// Layout names the variables of p.
	Layout(p int) Layout
	// Clean is the state in which p was meant to begin.
	Clean(p int) uint64
	// Actions names the actions, at most 64.
	Actions() []Action
	// Enabled is the set of actions of p whose guard holds: bit a for action a. It is the hot loop of checker and
	// simulator; it must not allocate.
	Enabled(p int, c Configuration) uint64
	// Next is the state of p after an enabled action.
	Next(p, action int, c Configuration) uint64
}

// Action is the name of an action and who owes it.
type Action struct {
	Name string
	// Environment marks what the user of the algorithm does when it likes, such as asking for a resource: no
	// fairness can be demanded of it.
	Environment bool
}

// Reader is a Program that reads less than all its neighbours. Reads lists the processes whose variables p reads.
type Reader interface {
	Reads(p int) []int32
}

// Rewirable is a Program that heeds cut links and processes that leave. It is handed the way to ask for them.
type Rewirable interface {
	Rewire(isCut func(c Configuration, link int) bool)
}

// Guarded is the System of a Program. Every process is a site.
type Guarded struct {
	frame
	program   Program
	actions   []Action
	fair      uint64 // the actions that are owed
	rewirable bool
	// readersOf lists, for every process, the processes whose guards look at it, itself first.
	readers, readersOffset []int32
}

// NewGuarded makes a system of a program on a network. The budget is zero but for checks with faults.
func NewGuarded(g *Graph, program Program, budget Budget) (*Guarded, error) {
	s := &Guarded{frame: frame{graph: g, budget: budget}, program: program, actions: program.Actions()}
	if len(s.actions) == 0 || len(s.actions) > 64 {
		return nil, fmt.Errorf("a program has 1 to 64 actions, not %d", len(s.actions))
	}
	for a, action := range s.actions {
		if !action.Environment {
			s.fair |= 1 << a
		}
	}
	if r, ok := program.(Rewirable); ok {
		s.rewirable = true
		r.Rewire(s.IsCut)
	}
	s.readersOffset, s.readers = readersOf(g, program)
	return s, nil
}

// readersOf turns "p reads q" around, with every process before the others in its own list.
func readersOf(g *Graph, program Program) (offset, readers []int32) {
	reads := g.Neighbours
	if r, ok := program.(Reader); ok {
		reads = r.Reads
	}
	n := g.Len()
	offset = make([]int32, n+1)
	for p := range n {
		offset[p+1]++
		for _, q := range reads(p) {
			offset[q+1]++
		}
	}
	for p := range n {
		offset[p+1] += offset[p]
	}
	readers = make([]int32, offset[n])
	next := append([]int32(nil), offset[:n]...)
	put := func(q, reader int) {
		readers[next[q]] = int32(reader)
		next[q]++
	}
	for p := range n {
		put(p, p)
	}
	for p := range n {
		for _, q := range reads(p) {
			put(int(q), p)
		}
	}
	return offset, readers
}

// Program that the system runs.
func (s *Guarded) Program() Program { return s.program }

func (s *Guarded) adversary() int { return s.graph.Len() }

// Sites are the processes and, with a budget, the adversary.
func (s *Guarded) Sites() int { return s.graph.Len() + s.budgetWords() }

// Site tells what a site is.
func (s *Guarded) Site(site int) Site {
	if site == s.adversary() {
		return Site{Process: -1, Link: -1}
	}
	return Site{Process: site, Link: -1}
}

// Clean is the configuration of clean states.
func (s *Guarded) Clean() Configuration {
	c := make(Configuration, s.Words())
	for p := range s.graph.Len() {
		c[p] = s.program.Clean(p)
	}
	if !s.budget.IsZero() {
		c[s.budgetWord()] = s.fullBudget()
	}
	return c
}

// Domain of a process is that of its layout.
func (s *Guarded) Domain(word int) (uint64, func(uint64) uint64) {
	if word >= s.graph.Len() {
		return s.statusDomain(word)
	}
	l := s.program.Layout(word)
	return l.Size(), l.Value
}

// Enabled appends the enabled actions of a process.
func (s *Guarded) Enabled(c Configuration, site int, moves []Move) []Move {
	if site == s.adversary() {
		return s.processFaults(c, func(p int) uint64 { return s.program.Layout(p).Size() }, moves)
	}
	if s.IsCrashed(c, site) {
		return moves
	}
	for set := s.program.Enabled(site, c); set != 0; set &= set - 1 {
		moves = append(moves, Move{Kind: Act, At: int32(site), Arg: uint64(bits.TrailingZeros64(set))})
	}
	return moves
}

// Apply executes the actions of a step, all of them reading the configuration before it.
func (s *Guarded) Apply(c Configuration, step []Move, b *Buffer) {
	b.reset()
	if len(step) == 1 {
		m := step[0]
		if m.Kind.IsFault() {
			s.applyFault(c, m, b)
			return
		}
		p := int(m.At)
		b.write(c, p, s.program.Next(p, int(m.Arg), c))
		s.touch(p, b)
		return
	}
	b.next = b.next[:0]
	for _, m := range step {
		b.next = append(b.next, s.program.Next(int(m.At), int(m.Arg), c))
	}
	for i, m := range step {
		b.write(c, int(m.At), b.next[i])
		s.touch(int(m.At), b)
	}
}

func (s *Guarded) touch(p int, b *Buffer) {
	b.Touched = append(b.Touched, s.readers[s.readersOffset[p]:s.readersOffset[p+1]]...)
}

func (s *Guarded) applyFault(c Configuration, m Move, b *Buffer) {
	s.spend(c, m.Kind, b)
	at := int(m.At)
	switch m.Kind {
	case Corrupt:
		b.write(c, at, s.program.Layout(at).Value(m.Arg))
	case Crash:
		s.setCrashed(c, at, true, b)
	case Resume:
		s.setCrashed(c, at, false, b)
	case Restart:
		s.setCrashed(c, at, false, b)
		b.write(c, at, s.program.Clean(at))
	case Cut, Heal:
		s.setEdge(c, at, m.Kind == Cut, b)
	case Leave, Join:
		s.setCrashed(c, at, m.Kind == Leave, b)
		if m.Kind == Join {
			b.write(c, at, s.program.Clean(at))
		}
		for i := range s.graph.Degree(at) {
			s.setEdge(c, s.graph.Link(at, i), m.Kind == Leave, b)
		}
	case Act, Deliver, Tick, Lose, Duplicate, Forge, kinds:
	}
	if !m.Kind.HasLink() {
		s.touch(at, b)
	}
}

// setEdge cuts or heals both directions, and touches everybody who may look at either end.
func (s *Guarded) setEdge(c Configuration, link int, cut bool, b *Buffer) {
	s.setCut(c, link, cut, b)
	s.setCut(c, s.graph.Back(link), cut, b)
	from, to := s.graph.Ends(link)
	s.touch(from, b)
	s.touch(to, b)
}

// Check tells why a move is impossible.
func (s *Guarded) Check(c Configuration, m Move) error {
	if err := s.checkAt(m); err != nil {
		return err
	}
	at := int(m.At)
	switch m.Kind {
	case Act:
		if err := s.checkCrashed(c, m); err != nil {
			return err
		}
		if m.Arg >= uint64(len(s.actions)) || s.program.Enabled(at, c)>>m.Arg&1 == 0 {
			return fmt.Errorf("action %d of process %s is not enabled", m.Arg, s.graph.Name(at))
		}
	case Corrupt:
		if size := s.program.Layout(at).Size(); m.Arg >= size {
			return fmt.Errorf("corrupt: process %s has %d possible states, there is no number %d", s.graph.Name(at), size, m.Arg)
		}
	case Cut, Heal, Leave, Join:
		if !s.rewirable {
			return fmt.Errorf("%s: this algorithm is not made for networks that change", m.Kind)
		}
	case Crash, Resume, Restart:
	case Deliver, Tick, Lose, Duplicate, Forge, kinds:
		return fmt.Errorf("%s: this algorithm has no messages and no clocks", m.Kind)
	}
	return nil
}

// IsConcurrent holds: a distributed daemon may choose several processes.
func (s *Guarded) IsConcurrent() bool { return true }

// Class of an action is its process.
func (s *Guarded) Class(_ Configuration, m Move) int {
	if m.Kind == Act && s.fair>>m.Arg&1 != 0 {
		return int(m.At)
	}
	return NoClass
}

// ClassName names the process.
func (s *Guarded) ClassName(class int) string { return "process " + s.graph.Name(class) }

// Describe names the process and the action.
func (s *Guarded) Describe(_ Configuration, m Move) string {
	if m.Kind.IsFault() {
		return s.describeFault(m)
	}
	return fmt.Sprintf("process %s: %s", s.graph.Name(int(m.At)), s.actions[m.Arg].Name)
}

// Variables of a process.
func (s *Guarded) Variables(c Configuration, site int) []Variable {
	if site >= s.graph.Len() {
		return nil
	}
	vs := s.program.Layout(site).Variables(c[site])
	if s.IsCrashed(c, site) {
		vs = append(vs, Variable{Name: "crashed", Value: "yes"})
	}
	return vs
}
