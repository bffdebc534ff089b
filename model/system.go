// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "fmt"

// Configuration is the global state of a run, one word for every component, in this order: the state of each
// process; one bit per process for crashed; one bit per edge direction for cut; what the kind of system adds (the
// registers, or the contents of the links); the adversary's budget. In a network the words of states and links
// are handles of values that a Store keeps.
type Configuration []uint64

// Equal compares word by word.
func (c Configuration) Equal(d Configuration) bool {
	if len(c) != len(d) {
		return false
	}
	for i, w := range c {
		if d[i] != w {
			return false
		}
	}
	return true
}

// System is the transition relation: which moves are enabled in a configuration, and what a step makes of it.
// The checker and the simulator know nothing else of an algorithm, so they cannot disagree about it.
//
// Moves are grouped by site: a process, a link, a clock, or the adversary. At most one move of a site is part of a
// step. A step of one move is possible everywhere; a step of several moves at once only where IsConcurrent holds:
// there every move reads the configuration before the step and writes no word that another one writes.
//
// A System keeps no scratch memory of its own, so several goroutines may use one at once, each with a Buffer and
// configurations of its own, as far as its Store allows (see Network).
type System interface {
	// Graph is the network. Process numbers are those of the graph.
	Graph() *Graph
	// Words is the length of a configuration.
	Words() int
	// Sites is the number of sites. Site tells what one of them is.
	Sites() int
	Site(site int) Site
	// Clean is the start in which the algorithm was meant to begin.
	Clean() Configuration
	// Domain is the number of values that a word can have and its i-th value, for words whose values can be
	// listed. A size of 0 means that they cannot.
	Domain(word int) (size uint64, value func(i uint64) uint64)
	// IsStatus tells whether a word says what has crashed, what is cut, or what faults are left. Arbitrary starts have
	// these as the clean start has them.
	IsStatus(word int) bool
	// Enabled appends the moves of one site that are possible in c.
	Enabled(c Configuration, site int, moves []Move) []Move
	// Apply makes c the configuration after the step. The moves must be enabled or be faults that Check accepts.
	// It notes in b what it wrote and which sites it touched: those whose enabled moves or gauges may differ now.
	Apply(c Configuration, step []Move, b *Buffer)
	// Check tells why a move cannot be applied in c, or nil. Apply does not ask it; replays and scripts do.
	Check(c Configuration, m Move) error
	// IsConcurrent tells whether steps may consist of several moves.
	IsConcurrent() bool
	// Class is the fairness class of a move that is enabled in c, or NoClass if nobody owes it.
	Class(c Configuration, m Move) int
	// ClassName describes a fairness class.
	ClassName(class int) string
	// Describe says in words what a move does in c.
	Describe(c Configuration, m Move) string
	// Variables shows the state of one site: of a process its variables, of a link its messages.
	Variables(c Configuration, site int) []Variable
}

// NoClass is the class of moves that are never owed: requests of the environment, faults.
const NoClass = -1

// Site tells what a site is. Exactly one of the numbers is set, the others are -1.
type Site struct {
	Process int // the process that acts, or whose clock it is
	Link    int // the link that delivers
	Clock   bool
}

// IsAdversary tells whether the site is the adversary's.
func (s Site) IsAdversary() bool { return s.Process < 0 && s.Link < 0 }

// Variable is one name and value of a described state.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Kind is what a move does.
type Kind uint8

// The kinds of moves. From Lose on they are faults.
const (
	Act       Kind = iota // a process takes one of its own actions; Arg is its number
	Deliver               // a link hands over the message at position Arg
	Tick                  // the clock of a process advances by one
	Lose                  // a link loses the message at position Arg
	Duplicate             // a link repeats the message at position Arg, right behind it
	Corrupt               // a process gets value number Arg of its domain as its state
	Forge                 // a link gets message number Arg of its domain at its tail
	Crash                 // a process stops
	Resume                // a crashed process goes on with its memory
	Restart               // a process starts again from its clean state
	Cut                   // an edge carries nothing any more, what was on it is lost; the site is a link
	Heal                  // a cut edge works again
	Leave                 // a process crashes and its edges are cut
	Join                  // a process restarts and its edges are healed
	kinds
)

var kindNames = [kinds]string{"act", "deliver", "tick", "lose", "duplicate", "corrupt", "forge", "crash", "resume",
	"restart", "cut", "heal", "leave", "join"}

// String is the name of the kind, as scripts and replay files write it.
func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", k)
}

// ParseKind reads what String wrote.
func ParseKind(name string) (Kind, error) {
	for k, n := range kindNames {
		if n == name {
			return Kind(k), nil
		}
	}
	return 0, fmt.Errorf("unknown kind of move %q (there are %v)", name, kindNames)
}

// IsFault tells whether moves of this kind come from the adversary or a fault script.
func (k Kind) IsFault() bool { return k >= Lose }

// HasLink tells whether the At of such a move is a link rather than a process.
func (k Kind) HasLink() bool {
	switch k {
	case Deliver, Lose, Duplicate, Forge, Cut, Heal:
		return true
	case Act, Tick, Corrupt, Crash, Resume, Restart, Leave, Join:
		return false
	}
	return false
}

// Move is one thing that can happen: a kind, the process or link at which it happens, and an argument.
type Move struct {
	Arg  uint64
	At   int32
	Kind Kind
}

// Buffer is the scratch memory of whoever applies steps. It is reused from step to step.
type Buffer struct {
	// Written lists the words that the last Apply wrote, and Old what they held before, so that Undo can put
	// them back. A Store that changes values in place (Live) cannot be undone.
	Written []int32
	Old     []uint64
	// Touched lists the sites whose enabled moves or gauges may have changed. A site may stand in it twice. The
	// adversary's never does: whoever asks it asks after every step.
	Touched []int32
	// Sent counts the messages that the processes sent in the last Apply.
	Sent int
	// SentBytes is the size of their encodings, counted only if CountBytes is set, because a simulation has no other
	// reason to encode them.
	CountBytes bool
	SentBytes  int
	// Overflow tells that a reliable link of bounded capacity was sent more than it holds.
	Overflow bool

	next   []uint64
	out    []sending
	stamps []int64
	prompt []prompted
}

// reset forgets the last step.
func (b *Buffer) reset() {
	b.Written, b.Old, b.Touched = b.Written[:0], b.Old[:0], b.Touched[:0]
	b.Sent, b.SentBytes, b.Overflow = 0, 0, false
}

// write sets one word and notes what it held.
func (b *Buffer) write(c Configuration, word int, value uint64) {
	b.Written = append(b.Written, int32(word))
	b.Old = append(b.Old, c[word])
	c[word] = value
}

// Undo takes back the last Apply.
func (b *Buffer) Undo(c Configuration) {
	for i := len(b.Written) - 1; i >= 0; i-- {
		c[b.Written[i]] = b.Old[i]
	}
}
