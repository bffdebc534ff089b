// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"fmt"
	"math/bits"

	"allot/model"
)

// Counted is the competition of package allot/slots, where whoever is inside is only counted. The register lane has a bit for
// every name; who is inside has set one, and that is all it has done if nobody was slow: one compare-and-swap to get in, one
// addition to get out. Those who find somebody slow or all names taken take a seat and become slow. Only seats have a level.
// The slow go through the rounds of the algorithm for seats+k processes, in which those inside are k more that have won
// already: a count is made of the levels of the other seats and of the bits in the lane, in this order. Who has won takes a
// name, then lowers its level, then is not slow any more, and gives the seat back before it goes inside.
//
// It is safe because nobody joins by the lane while somebody is slow, so to the slow those inside only become fewer, but for
// winners; and a winner is in the lane before it is out of its level, so that a count cannot miss it. Between the two it is
// counted twice. That keeps others waiting while it lasts, so a process that stopped there would do harm. This is for
// goroutines of one program, which do not stop there; those that stay inside for ever harm nobody (Holders). Between
// processes of an operating system, which are killed anywhere, Machine is used.
//
// Names beyond the bits of the lane have a register each, and those who have one are counted in the lane as a number.
type Counted struct {
	Config
	plan      *plan
	layout    model.Layout
	registers []*model.Field
	open      []uint64 // the values of the lane that let somebody in, if there are few enough to be listed

	overShift, slowShift uint // where in the lane those with other names and the slow are counted

	at, seat, round, next, high, name *model.Field
}

// Where a process of Counted stands.
const (
	cOut    = iota // the remainder region; who waits for a seat is there too
	cEnlist        // has a seat: is slow from now on
	cRaise         // writes its level for the round
	cYield         // gives way: writes turn
	cScan          // counts the others that are slow
	cGlance        // counts those inside
	cLook          // reads turn
	cTake          // has won every round: takes a name
	cTally         // has a name beyond the bits: is counted in the lane
	cVacate        // lowers its level
	cSettle        // is not slow any more
	cStand         // gives its seat back
	cPick          // has joined beyond the bits: takes a name
	cInside        // the critical region
	cDrop          // drops a name beyond the bits
	cLeave         // is not counted in the lane any more
	cDelist        // has given up: is not slow any more
	cRise          // has given up: gives its seat back
	cStays         // stays inside for ever
	cPlaces
)

var countedNames = [cPlaces]string{"out", "enlist", "raise", "yield", "scan", "glance", "look", "take", "tally", "vacate", "settle",
	"stand", "pick", "inside", "drop", "leave", "delist", "rise", "stays"}

// Bounds of Counted. The lane is one word.
const (
	MaxBits   = 42
	maxListed = 256
)

// NewCounted makes the competition for c.N processes and c.Seats seats. Where nobody drives it as a model, c.N does not
// matter.
func NewCounted(c Config) (*Counted, error) {
	c, err := c.validate()
	if err != nil {
		return nil, err
	}
	if c.Seats == 0 {
		c.Seats = max(1, c.N-c.K)
	}
	if c.Bits == 0 {
		c.Bits = MaxBits
	}
	c.Bits = min(c.Bits, c.K, MaxBits)
	if c.Seats < 1 || c.Seats > MaxProcesses || c.Bits < 1 || c.Algorithm == NAIVE {
		return nil, fmt.Errorf("a lane that counts needs 1 to %d seats, a bit at least, and EXCL or GTEX", MaxProcesses)
	}
	m := &Counted{Config: c, plan: newCountedPlan(c), overShift: uint(c.Bits)}
	m.slowShift = m.overShift
	if over := c.K - c.Bits; over > 0 {
		m.slowShift += uint(bits.Len(uint(over)))
	}
	m.makeRegisters()
	high, rounds := c.K, 1
	for _, rs := range m.plan.rounds {
		rounds = max(rounds, len(rs))
		for _, r := range rs {
			high = max(high, r.limit+1)
		}
	}
	m.at = &model.Field{Name: "at", Size: cPlaces, Show: func(v uint64) string { return countedNames[v] }}
	m.seat = &model.Field{Name: "seat", Size: uint64(c.Seats)}
	m.round = &model.Field{Name: "round", Size: uint64(rounds), Show: func(v uint64) string { return fmt.Sprint(v + 1) }}
	m.next = &model.Field{Name: "next", Size: uint64(c.Seats)}
	m.high = &model.Field{Name: "counted", Size: uint64(high) + 1}
	m.name = &model.Field{Name: "name", Size: uint64(c.K)}
	m.layout, err = model.NewLayout(m.at, m.seat, m.round, m.next, m.high, m.name)
	return m, err
}

func (m *Counted) makeRegisters() {
	for i := range m.Seats {
		m.registers = append(m.registers, &model.Field{Name: fmt.Sprintf("level[%d]", i), Size: m.plan.top + 1})
	}
	for _, name := range m.plan.turns {
		m.registers = append(m.registers, &model.Field{Name: name, Size: uint64(m.Seats) + 1, Show: showLast})
	}
	for i := m.Bits; i < m.K; i++ {
		m.registers = append(m.registers, &model.Field{Name: fmt.Sprintf("name[%d]", i), Size: 2})
	}
	// Room for one slow one more than there are seats, so that adding one and taking one away are different numbers.
	m.registers = append(m.registers, &model.Field{Name: "lane", Size: uint64(m.Seats+2) << m.slowShift, Show: m.showLane})
	if m.slowShift <= 16 && m.Seats <= 16 {
		m.registers = append(m.registers, &model.Field{Name: "seats", Size: 1 << m.Seats, Show: func(v uint64) string { return fmt.Sprintf("%0*b", m.Seats, v) }})
		for v := uint64(0); v < m.registers[m.Lane()].Size && len(m.open) < maxListed; v++ {
			if _, ok := m.Join(v); ok {
				m.open = append(m.open, v)
			}
		}
	}
}

func (m *Counted) showLane(v uint64) string {
	return fmt.Sprintf("%0*b inside, %d more and %d slow", m.Bits, v&(1<<m.overShift-1), v>>m.overShift&(1<<(m.slowShift-m.overShift)-1), v>>m.slowShift)
}

// Join is the lane when somebody has joined it, and whether it is open: nobody is slow, and a bit is free or fewer have other
// names than there are. The bit is the lowest, and its number is the name; who has joined beyond the bits has still to take one.
func (m *Counted) Join(lane uint64) (after uint64, ok bool) {
	if m.IsSlow(lane) && m.rule != countedOpen {
		return lane, false
	}
	if name := bits.TrailingZeros64(^lane); name < m.Bits {
		return lane | 1<<name, true
	}
	return lane + 1<<m.overShift, int(lane>>m.overShift&(1<<(m.slowShift-m.overShift)-1)) < m.K-m.Bits
}

// Inside is how many are inside, as the lane tells it.
func (m *Counted) Inside(lane uint64) int {
	return bits.OnesCount64(lane&(1<<m.overShift-1)) + int(lane>>m.overShift&(1<<(m.slowShift-m.overShift)-1))
}

// IsSlow tells whether somebody is slow.
func (m *Counted) IsSlow(lane uint64) bool { return lane >= m.OneSlow() }

// OneSlow is what the lane grows by when somebody becomes slow.
func (m *Counted) OneSlow() uint64 { return 1 << m.slowShift }

// Share is what somebody inside with a name has added to the lane.
func (m *Counted) Share(name uint64) uint64 {
	if name < uint64(m.Bits) {
		return 1 << name
	}
	return 1 << m.overShift
}

// Lane is the number of the lane's register.
func (m *Counted) Lane() int { return m.Seats + len(m.plan.turns) + m.K - m.Bits }

func (m *Counted) seatsRegister() int { return m.Lane() + 1 }

func (m *Counted) turn(i int) int { return m.Seats + i }

// nameRegister is that of a name beyond the bits.
func (m *Counted) nameRegister(name uint64) int {
	return m.Seats + len(m.plan.turns) + int(name) - m.Bits
}

// Registers lists the shared registers.
func (m *Counted) Registers() []*model.Field { return m.registers }

// Initial is zero for every register.
func (m *Counted) Initial(int) uint64 { return 0 }

// Layout of the own state, the same for all.
func (m *Counted) Layout(int) model.Layout { return m.layout }

// Clean is the remainder region.
func (m *Counted) Clean(int) uint64 { return cOut }

// Turns is the number of turn registers.
func (m *Counted) Turns() int { return len(m.plan.turns) }

// Seated is the state of a process that has been given a seat.
func (m *Counted) Seated(seat int) uint64 { return m.seat.Set(cEnlist, uint64(seat)) }

// Entered is the state of a process that is inside with a name.
func (m *Counted) Entered(name int) uint64 { return m.name.Set(cInside, uint64(name)) }

// Course lists the turn registers of the rounds of a seat, in order, numbered from 0.
func (m *Counted) Course(seat int) []int {
	var turns []int
	for _, r := range m.plan.rounds[seat] {
		turns = append(turns, r.turn)
	}
	return turns
}

// Gates lists the turn registers of the rounds in which those inside count.
func (m *Counted) Gates() []int {
	var turns []int
	for _, r := range m.plan.rounds[0] {
		if r.lane {
			turns = append(turns, r.turn)
		}
	}
	return turns
}

// IsOut tells whether a process is in the remainder region.
func (m *Counted) IsOut(local uint64) bool { return m.at.Get(local) == cOut }

// IsInside tells whether a process is in the critical region.
func (m *Counted) IsInside(local uint64) bool {
	at := m.at.Get(local)
	return at == cInside || at == cStays
}

// IsStanding tells whether a process is about to give its seat back.
func (m *Counted) IsStanding(local uint64) bool {
	at := m.at.Get(local)
	return at == cStand || at == cRise
}

// IsTrying tells whether a process has a seat and does not give up.
func (m *Counted) IsTrying(local uint64) bool {
	at := m.at.Get(local)
	return at > cOut && at < cInside
}

// IsCounting tells whether a process has announced itself and given way in a round and has not passed it yet.
func (m *Counted) IsCounting(local uint64) bool {
	at := m.at.Get(local)
	return at == cScan || at == cGlance || at == cLook
}

// IsWaiting tells whether a process stands before a new count.
func (m *Counted) IsWaiting(local uint64) bool {
	at := m.at.Get(local)
	isFirst := at == cScan || at == cGlance && m.roundOf(local).others() == 0
	return isFirst && m.next.Get(local) == 0 && m.high.Get(local) == 0
}

// Name of a process that is inside.
func (m *Counted) Name(local uint64) int { return int(m.name.Get(local)) }
