// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"allot/chart"
	"allot/internal/golden"
)

// TestPhilosophers is the first worked example of docs/protocols/claim.md: n philosophers sit round a table, and each
// claims the fork on its left and the one on its right.
func TestPhilosophers(t *testing.T) {
	var table strings.Builder
	var series []chart.Series
	for _, p := range []string{greedy, lendingName, stampsName, orderedName, tokenName, paperName} {
		s := chart.Series{Name: p, Dashed: p == greedy}
		for _, n := range []int{3, 5, 8, 12, 16, 24} {
			l := load{clients: n, resources: n, size: 2, section: 10, seed: 2, grants: 200 * n}
			l.pick = func(client int, _ *rand.Rand) set { return set(0).with(client).with((client + 1) % n) }
			m := measure(t, p, l)
			eating := m.inUse / 2
			s.X, s.Y = append(s.X, float64(n)), append(s.Y, eating/float64(n))
			fmt.Fprintf(&table, "%2d philosophers, %-15s %5.2f eat at once; waits: half %3.0f, longest %4.0f; fewest meals %d\n", n, p, eating, m.p50, m.longest, m.fewest)
			if m.fewest == 0 && p != greedy { // who gives whatever fits feeds every other one for ever
				t.Errorf("%s, %d philosophers: one starves", p, n)
			}
		}
		series = append(series, s)
	}
	golden.Compare(t, filepath.Join("testdata", "philosophers.txt"), table.String())
	draw(t, "claim-philosophers", chart.Chart{Title: "Dining philosophers: share of the table that eats",
		Subtitle: "always hungry, meals of 10 message delays; half is the most that can be", XLabel: "philosophers", YLabel: "share that eats", Series: series})
}

// TestMigration is the second worked example: one client migrates a database and claims all its 8 shards, while others
// work on one shard each. It must not be passed over, whatever they do.
func TestMigration(t *testing.T) {
	var table strings.Builder
	var series []chart.Series
	for _, p := range []string{greedy, firstCome, lendingName, stampsName, orderedName, tokenName} {
		s := chart.Series{Name: p, Dashed: p == greedy || p == firstCome}
		for _, n := range []int{4, 8, 16, 32, 64} {
			l := load{clients: n + 1, resources: 8, size: 8, section: 10, seed: 4, grants: 100 * n}
			l.pick = func(client int, chance *rand.Rand) set {
				if client == 0 {
					return 1<<8 - 1
				}
				return set(0).with(chance.IntN(8))
			}
			m := measure(t, p, l)
			fmt.Fprintf(&table, "%2d workers, %-17s the migration waits for %5.0f at the most, workers for %4.0f (99%%); %4.2f shards in use; fewest grants of a client %d\n",
				n, p, m.longestOf[0], m.p99, m.inUse, m.fewest)
			s.X, s.Y = append(s.X, float64(n)), append(s.Y, m.longestOf[0])
			if p == stampsName && m.longestOf[0] > float64(n+1)*(l.section+10) {
				t.Errorf("the migration waited for %.0f", m.longestOf[0])
			}
		}
		if p != greedy { // it may pass the migration over for the whole run, so that there is nothing to draw
			series = append(series, s)
		}
	}
	golden.Compare(t, filepath.Join("testdata", "migration.txt"), table.String())
	draw(t, "claim-migration", chart.Chart{Title: "A migration claims all 8 shards: its longest wait", Subtitle: "workers claim one shard each, sections of 10 message delays",
		XLabel: "workers", YLabel: "message delays", Series: series})
}
