// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"fmt"

	"allot/model"
	"allot/protocol/internal/coterie"
)

// The variant tolerant keeps a band over links that lose, repeat and reorder, among processes that crash in any state and come back with or
// without their memory, through partitions, and while members and quorums change.
//
// # The assumption
//
// For the bounds, none about time: an arbiter may suspect anybody at any moment, rightly or not. A failure detector that errs, or a lease
// on a clock that runs wrong, costs waiting and never a bound. An incarnation is larger than the one before; nothing else is
// stored. For progress, that in the end messages arrive before they are given up: a lease (expiry) is longer than a few journeys of
// a message there and back. A change of members waits for everybody but those who are given up for good, and these must have stopped.
//
// # The idea
//
// A process does not send requests and releases, it tells each arbiter of its quorum where it is and what it wishes. What it tells one
// arbiter is numbered, and an arbiter forgets whatever has a smaller number. So a message may come twice, late or never: it is told
// again. Giving a lock back, withdrawing, having entered and having left are all the same, a newer number.
//
//   - A newer number ends whatever the arbiter granted for an older one, because the requester takes grants for its newest only.
//   - A grant is a lease. An arbiter that suspects the holder takes the lock back and strikes the holder off until it hears a newer
//     number.
//   - Whoever has all grants asks every arbiter once more whether it still has them. When all have said yes there was a moment at which it had all
//     locks at once, however long ago. Of two who act, quorums meet, so the one whose moment was first lost or gave back the common lock before
//     the other got it, and is not in its count. That is all that the bounds need; neither has to be quick.
//   - An arbiter with a stronger request than the one it has granted to recalls the grant, and the requester always gives it back: to
//     act takes no time, so whoever has not acted loses little.
//   - An arbiter that restarts knows nobody, which is safe. It pokes whoever may have to tell it something, and whoever tells it
//     something gives back what the former incarnation granted.
//   - What is registered is a lease too. Whoever is not heard of is struck off, so nobody leaves on the strength of the dead for longer
//     than that. Who is outside and hears from its whole quorum that fewer than the floor are inside enters by itself.
//   - A change freezes everybody, and begins the next generation when all have said that they are frozen. Nobody acts in two
//     generations at once, so quorums of different generations need not meet.
type tolerant struct {
	*machine
	forms   [2]form // of the even and the odd generations, unless a change was refused
	changes int8
	// expiry is in ticks: an arbiter suspects whom it has not heard of for so long. It needs clocks; without them an arbiter suspects whom
	// the checker wants, up to suspicions times.
	expiry     uint8
	hasClocks  bool
	suspicions int8
	withdraw   int8 // how often a process may give up
	isStepping bool // whoever hears that too few are inside enters
	isBurying  bool // who is down may be given up for good
}

// form is who takes part, and the quorums.
type form struct {
	members int // the processes 0..members-1
	quorums [][]int
	in      []coterie.Set // by process: its quorum
	askers  []coterie.Set // by process: who has it in its quorum
	need    [2]int
}

// maxNumber bounds the numbers of what is told, and the clocks of requests.
const maxNumber = 1 << 24

func newTolerant(m *machine, o model.Options) (*model.Instance, error) {
	d := &tolerant{machine: m, changes: int8(o.Int("changes")), withdraw: int8(o.Int("withdraw")), suspicions: int8(o.Int("suspicions")),
		hasClocks: o.Int("clocks") > 0, expiry: uint8(o.Int("expiry")), isStepping: o.Int("step-in") > 0,
		isBurying: o.Int("burials") > 0}
	if !d.hasClocks {
		d.expiry = 0
	}
	if m.times == 0 {
		return nil, fmt.Errorf("times 0: the variant tolerant needs a bound on the wishes of a process")
	}
	for i, name := range [][2]string{{"members", "coterie"}, {"next-members", "next"}} {
		members := o.Int(name[0])
		if members == 0 {
			members = m.n
		}
		if members > m.n {
			return nil, fmt.Errorf("%s %d: there are %d processes", name[0], members, m.n)
		}
		var err error
		if d.forms[i], err = d.newForm(o.Values[name[1]], members); err != nil {
			return nil, err
		}
		if d.changes == 0 {
			break
		}
	}
	if m.start.Len() > 0 {
		last := 0
		m.start.Each(func(p int) { last = p })
		if last >= d.forms[0].members {
			return nil, fmt.Errorf("inside %s: process %d is no member at the start", o.Values["inside"], last)
		}
	}
	if err := d.setGraph(); err != nil {
		return nil, err
	}
	return d.instance(o), nil
}

func (d *tolerant) newForm(spec string, members int) (form, error) {
	if d.has[ceiling] && d.k > members {
		return form{}, fmt.Errorf("the ceiling k = %d is above the number of members %d", d.k, members)
	}
	c, err := coterie.Parse(spec, members)
	if err != nil {
		return form{}, err
	}
	f := form{members: members, quorums: make([][]int, d.n), in: make([]coterie.Set, d.n), askers: make([]coterie.Set, d.n)}
	f.need = [2]int{d.l + 1, members - d.k + 1}
	if d.mutant == "tolerant-one-less" {
		f.need = [2]int{d.l, members - d.k}
	}
	for p := range d.n {
		f.in[p], f.askers[p] = coterie.NewSet(d.n), coterie.NewSet(d.n)
	}
	for p := range members {
		f.quorums[p] = c.Quorum(p)
		for _, j := range f.quorums[p] {
			f.in[p].Add(j)
			f.askers[j].Add(p)
		}
	}
	return f, nil
}

// setGraph joins whoever has to do with one another in any generation, and everybody with the control process, number n.
func (d *tolerant) setGraph() error {
	size := d.n
	var edges [][2]int
	for p := range d.n {
		for q := p + 1; q < d.n; q++ {
			isJoined := false
			for _, f := range d.forms {
				isJoined = isJoined || f.members > 0 && (f.in[p].Has(q) || f.in[q].Has(p))
			}
			if isJoined {
				edges = append(edges, [2]int{p, q})
			}
		}
		if d.changes > 0 {
			edges = append(edges, [2]int{p, d.n})
		}
	}
	if d.changes > 0 {
		size++
	}
	g, err := model.NewGraph(size, edges)
	if err != nil {
		return err
	}
	d.graph = g
	d.channels = make([][]int32, size)
	for p := range size {
		d.channels[p] = make([]int32, size)
		for channel, q := range g.Neighbours(p) {
			d.channels[p][q] = int32(channel)
		}
	}
	return nil
}

// HasClock: in a simulation; in a check suspicion needs no clock.
func (d *tolerant) HasClock(int) bool { return d.hasClocks }
