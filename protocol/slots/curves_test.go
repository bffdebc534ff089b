// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"allot/chart"
	"allot/internal/golden"
	"allot/model"
)

// course runs an instance step by step and measures units of time as worst_test.go defines them.
type course struct {
	inst    *model.Instance
	c       model.Configuration
	buffer  model.Buffer
	chance  *rand.Rand
	n       int
	pending []bool
	left    int   // how many are pending
	unit    int   // units that have passed
	since   []int // by process: the unit in which it began to try; -1 if it does not
	waited  []int // units that were waited, of every entry
	worst   int   // the most that process 0 waited
	active  int   // processes from here on never try
}

func newCourse(t testing.TB, q question, seed uint64, active int) *course {
	t.Helper()
	r := &course{inst: q.instance(t), chance: rand.New(rand.NewPCG(seed, 7)), n: q.n, active: active}
	r.c = r.inst.System.Clean()
	r.pending, r.since = make([]bool, r.n), make([]int, r.n)
	for p := range r.n {
		r.since[p] = -1
		r.inst.System.Apply(r.c, r.inst.System.Enabled(r.c, p, nil), &r.buffer) // arrives
	}
	r.begin()
	return r
}

// begin begins a unit: everybody who has to act is pending.
func (r *course) begin() {
	r.left = 0
	for p := range r.n {
		r.pending[p] = r.since[p] >= 0 || r.phase(p) != model.Idle
		if r.pending[p] {
			r.left++
		}
	}
}

func (r *course) phase(p int) model.Phase {
	v := r.inst.View(r.c)
	return r.inst.Phase(&v, p)
}

// act lets process p take its step.
func (r *course) act(p int) {
	if p >= r.active {
		return
	}
	var space [2]model.Move
	r.inst.System.Apply(r.c, r.inst.System.Enabled(r.c, p, space[:0])[:1], &r.buffer)
	if r.pending[p] {
		r.pending[p] = false
		r.left--
	}
	switch phase := r.phase(p); {
	case phase == model.Inside && r.since[p] >= 0:
		units := r.unit - r.since[p] + 1
		r.waited = append(r.waited, units)
		if p == 0 {
			r.worst = max(r.worst, units)
		}
		r.since[p] = -1
	case phase == model.Waiting && r.since[p] < 0:
		r.since[p] = r.unit
	}
	if r.left == 0 {
		r.unit++
		r.begin()
	}
}

// even lets everybody act once in every unit, in an order drawn anew each time.
func (r *course) even(units int) {
	for r.unit < units {
		for _, p := range r.chance.Perm(r.active) {
			r.act(p)
		}
	}
}

func (r *course) mean() float64 {
	sum := 0
	for _, w := range r.waited {
		sum += w
	}
	return float64(sum) / float64(max(1, len(r.waited)))
}

// TestAverage: everybody competes all the time, and everybody gets in equally often in the long run.
func TestAverage(t *testing.T) {
	for _, algorithm := range Algorithms {
		r := newCourse(t, question{algorithm: algorithm, n: 6, k: 2, variant: "whole-scan"}, 1, 6)
		r.even(4000)
		if len(r.waited) < 200 || r.mean() > float64(theorem3(6, 2, 0)) {
			t.Errorf("%s: %d entries, %.1f units each", algorithm, len(r.waited), r.mean())
		}
	}
}

// TestFewCompetitors measures section 7: alone, EXCL takes (n-k)(n+2) steps as printed, but GTEX takes k times as many
// rounds as the printed formula counts.
func TestFewCompetitors(t *testing.T) {
	for _, w := range []struct{ n, k, excl, gtex, printed int }{
		// printed is 2 log(n/k) + 2(n-k) + 1.
		{4, 1, 18, 10, 11}, {4, 2, 12, 12, 7}, {8, 2, 60, 32, 17}, {16, 4, 216, 112, 29},
	} {
		for algorithm, want := range map[string]int{EXCL: w.excl, GTEX: w.gtex} {
			r := newCourse(t, question{algorithm: algorithm, n: w.n, k: w.k, variant: "whole-scan"}, 1, 1)
			r.even(1000)
			if r.worst != want {
				t.Errorf("%s(%d,%d) alone takes %d steps, want %d (the paper's formula for gtex: %d)", algorithm, w.n, w.k, r.worst, want, w.printed)
			}
		}
	}
}

// TestPictures draws the curves; -rewrite writes them.
func TestPictures(t *testing.T) {
	if !golden.IsRewriting() {
		t.Skip("drawing takes a minute; -rewrite draws")
	}
	for name, draw := range map[string]func() chart.Chart{
		"slots-worst.svg":   func() chart.Chart { return worstPicture(t, 1, []int{2, 3, 4, 5, 6, 8, 10}) },
		"slots-crashes.svg": func() chart.Chart { return worstPicture(t, 2, []int{3, 4, 5, 6, 8, 10}) },
		"slots-average.svg": func() chart.Chart { return averagePicture(t, "whole-scan", "as printed in the paper, every read made") },
		"slots-average-short.svg": func() chart.Chart {
			return averagePicture(t, "corrected", "counts that end when their outcome is certain")
		},
	} {
		t.Run(name, func(t *testing.T) { write(t, name, draw()) })
	}
}

func write(t *testing.T, name string, c chart.Chart) {
	t.Helper()
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("..", "..", "docs", "pictures", name), svg, 0o644); err != nil {
		t.Fatal(err)
	}
}

// exactWorst is what TestWorstCase and TestWorstCaseFull found, all reads made and k-1 stopped, by k and n.
var exactWorst = map[string]map[int]chart.Series{
	EXCL: {1: {X: []float64{2, 3, 4}, Y: []float64{10, 32, 70}}, 2: {X: []float64{3, 4}, Y: []float64{13, 40}}},
	GTEX: {1: {X: []float64{2, 3, 4}, Y: []float64{10, 32, 44}}, 2: {X: []float64{3, 4}, Y: []float64{13, 40}}},
}

// worstPicture is the worst case with k-1 that have stopped inside: the bounds, what is known exactly and what a search found.
func worstPicture(t *testing.T, k int, sizes []int) chart.Chart {
	var series []chart.Series
	for algorithm, bound := range map[string]func(n, k, c int) int{EXCL: theorem3, GTEX: theorem9} {
		name := map[string]string{EXCL: "bound in the proof of theorem 3", GTEX: "recursion in the proof of theorem 9"}[algorithm]
		line := chart.Series{Name: name, Dashed: true}
		found := chart.Series{Name: algorithm + ", found by search"}
		for _, n := range sizes {
			if algorithm == EXCL || isPrintedSize(n, k) {
				line.X, line.Y = append(line.X, float64(n)), append(line.Y, float64(bound(n, k, 0)))
			}
			q := question{algorithm: algorithm, n: n, k: k, variant: "whole-scan", crashes: k - 1}
			found.X, found.Y = append(found.X, float64(n)), append(found.Y, float64(search(t, q)))
			t.Logf("%s: %.0f units found", q, found.Y[len(found.Y)-1])
		}
		exact := exactWorst[algorithm][k]
		exact.Name, exact.Points = algorithm+", exact", true
		series = append(series, line, exact, found)
	}
	slices.SortFunc(series, func(a, b chart.Series) int { return cmp.Compare(a.Name, b.Name) })
	return chart.Chart{
		Title:    fmt.Sprintf("k-exclusion: longest time to get in, k = %d, %d stopped", k, k-1),
		Subtitle: "unit: everybody who has to act has acted; nobody stays inside, but those who have stopped",
		XLabel:   "processes", YLabel: "units", LogY: true, Series: series,
	}
}

func averagePicture(t *testing.T, variant, how string) chart.Chart {
	var series []chart.Series
	for _, k := range []int{1, 2} {
		for _, algorithm := range Algorithms {
			s := chart.Series{Name: fmt.Sprintf("%s, k = %d", algorithm, k)}
			for _, n := range []int{3, 4, 6, 8, 12, 16} {
				r := newCourse(t, question{algorithm: algorithm, n: n, k: k, variant: variant}, 1, n)
				r.even(6000)
				s.X, s.Y = append(s.X, float64(n)), append(s.Y, r.mean())
			}
			series = append(series, s)
		}
	}
	return chart.Chart{
		Title: "k-exclusion: average time to get in when everybody competes all the time", Subtitle: how,
		XLabel: "processes", YLabel: "units", Series: series,
	}
}
