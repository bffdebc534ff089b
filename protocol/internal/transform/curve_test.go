// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"allot/chart"
	"allot/internal/golden"
	"allot/model"
	"allot/protocol/ring"
	"allot/protocol/wave"
	"allot/sim"
)

// measured is what some runs of a story took on average, from an arbitrary start until all was well.
type measured struct{ rounds, messages float64 }

func (s story) measure(t *testing.T) measured {
	t.Helper()
	const runs = 10
	var m measured
	for seed := range uint64(runs) {
		inst := s.instance(t, "")
		inst.Properties = inst.Properties[:1]
		r, err := sim.Run(context.Background(), inst, sim.Options{Start: sim.Arbitrary, Seed: seed, StopWhenStable: true, Steps: 1 << 24})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != sim.Held {
			t.Fatalf("%s %s, seed %d: %s", s.algorithm.Name, s.topology, seed, r.Verdict)
		}
		m.rounds += float64(r.Stabilized.Round) / runs
		m.messages += float64(r.Messages) / runs
	}
	return m
}

// TestFullCurves: rounds from an arbitrary start until all is well, over links and with the neighbours in sight.
func TestFullCurves(t *testing.T) {
	long(t)
	var text strings.Builder
	picture := chart.Chart{Title: "Guarded actions over links: rounds until legitimate from an arbitrary start", Subtitle: "ten seeds each; links lose half of all messages and hold two; wave on square grids, ℓ = 2",
		XLabel: "processes", YLabel: "rounds", LogX: true, LogY: true}
	const links = "fifo,lossy,capacity=2,garbage=2"
	for _, kind := range []struct {
		name, form   string
		direct, over *model.Algorithm
		sizes        []int
	}{
		{"ring", "ring:%d", &ring.Algorithm, &ring.OverLinks, []int{4, 9, 16, 25, 36, 49}},
		{"wave", "grid:%[1]dx%[1]d", &wave.Algorithm, &wave.OverLinks, []int{2, 3, 4, 5, 6, 7}},
	} {
		over := chart.Series{Name: kind.name + " over links", Points: true}
		direct := chart.Series{Name: kind.name + ", neighbours in sight", Points: true}
		for _, size := range kind.sizes {
			topology := fmt.Sprintf(kind.form, size)
			n := float64(size)
			if kind.name == "wave" {
				n *= n
			}
			a := story{kind.direct, topology, "", nil}.measure(t)
			b := story{kind.over, topology, links, nil}.measure(t)
			fmt.Fprintf(&text, "%-5s %-9s neighbours in sight %6.1f rounds; over links %6.1f rounds, %8.0f messages\n", kind.name, topology, a.rounds, b.rounds, b.messages)
			direct.X, direct.Y = append(direct.X, n), append(direct.Y, max(a.rounds, 1))
			over.X, over.Y = append(over.X, n), append(over.Y, max(b.rounds, 1))
		}
		picture.Series = append(picture.Series, direct, over)
	}
	draw(t, "transform-rounds.svg", picture)
	golden.Compare(t, "testdata/curves_full.txt", text.String())
}

// draw writes a picture for the documentation, when golden files are written anew.
func draw(t *testing.T, name string, c chart.Chart) {
	t.Helper()
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if golden.IsRewriting() {
		if err := os.WriteFile(filepath.Join("..", "..", "..", "docs", "pictures", name), svg, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
