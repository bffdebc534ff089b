// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"allot/sim"
)

// The times of the runs that begin with arbitrary memory, and the bound by which all is well again: the leases that a fault made up
// run out, the root gives up as many controllers as it takes to ask for a new generation, and in that one waits for the
// leases again; then a controller goes round.
const (
	healLease    = 40
	healMargin   = 4
	healReign    = 20
	healPatience = 10
	healBound    = 2*(healLease+healMargin) + healReign + 4*(healLease/2+2) + 100
)

// runHeals makes runs from arbitrary memory of all members, with forged messages on all links.
func runHeals(t *testing.T, from, to uint64, variant string) (broken int) {
	for seed := from; seed < to; seed++ {
		r := rand.New(rand.NewPCG(seed, 9))
		members, units := 2+r.IntN(3), 1+r.IntN(3)
		forever := []int{0, 0, 1<<members - 1}[r.IntN(3)] // those who never release show best what a fault has left
		inst := makePool(t, fmt.Sprintf("complete:%d", members+1), []string{"fifo,capacity=64", "unordered,capacity=64"}[r.IntN(2)], variant, map[string]string{
			"l": fmt.Sprint(units), "k": fmt.Sprint(1 + r.IntN(units)), "limit": fmt.Sprint(1 + r.IntN(2)), "skew": "2", "lease": fmt.Sprint(healLease),
			"margin": fmt.Sprint(healMargin), "reign": fmt.Sprint(healReign), "patience": fmt.Sprint(healPatience), "pace": "10",
			"generations": "1000", "forever": fmt.Sprint(forever), "heals": fmt.Sprint(healBound)})
		var text strings.Builder
		for range r.IntN(30) {
			a := r.IntN(members)
			fmt.Fprintf(&text, "at 0 forge %d->%d\n", a, (a+1+r.IntN(members-1))%members)
		}
		script, err := sim.ParseScript([]byte(text.String()), inst.System.Graph())
		if err != nil {
			t.Fatal(err)
		}
		report, err := sim.Run(context.Background(), inst, sim.Options{Start: sim.Arbitrary, Seed: seed, Steps: 4000, Script: script, StopWhenViolated: true})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if report.Verdict == sim.Violated {
			if broken++; variant == "corrected" {
				t.Fatalf("seed %d: %+v", seed, report.Properties)
			}
		}
	}
	return broken
}

// TestHeals: from arbitrary memory and messages, every unit is in one place again within the bound, and stays so.
func TestHeals(t *testing.T) { runHeals(t, 0, 200, "corrected") }

// TestHealsNeedsTheCensus: a member that keeps what another one has presented does not heal.
func TestHealsNeedsTheCensus(t *testing.T) {
	if runHeals(t, 0, 50, "twice-kept") == 0 {
		t.Error("all runs heal")
	}
}

// TestFullHeals is the same with many seeds, or with those in ALLOT_SEEDS.
func TestFullHeals(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("20,000 runs take long; set ALLOT_FULL=1")
	}
	from, to := seedsOf(t, 20_000)
	runHeals(t, from, to, "corrected")
	t.Logf("seeds %d to %d heal", from, to-1)
}
