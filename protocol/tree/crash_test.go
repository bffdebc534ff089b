// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"allot/model"
	"allot/sim"
)

// damage is what a crash did.
type damage struct {
	tokens, prios, pushers int64 // missing at the worst, after the crash
	extra                  int64 // resource tokens too many, at the worst
	steps                  int64 // from the return until all is in order
	circulations           int64 // that the controller ended in this time
	unsafe                 int64 // configurations with more than ℓ units in use
}

// crash lets a process crash and come back with its memory lost, and looks at every configuration after that.
func crash(t testing.TB, network string, victim int, l, k int, seed uint64, at, back int64) damage {
	t.Helper()
	inst := question{network: network, values: values("l", l, "k", k, "ticks", 400)}.make(t)
	var d damage
	wasDown, isBack, counter := false, false, int32(none)
	legitimate := inst.Properties[len(inst.Properties)-1]
	inst.Properties = append(inst.Properties, model.Property{Name: "damage", Claim: model.Sometimes, Holds: func(v *model.View) bool {
		isDown := v.Network().IsCrashed(v.C, victim)
		isBack = isBack || wasDown && !isDown
		if wasDown = isDown; !isBack {
			return false
		}
		d.tokens = max(d.tokens, int64(l)-v.Sum(gaugeTokens))
		d.extra = max(d.extra, v.Sum(gaugeTokens)-int64(l))
		d.prios = max(d.prios, 1-v.Sum(gaugePriorities))
		d.pushers = max(d.pushers, 1-v.Sum(gaugePushers))
		if now := stateOf(v, 0).counter; now != counter && counter != none && !legitimate.Holds(v) {
			d.circulations++
		}
		counter = stateOf(v, 0).counter
		return false
	}})
	script, err := sim.ParseScript([]byte(fmt.Sprintf("at %d crash %d\nat %d restart %d\n", at, victim, back, victim)), inst.System.Graph())
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(context.Background(), inst, sim.Options{Seed: seed, Steps: back + 40_000, Script: script})
	if err != nil {
		t.Fatal(err)
	}
	if r.Stabilized.Step < 0 || len(r.Unfired()) > 0 {
		t.Errorf("%s victim %d seed %d: %s, and not in order", network, victim, seed, r.Stopped)
	}
	d.steps, d.unsafe = max(0, r.Stabilized.Step-back), r.Property("safety").Violations
	return d
}

// TestCrashes: what is lost when a process forgets what it holds, and how long the controller takes to make up for it.
func TestCrashes(t *testing.T) {
	const network, l, k = "tree:20,seed=3", 5, 3
	seeds := uint64(runs(3))
	for _, who := range []struct {
		name    string
		victims []int
	}{
		{"root", []int{0}},
		{"others", []int{1, 2, 5, 9, 14, 19}},
	} {
		var all []damage
		for _, victim := range who.victims {
			for seed := range seeds {
				at := int64(5_000 + 137*seed)
				all = append(all, crash(t, network, victim, l, k, seed+1, at, at+1_000))
			}
		}
		column := func(of func(damage) int64) string {
			var v []int64
			for _, d := range all {
				v = append(v, of(d))
			}
			slices.Sort(v)
			n := len(v)
			return fmt.Sprintf("p50 %d, p90 %d, max %d", v[n/2], v[n*9/10], v[n-1])
		}
		harmed, lost, unsafe := 0, 0, 0
		for _, d := range all {
			if d.steps > 0 {
				harmed++
			}
			if d.tokens > 0 || d.prios > 0 || d.pushers > 0 {
				lost++
			}
			if d.unsafe > 0 {
				unsafe++
			}
			if d.unsafe > 0 && who.name != "root" {
				t.Errorf("%s: %d unsafe configurations", who.name, d.unsafe)
			}
		}
		t.Logf("%s: %d crashes, %d lost tokens, %d were out of order for a while, %d unsafe for a while", who.name, len(all), lost, harmed, unsafe)
		t.Logf("  resource tokens lost: %s; too many: %s", column(func(d damage) int64 { return d.tokens }), column(func(d damage) int64 { return d.extra }))
		t.Logf("  priority tokens lost: %s", column(func(d damage) int64 { return d.prios }))
		t.Logf("  steps from the return until in order: %s", column(func(d damage) int64 { return d.steps }))
		t.Logf("  circulations that ended until then: %s", column(func(d damage) int64 { return d.circulations }))
		t.Logf("  unsafe configurations: %s", column(func(d damage) int64 { return d.unsafe }))
		if lost == 0 {
			t.Errorf("%s: no crash cost a token, so nothing was repaired", who.name)
		}
	}
}

// TestNeverBack: a process that stays away stops the tree, because the tokens pile up in front of it. Where a spanning
// tree is built under the protocol it is given up, and the others go on.
func TestNeverBack(t *testing.T) {
	const n = 12
	second := func(entered func(steps int64) int64) int64 { return entered(200_000) - entered(100_000) }
	for _, victim := range []int{1, 5, n - 1} {
		script := fmt.Sprintf("at 20000 crash %d\n", victim)
		tree := second(func(steps int64) int64 {
			return simulate(t, fmt.Sprintf("tree:%d,seed=3", n), values("l", 3, "k", 2, "ticks", 400), sim.Options{Seed: 5, Steps: steps}, script).Waiting.Entered
		})
		net := second(func(steps int64) int64 {
			x := netQuestion{network: fmt.Sprintf("random:%d,seed=3", n), values: values("l", 3, "k", 2, "ticks", 100)}
			return wander(t, x, script, sim.Options{Seed: 5, Steps: steps}).Waiting.Entered
		})
		t.Logf("process %d crashes at step 20,000 and stays away: entries from step 100,000 to 200,000: tree %d, network %d", victim, tree, net)
		if tree > 0 || net == 0 {
			t.Errorf("victim %d: %d entries on the tree, want none, and %d on the network, want some", victim, tree, net)
		}
	}
}
