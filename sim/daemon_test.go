// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"strings"
	"testing"

	"allot/model"
)

// enabledSites lists the sites of processes and links that can move, by asking everybody.
func enabledSites(v *model.View) []int {
	var sites []int
	for site := range v.System.Sites() {
		if s := v.System.Site(site); !s.Clock && !s.IsAdversary() && len(v.System.Enabled(v.C, site, nil)) > 0 {
			sites = append(sites, site)
		}
	}
	return sites
}

func TestEveryDaemonDoesWhatItSays(t *testing.T) {
	var last int
	cases := map[string]func(t *testing.T, v *model.View, step, enabled []int){
		"central": func(t *testing.T, _ *model.View, step, _ []int) {
			if len(step) != 1 {
				t.Fatalf("%d move", len(step))
			}
		},
		"synchronous": func(t *testing.T, _ *model.View, step, enabled []int) {
			if !slices.Equal(step, enabled) {
				t.Fatalf("%v move, enabled are %v", step, enabled)
			}
		},
		"distributed:0.2": func(*testing.T, *model.View, []int, []int) {},
		"locally-central": func(t *testing.T, v *model.View, step, enabled []int) {
			for _, p := range enabled {
				neighbours := 0
				for _, q := range v.System.Graph().Neighbours(p) {
					if slices.Contains(step, int(q)) {
						neighbours++
					}
				}
				if isIn := slices.Contains(step, p); isIn == (neighbours > 0) {
					t.Fatalf("%v move: %d is in it: %v, and %d of its neighbours", step, p, isIn, neighbours)
				}
			}
		},
		"round-robin": func(t *testing.T, v *model.View, step, enabled []int) {
			want := enabled[0]
			if i := slices.IndexFunc(enabled, func(p int) bool { return p > last }); i >= 0 {
				want = enabled[i]
			}
			if last = step[0]; len(step) != 1 || last != want {
				t.Fatalf("%v move, the next is %d", step, want)
			}
		},
		"unfair:2": func(t *testing.T, v *model.View, step, enabled []int) {
			if len(step) != 1 || step[0] == 2 && len(enabled) > 1 {
				t.Fatalf("%v move of %v", step, enabled)
			}
		},
	}
	for spec, check := range cases {
		for _, inst := range []*model.Instance{newPair(t, "grid:4x4"), newPair(t, "ring:5"), ringOf(t, 9, 9, ""), newSpinner(t, "star:6")} {
			last = -1
			r := mustRun(t, inst, Options{Start: Arbitrary, Seed: 5, Steps: 400, Daemon: daemonOf(t, spec), Record: true})
			if r.Moves == 0 || r.Daemon != spec {
				t.Fatalf("%s: %d moves under %s", spec, r.Moves, r.Daemon)
			}
			replayed(t, inst, r.Run, func(_ int, v *model.View, moves []model.Move) {
				if moves == nil {
					return
				}
				var step []int
				for _, m := range moves {
					step = append(step, int(m.At))
				}
				slices.Sort(step)
				check(t, v, step, enabledSites(v))
			})
		}
	}
}

func TestChoicesAreUniform(t *testing.T) {
	inst := newSpinner(t, "ring:10")
	r := mustRun(t, inst, Options{Steps: 100_000, Record: true})
	sites, actions := map[int32]int{}, map[uint64]int{}
	for _, step := range r.Run.Steps {
		sites[step[0].At]++
		actions[step[0].Arg]++
	}
	for p, n := range sites {
		if n < 9500 || n > 10_500 {
			t.Errorf("process %d moves %d times of 100,000", p, n)
		}
	}
	if actions[0] < 49_000 || actions[0] > 51_000 {
		t.Errorf("of two actions the first is taken %d times of 100,000", actions[0])
	}
	d := mustRun(t, inst, Options{Steps: 10_000, Daemon: &Distributed{Probability: 0.3}})
	if d.Moves < 29_500 || d.Moves > 31_000 {
		t.Errorf("%d moves of 100,000 with probability 0.3", d.Moves)
	}
	// If nobody is chosen one is: on average 0.2 + 0.9^2 of the two.
	two := newSpinner(t, "path:2")
	d = mustRun(t, two, Options{Steps: 10_000, Daemon: &Distributed{Probability: 0.1}})
	if d.Moves < 10_050 || d.Moves > 10_150 {
		t.Errorf("%d moves in 10,000 steps with probability 0.1", d.Moves)
	}
}

func TestTheVictimMovesOnlyWhenNobodyElseCan(t *testing.T) {
	inst := newCourier(t, "ring:5", model.Links{})
	r := mustRun(t, inst, Options{Steps: 2000, Daemon: &Unfair{Victim: 2}, Record: true})
	victim := 0
	w := newWorld(inst, inst.System.Clean())
	replayed(t, inst, r.Run, func(step int, v *model.View, moves []model.Move) {
		if len(moves) == 0 || moves[0].Kind == model.Tick || w.owner(int32(w.siteOf(moves[0]))) != 2 {
			return
		}
		victim++
		for _, site := range enabledSites(v) {
			if w.owner(int32(site)) != 2 {
				t.Fatalf("step %d: %v although site %d can move", step, moves, site)
			}
		}
	})
	if victim == 0 {
		t.Error("the victim never moved at all")
	}
}

func TestGreedyTakesTheHighest(t *testing.T) {
	inst := newSpinner(t, "ring:4")
	value := func(v *model.View) int64 { return inst.Potential(v) }
	for _, d := range []Daemon{&Greedy{}, &Greedy{Name: "optimal", Potential: func(v *model.View) int64 { return -value(v) }}} {
		r := mustRun(t, inst, Options{Steps: 200, Daemon: d, Record: true, Start: Arbitrary})
		potential := d.(*Greedy).potential
		var got, best int64
		replayed(t, inst, r.Run, func(step int, v *model.View, moves []model.Move) {
			if got = potential(v); step > 0 && got != best {
				t.Fatalf("%s, step %d: %d, and %d was possible", d, step, got, best)
			}
			best = -1 << 62
			for _, site := range enabledSites(v) {
				for _, m := range v.System.Enabled(v.C, site, nil) {
					c := append(model.Configuration{}, v.C...)
					var b model.Buffer
					v.System.Apply(c, []model.Move{m}, &b)
					after := inst.View(c)
					best = max(best, potential(&after))
				}
			}
		})
	}
	// Its trials must leave no trace in the sums, which it tries with.
	ring := ringOf(t, 9, 9, "")
	r := mustRun(t, ring, Options{Start: Arbitrary, Seed: 2, Daemon: &Greedy{}, Steps: 300, Record: true})
	again := mustRun(t, ring, Options{Ranks: r.Run.Start, Daemon: &Recorded{Run: r.Run}})
	if again.Gauges[0] != r.Gauges[0] || again.Stabilized != r.Stabilized || again.Rounds != r.Rounds || again.Trace != r.Trace {
		t.Errorf("played again it differs:\n%+v\n%+v", r, again)
	}
	network := newCourier(t, "ring:4", model.Links{Unordered: true})
	n := mustRun(t, network, Options{Daemon: &Greedy{}, Steps: 300, Record: true})
	if n.Waiting.Entered == 0 || n.Property("same").Skipped != "" {
		t.Errorf("greedy on a network: %+v", n)
	}
	replayed(t, network, n.Run, nil)
}

func TestParseDaemon(t *testing.T) {
	for _, spec := range []string{"central", "synchronous", "locally-central", "round-robin", "unfair:3", "greedy", "distributed:0.3"} {
		if got := daemonOf(t, spec).String(); got != spec {
			t.Errorf("%s becomes %s", spec, got)
		}
	}
	for _, spec := range []string{"", "fair", "central:1", "greedy:", "distributed:0", "distributed:2", "distributed:x", "distributed:NaN",
		"unfair", "unfair:", "unfair:-1", "unfair:99999999999", strings.Repeat("x", 1000)} {
		if d, err := ParseDaemon(spec); err == nil || len(err.Error()) > 300 {
			t.Errorf("%.40q gives %v, %v", spec, d, err)
		}
	}
}
