// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"context"
	"testing"

	"allot/protocol/wave"
	"allot/sim"
)

// TestNetworkChanges: links are cut and healed, processes leave and join, over links that lose and repeat, and after each change the
// wave is legitimate again.
func TestNetworkChanges(t *testing.T) { changes(t, 3) }

// TestFullNetworkChanges: the same with more seeds.
func TestFullNetworkChanges(t *testing.T) {
	long(t)
	changes(t, 25)
}

func changes(t *testing.T, seeds uint64) {
	t.Helper()
	for _, test := range []struct{ topology, script string }{
		{"ring:4", "when stable cut 2-3\nwhen stable heal 2-3\nwhen stable cut 0-1\nwhen stable heal 0-1"},
		{"complete:4", "when stable leave 1\nwhen stable cut 0-3\nwhen stable join 1\nwhen stable heal 0-3\nwhen stable corrupt all"},
		{"grid:2x3", "when stable leave 4\nwhen stable join 4\nwhen stable cut 0-1\nwhen stable heal 0-1\nwhen stable leave 1\nwhen stable join 1"},
		{"grid:2x3", "at 400 cut 0-1\nat 600 heal 0-1\nat 630 cut 0-3\nat 900 leave 5\nat 1000 join 5\nat 1200 heal 0-3"},
	} {
		for _, links := range []string{"fifo,lossy,capacity=2,garbage=2", "fifo,lossy,duplicating,capacity=2,garbage=2", "unordered,lossy,capacity=2,garbage=2"} {
			for _, variant := range []string{"corrected", "keeping"} {
				for seed := range seeds {
					inst := story{&wave.OverLinks, test.topology, links, values{"wiring": "changing"}}.instance(t, variant)
					script, err := sim.ParseScript([]byte(test.script), inst.System.Graph())
					if err != nil {
						t.Fatal(err)
					}
					// The first run keeps states as values, so that single steps are judged too.
					r, err := sim.Run(context.Background(), inst, sim.Options{Start: sim.Arbitrary, Seed: seed, Script: script, StopWhenStable: true, Steps: 100_000, Interned: seed == 0})
					if err != nil {
						t.Fatal(err)
					}
					if r.Verdict != sim.Held || r.Stabilized.Step < 0 || len(r.Unfired()) > 0 {
						t.Errorf("%s, %s, %s, seed %d: %s, %s; nothing came of %v", variant, test.topology, links, seed, r.Verdict, r.Stopped, r.Unfired())
					}
				}
			}
		}
	}
}
