// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"allot/model"
)

func TestNewGraphRefuses(t *testing.T) {
	for _, test := range []struct {
		n     int
		edges [][2]int
		want  string
	}{
		{0, nil, "a network has 1 to 16777216 processes, not 0"},
		{-1, nil, "not -1"},
		{model.MaxProcesses + 1, nil, "not 16777217"},
		{2, [][2]int{{1, 1}}, "edge 1-1 joins a process to itself"},
		{2, [][2]int{{0, 2}}, "edge 0-2: process 2 is not among 0..1"},
		{2, [][2]int{{-1, 0}}, "edge -1-0: process -1 is not among 0..1"},
		{3, [][2]int{{0, 1}, {1, 2}, {0, 1}}, "edge 0-1 is given twice"},
		{3, [][2]int{{0, 1}, {1, 2}, {1, 0}}, "edge 0-1 is given twice"},
	} {
		if g, err := model.NewGraph(test.n, test.edges); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%d processes, %v: %v, %v; want %s", test.n, test.edges, g, err, test.want)
		}
	}
}

// randomGraph joins each pair with some chance, in a random order and direction.
func randomGraph(seed uint64) (n int, edges [][2]int) {
	r := seeded(seed)
	n = 1 + r.IntN(12)
	chance := r.Float64()
	for p := range n {
		for q := range p {
			if r.Float64() < chance {
				edges = append(edges, [2]int{p, q})
				if r.IntN(2) == 0 {
					edges[len(edges)-1] = [2]int{q, p}
				}
			}
		}
	}
	r.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	return n, edges
}

func TestChannelsAndLinksAgree(t *testing.T) {
	for seed := range uint64(200) {
		n, edges := randomGraph(seed)
		g, err := model.NewGraph(n, edges)
		if err != nil {
			t.Fatal(err)
		}
		if g.Len() != n || g.Links() != 2*len(edges) || g.Root != 0 {
			t.Fatalf("seed %d: %d processes, %d links, root %d", seed, g.Len(), g.Links(), g.Root)
		}
		// The order of the edges fixes the order of the channels.
		want := make([][]int32, n)
		joined := map[[2]int]bool{}
		for _, e := range edges {
			want[e[0]] = append(want[e[0]], int32(e[1]))
			want[e[1]] = append(want[e[1]], int32(e[0]))
			joined[e], joined[[2]int{e[1], e[0]}] = true, true
		}
		seen := 0
		for p := range n {
			if !slices.Equal(g.Neighbours(p), want[p]) || g.Degree(p) != len(want[p]) {
				t.Fatalf("seed %d: neighbours of %d are %v, want %v", seed, p, g.Neighbours(p), want[p])
			}
			for channel, q := range g.Neighbours(p) {
				link := g.Link(p, channel)
				from, to := g.Ends(link)
				back := g.Back(link)
				backFrom, backTo := g.Ends(back)
				if from != p || to != int(q) || backFrom != to || backTo != from || g.Back(back) != link || back == link {
					t.Fatalf("seed %d: link %d of %d leads from %d to %d, its way back is %d", seed, link, p, from, to, back)
				}
				if g.Neighbours(to)[g.Channel(link)] != int32(p) || g.Link(to, g.Channel(link)) != back {
					t.Fatalf("seed %d: channel of link %d→%d is %d", seed, p, q, g.Channel(link))
				}
				seen++
			}
			for q := range n {
				link := g.FindLink(p, q)
				if (link >= 0) != joined[[2]int{p, q}] {
					t.Fatalf("seed %d: link from %d to %d is %d", seed, p, q, link)
				}
				if link >= 0 {
					if from, to := g.Ends(link); from != p || to != q {
						t.Fatalf("seed %d: link from %d to %d is one from %d to %d", seed, p, q, from, to)
					}
				}
			}
		}
		if seen != g.Links() {
			t.Fatalf("seed %d: %d channels, %d links", seed, seen, g.Links())
		}
		listed := g.Edges()
		if len(listed) != len(edges) {
			t.Fatalf("seed %d: %d edges listed, %d given", seed, len(listed), len(edges))
		}
		for i, e := range listed {
			if e[0] >= e[1] || !joined[e] || slices.Contains(listed[:i], e) {
				t.Fatalf("seed %d: edge %v", seed, e)
			}
		}
	}
}

// TestDistances compares with the method of Floyd and Warshall.
func TestDistances(t *testing.T) {
	connected := 0
	for seed := range uint64(200) {
		n, edges := randomGraph(seed)
		g, err := model.NewGraph(n, edges)
		if err != nil {
			t.Fatal(err)
		}
		far := int32(n + 1)
		want := make([][]int32, n)
		for p := range want {
			want[p] = slices.Repeat([]int32{far}, n)
			want[p][p] = 0
		}
		for _, e := range edges {
			want[e[0]][e[1]], want[e[1]][e[0]] = 1, 1
		}
		for via := range n {
			for p := range n {
				for q := range n {
					want[p][q] = min(want[p][q], want[p][via]+want[via][q])
				}
			}
		}
		isConnected := true
		for p := range n {
			for q := range n {
				if want[p][q] >= far {
					want[p][q], isConnected = -1, false
				}
			}
			if got := g.Distances(p); !slices.Equal(got, want[p]) {
				t.Fatalf("seed %d: distances from %d are %v, want %v", seed, p, got, want[p])
			}
		}
		if g.IsConnected() != isConnected {
			t.Fatalf("seed %d: connected is %v", seed, g.IsConnected())
		}
		if isConnected {
			connected++
		}
	}
	if connected == 0 || connected == 200 {
		t.Errorf("%d of 200 random graphs are connected: the test looks at one kind only", connected)
	}
}

func TestNamesAndRoot(t *testing.T) {
	g := graphOf(t, "path:3")
	if g.HasNames() || g.Name(2) != "2" {
		t.Errorf("a graph without names calls 2 %q", g.Name(2))
	}
	names := []string{"a", "b", "c"}
	named, err := g.WithNames(names)
	if err != nil {
		t.Fatal(err)
	}
	names[2] = "changed"
	if !named.HasNames() || named.Name(2) != "c" || g.HasNames() {
		t.Errorf("named: %v %q, the first one: %v", named.HasNames(), named.Name(2), g.HasNames())
	}
	rooted, err := named.WithRoot(2)
	if err != nil || rooted.Root != 2 || rooted.Name(0) != "a" || named.Root != 0 {
		t.Errorf("rooted: %v, %v", rooted, err)
	}
	if _, err := g.WithNames(names[:2]); err == nil || err.Error() != "2 names for 3 processes" {
		t.Errorf("too few names: %v", err)
	}
	for _, p := range []int{-1, 3} {
		if _, err := g.WithRoot(p); err == nil || err.Error() != fmt.Sprintf("root %d is not among 0..2", p) {
			t.Errorf("root %d: %v", p, err)
		}
	}
}
