// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import "allot/model"

// Accesses appends the step that process me takes next and, where that is allowed, giving up or trying without waiting.
func (m *Machine) Accesses(me int, local uint64, steps []model.Access) []model.Access {
	for i := range m.Choices(me, local) {
		steps = append(steps, m.Choice(me, local, i))
	}
	return steps
}

// Choices and Choice are Accesses one by one.
func (m *Machine) Choices(_ int, local uint64) int {
	if m.mayCancel(local) || m.Try && m.at.Get(local) == out {
		return 2
	}
	return 1
}

// Choice is one of the Accesses.
func (m *Machine) Choice(me int, local uint64, i int) model.Access {
	switch {
	case i == 0:
		return m.Next(me, local)
	case m.at.Get(local) != out:
		return m.cancel(me)
	}
	a := m.Next(me, m.firstTry(me))
	a.Name, a.Environment = "tries without waiting", true
	return a
}

// Forget tells that a process's own number in the turn register of a round means nothing once the process has left the
// round: only the process itself asks whether it is its own. The number before this one's would not be its own either,
// so "nobody" takes its place.
func (m *Machine) Forget(me int, before, after uint64) (register int, value, instead uint64, ok bool) {
	if m.rule == printed || m.rule == printedTurn {
		return 0, 0, 0, false // there, a process asks for its number in registers of other rounds too
	}
	if at := m.at.Get(before); at < yield || at > look || m.isCompeting(after) && m.round.Get(before) == m.round.Get(after) {
		return 0, 0, 0, false
	}
	return m.turn(m.roundOf(me, before).turn), uint64(me) + 1, 0, true
}

// isCompeting tells whether a process will still ask for its own number in turn.
func (m *Machine) isCompeting(local uint64) bool {
	at := m.at.Get(local)
	return at == scan || at == look || m.rule == turnFirst && at == raise
}

func (m *Machine) mayCancel(local uint64) bool {
	if !m.Cancel {
		return false
	}
	at := m.at.Get(local)
	return at == scan || at == look || at == yield && m.rule == cancelEarly
}

func (m *Machine) cancel(me int) model.Access {
	if m.rule == cancelSilently {
		return model.Access{Name: "gives up", Environment: true}
	}
	return model.Access{Name: "gives up", Op: model.Write, Register: me, Environment: true}
}

// Next is the step that process me takes next if it does not give up.
func (m *Machine) Next(me int, local uint64) model.Access {
	switch m.at.Get(local) {
	case arrive:
		if m.rule == keepLevel {
			return model.Access{Name: "arrives"}
		}
		return model.Access{Name: "arrives", Op: model.Write, Register: me}
	case sweep:
		return model.Access{Name: "arrives", Op: model.Swap, Register: m.nameRegister(m.name.Get(local)), Old: uint64(me) + 1}
	case out:
		a := m.Next(me, m.first(me))
		a.Name, a.Environment = "begins to try", true
		return a
	case take:
		return model.Access{Name: "takes a name", Op: model.Swap, Register: m.nameRegister(m.name.Get(local)), Value: uint64(me) + 1}
	case inside:
		return m.departure(me, local)
	case leave:
		return model.Access{Name: "leaves", Op: model.Write, Register: me}
	case drop:
		return model.Access{Name: "drops its name", Op: model.Write, Register: m.nameRegister(m.name.Get(local))}
	case raise, yield, scan, look:
		return m.competition(me, local)
	}
	return m.lane(me, local)
}

// competition is the next access in a round.
func (m *Machine) competition(me int, local uint64) model.Access {
	if len(m.plan.rounds[me]) == 0 { // only a corrupted process is here
		return model.Access{Name: "is lost"}
	}
	r := m.roundOf(me, local)
	switch m.at.Get(local) {
	case raise:
		return model.Access{Name: "raises its level", Op: model.Write, Register: me, Value: r.code}
	case yield:
		return model.Access{Name: "gives way", Op: model.Write, Register: m.turn(r.turn), Value: uint64(me) + 1}
	case scan:
		return model.Access{Name: "counts", Op: model.Read, Register: min(r.other(me, int(m.next.Get(local))), m.N-1)}
	default:
		return model.Access{Name: "looks who was last", Op: model.Read, Register: m.turn(r.look)}
	}
}

func (m *Machine) roundOf(me int, local uint64) *round {
	rounds := m.plan.rounds[me]
	return &rounds[min(int(m.round.Get(local)), len(rounds)-1)]
}

// departure is the next access of somebody inside: it stays, drops its name, or leaves.
func (m *Machine) departure(me int, local uint64) model.Access {
	switch {
	case m.stay.Get(local) > 0:
		return model.Access{Name: "stays inside"}
	case m.rule == stayUp:
		return model.Access{Name: "leaves"}
	case m.Names && m.rule != leaveThenDrop:
		return m.Next(me, m.at.Set(local, drop))
	}
	return m.Next(me, m.at.Set(local, leave))
}

// After is the state of process me when it has made the access and found a value.
func (m *Machine) After(me int, local uint64, choice int, found uint64) uint64 {
	if choice > 0 {
		if m.at.Get(local) == out {
			return m.After(me, m.firstTry(me), 0, found)
		}
		if m.Express {
			return delist
		}
		return out
	}
	switch m.at.Get(local) {
	case arrive:
		if m.Names && m.rule == arriveThenSweep {
			return sweep
		}
		return out
	case sweep:
		switch name := m.name.Get(local); {
		case name+1 < m.name.Size:
			return m.name.Set(local, name+1)
		case m.rule == arriveThenSweep:
			return out
		}
		return arrive
	case out:
		return m.After(me, m.first(me), 0, found)
	case take:
		return m.afterTake(local, found)
	case inside:
		return m.afterInside(local)
	case leave:
		if m.rule == leaveThenDrop && m.Names {
			return m.at.Set(local, drop)
		}
		return m.left()
	case drop:
		if m.rule == leaveThenDrop {
			return m.left()
		}
		return leave
	case raise, yield, scan, look:
		if len(m.plan.rounds[me]) == 0 {
			return out
		}
		return m.afterCompetition(me, local, found)
	}
	return m.afterLane(me, local, found)
}

// left is the state of a process that has lowered its level.
func (m *Machine) left() uint64 {
	if m.Express {
		return checkout
	}
	return out
}

// enter is the state at the beginning of a round.
func (m *Machine) enter(me, number int) uint64 {
	if number >= len(m.plan.rounds[me]) {
		if m.Express {
			return promote
		}
		return m.enterInside()
	}
	local := m.round.Set(0, uint64(number))
	switch {
	case m.rule == turnFirst:
		return m.at.Set(local, yield)
	case m.rule == noLevel && number > 0:
		return m.at.Set(local, yield)
	}
	return m.at.Set(local, raise)
}

func (m *Machine) enterInside() uint64 {
	if m.Names {
		return m.stay.Set(take, uint64(m.Stay))
	}
	return m.stay.Set(inside, uint64(m.Stay))
}

// afterTake goes on to the next name if this one is held. Names are tried in order, so one pass finds a free one: whoever
// is ahead in the order holds one of the names passed.
func (m *Machine) afterTake(local, found uint64) uint64 {
	if found == 0 {
		return m.at.Set(local, inside)
	}
	return m.name.Set(local, (m.name.Get(local)+1)%m.name.Size)
}

func (m *Machine) afterInside(local uint64) uint64 {
	switch stay := m.stay.Get(local); {
	case stay > 0:
		return m.stay.Set(local, stay-1)
	case m.rule == stayUp:
		return out
	case !m.Names:
		return m.left()
	case m.rule == leaveThenDrop:
		return m.at.Set(local, drop)
	}
	return leave
}

// afterCompetition is the competition itself.
func (m *Machine) afterCompetition(me int, local, found uint64) uint64 {
	r, number := m.roundOf(me, local), int(m.round.Get(local))
	switch m.at.Get(local) {
	case raise:
		if m.rule == turnFirst || m.rule == noTurn {
			return m.beginScan(me, number)
		}
		return m.at.Set(local, yield)
	case yield:
		if m.rule == turnFirst {
			return m.at.Set(local, raise)
		}
		return m.beginScan(me, number)
	case scan:
		high := m.high.Get(local)
		if found >= r.code && found <= r.last && int(high) <= r.limit {
			high++
		}
		return m.counted(me, number, int(m.next.Get(local))+1, int(high))
	default:
		fits := m.rule.readsEverything() && int(m.high.Get(local)) <= r.limit
		if fits || found != uint64(me)+1 && m.rule != noEscape {
			return m.enter(me, number+1)
		}
		return m.beginScan(me, number)
	}
}

func (m *Machine) beginScan(me, number int) uint64 {
	first := 0
	if m.rule == skipRead {
		first = 1
	}
	return m.counted(me, number, first, 0)
}

// counted is the state of a process that has looked at so many of the others and found so many of them high. A count
// that has passed the limit is not continued.
func (m *Machine) counted(me, number, seen, high int) uint64 {
	r := &m.plan.rounds[me][number]
	local := m.round.Set(0, uint64(number))
	left := r.others() - seen
	switch {
	case m.rule.readsEverything() && left > 0:
	case m.rule.readsEverything():
		return m.high.Set(m.at.Set(local, look), uint64(high))
	case high > r.limit:
		return m.at.Set(local, look)
	case high+left <= r.limit:
		return m.enter(me, number+1)
	}
	return m.high.Set(m.next.Set(m.at.Set(local, scan), uint64(seen)), uint64(high))
}
