// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"fmt"
	"slices"

	"allot/model"
)

// The algorithms.
const (
	NAIVE = "naive"
	EXCL  = "excl"
	GTEX  = "gtex"
)

// Algorithms lists the algorithms by name.
var Algorithms = []string{NAIVE, EXCL, GTEX}

// Bounds of a Config. The registers of a process and its place must fit a word.
const (
	MaxProcesses = 1024
	maxStay      = 15
)

// Config says what a Machine is made for.
type Config struct {
	Algorithm string // one of Algorithms; empty means EXCL
	N, K      int    // processes, and how many of them may be inside
	Variant   string // empty means corrected
	// Express opens the lane past all rounds for when nobody waits and fewer than k are inside.
	Express bool
	// Names gives a number of its own, 0..K-1, to everybody inside.
	Names bool
	// Cancel lets waiting processes give up.
	Cancel bool
	// Try lets processes try without waiting; it needs Express.
	Try bool
	// Seats is how many processes of a Counted compete at once; 0 means N-K. Bits is how many names are bits of its lane; 0
	// means as many as can be.
	Seats, Bits int
	// Holders is how many of the processes of a Counted may stay inside for ever.
	Holders int
	// Stay is how many steps somebody spends inside before it leaves.
	Stay int

	rule rule
}

func (c Config) validate() (Config, error) {
	if c.Algorithm == "" {
		c.Algorithm = EXCL
	}
	if c.Variant == "" {
		c.Variant = "corrected"
	}
	r, isVariant := variants[c.Variant]
	m, isMutant := mutants[c.Variant]
	switch {
	case !slices.Contains(Algorithms, c.Algorithm):
		return c, fmt.Errorf("unknown algorithm %q; there are %v", c.Algorithm, Algorithms)
	case c.N < 1 || c.N > MaxProcesses:
		return c, fmt.Errorf("there must be 1 to %d processes, not %d", MaxProcesses, c.N)
	case c.K < 1 || c.K > MaxProcesses:
		return c, fmt.Errorf("1 to %d may be inside, not %d", MaxProcesses, c.K)
	case c.Stay < 0 || c.Stay > maxStay:
		return c, fmt.Errorf("a stay has 0 to %d steps, not %d", maxStay, c.Stay)
	case c.Try && !c.Express:
		return c, fmt.Errorf("trying without waiting is done in the express lane: it needs express")
	case !isVariant && !isMutant:
		return c, fmt.Errorf("there is no variant %q", c.Variant)
	}
	c.rule = r
	if isMutant {
		c.rule = m
	}
	return c, nil
}

// Where a process stands. Announcing the first round is what takes a process out of the remainder region, so that
// wanting to enter is no step of its own.
const (
	arrive      = iota // takes over its number: lowers the level that a dead process may have left
	sweep              // before that, drops the name that a dead process may have held
	out                // the remainder region
	tryPeek            // tries without waiting: looks whether the express lane is open
	tryAnnounce        // tries without waiting: raises its level to the top
	tryJoin            // tries without waiting: joins the express lane
	retreat            // tries without waiting: the lane was not open any more
	delist             // has given up: is not slow any more
	peek               // looks whether the express lane is open
	announce           // raises its level to the top
	join               // joins the express lane
	enlist             // the express lane is closed: is slow from now on
	raise              // writes its level for the round
	yield              // gives way: writes turn
	scan               // counts the others
	look               // reads turn
	promote            // has won every round: raises its level to the top
	settle             // has won every round: is not slow any more, but one of those in the express lane
	take               // inside, takes a name
	inside             // the critical region
	leave              // lowers its level
	drop               // drops its name
	checkout           // has left: is not in the express lane any more
	places
)

var placeNames = [places]string{"arrive", "sweep", "out", "try: peek", "try: announce", "try: join", "try: retreat", "delist",
	"peek", "announce", "join", "enlist", "raise", "yield", "scan", "look", "promote", "settle", "take", "inside", "leave",
	"drop", "checkout"}

// Machine is one of the algorithms for given n and k, as model.Shared. It does not change once made.
//
// The registers are, in this order, level of every process, the last to give way in every round, and the holder of every
// name; processes are written there as their number plus one. All registers begin as zero. A turn may begin with anything:
// nobody reads one that it has not written before.
type Machine struct {
	Config
	plan      *plan
	layout    model.Layout
	registers []*model.Field

	at, round, next, high, name, stay *model.Field
}

// New makes a Machine.
func New(c Config) (*Machine, error) {
	c, err := c.validate()
	if err != nil {
		return nil, err
	}
	m := &Machine{Config: c, plan: newPlan(c)}
	for i := range c.N {
		m.registers = append(m.registers, &model.Field{Name: fmt.Sprintf("level[%d]", i), Size: m.plan.top + 1})
	}
	for _, name := range m.plan.turns {
		m.registers = append(m.registers, &model.Field{Name: name, Size: uint64(c.N) + 1, Show: showLast})
	}
	rounds, high := 1, 1
	for i, rs := range m.plan.rounds {
		rounds = max(rounds, len(rs))
		for j := range rs {
			high = max(high, min(rs[j].limit+1, m.plan.rounds[i][j].others()))
		}
	}
	m.at = &model.Field{Name: "at", Size: places, Show: func(v uint64) string { return placeNames[v] }}
	m.round = &model.Field{Name: "round", Size: uint64(rounds), Show: func(v uint64) string { return fmt.Sprint(v + 1) }}
	m.next = &model.Field{Name: "next", Size: uint64(c.N)}
	m.high = &model.Field{Name: "counted", Size: uint64(max(high, c.K) + 1)}
	m.name = &model.Field{Name: "name", Size: 1}
	m.stay = &model.Field{Name: "stay", Size: uint64(c.Stay) + 1}
	if c.Names {
		m.name.Size = uint64(c.K)
		for i := range c.K {
			m.registers = append(m.registers, &model.Field{Name: fmt.Sprintf("name[%d]", i), Size: uint64(c.N) + 1, Show: showHolder})
		}
	}
	if c.Express {
		m.registers = append(m.registers, &model.Field{Name: "lane", Size: m.laneSize(), Show: m.showLane})
	}
	m.layout, err = model.NewLayout(m.at, m.round, m.next, m.high, m.name, m.stay)
	return m, err
}

func showLast(v uint64) string {
	if v == 0 {
		return "nobody"
	}
	return fmt.Sprint(v - 1)
}

func showHolder(v uint64) string {
	if v == 0 {
		return "free"
	}
	return fmt.Sprint("held by ", v-1)
}

// Registers lists the shared registers.
func (m *Machine) Registers() []*model.Field { return m.registers }

// Initial is zero for every register.
func (m *Machine) Initial(int) uint64 { return 0 }

// Layout of the own state, the same for all.
func (m *Machine) Layout(int) model.Layout { return m.layout }

// Clean is where a process begins, and where it begins again after a crash: it has to tidy up first, in the order in
// which one leaves. Were the level lowered first, somebody could get in and find every name taken.
func (m *Machine) Clean(int) uint64 {
	if m.Names && m.rule != keepName && m.rule != arriveThenSweep {
		return sweep
	}
	return arrive
}

// Top is the level of those who have nothing before them any more. Without Express nobody has it.
func (m *Machine) Top() uint64 { return m.plan.top }

// Rounds is the number of rounds of a process.
func (m *Machine) Rounds(me int) int { return len(m.plan.rounds[me]) }

// Turns is the number of turn registers.
func (m *Machine) Turns() int { return len(m.plan.turns) }

func (m *Machine) turn(i int) int { return m.N + i }

func (m *Machine) nameRegister(i uint64) int { return m.N + len(m.plan.turns) + int(i) }

// IsOut tells whether a process is in the remainder region.
func (m *Machine) IsOut(local uint64) bool { return m.at.Get(local) <= out }

// IsInside tells whether a process is in the critical region.
func (m *Machine) IsInside(local uint64) bool { return m.at.Get(local) == inside }

// IsTrying tells whether a process is on its way in and will not turn back by itself.
func (m *Machine) IsTrying(local uint64) bool {
	at := m.at.Get(local)
	return at > delist && at < inside
}

// IsWaiting tells whether a process has been told to wait: it found too many others, and itself the last.
// It stands before a new count.
func (m *Machine) IsWaiting(local uint64) bool {
	return m.at.Get(local) == scan && m.next.Get(local) == 0 && m.high.Get(local) == 0
}

// IsTaking tells whether a process has got in and takes a name next.
func (m *Machine) IsTaking(local uint64) bool { return m.at.Get(local) == take }

// Out is the state in the remainder region, Enlist that of a process that found the express lane closed, and Won that of
// one that has joined it: for whoever makes the first accesses of the machine by itself.
func (m *Machine) Out() uint64 { return out }

// Enlist is the state of a process that found the express lane closed.
func (m *Machine) Enlist() uint64 { return enlist }

// GivenUp is the state of a process that has given up and lowered its level.
func (m *Machine) GivenUp() uint64 { return m.After(0, m.at.Set(0, scan), 1, 0) }

// Won is the state of a process that has joined the express lane.
func (m *Machine) Won() uint64 { return m.enterInside() }

// Entered is the state of a process that is inside with a name.
func (m *Machine) Entered(name int) uint64 {
	return m.name.Set(m.at.Set(m.enterInside(), inside), uint64(name))
}

// IsCounting tells whether a process has announced itself and given way in a round and has not passed it yet.
func (m *Machine) IsCounting(local uint64) bool {
	at := m.at.Get(local)
	return at == scan || at == look
}

// Course lists the turn registers of the rounds of a process, in order, numbered from 0.
func (m *Machine) Course(me int) []int {
	var turns []int
	for _, r := range m.plan.rounds[me] {
		turns = append(turns, r.turn)
	}
	return turns
}

// Name of a process that is inside.
func (m *Machine) Name(local uint64) int { return int(m.name.Get(local)) }
