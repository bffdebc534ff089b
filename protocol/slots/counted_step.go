// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"math/bits"

	"allot/model"
)

// Accesses appends the steps among which a process can choose.
func (m *Counted) Accesses(me int, local uint64, steps []model.Access) []model.Access {
	for i := range m.Choices(me, local) {
		steps = append(steps, m.Choice(me, local, i))
	}
	return steps
}

// Choices and Choice are Accesses one by one. Outside, a process may expect any of the values that let it in and swap it, or
// ask for any of the seats; if that fails it is where it was. So every way to try again is among the runs.
func (m *Counted) Choices(me int, local uint64) int {
	switch at := m.at.Get(local); {
	case at == cOut:
		return len(m.open) + m.Seats
	case at == cStays:
		return 0
	case at == cInside && me < m.Holders, m.Cancel && (at == cScan || at == cGlance || at == cLook):
		return 2
	}
	return 1
}

// Choice is one of the Accesses.
func (m *Counted) Choice(me int, local uint64, i int) model.Access {
	switch at := m.at.Get(local); {
	case at == cOut && i < len(m.open):
		after, _ := m.Join(m.open[i])
		return model.Access{Name: "joins", Op: model.Swap, Register: m.Lane(), Old: m.open[i], Value: after, Environment: true}
	case at == cOut:
		return model.Access{Name: "asks for a seat", Op: model.Or, Register: m.seatsRegister(), Value: 1 << (i - len(m.open)), Environment: true}
	case i == 0:
		return m.Next(local)
	case at == cInside:
		return model.Access{Name: "stays for ever", Environment: true}
	}
	return model.Access{Name: "gives up", Op: model.Write, Register: int(m.seat.Get(local)), Environment: true}
}

// Next is the step that a process takes next if it does not give up.
func (m *Counted) Next(local uint64) model.Access {
	seat, name := m.seat.Get(local), m.name.Get(local)
	change := func(text string, register int, by uint64) model.Access {
		return model.Access{Name: text, Op: model.Add, Register: register, Value: by}
	}
	size := m.registers[m.Lane()].Size
	switch m.at.Get(local) {
	case cEnlist:
		return change("is slow", m.Lane(), m.OneSlow())
	case cGlance:
		return model.Access{Name: "counts those inside", Op: model.Read, Register: m.Lane()}
	case cTake:
		if name >= uint64(m.Bits) {
			return model.Access{Name: "takes a name", Op: model.Swap, Register: m.nameRegister(name), Value: 1}
		}
		return model.Access{Name: "takes a name", Op: model.Or, Register: m.Lane(), Value: 1 << name}
	case cPick:
		if name < uint64(m.Bits) { // only a corrupted process is here
			return model.Access{Name: "is lost"}
		}
		return model.Access{Name: "takes a name", Op: model.Swap, Register: m.nameRegister(name), Value: 1}
	case cTally:
		return change("is counted", m.Lane(), m.Share(name))
	case cVacate:
		return model.Access{Name: "lowers its level", Op: model.Write, Register: int(seat)}
	case cSettle:
		return change("has won", m.Lane(), size-m.OneSlow())
	case cDelist:
		return change("has given up", m.Lane(), size-m.OneSlow())
	case cStand, cRise:
		return change("gives its seat back", m.seatsRegister(), 1<<m.Seats-1<<seat)
	case cInside:
		if name >= uint64(m.Bits) && m.rule != countedDropLate {
			return model.Access{Name: "drops its name", Op: model.Write, Register: m.nameRegister(name)}
		}
		return change("leaves", m.Lane(), size-m.Share(name))
	case cDrop:
		return model.Access{Name: "drops its name", Op: model.Write, Register: m.nameRegister(max(name, uint64(m.Bits)))}
	case cLeave:
		return change("leaves", m.Lane(), size-m.Share(name))
	case cRaise, cYield, cScan, cLook:
		return m.competition(local)
	}
	return model.Access{Name: "is lost"} // only a corrupted process is here
}

func (m *Counted) competition(local uint64) model.Access {
	r, seat := m.roundOf(local), int(m.seat.Get(local))
	switch m.at.Get(local) {
	case cRaise:
		return model.Access{Name: "raises its level", Op: model.Write, Register: seat, Value: r.code}
	case cYield:
		return model.Access{Name: "gives way", Op: model.Write, Register: m.turn(r.turn), Value: uint64(seat) + 1}
	case cScan:
		return model.Access{Name: "counts", Op: model.Read, Register: min(r.other(seat, int(m.next.Get(local))), m.Seats-1)}
	}
	return model.Access{Name: "looks who was last", Op: model.Read, Register: m.turn(r.look)}
}

func (m *Counted) roundOf(local uint64) *round {
	rounds := m.plan.rounds[m.seat.Get(local)]
	return &rounds[min(int(m.round.Get(local)), len(rounds)-1)]
}

// After is the state of a process when it has made the access and found a value.
func (m *Counted) After(_ int, local uint64, choice int, found uint64) uint64 {
	at := m.at.Get(local)
	switch {
	case at == cOut && choice < len(m.open):
		if found != m.open[choice] {
			return local
		}
		if name := bits.TrailingZeros64(^found); name < m.Bits {
			return m.name.Set(cInside, uint64(name))
		}
		return m.name.Set(cPick, uint64(m.Bits))
	case at == cOut:
		seat := choice - len(m.open)
		if found>>seat&1 != 0 {
			return local
		}
		return m.Seated(seat)
	case choice > 0 && at == cInside:
		return m.at.Set(local, cStays)
	case choice > 0:
		return m.GivenUp(local)
	}
	switch at {
	case cEnlist:
		return m.enter(local, 0)
	case cRaise:
		return m.at.Set(local, cYield)
	case cYield:
		return m.beginCount(local)
	case cScan, cGlance, cLook:
		return m.afterCount(local, found)
	case cTake:
		return m.afterTake(local, found)
	case cTally:
		return m.at.Set(local, m.afterName())
	case cVacate:
		switch m.rule {
		case countedVacateFirst:
			return m.at.Set(local, cTake)
		case countedSettleFirst:
			return m.at.Set(local, cStand)
		}
		return m.at.Set(local, cSettle)
	case cSettle:
		if m.rule == countedSettleFirst {
			return m.at.Set(local, cTake)
		}
		return m.at.Set(local, cStand)
	case cStand:
		return m.name.Set(cInside, m.name.Get(local))
	case cPick:
		if found == 0 {
			return m.at.Set(local, cInside)
		}
		return m.name.Set(local, max(uint64(m.Bits)%m.name.Size, (m.name.Get(local)+1)%m.name.Size))
	case cInside:
		if name := m.name.Get(local); name >= uint64(m.Bits) && m.rule == countedDropLate {
			return m.at.Set(local, cDrop)
		} else if name >= uint64(m.Bits) {
			return m.at.Set(local, cLeave)
		}
		return cOut
	case cDelist:
		return m.at.Set(local, cRise)
	}
	return cOut
}

// GivenUp is the state of a process that has given up and lowered its level.
func (m *Counted) GivenUp(local uint64) uint64 { return m.seat.Set(cDelist, m.seat.Get(local)) }

// enter is the state at the beginning of a round; after the last one, a name is taken.
func (m *Counted) enter(local uint64, number int) uint64 {
	seat := m.seat.Get(local)
	if number < len(m.plan.rounds[seat]) {
		return m.round.Set(m.seat.Set(cRaise, seat), uint64(number))
	}
	first := uint64(cTake)
	switch m.rule {
	case countedVacateFirst:
		first = cVacate
	case countedSettleFirst:
		first = cSettle
	}
	return m.seat.Set(first, seat)
}

// afterName is where a process goes that has taken a name and is counted.
func (m *Counted) afterName() uint64 {
	if m.rule == countedVacateFirst {
		return cSettle
	}
	return cVacate
}

// afterTake goes on to the next name that was free, if this one was held.
func (m *Counted) afterTake(local, found uint64) uint64 {
	name := m.name.Get(local)
	isFree := found == 0
	if name < uint64(m.Bits) {
		isFree = found>>name&1 == 0 || m.rule == countedCareless
	}
	switch {
	case isFree && name >= uint64(m.Bits):
		return m.at.Set(local, cTally)
	case isFree:
		return m.at.Set(local, m.afterName())
	case name < uint64(m.Bits): // it was told which of the others are free, too
		next := uint64(bits.TrailingZeros64(^(found | (1<<name - 1))))
		return m.name.Set(local, min(next, uint64(m.Bits))%m.name.Size)
	}
	return m.name.Set(local, (name+1)%m.name.Size)
}

func (m *Counted) beginCount(local uint64) uint64 {
	if m.rule == countedGlanceFirst && m.roundOf(local).lane {
		return m.at.Set(m.next.Set(m.high.Set(local, 0), 0), cGlance)
	}
	return m.counted(local, 0, 0)
}

func (m *Counted) afterCount(local, found uint64) uint64 {
	r, number := m.roundOf(local), int(m.round.Get(local))
	high := int(m.high.Get(local))
	switch m.at.Get(local) {
	case cScan:
		if found >= r.code && found <= r.last {
			high++
		}
		return m.counted(local, int(m.next.Get(local))+1, high)
	case cGlance:
		high = min(high+m.Inside(found), int(m.high.Size)-1)
		switch {
		case m.rule == countedGlanceFirst && high <= r.limit:
			return m.counted(local, 0, high)
		case high <= r.limit:
			return m.enter(local, number+1)
		}
		return m.at.Set(m.next.Set(m.high.Set(local, 0), 0), cLook)
	default:
		if found != m.seat.Get(local)+1 && m.rule != noEscape {
			return m.enter(local, number+1)
		}
		return m.beginCount(local)
	}
}

// counted is the state of a process that has looked at so many of the other seats and found so many of them high. A count
// whose outcome is certain is not continued.
func (m *Counted) counted(local uint64, seen, high int) uint64 {
	r := m.roundOf(local)
	left, inside := r.others()-seen, 0
	if r.lane && m.rule != countedGlanceFirst {
		inside = m.K
	}
	switch {
	case high > r.limit:
		return m.at.Set(m.next.Set(m.high.Set(local, 0), 0), cLook)
	case high+left+inside <= r.limit:
		return m.enter(local, int(m.round.Get(local))+1)
	case left > 0:
		return m.at.Set(m.next.Set(m.high.Set(local, uint64(high)), uint64(seen)), cScan)
	}
	return m.at.Set(m.next.Set(m.high.Set(local, uint64(high)), 0), cGlance)
}

// Forget is as in Machine: a seat's number in the turn register of a round means nothing once the round is left.
func (m *Counted) Forget(_ int, before, after uint64) (register int, value, instead uint64, ok bool) {
	at := m.at.Get(before)
	isCounting := m.IsCounting(after) && m.round.Get(before) == m.round.Get(after)
	if at < cYield || at > cLook || isCounting {
		return 0, 0, 0, false
	}
	return m.turn(m.roundOf(before).turn), m.seat.Get(before) + 1, 0, true
}
