// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"allot/chart"
	"allot/internal/golden"
)

// loops watches a run of the paper's protocol with an eye that sees all resources at once.
type loops struct {
	world    *world[paperState, paperMessage]
	open     map[int32]float64 // by client on a loop: since when
	lasted   []float64
	imagined int
	broken   int
}

// look finds the clients that are on a loop of dependencies now. A resource has at most one dependency, that of its head.
func (l *loops) look() {
	w := l.world
	n := w.resources
	next := make([]int, n)
	client := make([]int32, n)
	for r := range n {
		next[r] = -1
		s := w.states[w.clients+r].strong
		if len(s) == 0 || s[0].role != strongHalf {
			continue
		}
		other := w.states[w.clients+int(s[0].peer)].strong
		if i := find(other, s[0].client); i > 0 {
			next[r], client[r] = int(s[0].peer), s[0].client
		}
	}
	on := map[int32]bool{}
	for r := range n {
		at := r
		for range n {
			if at = next[at]; at < 0 || at == r {
				break
			}
		}
		if at == r && next[r] >= 0 {
			on[client[r]] = true
		}
	}
	for c := range on {
		if _, ok := l.open[c]; !ok {
			l.open[c] = w.now
		}
	}
	var over []int32
	for c := range l.open {
		if !on[c] {
			over = append(over, c)
		}
	}
	slices.Sort(over)
	for _, c := range over {
		l.lasted = append(l.lasted, w.now-l.open[c])
		delete(l.open, c)
	}
}

// TestLoops: every deadlock is found and broken, over growing numbers of clients and resources, and none is imagined: no
// claim gives way that is on no loop.
func TestLoops(t *testing.T) {
	var table strings.Builder
	var x []float64
	var mean, worst []float64
	for _, n := range []int{4, 8, 16, 32, 48} {
		s := shape{clients: n, resources: max(2, n/2), most: 2, least: 1}
		g, err := s.graph(true)
		if err != nil {
			t.Fatal(err)
		}
		w := &world[paperState, paperMessage]{machine: &paper{s}, graph: g, arg: weakly}
		w.load = load{clients: n, resources: s.resources, size: 2, section: 10, seed: 5, grants: 3000}
		w.userOf = func(s *paperState) *user { return &s.user }
		l := &loops{world: w, open: map[int32]float64{}}
		w.watch = func(m paperMessage) {
			if m.kind == pKilled { // sent in this step; the loops are those from before it
				l.broken++
				if _, ok := l.open[m.client]; !ok {
					l.imagined++
				}
			}
		}
		w.after = l.look
		m := w.run()
		slices.Sort(l.lasted)
		if l.broken == 0 || l.imagined > 0 || m.grants < 3000 {
			t.Errorf("%d clients: %d loops broken, %d imagined, %d grants", n, l.broken, l.imagined, m.grants)
		}
		var sum float64
		for _, d := range l.lasted {
			sum += d
		}
		x = append(x, float64(n))
		mean, worst = append(mean, sum/float64(len(l.lasted))), append(worst, l.lasted[len(l.lasted)-1])
		fmt.Fprintf(&table, "%2d clients, %2d resources: %5d loops broken in %d grants, %d imagined; a client is on one for %.1f delays on average, %.1f at the most; %d still there at the end\n",
			n, s.resources, l.broken, m.grants, l.imagined, mean[len(mean)-1], worst[len(worst)-1], len(l.open))
	}
	golden.Compare(t, filepath.Join("testdata", "loops.txt"), table.String())
	draw(t, "claim-loops", chart.Chart{Title: "The paper's protocol: how long a deadlock lasts", Subtitle: "claims of two resources, half as many resources as clients",
		XLabel: "clients", YLabel: "message delays", Series: []chart.Series{{Name: "mean", X: x, Y: mean}, {Name: "longest", X: x, Y: worst}}})
}
