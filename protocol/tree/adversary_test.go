// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"allot/chart"
	"allot/internal/golden"
	"allot/model"
	"allot/sim"
)

// adversary is a daemon that would like one process, a leaf, to wait long. Every site has a weight, and of the sites that can
// move the heaviest does, now and then another one. While the victim waits, its link moves only when nothing else can; it
// asks when all that was on its way to it has passed. The victim asks for all that it may, the others for what the plan
// says. No fairness is owed: whatever a daemon does, the tokens can go round only so often without passing the victim.
type adversary struct {
	victim, link int32 // sites
	k            int
	weights      []float64 // by site
	needs        []int     // by process; 0 means any
	slip         float64   // how often another one moves

	isWaiting, isIn bool
}

func (a *adversary) String() string { return "adversary" }

// Begin forgets what the victim was doing.
func (a *adversary) Begin(*sim.Schedule) error {
	a.isWaiting, a.isIn = false, false
	return nil
}

func (a *adversary) weight(s *sim.Schedule, site int32) float64 {
	switch {
	case site == a.link && a.isWaiting:
		return 0
	case site == a.link:
		return 1 + a.weights[site]
	case site == a.victim && !a.isIn && !a.isWaiting && s.IsEnabled(a.link):
		return 0
	}
	return 0.001 + a.weights[site]
}

func (a *adversary) Choose(s *sim.Schedule, step []model.Move) ([]model.Move, error) {
	if a.isWaiting && s.IsEnabled(a.victim) {
		a.isWaiting, a.isIn = false, true // it has got in
	}
	sites := s.Sites()
	site, best := sites[0], -1.0
	for _, x := range sites {
		w := a.weight(s, x)
		if w > 0 && a.slip > 0 && s.Chance.Float() < a.slip {
			w = s.Chance.Float()
		}
		if w > best {
			best, site = w, x
		}
	}
	m := s.Move(site)
	if m.Kind == model.Act {
		m = a.input(s, site, m)
	}
	return append(step, m), nil
}

// input chooses what a process asks for. Whoever can ask for units has k moves, whoever can do anything else has one; a few
// draws tell the two apart.
func (a *adversary) input(s *sim.Schedule, site int32, m model.Move) model.Move {
	for i := 0; m.Arg == 0 && i < 8 && a.k > 1; i++ {
		m = s.Move(site)
	}
	if need := a.needs[m.At]; m.Arg > 0 && need > 0 {
		m.Arg = uint64(need - 1)
	}
	if site == a.victim {
		a.isWaiting, a.isIn = !a.isIn, false
	}
	return m
}

func (a *adversary) mutate(chance *rand.Rand) *adversary {
	b := *a
	b.weights, b.needs = append([]float64(nil), a.weights...), append([]int(nil), a.needs...)
	for range 1 + chance.IntN(3) {
		switch chance.IntN(4) {
		case 0:
			if p := chance.IntN(len(b.needs)); p != int(a.victim) {
				b.needs[p] = chance.IntN(a.k + 1)
			}
		case 1:
			b.slip = max(0, 0.5*chance.Float64()*chance.Float64()-0.05)
		default:
			b.weights[chance.IntN(len(b.weights))] = chance.Float64()
		}
	}
	return &b
}

func newAdversary(g *model.Graph, victim, k int, chance *rand.Rand) *adversary {
	n := g.Len()
	back := g.Back(g.Link(victim, 0))
	a := &adversary{victim: int32(victim), link: int32(n + back), k: k, weights: make([]float64, n+g.Links()), needs: make([]int, n)}
	for i := range a.weights {
		a.weights[i] = chance.Float64()
	}
	for p := range a.needs {
		a.needs[p] = chance.IntN(k + 1)
	}
	a.needs[victim] = k
	return a
}

// searchWaiting climbs: of a plan and its neighbours the one counts in which the victim waits longest, in entries of others.
func searchWaiting(t testing.TB, network string, victim, l, k, restarts, climbs int, seed uint64) int64 {
	inst := question{network: network, values: values("l", l, "k", k, "stage", "priority")}.make(t)
	chance := rand.New(rand.NewPCG(seed, 4))
	n := inst.System.Graph().Len()
	try := func(a *adversary) int64 {
		r, err := sim.Run(context.Background(), inst, sim.Options{Seed: chance.Uint64(), Steps: int64(4000 * n), Daemon: a})
		if err != nil {
			t.Fatal(err)
		}
		return r.Waiting.LongestEntries[victim]
	}
	var record int64
	for range restarts {
		a := newAdversary(inst.System.Graph(), victim, k, chance)
		best := try(a)
		for range climbs {
			b := a.mutate(chance)
			if got := try(b); got >= best {
				a, best = b, got
			}
		}
		record = max(record, best)
	}
	return record
}

// TestAdversary: how long a leaf can be made to wait, as far as a search finds, is never more than the exact worst case where that
// is known, and for requests of one unit just that.
func TestAdversary(t *testing.T) {
	for _, c := range []struct {
		network      string
		victim, l, k int
		exact        int64
	}{
		{"path:2", 1, 3, 3, 5},
		{"path:3", 2, 1, 1, 3},
		{"path:3", 2, 2, 2, 12},
		{"star:3", 1, 2, 1, 6},
		{"star:3", 1, 3, 3, 18},
		{"path:4", 3, 2, 1, 10},
	} {
		got := searchWaiting(t, c.network, c.victim, c.l, c.k, 3, runs(15), 1)
		t.Logf("%s l=%d k=%d: found %d, exact %d", c.network, c.l, c.k, got, c.exact)
		if got > c.exact || c.k == 1 && got < c.exact {
			t.Errorf("%s l=%d k=%d: a run with %d entries of others, and the exact worst case is %d", c.network, c.l, c.k, got, c.exact)
		}
	}
}

// TestAdversaryFull: the waiting time over growing n and ℓ. The exact values are those of TestTheorem2.
func TestAdversaryFull(t *testing.T) {
	needsFull(t)
	effort := runs(40)
	sizes := []int{2, 3, 4, 5, 6, 8, 10}
	found1, found2 := chart.Series{Name: "found, k=1"}, chart.Series{Name: "found, k=2"}
	for _, n := range sizes {
		for _, c := range [][2]int{{1, 1}, {4, 1}, {4, 4}, {2, 1}, {2, 2}} {
			l, k := c[0], c[1]
			path := searchWaiting(t, fmt.Sprintf("path:%d", n), n-1, l, k, 2, effort, 1)
			star := searchWaiting(t, fmt.Sprintf("star:%d", n), n-1, l, k, 2, effort, 2)
			t.Logf("n=%d l=%d k=%d: found %d on the path, %d on the star; l(2n-3) is %d, l(2n-3)² is %d", n, l, k, path, star, l*(2*n-3), l*(2*n-3)*(2*n-3))
			bound := int64(2 * l * (2*n - 3))
			if k == 1 {
				bound /= 2
			}
			if max(path, star) > bound {
				t.Errorf("n=%d l=%d k=%d: %d entries, above the bound that we conjecture, %d", n, l, k, max(path, star), bound)
			}
			switch c {
			case [2]int{2, 1}:
				found1.X, found1.Y = append(found1.X, float64(n)), append(found1.Y, float64(max(path, star)))
			case [2]int{2, 2}:
				found2.X, found2.Y = append(found2.X, float64(n)), append(found2.Y, float64(max(path, star)))
			}
		}
	}
	if golden.IsRewriting() {
		drawAdversary(t, found1, found2)
	}
}

func drawAdversary(t *testing.T, found1, found2 chart.Series) {
	const l = 2
	line := func(name string, of func(hops float64) float64) chart.Series {
		s := chart.Series{Name: name, Dashed: true}
		for _, n := range found1.X {
			s.X, s.Y = append(s.X, n), append(s.Y, of(2*n-3))
		}
		return s
	}
	exact := func(name string, y ...float64) chart.Series {
		return chart.Series{Name: name, X: []float64{2, 3, 4, 5}, Y: y, Points: true}
	}
	picture(t, "tree-adversary", chart.Chart{Title: "Waiting time at a leaf: entries of others, at the worst",
		Subtitle: "ℓ = 2; exact for up to 5 processes, and what a search found", XLabel: "processes", YLabel: "entries", LogX: true, LogY: true,
		Series: []chart.Series{exact("exact, k=1", 2, 6, 10, 14), exact("exact, k=2", 3, 12, 20, 28), found1, found2,
			line("ℓ(2n-3)", func(h float64) float64 { return l * h }),
			line("2ℓ(2n-3)", func(h float64) float64 { return 2 * l * h }),
			line("Theorem 2: ℓ(2n-3)²", func(h float64) float64 { return l * h * h })}})
}
