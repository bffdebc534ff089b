// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"errors"
	"fmt"
	"math/bits"

	"allot/model"
)

// Interval is the rounds of EXCL, GTEX or NAIVE with counts that read the others in any order, as a model.System of its own. It is for
// proofs about more processes than Machine allows: it has far fewer configurations.
//
// A count reads every other process once, at some moment between its beginning and its end. Nobody can see it read, so the
// moments need not be chosen until the count is over. What must be known then is, for every other process, whether
// it was low, below the round, at some moment since the count began, and whether it was high at some moment. A count can find
// at most so many high as it was allowed to find, if and only if enough of the others were low at some moment; and too many,
// if and only if enough of them were high. So a count is one step, which passes or fails, and each configuration knows of each
// process that counts who was low and who was high since it began. A process that lowers or raises its level is from then on
// known as low or high to all who count.
//
// What a process does by itself when a count is over it may as well do together with its next access, since nobody sees it:
// that a count can pass or fail, and that somebody else is the last in turn, stay true until the process itself acts. So
// passing a round is one step with raising the level for the next one, and failing one step with looking at turn.
//
// Every run of Machine, and of the program that reads in the paper's order, is a run of this, with the reads left out and these
// steps put together. And every run of this is one of a program that chooses the order of its reads as it likes. A process that
// takes its reads in turn ends its counts, so weak fairness owes the same to everybody. Once enough others are known as low, or
// as high, it does not matter who else is.
type Interval struct {
	Config
	plan   *plan
	graph  *model.Graph
	layout model.Layout

	at, round, low, high *model.Field
}

// maxInterval bounds the processes of an Interval: two sets of them are part of a word.
const maxInterval = 16

// The moves of a process that counts.
const (
	intervalStep = iota // the only step, or a count that passes
	intervalFail        // a count that fails
	intervalCancel
)

// NewInterval makes the system. Express, Names and Stay are not part of it.
func NewInterval(c Config) (*Interval, error) {
	c, err := c.validate()
	switch {
	case err != nil:
		return nil, err
	case c.N > maxInterval:
		return nil, fmt.Errorf("reads in any order are followed for up to %d processes, not %d", maxInterval, c.N)
	case c.Express || c.Names || c.Try || c.Stay > 0:
		return nil, errors.New("reads in any order are followed in the rounds alone: leave out express, names, try and stay")
	case c.rule == skipRead:
		return nil, errors.New("reads in any order are not followed for this variant")
	}
	s := &Interval{Config: c, plan: newPlan(c)}
	if s.graph, err = model.NewGraph(c.N, nil); err != nil {
		return nil, err
	}
	rounds := 1
	for _, rs := range s.plan.rounds {
		rounds = max(rounds, len(rs))
		for _, r := range rs {
			if r.look != r.turn { // that somebody else is last there need not stay true
				return nil, errors.New("reads in any order are not followed where a process looks at another turn than it writes")
			}
		}
	}
	set := func(v uint64) string { return fmt.Sprintf("%0*b", c.N, v) }
	s.at = &model.Field{Name: "at", Size: places, Show: func(v uint64) string { return placeNames[v] }}
	s.round = &model.Field{Name: "round", Size: uint64(rounds), Show: func(v uint64) string { return fmt.Sprint(v + 1) }}
	s.low = &model.Field{Name: "low", Size: 1 << c.N, Show: set}
	s.high = &model.Field{Name: "high", Size: 1 << c.N, Show: set}
	s.layout, err = model.NewLayout(s.at, s.round, s.low, s.high)
	return s, err
}

// level is what the level register of a process holds: it follows from where the process stands.
func (s *Interval) level(c model.Configuration, p int) uint64 {
	rounds, number := s.plan.rounds[p], int(s.round.Get(c[p]))
	switch s.at.Get(c[p]) {
	case out:
		return 0
	case raise:
		if number == 0 {
			return 0
		}
		return rounds[number-1].code
	case inside:
		if len(rounds) == 0 {
			return s.plan.top
		}
		number = len(rounds) - 1
	}
	if s.rule == noLevel {
		number = 0
	}
	return rounds[number].code
}

func (s *Interval) isHigh(r *round, level uint64) bool { return level >= r.code && level <= r.last }

// others is the set of the other processes of p's group.
func others(r *round, p int) uint64 {
	return (1<<r.to - 1) &^ (1<<r.from - 1) &^ (1 << p)
}

// mayPass and mayFail tell how a count can end.
func (s *Interval) mayPass(r *round, local uint64) bool {
	return r.others()-bits.OnesCount64(s.low.Get(local)) <= r.limit
}

func (s *Interval) mayFail(r *round, local uint64) bool {
	return bits.OnesCount64(s.high.Get(local)) > r.limit
}

// know adds sets of others that were low or high to what a process knows that counts. When it knows enough, it need not know
// more.
func (s *Interval) know(p int, local, low, high uint64) uint64 {
	r := &s.plan.rounds[p][s.round.Get(local)]
	all := others(r, p)
	local = s.low.Set(local, (s.low.Get(local)|low)&all)
	local = s.high.Set(local, (s.high.Get(local)|high)&all)
	if s.mayPass(r, local) {
		local = s.low.Set(local, all)
	}
	if s.mayFail(r, local) {
		local = s.high.Set(local, all)
	}
	return local
}

// count is the state of a process that begins a count: it knows how the others are now.
func (s *Interval) count(c model.Configuration, p int, number uint64) uint64 {
	local := s.round.Set(s.at.Set(0, scan), number)
	r := &s.plan.rounds[p][number]
	var low, high uint64
	for q := r.from; q < r.to; q++ {
		switch {
		case q == p:
		case s.isHigh(r, s.level(c, q)):
			high |= 1 << q
		default:
			low |= 1 << q
		}
	}
	return s.know(p, local, low, high)
}

// enter is the state at the beginning of a round.
func (s *Interval) enter(p int, number uint64) uint64 {
	if number >= uint64(len(s.plan.rounds[p])) {
		return s.at.Set(0, inside)
	}
	if s.rule == turnFirst || s.rule == noLevel && number > 0 {
		return s.round.Set(s.at.Set(0, yield), number)
	}
	return s.round.Set(s.at.Set(0, raise), number)
}

// after is the own state of p after a move, and the turn register that it writes, or -1. A count that begins is filled in
// afterwards.
func (s *Interval) after(c model.Configuration, p int, arg uint64) (local uint64, turn int) {
	number := s.round.Get(c[p])
	switch at := s.at.Get(c[p]); {
	case arg == intervalCancel:
		return out, -1
	case at == out:
		return s.proceed(p, 0)
	case at == raise, at == yield:
		return s.access(p, c[p])
	case at == scan && arg == intervalStep:
		return s.proceed(p, number+1)
	case at == scan: // it looks at turn
		if r := &s.plan.rounds[p][number]; s.turn(c, r.look) != uint64(p)+1 && s.rule != noEscape {
			return s.proceed(p, number+1)
		}
		return s.round.Set(s.at.Set(0, scan), number), -1
	}
	return out, -1 // leaves
}

// proceed makes the first access of a round.
func (s *Interval) proceed(p int, number uint64) (local uint64, turn int) {
	local = s.enter(p, number)
	if s.at.Get(local) == inside {
		return local, -1
	}
	return s.access(p, local)
}

// access writes level, which follows from the state, or turn.
func (s *Interval) access(p int, local uint64) (after uint64, turn int) {
	isLevel := s.at.Get(local) == raise
	isLast := isLevel == (s.rule == turnFirst) || s.rule == noTurn
	turn = -1
	if !isLevel {
		turn = s.plan.rounds[p][s.round.Get(local)].turn
	}
	switch {
	case isLast:
		return s.at.Set(local, scan), turn
	case isLevel:
		return s.at.Set(local, yield), turn
	}
	return s.at.Set(local, raise), turn
}

func (s *Interval) turn(c model.Configuration, i int) uint64 { return c[s.N+i] }

// Apply takes one step.
func (s *Interval) Apply(c model.Configuration, step []model.Move, b *model.Buffer) {
	b.Written, b.Old, b.Touched = b.Written[:0], b.Old[:0], b.Touched[:0]
	b.Sent, b.SentBytes, b.Overflow = 0, 0, false
	write := func(word int, value uint64) {
		if c[word] != value {
			b.Written, b.Old = append(b.Written, int32(word)), append(b.Old, c[word])
			c[word] = value
		}
	}
	p := int(step[0].At)
	b.Touched = append(b.Touched, step[0].At)
	before, was := c[p], s.level(c, p)
	local, turn := s.after(c, p, step[0].Arg)
	write(p, local)
	if turn >= 0 {
		write(s.N+turn, uint64(p)+1)
	}
	if s.at.Get(local) == scan {
		write(p, s.count(c, p, s.round.Get(local)))
	}
	if is := s.level(c, p); is != was {
		for q := range s.N {
			if q == p || s.at.Get(c[q]) != scan {
				continue
			}
			low, high := uint64(1)<<p, uint64(0)
			if r := &s.plan.rounds[q][s.round.Get(c[q])]; s.isHigh(r, is) {
				low, high = 0, 1<<p
			}
			write(q, s.know(q, c[q], low, high))
			b.Touched = append(b.Touched, int32(q))
		}
	}
	s.forget(c, p, before, write)
}

// forget is as in Machine: who has left a round does not ask for its number there any more.
func (s *Interval) forget(c model.Configuration, p int, before uint64, write func(int, uint64)) {
	at, now := s.at.Get(before), s.at.Get(c[p])
	isOver := now != scan && (s.rule != turnFirst || now != raise) || s.round.Get(before) != s.round.Get(c[p])
	if at != scan || !isOver {
		return
	}
	turn := s.plan.rounds[p][s.round.Get(before)].turn
	if s.turn(c, turn) == uint64(p)+1 {
		write(s.N+turn, 0)
	}
}
