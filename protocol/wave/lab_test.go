// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"allot/check"
	"allot/model"
	"allot/protocol/wave"
	"allot/sim"
	"allot/topology"
)

// network is a rooted graph with a name for tables.
type network struct {
	name  string
	graph *model.Graph
}

// named makes the networks of topology names.
func named(t testing.TB, names ...string) []network {
	t.Helper()
	var list []network
	for _, name := range names {
		g, err := topology.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, network{name, g})
	}
	return list
}

// connected lists every connected graph of n processes rooted at 0, one of each class of isomorphic ones.
func connected(t testing.TB, n int) []network {
	t.Helper()
	var pairs [][2]int
	for p := range n {
		for q := p + 1; q < n; q++ {
			pairs = append(pairs, [2]int{p, q})
		}
	}
	seen := map[uint]bool{}
	var list []network
	for set := uint(1); set < 1<<len(pairs); set++ {
		if c := canonical(n, pairs, set); seen[c] || c != set {
			continue
		}
		seen[set] = true
		var edges [][2]int
		var words []string
		for i, e := range pairs {
			if set>>i&1 != 0 {
				edges = append(edges, e)
				words = append(words, fmt.Sprintf("%d-%d", e[0], e[1]))
			}
		}
		g, err := model.NewGraph(n, edges)
		if err != nil {
			t.Fatal(err)
		}
		if g.IsConnected() {
			list = append(list, network{strings.Join(words, " "), g})
		}
	}
	return list
}

// canonical is the smallest set of edges that a renumbering of the processes other than the root makes of a set.
func canonical(n int, pairs [][2]int, set uint) uint {
	index := map[[2]int]int{}
	for i, e := range pairs {
		index[e] = i
	}
	best := set
	number := make([]int, n)
	var try func(p int, used uint)
	try = func(p int, used uint) {
		if p == n {
			var image uint
			for i, e := range pairs {
				if set>>i&1 != 0 {
					a, b := number[e[0]], number[e[1]]
					image |= 1 << index[[2]int{min(a, b), max(a, b)}]
				}
			}
			best = min(best, image)
			return
		}
		for q := 1; q < n; q++ {
			if used>>q&1 == 0 {
				number[p] = q
				try(p+1, used|1<<q)
			}
		}
	}
	try(1, 1)
	return best
}

func upTo(t testing.TB, n int) []network {
	var list []network
	for k := 2; k <= n; k++ {
		list = append(list, connected(t, k)...)
	}
	return list
}

func instance(t testing.TB, g *model.Graph, variant string, l int, values ...string) *model.Instance {
	t.Helper()
	v := map[string]string{"l": fmt.Sprint(l)}
	for i := 0; i < len(values); i += 2 {
		v[values[i]] = values[i+1]
	}
	inst, err := wave.Algorithm.Make(model.Options{Graph: g, Variant: variant, Values: v})
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// ask puts a question to the checker, and every counterexample to the simulator, which must see the same.
func ask(t testing.TB, inst *model.Instance, o check.Options) *check.Result {
	t.Helper()
	o.Workers = 1
	r, err := check.Run(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Verdict != check.Counterexample || f.Run == nil {
			continue
		}
		f.Run.Origin = "check"
		report, err := sim.Replay(inst, f.Run, nil)
		if err != nil {
			t.Fatalf("%s: the simulator refuses the counterexample: %v", f.Property, err)
		}
		if !report.IsVerified {
			t.Fatalf("%s: the simulator does not see the violation: %s", f.Property, report.Text)
		}
	}
	return r
}

// failed lists the properties that have a counterexample.
func failed(r *check.Result) []string {
	var names []string
	for _, f := range r.Findings {
		if f.Verdict != check.Proved {
			names = append(names, f.Property)
		}
	}
	return names
}

// long skips a test that takes minutes unless it was asked for.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("this one takes minutes: set ALLOT_FULL=1 or run make full")
	}
}

var fairnesses = []check.Fairness{check.Weak, check.None}
