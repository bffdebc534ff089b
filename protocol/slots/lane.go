// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"fmt"

	"allot/model"
)

// The express lane is one register that counts the processes that are inside, and those that are slow: on their way in
// through the rounds. While nobody is slow and fewer than k are inside, a process raises its level to the top, so that
// everybody who comes later counts it at every round, and then joins by one compare-and-swap. That it is one step is
// what makes it safe: at that moment nobody is in any round, so nobody has been let pass by somebody who is gone by the
// time the lane is looked at. Counting the levels one by one instead is not safe.
//
// It looks before it raises its level, because else processes that come and give up again and again could keep a waiter
// waiting that counts each of them just then.
//
// The lane is a hint for those who are not in it: whatever it holds, the rounds go on. So a process that dies in the lane
// and leaves its count behind closes it a little more, and does no other harm.

// laneSize is the number of values of the lane: 0..n inside times 0..n slow.
func (m *Machine) laneSize() uint64 { return uint64(m.N+1) * uint64(m.N+1) }

// oneSlow is what the lane grows by when somebody becomes slow.
func (m *Machine) oneSlow() uint64 { return uint64(m.N + 1) }

func (m *Machine) showLane(v uint64) string {
	return fmt.Sprintf("%d inside and %d slow", v%m.oneSlow(), v/m.oneSlow())
}

// Lane is the number of the lane's register.
func (m *Machine) Lane() int { return len(m.registers) - 1 }

// isOpen tells whether a lane that holds a value lets one more in.
func (m *Machine) isOpen(lane uint64) bool {
	limit := uint64(m.K)
	if m.rule == expressFull {
		limit++
	}
	return lane < limit
}

// first is the state whose access takes a process out of the remainder region.
func (m *Machine) first(me int) uint64 {
	switch {
	case m.Express && m.rule == expressHasty:
		return announce
	case m.Express:
		return peek
	case len(m.plan.rounds[me]) == 0:
		return promote
	}
	return m.enter(me, 0)
}

// firstTry is first for a process that will not wait.
func (m *Machine) firstTry(int) uint64 {
	if m.rule == tryHasty {
		return tryAnnounce
	}
	return tryPeek
}

// lane is the next access of a process on its way into or out of the lane.
func (m *Machine) lane(me int, local uint64) model.Access {
	change := func(name string, by uint64) model.Access {
		if !m.Express { // only a corrupted process is here
			return model.Access{Name: "is lost"}
		}
		return model.Access{Name: name, Op: model.Add, Register: m.Lane(), Value: by}
	}
	switch m.at.Get(local) {
	case peek, tryPeek:
		return model.Access{Name: "looks for the express lane", Op: model.Read, Register: m.Lane()}
	case announce, tryAnnounce, promote:
		return model.Access{Name: "raises its level to the top", Op: model.Write, Register: me, Value: m.plan.top}
	case join, tryJoin:
		if m.rule == expressByLevels {
			return model.Access{Name: "looks for the express lane", Op: model.Read, Register: m.nextOfAll(me, local)}
		}
		old := m.high.Get(local)
		return model.Access{Name: "joins the express lane", Op: model.Swap, Register: m.Lane(), Old: old, Value: (old + 1) % m.laneSize()}
	case retreat:
		return model.Access{Name: "turns back", Op: model.Write, Register: me}
	case enlist:
		if m.rule == expressBlind {
			return model.Access{Name: "is slow"}
		}
		return change("is slow", m.oneSlow())
	case delist:
		if m.rule == expressBlind {
			return model.Access{Name: "has given up"}
		}
		return change("has given up", m.laneSize()-m.oneSlow())
	case settle:
		if m.rule == expressBlind || m.rule == expressByLevels && m.high.Get(local) > 0 {
			return change("has won", 1)
		}
		return change("has won", m.laneSize()-m.oneSlow()+1)
	default: // checkout
		return change("has left", m.laneSize()-1)
	}
}

// afterLane is the state of a process on its way into or out of the lane.
func (m *Machine) afterLane(me int, local, found uint64) uint64 {
	at := m.at.Get(local)
	switch at {
	case peek, tryPeek:
		if !m.isOpen(found) {
			return m.closed(at)
		}
		return m.high.Set(m.at.Set(local, m.afterPeek(at)), found)
	case announce, tryAnnounce:
		if m.rule == expressLate && at == announce {
			return m.enterInside()
		}
		if m.rule == expressHasty && at == announce {
			return peek
		}
		if m.rule == expressByLevels {
			return join
		}
		if m.rule == tryHasty && at == tryAnnounce {
			return tryPeek
		}
		return m.at.Set(local, at+1)
	case join, tryJoin:
		if m.rule == expressByLevels {
			return m.afterLevels(local, found)
		}
		if found != m.high.Get(local) {
			return m.closed(at)
		}
		if m.rule == expressLate && at == join {
			return announce
		}
		return m.enterInside()
	case enlist:
		return m.enter(me, 0)
	case promote:
		if m.Express {
			return settle
		}
		return m.enterInside()
	case settle:
		return m.enterInside()
	default: // retreat, delist, checkout
		return out
	}
}

// afterPeek is where a process goes that found the lane open.
func (m *Machine) afterPeek(at uint64) uint64 {
	switch {
	case at == peek && (m.rule == expressHasty || m.rule == expressLate):
		return join
	case at == peek:
		return announce
	case m.rule == tryHasty:
		return tryJoin
	}
	return tryAnnounce
}

// closed is where a process goes that found the lane closed.
func (m *Machine) closed(at uint64) uint64 {
	switch {
	case at == tryPeek && m.rule != tryHasty:
		return out
	case at == tryPeek, at == tryJoin:
		return retreat
	}
	return enlist
}
