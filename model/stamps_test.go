// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"fmt"
	"slices"
	"testing"

	"allot/model"
)

// tickets is a machine with stamps: a process draws a ticket later than all that it knows and tells a neighbour, who
// remembers the latest. Tickets grow without end.
type tickets struct{ graph *model.Graph }

type ticketState struct{ own, known int64 }

type ticketNote struct {
	isCopy bool
	stamp  int64
}

const latest = 1 << 40

func (tickets) HasStamps() bool       { return true }
func (tickets) Clean(int) ticketState { return ticketState{} }

func (tickets) VisitState(_ int, s *ticketState, f *model.Fields) {
	model.Stamp(f, "own", &s.own, latest)
	model.Stamp(f, "known", &s.known, latest)
}

func (tickets) VisitMessage(m *ticketNote, f *model.Fields) {
	model.Bool(f, "copy", &m.isCopy)
	model.Stamp(f, "stamp", &m.stamp, latest)
}

func (m tickets) Inputs(p int, _ *ticketState, inputs []model.Input) []model.Input {
	for i := range m.graph.Degree(p) {
		inputs = append(inputs, model.Input{Name: "draw", Code: i, Arg: uint64(i)})
	}
	return inputs
}

func (tickets) Step(_ int, s *ticketState, e model.Event[ticketNote], out *model.Outbox[ticketNote]) {
	switch e.Kind {
	case model.Given:
		s.own = max(s.own, s.known) + 1
		s.known = s.own
		out.Send(int(e.Input.Arg), ticketNote{stamp: s.own})
	case model.Received:
		s.known = max(s.known, e.Message.stamp)
	case model.Ticked, model.LinkCut, model.LinkHealed:
	}
}

func newTickets(t *testing.T, links model.Links, budget model.Budget) *model.Instance {
	g := graphOf(t, "path:3")
	return &model.Instance{System: model.NewNetwork(g, tickets{g}, links, budget)}
}

// ticketWorld is a configuration spelled out.
type ticketWorld struct {
	states []ticketState
	links  [][]ticketNote
}

func loadTickets(n *model.Network, c model.Configuration) (w ticketWorld) {
	for p := range n.Graph().Len() {
		w.states = append(w.states, *model.StateOf[ticketState](n, c, p))
	}
	for link := range n.Graph().Links() {
		var notes []ticketNote
		for i := range n.Length(c, link) {
			notes = append(notes, *model.MessageOf[ticketNote](n, c, link, i))
		}
		w.links = append(w.links, notes)
	}
	return w
}

// take does what a move does, and renames nothing.
func (w *ticketWorld) take(g *model.Graph, m model.Move) {
	p, link := int(m.At), int(m.At)
	var out model.Outbox[ticketNote]
	e := model.Event[ticketNote]{Kind: model.Given, Input: model.Input{Arg: m.Arg}}
	if m.Kind != model.Act {
		_, p = g.Ends(link)
		e = model.Event[ticketNote]{Kind: model.Received, Channel: g.Channel(link), Message: w.links[link][m.Arg]}
		w.links[link] = slices.Delete(w.links[link], int(m.Arg), int(m.Arg)+1)
	}
	if m.Kind != model.Lose {
		tickets{g}.Step(p, &w.states[p], e, &out)
	}
	out.Each(func(channel int, note ticketNote) {
		if to := g.Link(p, channel); len(w.links[to]) < 2 {
			w.links[to] = append(w.links[to], note)
		}
	})
}

// each walks over all stamps.
func (w *ticketWorld) each(do func(stamp *int64)) {
	for p := range w.states {
		do(&w.states[p].own)
		do(&w.states[p].known)
	}
	for _, notes := range w.links {
		for i := range notes {
			do(&notes[i].stamp)
		}
	}
}

// TestStampsAreNamedByTheirPlace: after each step the stamps are named 2, 4, 6 and so on in the order that they have;
// otherwise the step does what it does without names.
func TestStampsAreNamedByTheirPlace(t *testing.T) {
	n := networkOf(newTickets(t, model.Links{Lossy: true, Capacity: 2}, model.Budget{}))
	renamed := 0
	for seed := range uint64(10) {
		c, r := n.Clean(), seeded(seed)
		for range 200 {
			var enabled []model.Move
			for site := range n.Sites() {
				enabled = n.Enabled(c, site, enabled)
			}
			m := enabled[r.IntN(len(enabled))]
			want := loadTickets(n, c)
			want.take(n.Graph(), m)
			sorted := []int64{0}
			want.each(func(stamp *int64) { sorted = append(sorted, *stamp) })
			slices.Sort(sorted)
			sorted = slices.Compact(sorted)
			want.each(func(stamp *int64) {
				place, _ := slices.BinarySearch(sorted, *stamp)
				if name := int64(place) * model.StampGap; name != *stamp {
					renamed++
					*stamp = name
				}
			})
			apply(t, n, c, m)
			if got := loadTickets(n, c); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("seed %d: %v gives %v, want %v", seed, m, got, want)
			}
		}
	}
	if renamed < 100 {
		t.Errorf("only %d stamps were renamed", renamed)
	}
	// A live network renames nothing.
	live := n.Live()
	c := live.Clean()
	for range 50 {
		apply(t, live, c, model.Move{Kind: model.Act})
	}
	if own := model.StateOf[ticketState](live, c, 0).own; own != 50 {
		t.Errorf("live: after 50 tickets the last is %d", own)
	}
}

// TestStampsMakeAFiniteWorld: because of the names, a search comes to an end.
func TestStampsMakeAFiniteWorld(t *testing.T) {
	g := graphOf(t, "path:2")
	for _, links := range []model.Links{{Lossy: true, Capacity: 1}, {Lossy: true, Capacity: 1, Unordered: true}} {
		n := model.NewNetwork(g, tickets{g}, links, model.Budget{})
		if found := explore(n, []*model.Network{n}, 1<<12); len(found) != 63 {
			t.Errorf("%s: %d configurations", links, len(found))
		}
	}
}

// TestStampsKeepTheirClass: renaming does not make another message of one that waits on an unordered link.
func TestStampsKeepTheirClass(t *testing.T) {
	n := networkOf(newTickets(t, model.Links{Unordered: true}, model.Budget{}))
	c := n.Clean()
	draw := func() { apply(t, n, c, model.Move{Kind: model.Act, At: 0}) }
	draw()
	first := n.Class(c, model.Move{Kind: model.Deliver})
	for range 3 {
		draw()
	}
	for _, m := range movesOf(n, c, model.Deliver) {
		if class := n.Class(c, m); class != first || n.ClassName(class) != "link 0→1, message false(stamp 0)" {
			t.Errorf("%v has class %d (%s), want %d", m, class, n.ClassName(class), first)
		}
	}
}
