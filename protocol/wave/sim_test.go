// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"allot/model"
	"allot/sim"
)

func simulate(t testing.TB, inst *model.Instance, o sim.Options) *sim.Report {
	t.Helper()
	r, err := sim.Run(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestNetworkChanges: links are cut and healed, processes leave and join, and after each change the wave is legitimate
// again. The network stays connected and the root stays.
func TestNetworkChanges(t *testing.T) {
	changes(t, "corrected", 3)
	changes(t, "keeping", 70) // in 63 and 64 the network of 30 changes under a token that is held out
}

// TestFullNetworkChanges: the same with more seeds.
func TestFullNetworkChanges(t *testing.T) {
	long(t)
	changes(t, "corrected", 500)
	changes(t, "keeping", 500)
}

func changes(t *testing.T, variant string, seeds uint64) {
	t.Helper()
	for _, test := range []struct{ topology, script string }{
		{"ring:6", "when stable cut 2-3\nwhen stable heal 2-3\nwhen stable cut 0-1\nwhen stable heal 0-1"},
		{"grid:3x3", "when stable cut 0-1\nwhen stable leave 4\nwhen stable join 4\nwhen stable heal 0-1\nwhen stable leave 1\nwhen stable join 1"},
		{"complete:5", "when stable leave 1\nwhen stable leave 2\nwhen stable cut 0-3\nwhen stable join 2\nwhen stable join 1\nwhen stable heal 0-3"},
		{"random:30,seed=3,degree=6", "when stable leave 7\nwhen stable corrupt random 5\nwhen stable leave 12\nwhen stable join 7\nwhen stable join 12"},
		{"grid:3x3", "at 40 cut 0-1\nat 60 heal 0-1\nat 63 cut 0-3\nat 90 leave 8\nat 100 join 8\nat 120 heal 0-3"},
	} {
		net := named(t, test.topology)[0]
		for _, daemon := range []string{"central", "distributed", "synchronous", "locally-central"} {
			for seed := range seeds {
				// Where tokens are kept, process 2 never gives back.
				inst := instance(t, net.graph, variant, 3, "wiring", "changing", "stay", "4")
				script, err := sim.ParseScript([]byte(test.script), net.graph)
				if err != nil {
					t.Fatal(err)
				}
				d, err := sim.ParseDaemon(daemon)
				if err != nil {
					t.Fatal(err)
				}
				r := simulate(t, inst, sim.Options{Start: sim.Arbitrary, Seed: seed, Daemon: d, Script: script, StopWhenStable: true})
				if r.Verdict != sim.Held || r.Stabilized.Step < 0 {
					t.Errorf("%s, %s, %s, seed %d: %s, %s", variant, test.topology, daemon, seed, r.Verdict, r.Stopped)
				}
				if len(r.Unfired()) > 0 {
					t.Errorf("%s, %s, %s, seed %d: nothing came of %v", variant, test.topology, daemon, seed, r.Unfired())
				}
			}
		}
	}
}

// TestUnchangedWiring: with room for changes that do not come, every step is the same as without.
func TestUnchangedWiring(t *testing.T) {
	net := named(t, "grid:4x4")[0]
	a := simulate(t, instance(t, net.graph, "corrected", 2), sim.Options{Seed: 5, Steps: 5000})
	b := simulate(t, instance(t, net.graph, "corrected", 2, "wiring", "changing"), sim.Options{Seed: 5, Steps: 5000})
	if a.Trace != b.Trace {
		t.Errorf("the traces differ: %s and %s", a.Trace, b.Trace)
	}
}

// TestArbitraryStarts: middle-sized networks heal under every daemon, and nothing is violated on the way.
func TestArbitraryStarts(t *testing.T) {
	for _, net := range named(t, "grid:6x6", "scalefree:60,seed=2", "tree:50,seed=4", "path:30") {
		for _, daemon := range []string{"central", "distributed", "synchronous", "locally-central", "round-robin"} {
			for seed := range uint64(2) {
				d, err := sim.ParseDaemon(daemon)
				if err != nil {
					t.Fatal(err)
				}
				r := simulate(t, instance(t, net.graph, "corrected", 1+int(seed)), sim.Options{Start: sim.Arbitrary, Seed: seed, Daemon: d, Steps: 10_000})
				if r.Verdict != sim.Held {
					t.Errorf("%s, %s, seed %d: %s", net.name, daemon, seed, r.Verdict)
				}
			}
		}
	}
}

// waves runs a synchronous run from the clean start and counts, for every process, the longest time between two
// privileges in waves, once the tree is complete.
func waves(t *testing.T, inst *model.Instance, count int) (longest []int, c model.Configuration) {
	t.Helper()
	sys := inst.System
	actions := sys.(*model.Guarded).Program().Actions()
	n := sys.Graph().Len()
	c = sys.Clean()
	last := make([]int, n)
	longest = make([]int, n)
	var b model.Buffer
	var moves, step []model.Move
	for wave := 0; wave < count; {
		step = step[:0]
		for p := range n {
			if moves = sys.Enabled(c, p, moves[:0]); len(moves) > 0 {
				step = append(step, moves[0])
			}
		}
		for _, m := range step {
			p := int(m.At)
			switch name := actions[m.Arg].Name; name[:3] {
			case "a5 ":
				wave++
				if wave == 2 { // the tree is complete after the first wave
					for p := range last {
						last[p] = wave
					}
				}
			case "a1 ", "a2 ", "a6 ":
				if wave >= 2 {
					longest[p] = max(longest[p], wave-last[p])
				}
				last[p] = wave
			}
		}
		sys.Apply(c, step, &b)
	}
	for p := range last {
		longest[p] = max(longest[p], count-1-last[p])
	}
	return longest, c
}

// TestWaves: Theorem 4.3 bounds the waves until a process is served by the product of the numbers of children on its
// path over ℓ, rounded up.
func TestWaves(t *testing.T) {
	var table strings.Builder
	for _, net := range named(t, "path:12", "binary:15", "star:9", "ring:9", "grid:4x4", "tree:20,seed=2") {
		for _, l := range []int{1, 2, 5} {
			longest, c := waves(t, instance(t, net.graph, "corrected", l), 600)
			parents := parentsOf(instance(t, net.graph, "corrected", l), c)
			worst, most := 0, 0
			for p, limit := range waveLimits(net.graph, parents, l) {
				if longest[p] > limit {
					t.Errorf("%s l=%d: process %d waits %d waves, the bound is %d", net.name, l, p, longest[p], limit)
				}
				worst, most = max(worst, longest[p]), max(most, limit)
			}
			fmt.Fprintf(&table, "%-15s l=%d longest gap %d waves, bound %d\n", net.name, l, worst, most)
		}
	}
	compare(t, "waves", table.String())
}

// TestFullWaves: the same on large networks. Far from the root the bound is more waves than anybody can wait for, so what is
// measured is whether those who must be served within some waves are.
func TestFullWaves(t *testing.T) {
	long(t)
	const count = 120
	var table strings.Builder
	for _, net := range named(t, "grid:32x32", "random:1000", "random:10000", "scalefree:1000", "scalefree:10000") {
		const l = 4
		inst := instance(t, net.graph, "corrected", l)
		longest, c := waves(t, inst, count)
		limits := waveLimits(net.graph, parentsOf(inst, c), l)
		due, late, reached := 0, 0, 0
		for p, limit := range limits {
			if limit > count/2 {
				continue
			}
			due++
			if longest[p] > limit {
				late++
				t.Errorf("%s: process %d waits %d waves, the bound is %d", net.name, p, longest[p], limit)
			}
			if longest[p] == limit {
				reached++
			}
		}
		fmt.Fprintf(&table, "%-15s l=%d: %d processes have a bound of at most %d waves; %d of them wait longer, %d exactly so long\n", net.name, l, due, count/2, late, reached)
	}
	compare(t, "waves_full", table.String())
}

// waveLimits is the bound of Theorem 4.3 for every process: the product of the numbers of children on its path over ℓ, rounded up. Large ones are cut off.
func waveLimits(g *model.Graph, parents []int, l int) []int {
	children := make([]int, g.Len())
	for p, q := range parents {
		if p != g.Root {
			children[q]++
		}
	}
	limits := make([]int, g.Len())
	for p := range limits {
		product := 1
		for q := p; q != g.Root; q = parents[q] {
			product = min(product*children[parents[q]], 1<<40)
		}
		limits[p] = (product + l - 1) / l
	}
	return limits
}

// parentsOf reads the tree from a configuration.
func parentsOf(inst *model.Instance, c model.Configuration) []int {
	g := inst.System.Graph()
	parents := make([]int, g.Len())
	for p := range parents {
		parents[p] = g.Root
		for _, v := range inst.System.Variables(c, p) {
			for _, q := range g.Neighbours(p) {
				if v.Name == "P" && v.Value == g.Name(int(q)) {
					parents[p] = int(q)
				}
			}
		}
	}
	return parents
}
