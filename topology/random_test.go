// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"allot/model"
)

// everySpec names many small networks, every shape among them.
func everySpec() []string {
	var specs []string
	for n := 1; n <= 12; n++ {
		for _, shape := range []string{"path", "star", "ring", "complete", "binary"} {
			specs = append(specs, fmt.Sprintf("%s:%d,root=%d", shape, n, n/2))
		}
		for rows := 1; rows <= 4; rows++ {
			specs = append(specs, fmt.Sprintf("grid:%dx%d,root=%d", rows, n, n-1))
		}
		for seed := range 5 {
			specs = append(specs, fmt.Sprintf("tree:%d,seed=%d,root=%d", n, seed, n-1))
			for _, p := range []string{"0", "0.3", "0.5", "0.7", "1"} {
				specs = append(specs, fmt.Sprintf("random:%d,seed=%d,p=%s,root=%d", n, seed, p, n-1))
			}
			for m := 1; m <= 4; m++ {
				specs = append(specs, fmt.Sprintf("scalefree:%d,seed=%d,m=%d,root=%d", n, seed, m, n-1))
			}
		}
	}
	return specs
}

func TestEveryNetworkIsConnectedRootedAndRepeatable(t *testing.T) {
	for _, spec := range everySpec() {
		g, again := mustParse(t, spec), mustParse(t, spec)
		if !g.IsConnected() {
			t.Errorf("%s is not connected: %s", spec, picture(g))
		}
		if picture(g) != picture(again) {
			t.Errorf("%s gave two networks:\n%s\n%s", spec, picture(g), picture(again))
		}
		if _, root, _ := strings.Cut(spec, "root="); root != strconv.Itoa(g.Root) {
			t.Errorf("%s has root %d", spec, g.Root)
		}
	}
}

func TestChannelZeroOfATreeLeadsToTheParent(t *testing.T) {
	for _, shape := range []string{"path:9", "star:9", "binary:9", "tree:9,seed=4"} {
		for root := range 9 {
			g := mustParse(t, fmt.Sprintf("%s,root=%d", shape, root))
			if g.Links() != 16 {
				t.Fatalf("%s has %d links", shape, g.Links())
			}
			depth := g.Distances(root)
			for p := range g.Len() {
				for channel, q := range g.Neighbours(p) {
					if isParent := depth[q] < depth[p]; isParent != (channel == 0 && p != root) {
						t.Errorf("%s, root %d: channel %d of %d leads to %d", shape, root, channel, p, q)
					}
				}
			}
		}
	}
}

// There are 16 labelled trees with four nodes. With 16,000 seeds each should come about 1,000 times; five standard
// deviations are 153. A random recursive tree, or a tree with a biased draw, is far outside.
func TestTreesAreUniform(t *testing.T) {
	counts := map[string]int{}
	for seed := range 16000 {
		counts[fmt.Sprint(mustParse(t, fmt.Sprintf("tree:4,seed=%d", seed)).Edges())]++
	}
	if len(counts) != 16 {
		t.Errorf("%d different trees, want 16", len(counts))
	}
	for edges, count := range counts {
		if count < 847 || count > 1153 {
			t.Errorf("%s came %d times", edges, count)
		}
	}
}

func TestRandomHasTheEdgesItWasAskedFor(t *testing.T) {
	for _, test := range []struct {
		spec  string
		edges int
	}{
		{"random:20", 40},
		{"random:20,degree=4", 40},
		{"random:20,degree=2.5", 25},
		{"random:21,degree=2.5", 26}, // 26.25
		{"random:20,degree=0", 19},
		{"random:20,degree=19", 190},
		{"random:20,degree=1000", 190},
		{"random:20,p=0", 19},
		{"random:20,p=0.5", 95},
		{"random:20,p=0.51", 97}, // 96.9
		{"random:20,p=1", 190},
		{"random:3", 3},
		{"random:1000,p=0.9", 449550},
		{"scalefree:100", 3 + 97*2},
		{"scalefree:100,m=7", 28 + 92*7},
		{"scalefree:5,m=9", 10},
	} {
		if got := mustParse(t, test.spec).Links() / 2; got != test.edges {
			t.Errorf("%s has %d edges, want %d", test.spec, got, test.edges)
		}
	}
}

func TestRandomContainsTheTreeOfItsSeed(t *testing.T) {
	for _, p := range []string{"0.2", "0.8"} {
		tree, g := mustParse(t, "tree:30,seed=5"), mustParse(t, "random:30,seed=5,p="+p)
		for _, e := range tree.Edges() {
			if g.FindLink(e[0], e[1]) < 0 {
				t.Errorf("p=%s: edge %v of the tree is missing", p, e)
			}
		}
	}
}

// Both ways of drawing extra edges must reach every pair: over many seeds, every pair is joined about equally often.
// The bounds are five standard deviations.
func TestRandomJoinsAllPairsAlike(t *testing.T) {
	for _, test := range []struct {
		p        string
		low, top int
	}{{"0.4", 323, 477}, {"0.8", 737, 863}} {
		var counts [6][6]int
		for seed := range 1000 {
			g := mustParse(t, fmt.Sprintf("random:6,p=%s,seed=%d", test.p, seed))
			for _, e := range g.Edges() {
				counts[e[0]][e[1]]++
			}
		}
		for a := range 6 {
			for b := a + 1; b < 6; b++ {
				if c := counts[a][b]; c < test.low || c > test.top {
					t.Errorf("p=%s: %d-%d is joined %d times in 1000", test.p, a, b, c)
				}
			}
		}
	}
}

// Growth with preference makes hubs: in a graph of 5,000 with mean degree 4 the largest degree is around 2·sqrt(n);
// without preference it would stay near log n.
func TestScaleFreeHasHubs(t *testing.T) {
	g := mustParse(t, "scalefree:5000,seed=1")
	largest := 0
	for p := range g.Len() {
		largest = max(largest, g.Degree(p))
		if g.Degree(p) < 2 {
			t.Errorf("process %d has %d neighbours", p, g.Degree(p))
		}
	}
	if largest < 60 {
		t.Errorf("the largest degree is %d", largest)
	}
}

func BenchmarkParse(b *testing.B) {
	for _, spec := range []string{"ring:1000000", "tree:1000000", "random:100000", "random:2000,p=0.9", "scalefree:100000"} {
		b.Run(spec, func(b *testing.B) {
			var g *model.Graph
			for b.Loop() {
				g = mustParse(b, spec)
			}
			b.ReportMetric(float64(g.Links()/2), "edges")
		})
	}
}
