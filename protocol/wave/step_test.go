// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"allot/check"
	"allot/model"
	"allot/protocol/wave"
	"allot/topology"
)

func TestRefusedNetworks(t *testing.T) {
	for _, test := range []struct {
		topology string
		values   map[string]string
	}{
		{"single", nil},
		{"path:4", map[string]string{"d": "2"}},
		{"path:4", map[string]string{"l": "0"}},
	} {
		g := named(t, test.topology)[0].graph
		if _, err := wave.Algorithm.Make(model.Options{Graph: g, Values: test.values}); err == nil {
			t.Errorf("%s with %v is taken", test.topology, test.values)
		}
	}
	two, err := model.NewGraph(4, [][2]int{{0, 1}, {2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wave.Algorithm.Make(model.Options{Graph: two}); err == nil {
		t.Error("a network in two parts is taken")
	}
}

// TestSmallD: D must leave room for the longest way that a tree can take. The farthest process here is three hops from the
// root, but the tree may lead to its neighbour in three, and then nobody may take it as a child.
func TestSmallD(t *testing.T) {
	dot, err := os.ReadFile("testdata/longest_path.dot")
	if err != nil {
		t.Fatal(err)
	}
	g, err := topology.ParseDOT(dot)
	if err != nil {
		t.Fatal(err)
	}
	for d, want := range map[string]check.Verdict{"3": check.Counterexample, "4": check.Proved} {
		r := ask(t, instance(t, g, "corrected", 1, "d", d), check.Options{Daemon: check.Distributed, Fairness: check.Weak, Properties: []string{"service"}})
		if r.Verdict != want {
			t.Errorf("D = %s: %s", d, r.Verdict)
		}
	}
}

// TestNoAllocation: guards are the hot loop of checker and simulator.
func TestNoAllocation(t *testing.T) {
	inst := instance(t, named(t, "grid:4x4")[0].graph, "corrected", 3)
	program := inst.System.(*model.Guarded).Program()
	c := inst.System.Clean()
	sum := uint64(0)
	if n := testing.AllocsPerRun(100, func() {
		for p := range 16 {
			sum += program.Enabled(p, c)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestMemory: off the root the number of states depends on the degree and on D alone, not on ℓ.
func TestMemory(t *testing.T) {
	var table strings.Builder
	for _, name := range []string{"grid:3x3", "grid:10x10", "grid:30x30", "grid:100x100"} {
		for _, l := range []int{1, 10, 1000} {
			for _, d := range []string{"0", "200"} {
				inst := instance(t, named(t, name)[0].graph, "corrected", l, "d", d)
				program := inst.System.(*model.Guarded).Program()
				var most uint64
				for p := 1; p < inst.System.Graph().Len(); p++ {
					most = max(most, program.Layout(p).Size())
				}
				fmt.Fprintf(&table, "%-10s l=%-4d d=%-2s root %4d states, others at most %d\n", name, l, d, program.Layout(0).Size(), most)
			}
		}
	}
	compare(t, "memory", table.String())
}

// TestNetworks: there are 1, 3 and 11 connected rooted graphs of 2, 3 and 4 processes (OEIS A126100).
func TestNetworks(t *testing.T) {
	var got []int
	for n := 2; n <= 5; n++ {
		got = append(got, len(connected(t, n)))
	}
	if want := []int{1, 3, 11, 58}; !slices.Equal(got, want) {
		t.Errorf("%v connected rooted graphs, not %v", got, want)
	}
}
