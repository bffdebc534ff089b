// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"sync/atomic"

	"allot/model"
	"allot/protocol/slots"
)

// memory is the registers of the machine as atomics, which Go makes sequentially consistent.
type memory struct {
	levels []atomic.Uint32
	turns  []atomic.Uint32
	names  []atomic.Uint32
	lane   atomic.Uint64 // inside, plus oneSlow for everybody who is slow
	size   uint64        // of the lane's domain in the machine
	k, top uint32

	sleepers atomic.Int64 // seats that sleep or are about to
}

func (m *memory) init(machine *slots.Machine) {
	m.levels = make([]atomic.Uint32, machine.N)
	m.turns = make([]atomic.Uint32, machine.Turns())
	m.names = make([]atomic.Uint32, machine.K)
	m.size = machine.Registers()[machine.Lane()].Size
	m.k, m.top = uint32(machine.K), uint32(machine.Top())
}

// express takes a seat into the express lane, if it is open. It is what the machine does from Out to Won or Enlist, or
// with Try back to Out, without asking it at every access; a test compares the two. It leaves the level raised if it saw the lane
// open and it was not any more.
func (m *memory) express(at *seat) bool {
	lane := m.lane.Load()
	if lane >= uint64(m.k) {
		return false
	}
	m.levels[at.number].Store(m.top)
	at.level = m.top
	return m.lane.CompareAndSwap(lane, lane+1)
}

// register finds one of the registers that hold a process: a turn or a name.
func (m *memory) register(r int) *atomic.Uint32 {
	if r -= len(m.levels); r < len(m.turns) {
		return &m.turns[r]
	}
	return &m.names[r-len(m.turns)]
}

// access makes one access of the machine and returns what it found.
func (m *memory) access(at *seat, a model.Access) uint64 {
	switch {
	case a.Op == model.Local:
		return 0
	case a.Op == model.Add: // the lane; the machine counts modulo the size of the register
		delta := a.Value
		if delta > m.size/2 {
			delta -= m.size
		}
		return m.lane.Add(delta) - delta
	case a.Register == len(m.levels)+len(m.turns)+len(m.names):
		if a.Op == model.Read {
			return m.lane.Load()
		}
		return swap64(&m.lane, a.Old, a.Value)
	case a.Register < len(m.levels) && a.Op == model.Write:
		at.level = uint32(a.Value)
		return uint64(m.levels[a.Register].Swap(uint32(a.Value)))
	case a.Register < len(m.levels):
		return uint64(m.levels[a.Register].Load())
	}
	r := m.register(a.Register)
	switch a.Op {
	case model.Read:
		return uint64(r.Load())
	case model.Write:
		return uint64(r.Swap(uint32(a.Value)))
	case model.Swap, model.Local, model.Add: // turns and names are only swapped otherwise
	}
	return swap32(r, uint32(a.Old), uint32(a.Value))
}

// swap32 is compare-and-swap that tells what was there.
func swap32(r *atomic.Uint32, old, value uint32) uint64 {
	for {
		found := r.Load()
		if found != old || r.CompareAndSwap(old, value) {
			return uint64(found)
		}
	}
}

func swap64(r *atomic.Uint64, old, value uint64) uint64 {
	for {
		found := r.Load()
		if found != old || r.CompareAndSwap(old, value) {
			return found
		}
	}
}
