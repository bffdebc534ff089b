// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"strconv"
	"strings"
)

// Budget is how many faults of each kind the adversary may still inject in a checked run. The zero value allows
// none. At most 255 of a kind.
type Budget struct {
	Crash, Resume, Restart, Lose, Duplicate, Corrupt, Forge uint8
}

// budgetKinds is the order of the counts in the budget's word.
var budgetKinds = [...]Kind{Crash, Resume, Restart, Lose, Duplicate, Corrupt, Forge}

func (b *Budget) count(k Kind) *uint8 {
	switch k {
	case Crash:
		return &b.Crash
	case Resume:
		return &b.Resume
	case Restart:
		return &b.Restart
	case Lose:
		return &b.Lose
	case Duplicate:
		return &b.Duplicate
	case Corrupt:
		return &b.Corrupt
	case Forge:
		return &b.Forge
	case Act, Deliver, Tick, Cut, Heal, Leave, Join, kinds:
	}
	return nil
}

// ParseBudget reads "crash=1,lose=2". The empty text is no fault.
func ParseBudget(spec string) (Budget, error) {
	var b Budget
	if spec == "" {
		return b, nil
	}
	for _, part := range strings.Split(spec, ",") {
		name, number, ok := strings.Cut(part, "=")
		n, err := strconv.ParseUint(number, 10, 8)
		kind, kindErr := ParseKind(name)
		switch {
		case !ok:
			return b, fmt.Errorf("faults %q: write each as KIND=COUNT, for example crash=1,lose=2", part)
		case kindErr != nil || b.count(kind) == nil:
			return b, fmt.Errorf("faults %q: the kinds are %v", part, budgetKinds)
		case err != nil:
			return b, fmt.Errorf("faults %q: the count must be 0 to 255", part)
		}
		*b.count(kind) = uint8(n)
	}
	return b, nil
}

// String is the form that ParseBudget reads.
func (b Budget) String() string {
	var parts []string
	for _, k := range budgetKinds {
		if n := *b.count(k); n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", k, n))
		}
	}
	return strings.Join(parts, ",")
}

// IsZero tells whether no fault is allowed.
func (b Budget) IsZero() bool { return b == Budget{} }

// frame is what the three kinds of systems have in common: the words for crashed processes, cut links and the
// adversary's budget, and the moves that change them.
type frame struct {
	graph  *Graph
	own    int // words that the kind of system adds after the status words
	budget Budget
}

func (f *frame) Graph() *Graph { return f.graph }

func (f *frame) Words() int { return f.budgetWord() + f.budgetWords() }

func (f *frame) crashedWord(p int) int { return f.graph.Len() + p/64 }

func (f *frame) cutWord(link int) int {
	n := f.graph.Len()
	return n + (n+63)/64 + link/64
}

// ownWord is the first word of those that the kind of system adds.
func (f *frame) ownWord() int { return f.cutWord(0) + (f.graph.Links()+63)/64 }

func (f *frame) budgetWord() int { return f.ownWord() + f.own }

func (f *frame) budgetWords() int {
	if f.budget.IsZero() {
		return 0
	}
	return 1
}

// IsStatus tells whether a word belongs to the frame rather than to the algorithm.
func (f *frame) IsStatus(word int) bool {
	return word >= f.graph.Len() && word < f.ownWord() || word >= f.budgetWord()
}

// fullBudget is the word of an untouched budget: one byte for each kind.
func (f *frame) fullBudget() uint64 {
	var w uint64
	for i, k := range budgetKinds {
		w |= uint64(*f.budget.count(k)) << (8 * i)
	}
	return w
}

// left is how many faults of a kind the adversary may still inject.
func (f *frame) left(c Configuration, k Kind) int {
	if f.budget.IsZero() {
		return 0
	}
	for i, b := range budgetKinds {
		if b == k {
			return int(c[f.budgetWord()] >> (8 * i) & 0xff)
		}
	}
	return 0
}

// spend takes one fault off the budget. Scripts inject faults without a budget.
func (f *frame) spend(c Configuration, k Kind, b *Buffer) {
	if f.left(c, k) == 0 {
		return
	}
	for i, kind := range budgetKinds {
		if kind == k {
			b.write(c, f.budgetWord(), c[f.budgetWord()]-1<<(8*i))
		}
	}
}

// IsCrashed tells whether p has stopped.
func (f *frame) IsCrashed(c Configuration, p int) bool {
	return c[f.crashedWord(p)]>>(p%64)&1 != 0
}

// IsCut tells whether a link carries nothing.
func (f *frame) IsCut(c Configuration, link int) bool {
	return c[f.cutWord(link)]>>(link%64)&1 != 0
}

func (f *frame) setCrashed(c Configuration, p int, crashed bool, b *Buffer) {
	f.setBit(c, f.crashedWord(p), p%64, crashed, b)
}

func (f *frame) setCut(c Configuration, link int, cut bool, b *Buffer) {
	f.setBit(c, f.cutWord(link), link%64, cut, b)
}

func (f *frame) setBit(c Configuration, word, bit int, on bool, b *Buffer) {
	w := c[word] &^ (1 << bit)
	if on {
		w |= 1 << bit
	}
	if w != c[word] {
		b.write(c, word, w)
	}
}

// statusDomain is the domain of the words that the frame owns. Nothing is ever cut in a checked run, and a crash
// is possible only with a budget for it. Only the full budget is a start, but all smaller ones can be reached.
func (f *frame) statusDomain(word int) (uint64, func(uint64) uint64) {
	identity := func(i uint64) uint64 { return i }
	switch {
	case word < f.cutWord(0): // crashed bits
		if f.budget.Crash == 0 {
			return 1, identity
		}
		bits := min(64, f.graph.Len()-64*(word-f.graph.Len()))
		if bits == 64 {
			return 0, nil
		}
		return 1 << bits, identity
	case word < f.ownWord(): // cut bits
		return 1, identity
	default: // the budget: counts in mixed radix
		size := uint64(1)
		for _, k := range budgetKinds {
			size *= uint64(*f.budget.count(k)) + 1
		}
		return size, func(i uint64) uint64 {
			var w uint64
			for b, k := range budgetKinds {
				n := uint64(*f.budget.count(k)) + 1
				w |= i % n << (8 * b)
				i /= n
			}
			return w
		}
	}
}

// processFaults appends the adversary's moves that concern processes.
func (f *frame) processFaults(c Configuration, domain func(p int) uint64, moves []Move) []Move {
	crash, resume, restart := f.left(c, Crash), f.left(c, Resume), f.left(c, Restart)
	corrupt := f.left(c, Corrupt)
	for p := range f.graph.Len() {
		at := int32(p)
		if f.IsCrashed(c, p) {
			if resume > 0 {
				moves = append(moves, Move{Kind: Resume, At: at})
			}
			if restart > 0 {
				moves = append(moves, Move{Kind: Restart, At: at})
			}
			continue
		}
		if crash > 0 {
			moves = append(moves, Move{Kind: Crash, At: at})
		}
		if corrupt > 0 {
			for i := range domain(p) {
				moves = append(moves, Move{Kind: Corrupt, At: at, Arg: i})
			}
		}
	}
	return moves
}

// checkAt tells whether a move names a process or link that exists.
func (f *frame) checkAt(m Move) error {
	if m.Kind >= kinds {
		return fmt.Errorf("unknown kind of move %d", m.Kind)
	}
	limit, what := f.graph.Len(), "process"
	if m.Kind.HasLink() {
		limit, what = f.graph.Links(), "link"
	}
	if m.At < 0 || int(m.At) >= limit {
		return fmt.Errorf("%s: there is no %s %d, the last one is %d", m.Kind, what, m.At, limit-1)
	}
	return nil
}

// checkCrashed tells whether a move of a process fits with whether it has crashed.
func (f *frame) checkCrashed(c Configuration, m Move) error {
	if f.IsCrashed(c, int(m.At)) {
		return fmt.Errorf("%s: process %s has crashed", m.Kind, f.graph.Name(int(m.At)))
	}
	return nil
}

// describeFault says what a fault does.
func (f *frame) describeFault(m Move) string {
	if m.Kind.HasLink() {
		from, to := f.graph.Ends(int(m.At))
		where := fmt.Sprintf("link %s→%s", f.graph.Name(from), f.graph.Name(to))
		switch m.Kind {
		case Cut:
			return where + " is cut in both directions"
		case Heal:
			return where + " is healed in both directions"
		case Lose:
			return fmt.Sprintf("%s loses message %d", where, m.Arg)
		case Duplicate:
			return fmt.Sprintf("%s repeats message %d", where, m.Arg)
		case Act, Deliver, Tick, Corrupt, Forge, Crash, Resume, Restart, Leave, Join, kinds:
		}
		return fmt.Sprintf("%s: %s %d", where, m.Kind, m.Arg)
	}
	p := "process " + f.graph.Name(int(m.At))
	switch m.Kind {
	case Corrupt:
		return fmt.Sprintf("%s has its memory overwritten with value %d of its domain", p, m.Arg)
	case Crash:
		return p + " crashes"
	case Resume:
		return p + " comes back with its memory"
	case Restart:
		return p + " comes back with its memory lost"
	case Leave:
		return p + " leaves the network"
	case Join:
		return p + " joins the network"
	case Act, Deliver, Tick, Lose, Duplicate, Forge, Cut, Heal, kinds:
	}
	return fmt.Sprintf("%s: %s %d", p, m.Kind, m.Arg)
}
