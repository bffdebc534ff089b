// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"errors"
	"fmt"

	"allot/model"
)

// The rest of model.System.

// Graph serves for names and drawing only.
func (s *Interval) Graph() *model.Graph { return s.graph }

// Words are the processes and the turn registers.
func (s *Interval) Words() int { return s.N + len(s.plan.turns) }

// Sites are the processes.
func (s *Interval) Sites() int { return s.N }

// Site tells what a site is.
func (s *Interval) Site(site int) model.Site { return model.Site{Process: site, Link: -1} }

// Clean is the start: all are out.
func (s *Interval) Clean() model.Configuration {
	c := make(model.Configuration, s.Words())
	for p := range s.N {
		c[p] = out
	}
	return c
}

// Domain of processes and turn registers.
func (s *Interval) Domain(word int) (size uint64, value func(uint64) uint64) {
	if word < s.N {
		return s.layout.Size(), s.layout.Value
	}
	return uint64(s.N) + 1, func(i uint64) uint64 { return i }
}

// IsStatus does not hold of any word.
func (s *Interval) IsStatus(int) bool { return false }

// Enabled appends the steps that a process can take. A state that no run reaches has none.
func (s *Interval) Enabled(c model.Configuration, site int, moves []model.Move) []model.Move {
	move := func(arg uint64) { moves = append(moves, model.Move{Kind: model.Act, At: int32(site), Arg: arg}) }
	at, rounds := s.at.Get(c[site]), s.plan.rounds[site]
	number := int(s.round.Get(c[site]))
	switch at {
	case out, inside:
		move(intervalStep)
	case raise, yield, scan:
		if number >= len(rounds) {
			return moves
		}
		if at != scan || s.mayPass(&rounds[number], c[site]) {
			move(intervalStep)
		}
		if at == scan && s.mayFail(&rounds[number], c[site]) {
			move(intervalFail)
		}
		if s.Cancel && (at == scan || at == yield && s.rule == cancelEarly) {
			move(intervalCancel)
		}
	}
	return moves
}

// Check tells why a move is impossible.
func (s *Interval) Check(c model.Configuration, m model.Move) error {
	if m.Kind != model.Act || m.At < 0 || int(m.At) >= s.N {
		return errors.New("there are only steps of processes here")
	}
	for _, e := range s.Enabled(c, int(m.At), nil) {
		if e == m {
			return nil
		}
	}
	return fmt.Errorf("process %d cannot take step number %d", m.At, m.Arg)
}

// IsConcurrent does not hold: accesses to memory happen one after the other.
func (s *Interval) IsConcurrent() bool { return false }

// Class of a step is its process.
func (s *Interval) Class(c model.Configuration, m model.Move) int {
	if m.Arg == intervalCancel || s.at.Get(c[m.At]) == out {
		return model.NoClass
	}
	return int(m.At)
}

// ClassName names the process.
func (s *Interval) ClassName(class int) string { return "process " + s.graph.Name(class) }

// Describe names the process and what it does.
func (s *Interval) Describe(c model.Configuration, m model.Move) string {
	p := int(m.At)
	text := "process " + s.graph.Name(p) + ": "
	local, turn := s.after(c, p, m.Arg)
	after := append(model.Configuration(nil), c...)
	after[p] = local
	switch at := s.at.Get(c[p]); {
	case m.Arg == intervalCancel:
		return text + "gives up, lowers its level"
	case at == inside:
		return text + "leaves, lowers its level"
	case at == out:
		text += "begins to try"
	case at == scan && m.Arg == intervalStep:
		text += "has counted few enough others"
	case at == scan:
		r := &s.plan.rounds[p][s.round.Get(c[p])]
		text += fmt.Sprintf("has counted too many others, looks who was last, reads %s = %s", s.plan.turns[r.look], showLast(s.turn(c, r.look)))
	default:
		text += "goes on"
	}
	switch {
	case s.at.Get(local) == inside:
		return text + ", is inside"
	case turn >= 0:
		return fmt.Sprintf("%s, gives way, writes %s := %d", text, s.plan.turns[turn], p)
	case s.level(after, p) != s.level(c, p):
		return fmt.Sprintf("%s, raises its level to %d", text, s.level(after, p))
	}
	return text + ", counts again"
}

// Variables of a process; the turn registers are shown with process 0.
func (s *Interval) Variables(c model.Configuration, site int) []model.Variable {
	vs := append(s.layout.Variables(c[site]), model.Variable{Name: fmt.Sprintf("level[%d]", site), Value: fmt.Sprint(s.level(c, site))})
	if site == 0 {
		for i, name := range s.plan.turns {
			vs = append(vs, model.Variable{Name: name, Value: showLast(s.turn(c, i))})
		}
	}
	return vs
}

// unlike lists the first process of each leaf: where the order of reads is free, those of one leaf can change places.
func (s *Interval) unlike() []int {
	var first []int
	for p, rounds := range s.plan.rounds {
		if len(rounds) == 0 || rounds[0].from == p {
			first = append(first, p)
		}
	}
	return first
}

// newIntervalInstance makes the instance of an Interval.
func newIntervalInstance(c Config, o model.Options) (*model.Instance, error) {
	s, err := NewInterval(c)
	if err != nil {
		return nil, err
	}
	if o.Budget != (model.Budget{}) {
		return nil, errors.New("reads in any order are followed without faults; for processes that stop use crashes")
	}
	isInside := func(local uint64) bool { return s.at.Get(local) == inside }
	isTrying := func(local uint64) bool { at := s.at.Get(local); return at != out && at != inside }
	return &model.Instance{
		System: s, Gauges: gaugesOf(s.N, isInside, isTrying),
		Phase: func(v *model.View, p int) model.Phase {
			switch {
			case isInside(v.C[p]):
				return model.Inside
			case isTrying(v.C[p]):
				return model.Waiting
			}
			return model.Idle
		},
		Properties: []model.Property{exclusion(s.K), full(min(s.N, s.K)), {
			Name:      "no-lockout",
			Text:      fmt.Sprintf("a process that tries and does not stop gets in, as long as at most %d have stopped", s.K-1),
			Claim:     model.Recurs,
			CleanOnly: true,
			Ask:       s.unlike(),
			Stops:     min(o.Int("crashes"), s.K-1),
			HoldsFor:  func(v *model.View, p int) bool { return !isTrying(v.C[p]) },
		}},
	}, nil
}
