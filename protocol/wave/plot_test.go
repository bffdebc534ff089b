// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"allot/chart"
	"allot/internal/golden"
	"allot/sim"
)

// draw writes a picture for the documentation, when golden files are written anew.
func draw(t *testing.T, name string, c chart.Chart) {
	t.Helper()
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if golden.IsRewriting() {
		if err := os.WriteFile(filepath.Join("..", "..", "docs", "pictures", name), svg, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// rounds is the number of rounds until legitimate, over some seeds: mean, least and most.
func rounds(t *testing.T, net network, variant string, l, d int) (mean, least, most float64) {
	t.Helper()
	const seeds = 3
	for seed := range uint64(seeds) {
		inst := instance(t, net.graph, variant, l, "d", fmt.Sprint(d))
		inst.Properties = inst.Properties[:1] // the others look at every process in every step
		r := simulate(t, inst, sim.Options{Start: sim.Arbitrary, Seed: seed, Daemon: &sim.Synchronous{}, StopWhenStable: true, Steps: 1 << 18})
		if r.Verdict != sim.Held {
			t.Fatalf("%s %s l=%d seed %d: %s after %d rounds", net.name, variant, l, seed, r.Verdict, r.Rounds)
		}
		x := float64(r.Stabilized.Round)
		mean += x / seeds
		if seed == 0 || x < least {
			least = x
		}
		most = max(most, x)
	}
	return mean, least, most
}

func (s *sweep) add(t *testing.T, x float64, net network, variant string, l, d int, table *strings.Builder) {
	mean, least, most := rounds(t, net, variant, l, d)
	s.X, s.Y = append(s.X, x), append(s.Y, max(mean, 1))
	s.Low, s.High = append(s.Low, max(least, 1)), append(s.High, max(most, 1))
	t.Logf("%s %s l=%d: %.0f", net.name, variant, l, mean)
	fmt.Fprintf(table, "%-28s %-9s l=%-4d d=%-3d eccentricity %3d: %.0f rounds (%.0f to %.0f)\n", net.name, variant, l, d, eccentricity(net), mean, least, most)
}

type sweep struct{ chart.Series }

func eccentricity(net network) int {
	far := 0
	for _, d := range net.graph.Distances(net.graph.Root) {
		far = max(far, int(d))
	}
	return far
}

// TestFullLarge: rounds to heal from arbitrary starts, up to 10,000 processes.
func TestFullLarge(t *testing.T) {
	long(t)
	var table strings.Builder
	size := chart.Chart{Title: "Wave: rounds until legitimate from an arbitrary start", Subtitle: "ℓ = 4, synchronous daemon, three seeds",
		XLabel: "processes", YLabel: "rounds", LogX: true, LogY: true}
	for _, shape := range []struct {
		name, form, variant string
		isTight             bool // D is twice the eccentricity of the root rather than n-1
	}{
		{"grid", "grid:%[2]dx%[2]d", "corrected", false},
		{"grid, D = 2 × eccentricity", "grid:%[2]dx%[2]d", "corrected", true},
		{"random, degree 4", "random:%[1]d", "corrected", false},
		{"scale-free", "scalefree:%[1]d", "corrected", false},
		{"grid, repaired", "grid:%[2]dx%[2]d", "repaired", false},
	} {
		s := sweep{chart.Series{Name: shape.name}}
		for _, side := range []int{5, 10, 18, 32, 56, 100} {
			if shape.variant == "repaired" && side > 18 {
				continue // it needs a token, and so a share of a wave, for every process to join
			}
			net := named(t, strings.Split(fmt.Sprintf(shape.form+"%%%[1]d%[2]d", side*side, side), "%")[0])[0]
			d := 0
			if shape.isTight {
				d = 2 * eccentricity(net)
			}
			s.add(t, float64(side*side), net, shape.variant, 4, d, &table)
		}
		size.Series = append(size.Series, s.Series)
	}
	draw(t, "wave-rounds-size.svg", size)
	tokens := chart.Chart{Title: "Wave: rounds until legitimate against the number of tokens", Subtitle: "1,024 processes, synchronous daemon, three seeds",
		XLabel: "ℓ", YLabel: "rounds", LogX: true, LogY: true}
	for _, net := range named(t, "grid:32x32", "random:1024", "scalefree:1024") {
		s := sweep{chart.Series{Name: net.name}}
		for _, l := range []int{1, 4, 16, 64, 256, 1024} {
			s.add(t, float64(l), net, "corrected", l, 0, &table)
		}
		tokens.Series = append(tokens.Series, s.Series)
	}
	draw(t, "wave-rounds-tokens.svg", tokens)
	compare(t, "large_full", table.String())
}
