// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"fmt"
	"slices"
	"testing"

	"allot/model"
)

// forgetful is tickets in which it is known that an old ticket changes nothing.
type forgetful struct{ tickets }

func (forgetful) HasIgnored() bool { return true }

func (forgetful) IsIgnored(_ int, s *ticketState, m *ticketNote) bool { return m.stamp <= s.known }

// TestIgnoredMessagesAreTakenOffTheirLinks: the processes come into the same states, in fewer configurations.
func TestIgnoredMessagesAreTakenOffTheirLinks(t *testing.T) {
	g := graphOf(t, "path:2")
	for _, links := range []model.Links{{Lossy: true, Capacity: 1}, {Lossy: true, Capacity: 2, Unordered: true}} {
		all := model.NewNetwork(g, tickets{g}, links, model.Budget{})
		few := model.NewNetwork(g, forgetful{tickets{g}}, links, model.Budget{})
		configurations := [2]int{}
		states := [2]map[string]bool{}
		for i, n := range []*model.Network{all, few} {
			found := reached(n)
			configurations[i], states[i] = len(found), map[string]bool{}
			for _, c := range found {
				states[i][placesOf(loadTickets(n, c).states)] = true
				if i == 1 {
					lookForIgnored(t, n, c)
				}
			}
		}
		if len(states[0]) != len(states[1]) || len(states[0]) < 5 {
			t.Errorf("%s: the processes have %d combinations of states, and %d without what is ignored", links, len(states[0]), len(states[1]))
		}
		for s := range states[0] {
			if !states[1][s] {
				t.Errorf("%s: %s is not reached without what is ignored", links, s)
			}
		}
		if configurations[1] >= configurations[0] {
			t.Errorf("%s: %d configurations, and %d without what is ignored", links, configurations[0], configurations[1])
		}
	}
}

// reached lists the configurations that can be reached.
func reached(n *model.Network) []model.Configuration {
	found := []model.Configuration{n.Clean()}
	seen := map[string]bool{fmt.Sprint(found[0]): true}
	var b model.Buffer
	for i := 0; i < len(found); i++ {
		var moves []model.Move
		for site := range n.Sites() {
			moves = n.Enabled(found[i], site, moves)
		}
		for _, m := range moves {
			c := slices.Clone(found[i])
			n.Apply(c, []model.Move{m}, &b)
			if key := fmt.Sprint(c); !seen[key] {
				seen[key] = true
				found = append(found, c)
			}
		}
	}
	return found
}

func lookForIgnored(t *testing.T, n *model.Network, c model.Configuration) {
	for link, notes := range loadTickets(n, c).links {
		_, to := n.Graph().Ends(link)
		for _, note := range notes {
			if note.stamp <= model.StateOf[ticketState](n, c, to).known {
				t.Errorf("ticket %d is on its way to a process that knows better", note.stamp)
			}
		}
	}
}

// placesOf names the stamps of the processes by their place among them.
func placesOf(states []ticketState) string {
	sorted := []int64{0}
	for _, s := range states {
		sorted = append(sorted, s.own, s.known)
	}
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	var places []int
	for _, s := range states {
		own, _ := slices.BinarySearch(sorted, s.own)
		known, _ := slices.BinarySearch(sorted, s.known)
		places = append(places, own, known)
	}
	return fmt.Sprint(places)
}

// classed has its two stamps in classes of their own.
type classed struct{ owned }

func (classed) VisitState(_ int, s *ticketState, f *model.Fields) {
	model.StampIn(f, "own", &s.own, latest, 3)
	model.StampIn(f, "known", &s.known, latest, 5)
}

func (classed) Step(_ int, s *ticketState, e model.Event[ticketNote], _ *model.Outbox[ticketNote]) {
	s.own, s.known = int64(e.Input.Arg), 100
}

// TestStampsOfDifferentClasses are named each by themselves.
func TestStampsOfDifferentClasses(t *testing.T) {
	g := graphOf(t, "path:2")
	n := model.NewNetwork(g, classed{owned{tickets{g}}}, model.Links{}, model.Budget{})
	c := n.Clean()
	apply(t, n, c, model.Move{Kind: model.Act})
	if got := *model.StateOf[ticketState](n, c, 0); got != (ticketState{own: model.StampGap, known: model.StampGap}) {
		t.Errorf("%+v", got)
	}
}
