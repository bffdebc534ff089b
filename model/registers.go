// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "fmt"

// Op is what an access does with a register. Every access is one step.
type Op uint8

// The operations. Local touches no register; Swap is compare-and-swap: if the register holds Old, it gets Value, and
// the process is told what was there in either case. Add adds Value, modulo the size of the register, so that Size-1 takes
// one away; the process is told what was there before. Or sets the bits of Value; the process is told what was there
// before.
const (
	Local Op = iota
	Read
	Write
	Swap
	Add
	Or
)

// Access is one step that a process can take.
type Access struct {
	Op       Op
	Register int
	Value    uint64 // what Write and Swap put there, Add adds and Or sets
	Old      uint64 // what Swap expects
	// Name says in words what the step is for.
	Name string
	// Environment marks steps that nobody owes: beginning to try, cancelling, staying inside.
	Environment bool
}

// Shared is an algorithm over shared registers. A process's own state is one word; what it does next depends on that
// word alone, and what it read becomes part of it. Production code drives the same two functions over atomic memory.
type Shared interface {
	// Registers lists the shared registers and Initial what they hold at the start.
	Registers() []*Field
	Initial(register int) uint64
	// Layout and Clean describe the own state of p, as in Program.
	Layout(p int) Layout
	Clean(p int) uint64
	// Accesses appends the steps among which p (or its scheduler, or its user) can choose.
	Accesses(p int, local uint64, steps []Access) []Access
	// After is the own state of p when step number choice has been taken and found (or, for Write, replaced) a value.
	After(p int, local uint64, choice int, found uint64) uint64
}

// Indexed is a Shared that can give one of its steps without listing all of them. It is a matter of speed alone:
// Choice(p, local, i) must be element i of Accesses(p, local), and Choices their number.
type Indexed interface {
	Choices(p int, local uint64) int
	Choice(p int, local uint64, i int) Access
}

// Forgetful is a Shared that knows when a value in a register has lost its meaning: from now on nobody can tell it from
// another. Such values are replaced, so that configurations that behave alike become one.
type Forgetful interface {
	// Forget tells what nobody can tell apart after a step that took p from one own state to another: where it is ok, if
	// the register holds the value, it may as well hold instead.
	Forget(p int, before, after uint64) (register int, value, instead uint64, ok bool)
}

// Registers is the System of a Shared algorithm. Every process is a site; steps never coincide.
type Registers struct {
	frame
	shared    Shared
	indexed   Indexed   // or nil
	forgetful Forgetful // or nil
	registers []*Field
}

// NewRegisters makes a system of n processes over shared registers. The graph serves for names and drawing only.
func NewRegisters(g *Graph, shared Shared, budget Budget) (*Registers, error) {
	s := &Registers{frame: frame{graph: g, budget: budget}, shared: shared, registers: shared.Registers()}
	s.own = len(s.registers)
	s.indexed, _ = shared.(Indexed)
	s.forgetful, _ = shared.(Forgetful)
	for r, f := range s.registers {
		if f.Size == 0 || shared.Initial(r) >= f.Size {
			return nil, fmt.Errorf("register %s: its first value %d is not among its %d values", f.Name, shared.Initial(r), f.Size)
		}
	}
	return s, nil
}

// Register is the word of register r, for properties that look at it.
func (s *Registers) Register(c Configuration, r int) uint64 { return c[s.ownWord()+r] }

func (s *Registers) adversary() int { return s.graph.Len() }

// Sites are the processes and, with a budget, the adversary.
func (s *Registers) Sites() int { return s.graph.Len() + s.budgetWords() }

// Site tells what a site is.
func (s *Registers) Site(site int) Site {
	if site == s.adversary() {
		return Site{Process: -1, Link: -1}
	}
	return Site{Process: site, Link: -1}
}

// Clean is the start: every process in its clean state, every register with its initial value.
func (s *Registers) Clean() Configuration {
	c := make(Configuration, s.Words())
	for p := range s.graph.Len() {
		c[p] = s.shared.Clean(p)
	}
	for r := range s.registers {
		c[s.ownWord()+r] = s.shared.Initial(r)
	}
	if !s.budget.IsZero() {
		c[s.budgetWord()] = s.fullBudget()
	}
	return c
}

// Domain of processes and registers is that of their layouts.
func (s *Registers) Domain(word int) (uint64, func(uint64) uint64) {
	switch {
	case word < s.graph.Len():
		l := s.shared.Layout(word)
		return l.Size(), l.Value
	case word >= s.ownWord() && word < s.budgetWord():
		return s.registers[word-s.ownWord()].Size, func(i uint64) uint64 { return i }
	default:
		return s.statusDomain(word)
	}
}

// Enabled appends the steps that a process can take.
func (s *Registers) Enabled(c Configuration, site int, moves []Move) []Move {
	if site == s.adversary() {
		return s.processFaults(c, func(p int) uint64 { return s.shared.Layout(p).Size() }, moves)
	}
	if s.IsCrashed(c, site) {
		return moves
	}
	for i := range s.choices(c, site) {
		moves = append(moves, Move{Kind: Act, At: int32(site), Arg: uint64(i)})
	}
	return moves
}

// choices is the number of steps that p can take.
func (s *Registers) choices(c Configuration, p int) int {
	if s.indexed != nil {
		return s.indexed.Choices(p, c[p])
	}
	var space [8]Access
	return len(s.shared.Accesses(p, c[p], space[:0]))
}

// access is the step that a move takes. An own state that no run reaches, but corruption does, may ask for a register
// that there is none of.
func (s *Registers) access(c Configuration, m Move) (a Access) {
	if s.indexed != nil {
		a = s.indexed.Choice(int(m.At), c[m.At], int(m.Arg))
	} else {
		var space [8]Access
		a = s.shared.Accesses(int(m.At), c[m.At], space[:0])[m.Arg]
	}
	if a.Op != Local && uint(a.Register) >= uint(len(s.registers)) {
		panic(&DomainError{Variable: "register", Value: uint64(a.Register), Most: uint64(len(s.registers) - 1)})
	}
	return a
}

// Apply takes one step.
func (s *Registers) Apply(c Configuration, step []Move, b *Buffer) {
	b.reset()
	m := step[0]
	p := int(m.At)
	b.Touched = append(b.Touched, m.At)
	if m.Kind.IsFault() {
		s.spend(c, m.Kind, b)
		switch m.Kind {
		case Corrupt:
			b.write(c, p, s.shared.Layout(p).Value(m.Arg))
		case Restart:
			s.setCrashed(c, p, false, b)
			b.write(c, p, s.shared.Clean(p))
		case Crash, Resume:
			s.setCrashed(c, p, m.Kind == Crash, b)
		case Act, Deliver, Tick, Lose, Duplicate, Forge, Cut, Heal, Leave, Join, kinds:
		}
		return
	}
	access := s.access(c, m)
	var found uint64
	if access.Op != Local {
		word := s.ownWord() + access.Register
		found = c[word]
		switch {
		case access.Op == Write || access.Op == Swap && found == access.Old:
			b.write(c, word, access.Value)
		case access.Op == Or:
			b.write(c, word, found|access.Value)
		case access.Op == Add:
			b.write(c, word, (found+access.Value)%s.registers[access.Register].Size)
		}
	}
	before := c[p]
	b.write(c, p, s.shared.After(p, before, int(m.Arg), found))
	if s.forgetful == nil {
		return
	}
	if r, value, instead, ok := s.forgetful.Forget(p, before, c[p]); ok && s.Register(c, r) == value {
		b.write(c, s.ownWord()+r, instead)
	}
}

// Check tells why a move is impossible.
func (s *Registers) Check(c Configuration, m Move) error {
	if err := s.checkAt(m); err != nil {
		return err
	}
	switch m.Kind {
	case Act:
		if err := s.checkCrashed(c, m); err != nil {
			return err
		}
		if n := s.choices(c, int(m.At)); m.Arg >= uint64(n) {
			return fmt.Errorf("process %s has %d steps to choose from, there is no number %d", s.graph.Name(int(m.At)), n, m.Arg)
		}
	case Corrupt:
		if size := s.shared.Layout(int(m.At)).Size(); m.Arg >= size {
			return fmt.Errorf("corrupt: process %s has %d possible states, there is no number %d", s.graph.Name(int(m.At)), size, m.Arg)
		}
	case Crash, Resume, Restart:
	case Deliver, Tick, Lose, Duplicate, Forge, Cut, Heal, Leave, Join, kinds:
		return fmt.Errorf("%s: this algorithm has no messages, links and clocks", m.Kind)
	}
	return nil
}

// IsConcurrent does not hold: accesses to memory happen one after the other.
func (s *Registers) IsConcurrent() bool { return false }

// Class of a step is its process.
func (s *Registers) Class(c Configuration, m Move) int {
	if m.Kind == Act && !s.access(c, m).Environment {
		return int(m.At)
	}
	return NoClass
}

// ClassName names the process.
func (s *Registers) ClassName(class int) string { return "process " + s.graph.Name(class) }

// Describe names the process, the access and what it finds.
func (s *Registers) Describe(c Configuration, m Move) string {
	if m.Kind.IsFault() {
		return s.describeFault(m)
	}
	a := s.access(c, m)
	text := "process " + s.graph.Name(int(m.At)) + ": " + a.Name
	if a.Op == Local {
		return text
	}
	f := s.registers[a.Register]
	found := f.show(s.Register(c, a.Register))
	switch a.Op {
	case Read:
		return fmt.Sprintf("%s, reads %s = %s", text, f.Name, found)
	case Write:
		return fmt.Sprintf("%s, writes %s := %s", text, f.Name, f.show(a.Value))
	case Add:
		return fmt.Sprintf("%s, changes %s from %s to %s", text, f.Name, found, f.show((s.Register(c, a.Register)+a.Value)%f.Size))
	case Or:
		return fmt.Sprintf("%s, sets %s in %s, finds %s", text, f.show(a.Value), f.Name, found)
	case Swap:
		return fmt.Sprintf("%s, swaps %s from %s to %s, finds %s", text, f.Name, f.show(a.Old), f.show(a.Value), found)
	case Local:
	}
	return text
}

// Variables of a process; the registers are shown with process 0, where a reader sees them first.
func (s *Registers) Variables(c Configuration, site int) []Variable {
	if site >= s.graph.Len() {
		return nil
	}
	vs := s.shared.Layout(site).Variables(c[site])
	if s.IsCrashed(c, site) {
		vs = append(vs, Variable{Name: "crashed", Value: "yes"})
	}
	if site == 0 {
		for r, f := range s.registers {
			vs = append(vs, Variable{Name: f.Name, Value: f.show(s.Register(c, r))})
		}
	}
	return vs
}
