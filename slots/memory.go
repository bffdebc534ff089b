// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"math/bits"
	"sync/atomic"

	"allot/model"
	"allot/protocol/slots"
)

// memory is the registers of the machine as atomics, which Go makes sequentially consistent.
type memory struct {
	_    [64]byte // keeps what is written all the time on a cache line of its own
	lane atomic.Uint64
	_    [64]byte

	levels []atomic.Uint32
	turns  []atomic.Uint32
	names  []atomic.Uint32 // beyond the bits of the lane
	bits   int             // names that are bits of the lane
	slow   uint64          // what the lane grows by when somebody becomes slow
	size   uint64          // of the lane's domain in the machine

	sleepers atomic.Int64 // seats that sleep or are about to
}

func (m *memory) init(machine *slots.Counted) {
	m.levels = make([]atomic.Uint32, machine.Seats)
	m.turns = make([]atomic.Uint32, machine.Turns())
	m.names = make([]atomic.Uint32, machine.K-machine.Bits)
	m.bits, m.slow, m.size = machine.Bits, machine.OneSlow(), machine.Registers()[machine.Lane()].Size
}

// join takes a name in the lane if nobody is slow and a name is free. It is the machine's first access from the remainder
// region, without asking the machine; a test compares the two. A swap that fails leaves no trace: it may be tried again, but
// not for ever, because others can be quicker every time.
func (m *memory) join(tries int) (name int, ok bool) {
	for range tries {
		if name, ok = m.joinBit(); ok {
			return name, true
		}
		lane := m.lane.Load()
		hasBit := bits.TrailingZeros64(^lane) < m.bits
		switch {
		case lane >= m.slow, !hasBit && int(lane>>m.bits) >= len(m.names):
			return 0, false
		case !hasBit && m.lane.CompareAndSwap(lane, lane+1<<m.bits):
			return m.pick(), true
		}
	}
	return 0, false
}

// joinBit tries once to take a name that is a bit of the lane. It is small, so that the compiler puts it into its callers.
func (m *memory) joinBit() (name int, ok bool) {
	lane := m.lane.Load()
	name = bits.TrailingZeros64(^lane)
	return name, lane < m.slow && name < m.bits && m.lane.CompareAndSwap(lane, lane|(lane+1))
}

// pick takes a name beyond the bits for somebody who has been counted in the lane. One of them is free, because at most so many
// are counted as there are, and names are dropped before their holders are not counted any more.
func (m *memory) pick() int {
	for i := 0; ; i = (i + 1) % len(m.names) {
		if m.names[i].CompareAndSwap(0, 1) {
			return m.bits + i
		}
	}
}

// access makes one access of the machine and returns what it found.
func (m *memory) access(a model.Access) uint64 {
	r := a.Register
	switch {
	case a.Op == model.Local:
		return 0
	case r < len(m.levels):
		return access32(&m.levels[r], a)
	case r < len(m.levels)+len(m.turns):
		return access32(&m.turns[r-len(m.levels)], a)
	case r < len(m.levels)+len(m.turns)+len(m.names):
		return access32(&m.names[r-len(m.levels)-len(m.turns)], a)
	}
	switch a.Op {
	case model.Or:
		return m.lane.Or(a.Value)
	case model.Add: // the machine counts modulo the size of the register
		delta := a.Value
		if delta > m.size/2 {
			delta -= m.size
		}
		return m.lane.Add(delta) - delta
	case model.Read, model.Local, model.Write, model.Swap:
	}
	return m.lane.Load() // it is only read otherwise
}

// access32 makes an access to a level, a turn or a name.
func access32(r *atomic.Uint32, a model.Access) uint64 {
	switch a.Op {
	case model.Write:
		return uint64(r.Swap(uint32(a.Value)))
	case model.Swap:
		for {
			found := r.Load()
			if uint64(found) != a.Old || r.CompareAndSwap(found, uint32(a.Value)) {
				return uint64(found)
			}
		}
	case model.Read, model.Local, model.Add, model.Or:
	}
	return uint64(r.Load()) // they are only read otherwise
}
