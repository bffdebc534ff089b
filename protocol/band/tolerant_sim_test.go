// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"allot/model"
	"allot/protocol/band"
	"allot/sim"
	"allot/topology"
)

// faultRun is one simulated run of the variant tolerant with everything that can go wrong.
type faultRun struct {
	n, l, k              int
	members, nextMembers int
	coterie, next        string
	script               string
	options              model.Options
}

// trouble lasts until this step; then everything is healed and nobody crashes, and the links go on losing half of their messages.
const trouble = 1_500

// A run is first given some time to come to an end of all wishes, and if that was not enough, more.
var patience = []int64{12_000, 40_000, 400_000}

// newFaultRun draws a run by its seed: processes crash in any state and come back with or without their memory, the network falls in two
// parts and heals, clocks run at different rates, members and quorums change, wishes are withdrawn, and links lose, repeat and reorder.
func newFaultRun(t testing.TB, seed uint64, variant string) faultRun {
	t.Helper()
	chance := rand.New(rand.NewPCG(seed, 7))
	r := faultRun{n: 3 + chance.IntN(4)}
	r.members, r.nextMembers = r.n-chance.IntN(2), r.n-chance.IntN(2)
	least := min(r.members, r.nextMembers)
	r.l = chance.IntN(least - 1)
	r.k = r.l + 1 + chance.IntN(least-r.l)
	forms := []string{"majority", "tree", "wall", "grid"}
	r.coterie, r.next = forms[chance.IntN(4)], forms[chance.IntN(4)]
	var script strings.Builder
	for p := range r.n + 1 {
		fmt.Fprintf(&script, "at 0 rate %d 0.%d\n", p, 90+chance.IntN(10))
	}
	for range 2 { // it falls in two parts, and heals
		from := chance.IntN(trouble / 2)
		to := from + 100 + chance.IntN(trouble/2-100)
		side := 1 + chance.IntN(1<<r.n-2)
		for a := range r.n {
			for b := a + 1; b < r.n; b++ {
				if side>>a&1 != side>>b&1 {
					fmt.Fprintf(&script, "at %d cut %d-%d\nat %d heal %d-%d\n", from, a, b, to, a, b)
				}
			}
		}
	}
	for range 3 { // it stops, and goes on with its memory
		p, from := chance.IntN(r.n), chance.IntN(trouble/2)
		fmt.Fprintf(&script, "at %d crash %d\nat %d resume %d\n", from, p, from+chance.IntN(trouble/2), p)
	}
	r.script = script.String()
	g, err := topology.Parse("complete:3")
	if err != nil {
		t.Fatal(err)
	}
	links, err := model.ParseLinks("unordered,lossy,duplicating,capacity=4")
	if err != nil {
		t.Fatal(err)
	}
	r.options = model.Options{Graph: g, Variant: variant, Links: links, Values: map[string]string{"object": "gcs", "n": fmt.Sprint(r.n),
		"l": fmt.Sprint(r.l), "k": fmt.Sprint(r.k), "members": fmt.Sprint(r.members), "next-members": fmt.Sprint(r.nextMembers),
		"coterie": r.coterie, "next": r.next,
		"times": "5", "crashes": "2", "crashers": fmt.Sprint(r.n), "clocks": "1", "expiry": "30", "step-in": "1",
		"changes": fmt.Sprint(chance.IntN(3)), "withdraw": fmt.Sprint(chance.IntN(3))}}
	return r
}

// dropMissing leaves out what the script says of edges and processes that are not there: the graph has only what some quorum needs.
func dropMissing(script string, g *model.Graph) string {
	var kept []string
	for line := range strings.SplitSeq(strings.TrimSpace(script), "\n") {
		var at, a, b int
		var verb string
		if n, _ := fmt.Sscanf(line, "at %d %s %d-%d", &at, &verb, &a, &b); n == 4 {
			isThere := false
			for _, q := range g.Neighbours(a) {
				isThere = isThere || int(q) == b
			}
			if !isThere {
				continue
			}
		}
		var p int
		if n, _ := fmt.Sscanf(line, "at %d rate %d", &at, &p); n == 2 && p >= g.Len() {
			continue
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "\n")
}

type tally struct {
	runs, slow, steps, messages, restarts, stopped, cuts, changes, served int64
}

// tolerantRun makes one run and judges it: the bounds in every configuration, and at the end nobody waits but for a bound.
func tolerantRun(t testing.TB, seed uint64, variant string, isInterned bool, sum *tally) error {
	t.Helper()
	r := newFaultRun(t, seed, variant)
	inst, err := band.Algorithm.Make(r.options)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	graph := inst.System.Graph()
	script, err := sim.ParseScript([]byte(dropMissing(r.script, graph)), graph)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	where := fmt.Sprintf("seed %d, n %d, members %d then %d, l %d, k %d, %s then %s, changes %s", seed, r.n, r.members, r.nextMembers, r.l, r.k, r.coterie, r.next, r.options.Values["changes"])
	var report *sim.Report
	waits := ""
	for _, steps := range patience {
		report, err = sim.Run(context.Background(), inst, sim.Options{Seed: seed, Steps: steps, Script: script, TickEvery: 100, Interned: isInterned})
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		if report.Verdict != sim.Held {
			return fmt.Errorf("%s: %s, %s: %+v", where, report.Verdict, report.Stopped, report.Properties)
		}
		if waits = whoWaits(report, r.l, r.k); waits == "" {
			break
		}
		sum.slow++
	}
	if waits != "" {
		return fmt.Errorf("%s: %s", where, waits)
	}
	for _, g := range report.Gauges {
		switch g.Name {
		case "restarts":
			sum.restarts += g.Last
		case "changes":
			sum.changes += g.Last
		}
	}
	sum.runs++
	sum.steps += report.Steps
	sum.messages += report.Messages
	sum.stopped += report.Faults["crash"]
	sum.cuts += report.Faults["cut"]
	sum.served += report.Waiting.Entered
	return nil
}

// whoWaits says what is wrong at the end of a run: a wish that the bounds allow, or a floor that is not met.
func whoWaits(report *sim.Report, l, k int) string {
	last := map[string]int64{}
	for _, g := range report.Gauges {
		last[g.Name] = g.Last
	}
	switch inside := int(last["inside"]); {
	case last["entering"] > 0 && inside < k || last["leaving"] > 0 && inside > l:
		return fmt.Sprintf("somebody waits for ever: %v", last)
	case inside < l:
		return fmt.Sprintf("the floor is not met again: %v", last)
	}
	return ""
}

// TestTolerantRuns is a part of TestManyTolerantRuns, and looks at single steps too.
func TestTolerantRuns(t *testing.T) {
	var sum tally
	for seed := range uint64(60) {
		if err := tolerantRun(t, seed, "tolerant", seed%4 == 0, &sum); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%+v", sum)
}

// TestManyTolerantRuns is the fault runs: ALLOT_FROM and ALLOT_TO choose a part of the hundred thousand seeds.
func TestManyTolerantRuns(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("a hundred thousand runs take long; set ALLOT_FULL=1")
	}
	from, to := uint64(0), uint64(100_000)
	for name, v := range map[string]*uint64{"ALLOT_FROM": &from, "ALLOT_TO": &to} {
		if text := os.Getenv(name); text != "" {
			if _, err := fmt.Sscan(text, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	var sum tally
	for seed := from; seed < to; seed++ {
		if err := tolerantRun(t, seed, "tolerant", seed%50 == 0, &sum); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%+v", sum)
}

// deadForGood stops process 2 at some moment for ever; it is in nobody else's quorum, so the others must go on, even if it has the lock.
func deadForGood(t testing.TB, seed uint64, variant string) error {
	t.Helper()
	q := question{object: "kmutex", n: 3, k: 2, coterie: "own:0/0/0+2", times: 4, variant: variant, more: "--clocks 1 --step-in 1"}
	inst := q.make(t)
	script, err := sim.ParseScript(fmt.Appendf(nil, "at %d crash 2\n", seed%60), inst.System.Graph())
	if err != nil {
		t.Fatal(err)
	}
	report, err := sim.Run(context.Background(), inst, sim.Options{Seed: seed, Steps: 40_000, Script: script, TickEvery: 20})
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]int64{}
	for _, g := range report.Gauges {
		last[g.Name] = g.Last
	}
	// One of those who wish to enter may be process 2.
	if report.Verdict != sim.Held || last["entering"] > 1 && last["inside"] < 2 {
		return fmt.Errorf("seed %d: %s: %v", seed, report.Verdict, last)
	}
	return nil
}

func TestDeadForGood(t *testing.T) {
	for seed := range uint64(60) {
		if err := deadForGood(t, seed, "tolerant"); err != nil {
			t.Error(err)
		}
	}
}
