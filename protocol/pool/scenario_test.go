// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "testing"

// scene is a few members by hand: nothing arrives but what the story says.
type scene struct {
	seats []*Seat
	order []int // of the generation
	sent  []sentVisit
	calls []Wake
	lost  map[int64]Loss
	stuck int
}

type sentVisit struct {
	to   int
	data []byte
}

// actor is what a seat of a scene says.
type actor struct{ *scene }

func (a actor) Visit(to int32, v *Visit) {
	a.sent = append(a.sent, sentVisit{a.order[to], AppendVisit(nil, v)})
}
func (a actor) Wake(w Wake)             { a.calls = append(a.calls, w) }
func (a actor) Granted(int64, []Unit)   {}
func (a actor) Lost(id int64, why Loss) { a.lost[id] = why }
func (a actor) Stuck()                  { a.stuck++ }

const sceneLease = 10

func newScene(units int32, members int, r rule) *scene {
	s := &scene{lost: map[int64]Loss{}}
	for range members {
		o := &Options{Units: units, Lease: sceneLease, Margin: 2, Pace: 3, Audit: 5, Patience: 4, Turns: 1, Passes: 1, Burst: 4, FenceShift: FenceBits}
		seat := NewSeat(o, actor{s})
		seat.rule = r
		s.seats = append(s.seats, seat)
	}
	return s
}

// begin tells those of the members who learn of it of a generation. Its first member is the root.
func (s *scene) begin(generation int64, order []int, who ...int) {
	s.order = order
	for _, p := range who {
		place := int32(-1)
		for i, q := range order {
			if q == p {
				place = int32(i)
			}
		}
		s.seats[p].Begin(generation, place, int32(len(order)), generation == 1)
	}
}

// take removes the last controller that was sent.
func (s *scene) take() sentVisit {
	v := s.sent[len(s.sent)-1]
	s.sent = s.sent[:len(s.sent)-1]
	return v
}

func (s *scene) deliver(t *testing.T, v sentVisit) {
	t.Helper()
	var parsed Visit
	if err := ParseVisit(&parsed, v.data, largest); err != nil {
		t.Fatal(err)
	}
	s.seats[v.to].OnVisit(&parsed)
}

// run delivers everything to the members of the generation until nothing is under way, or for long.
func (s *scene) run(t *testing.T) {
	t.Helper()
	for range 200 {
		switch {
		case len(s.calls) > 0:
			w := s.calls[0]
			s.calls = s.calls[1:]
			s.seats[s.order[0]].OnWake(w)
		case len(s.sent) > 0:
			s.deliver(t, s.take())
		default:
			return
		}
	}
}

// pass lets time pass for some, while a root that reigns goes on to.
func (s *scene) pass(ticks int32, root int, who ...int) {
	for range ticks {
		for _, p := range who {
			s.seats[p].Advance(1)
			if p == root {
				s.seats[p].Reign(5)
			}
		}
	}
}

// holders counts who holds unit 0.
func (s *scene) holders() int {
	n := 0
	for _, seat := range s.seats {
		if findHeld(seat, 0) != nil {
			n++
		}
	}
	return n
}

func findHeld(s *Seat, unit int32) *Unit {
	for i := range s.held {
		if j := findUnit(s.held[i].Units, unit); j >= 0 {
			return &s.held[i].Units[j]
		}
	}
	return nil
}

// story ends with one holder of unit 0 and with so many losses, but not if the mutant is at work.
type story struct {
	mutant rule
	losses int
	play   func(t *testing.T, s *scene)
}

// stories are those for which an instance would be too large to explore in a test.
var stories = map[string]story{
	"a controller of the last generation arrives in the next one": {generationUnchecked, 0, func(t *testing.T, s *scene) {
		s.begin(1, []int{0, 1}, 0, 1, 2)
		s.seats[0].Reign(5)
		s.run(t)
		s.seats[0].circ = 1000 // so that its number is greater than those of the next generation
		s.seats[1].Request(1, 1, 0)
		s.seats[0].OnWake(s.calls[0])
		s.calls = nil
		old := s.take() // with the unit on board; the link keeps it
		s.begin(2, []int{0, 1}, 0, 1)
		s.seats[1].Cancel(1)
		s.pass(1, 0, 0)
		s.seats[0].Request(2, 1, 0)
		for range 8 {
			s.pass(3, 0, 0, 1)
			s.run(t)
		}
		s.seats[1].Request(3, 1, 0)
		s.calls = nil
		s.deliver(t, old)
	}},
	"a member comes back with what was free when it was cut out": {keptWithoutLease, 0, func(t *testing.T, s *scene) {
		s.begin(1, []int{0, 1, 2}, 0, 1, 2)
		s.seats[0].Reign(5)
		s.run(t)
		s.seats[1].Request(1, 1, 0)
		s.run(t)
		s.seats[1].Release(1)
		s.begin(2, []int{0, 2}, 0, 1, 2)
		s.seats[2].Request(2, 1, 0)
		for range 8 {
			s.pass(3, 0, 0, 1, 2)
			s.run(t)
		}
		s.begin(3, []int{0, 1, 2}, 0, 1, 2)
		s.seats[1].Request(3, 1, 0)
		for range 3 {
			s.pass(1, 0, 0, 1, 2)
			s.run(t)
		}
	}},
	"a root whose reign is over goes on to answer calls": {sentWithoutReign, 1, func(t *testing.T, s *scene) {
		s.begin(1, []int{0, 1, 2}, 0, 1, 2)
		s.seats[0].Reign(5)
		s.run(t)
		s.seats[1].Request(1, 1, 0)
		s.run(t)
		s.seats[1].Request(2, 1, 0) // it waits, so the member calls
		s.run(t)
		s.pass(5, -1, 0) // the reign is over
		s.sent, s.calls = nil, nil
		s.begin(2, []int{2}, 2)
		s.order = []int{0, 1, 2} // as the others know it
		for range 3 * sceneLease {
			s.pass(1, 2, 0, 1, 2)
			for _, w := range s.calls {
				s.seats[0].OnWake(w)
			}
			s.calls = nil
			for len(s.sent) > 0 {
				if v := s.take(); v.to == 1 {
					s.deliver(t, v)
				}
			}
			s.seats[1].Cancel(2)
			s.seats[1].Request(2, 1, 0)
		}
		s.seats[2].Request(3, 1, 0)
	}},
	"a member restarts into the generation in which it crashed": {lifeForgotten, 0, func(t *testing.T, s *scene) {
		s.begin(1, []int{0, 1}, 0, 1)
		s.seats[0].Reign(5)
		s.run(t)
		s.seats[1].Request(1, 1, 0)
		s.run(t)
		old := s.seats[1] // its clients still use the unit
		r := old.rule
		s.seats[1] = NewSeat(old.options, old.out)
		if r == lifeForgotten {
			s.begin(1, []int{0, 1}, 1)
		}
		s.seats[0].Request(2, 1, 0)
		s.run(t)
		s.seats = append(s.seats, old)
	}},
	"a fault gives a unit to two members": {twiceKept, 1, func(t *testing.T, s *scene) {
		s.begin(1, []int{0, 1, 2}, 0, 1, 2)
		s.seats[0].Reign(5)
		s.run(t)
		s.seats[1].Request(1, 1, 0)
		s.run(t)
		s.seats[2].held, s.seats[2].lease = []Holding{{ID: 2, Units: []Unit{{}}}}, sceneLease
		s.pass(6, 0, 0, 1, 2)
		s.run(t)
	}},
}

// TestStories plays each with the machine as it is and with the mutant that it is about.
func TestStories(t *testing.T) {
	for name, y := range stories {
		t.Run(name, func(t *testing.T) {
			for _, r := range []rule{asMeant, y.mutant} {
				s := newScene(1, 3, r)
				y.play(t, s)
				isRight := s.holders() == 1 && len(s.lost) == y.losses
				if isRight != (r == asMeant) {
					t.Errorf("rule %d: %d holders, %v lost", r, s.holders(), s.lost)
				}
			}
		})
	}
}

// TestARootWithoutReignMakesNothing: the controller comes home, a unit is missing, and nobody says that the root may act.
func TestARootWithoutReignMakesNothing(t *testing.T) {
	for _, r := range []rule{asMeant, mintedWithoutReign} {
		s := newScene(1, 2, r)
		s.begin(1, []int{0, 1}, 0, 1)
		s.seats[0].Reign(3)
		s.seats[0].Advance(3)
		s.run(t)
		if made := len(s.seats[0].stock) > 0; made != (r == mintedWithoutReign) {
			t.Errorf("rule %d: made is %v", r, made)
		}
		s.seats[0].Advance(1)
		s.seats[0].Reign(3)
		s.run(t)
		if len(s.seats[0].stock) != 1 {
			t.Errorf("rule %d: there is still none when it reigns", r)
		}
	}
}

// TestThePriorityIsForOneRequest: then the next member that waits has it.
func TestThePriorityIsForOneRequest(t *testing.T) {
	for _, r := range []rule{asMeant, priorityKept} {
		s := newScene(2, 3, r)
		s.begin(1, []int{0, 1, 2}, 0, 1, 2)
		one := s.seats[1]
		one.lease, one.hasPrio = sceneLease, true
		one.queue.add(Pending{ID: 1, Need: 1})
		one.queue.add(Pending{ID: 2, Need: 2})
		v := &Visit{Generation: 1, Circ: 1, Units: 2, Prio: 1, Lack: 1, Board: []Unit{{Number: 0}}}
		one.OnVisit(v)
		if kept := v.Prio == 1; kept != (r == priorityKept) {
			t.Errorf("rule %d: kept is %v", r, kept)
		}
	}
}

// TestFencesDoNotRunOut: half way, the root asks for a new generation, and it makes no unit whose fence belongs to the next one.
func TestFencesDoNotRunOut(t *testing.T) {
	s := newScene(1, 2, asMeant)
	s.begin(1, []int{0, 1}, 0, 1)
	s.seats[0].Reign(5)
	s.run(t)
	if s.stuck != 0 {
		t.Fatal("it asks for a new generation at once")
	}
	s.seats[0].stock[0].Fence = 1<<FenceBits + 1<<(FenceBits-1) + 1
	s.pass(6, 0, 0, 1)
	s.run(t)
	if s.stuck == 0 {
		t.Error("half of the fences are used, and it does not ask for a new generation")
	}
	s.seats[0].stock = nil
	s.seats[0].root.top = 2<<FenceBits - 1
	s.pass(6, 0, 0, 1)
	s.run(t)
	if len(s.seats[0].stock) != 0 {
		t.Errorf("it made %v", s.seats[0].stock)
	}
}
