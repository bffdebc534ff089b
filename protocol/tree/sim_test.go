// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"allot/chart"
	"allot/internal/golden"
	"allot/model"
	"allot/sim"
	"allot/topology"
)

// garbage is how many arbitrary messages a link may hold at the start of a simulated run.
const garbage = 3

// arbitraryStart draws a start. Unlike the simulator's own draw, which makes nearly all messages controllers because
// those have the most values, every kind of message is as likely.
func arbitraryStart(inst *model.Instance, messages uint64, chance *rand.Rand) []uint64 {
	sys := inst.System
	n, links := sys.Graph().Len(), sys.Graph().Links()
	ranks := make([]uint64, sys.Words())
	for p := range n {
		size, _ := sys.Domain(p)
		ranks[p] = chance.Uint64()
		if size < model.Uncountable {
			ranks[p] %= size
		}
	}
	for link := range links {
		content := make([]uint64, chance.IntN(garbage+1))
		for i := range content {
			if content[i] = chance.Uint64N(4); content[i] == 3 {
				content[i] += chance.Uint64N(messages - 3)
			}
		}
		ranks[sys.Words()-links+link] = contentRank(content, messages)
	}
	return ranks
}

// convergence is what a run from an arbitrary start showed.
type convergence struct {
	n       int
	rounds  int64 // until stable
	unsafe  int64 // configurations with more than ℓ units in use
	longest int64 // the longest stretch of them
	excess  int64 // units in use above ℓ, at the worst
}

func converge(t testing.TB, seed uint64) convergence {
	t.Helper()
	chance := rand.New(rand.NewPCG(seed, 8))
	n := 2 + chance.IntN(49)
	l := 1 + chance.IntN(6)
	k := 1 + chance.IntN(l)
	g, err := topology.Parse(fmt.Sprintf("tree:%d,seed=%d", n, 1+seed%1000))
	if err != nil {
		t.Fatal(err)
	}
	o := model.Options{Graph: g, Links: model.Links{Garbage: garbage}, Values: values("l", l, "k", k, "resends", seed%2)}
	inst, err := Algorithm.Make(o)
	if err != nil {
		t.Fatal(err)
	}
	start := arbitraryStart(inst, messageCount(2*(n-1)*(garbage+1)+1, l), chance)
	report, err := sim.Run(context.Background(), inst, sim.Options{Ranks: start, Seed: seed, Steps: 3_000_000, StopWhenStable: true})
	if err != nil {
		t.Fatal(err)
	}
	if report.Stopped != sim.StoppedStable {
		t.Errorf("seed %d: n=%d l=%d k=%d ended %q after %d steps", seed, n, l, k, report.Stopped, report.Steps)
	}
	safety := report.Property("safety")
	return convergence{n, report.Stabilized.Round, safety.Violations, safety.Longest, max(0, safety.Worst["used"]-int64(l))}
}

// runs is how many runs a test makes: few unless asked for more.
func runs(few int) int {
	if more, err := strconv.Atoi(os.Getenv("ALLOT_RUNS")); err == nil {
		return more
	}
	return few
}

// TestConvergence: from arbitrary memory and arbitrary messages, on random trees of 2 to 50 processes. ALLOT_RUNS makes it
// longer.
func TestConvergence(t *testing.T) {
	count := runs(40)
	var all []convergence
	for seed := range count {
		all = append(all, converge(t, uint64(seed)+1))
	}
	report(t, all)
	if !golden.IsRewriting() {
		return
	}
	var perHop []float64
	for _, c := range all {
		perHop = append(perHop, float64(c.rounds)/float64(2*c.n-2))
	}
	cut := slices.Sorted(slices.Values(perHop))[len(perHop)*995/1000]
	perHop = slices.DeleteFunc(perHop, func(x float64) bool { return x > cut })
	series, err := chart.Histogram("", perHop, 40)
	if err != nil {
		t.Fatal(err)
	}
	picture(t, "tree-stabilization", chart.Chart{Title: "Rounds until stable, from arbitrary memory and messages",
		Subtitle: fmt.Sprintf("%d runs on random trees of 2 to 50 processes, ℓ 1 to 6; the slowest 0.5%% are not shown", count),
		XLabel:   "rounds, as a multiple of the length of the virtual ring 2(n-1)", YLabel: "runs", Series: []chart.Series{series}})
}

func report(t *testing.T, all []convergence) {
	column := func(of func(convergence) int64) []int64 {
		var v []int64
		for _, c := range all {
			v = append(v, of(c))
		}
		slices.Sort(v)
		return v
	}
	for _, line := range []struct {
		name string
		of   func(convergence) int64
	}{
		{"rounds until stable", func(c convergence) int64 { return c.rounds }},
		{"rounds until stable, in circulations of the virtual ring, times 100", func(c convergence) int64 { return c.rounds * 100 / int64(2*c.n-2) }},
		{"unsafe configurations", func(c convergence) int64 { return c.unsafe }},
		{"longest unsafe stretch", func(c convergence) int64 { return c.longest }},
		{"units in use above ℓ", func(c convergence) int64 { return c.excess }},
	} {
		v := column(line.of)
		at := func(part float64) int64 { return v[int(part*float64(len(v)-1))] }
		t.Logf("%d runs, %s: p50 %d, p90 %d, p99 %d, max %d", len(v), line.name, at(0.5), at(0.9), at(0.99), at(1))
	}
}

func picture(t *testing.T, name string, c chart.Chart) {
	t.Helper()
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("../../docs/pictures/"+name+".svg", svg, 0o644); err != nil {
		t.Fatal(err)
	}
}

func simulate(t testing.TB, network string, v map[string]string, o sim.Options, script string) *sim.Report {
	t.Helper()
	inst := question{network: network, values: v}.make(t)
	if script != "" {
		s, err := sim.ParseScript([]byte(script), inst.System.Graph())
		if err != nil {
			t.Fatal(err)
		}
		o.Script = s
	}
	r, err := sim.Run(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWaitingSampled: under random schedules and full load the waiting time stays below ℓ(2n-3)², and where requests are
// for one unit below ℓ(2n-3).
func TestWaitingSampled(t *testing.T) {
	sizes := []int{2, 3, 4, 6, 8, 12, 16, 24, 32}
	shape := map[string]*chart.Series{}
	bound := chart.Series{Name: "Theorem 2: ℓ(2n-3)²", Dashed: true}
	linear := chart.Series{Name: "ℓ(2n-3)", Dashed: true}
	const l = 4
	for _, n := range sizes {
		x := float64(n)
		bound.X, bound.Y = append(bound.X, x), append(bound.Y, l*(2*x-3)*(2*x-3))
		linear.X, linear.Y = append(linear.X, x), append(linear.Y, l*(2*x-3))
		for _, k := range []int{1, 4} {
			r := simulate(t, fmt.Sprintf("path:%d", n), values("l", l, "k", k), sim.Options{Seed: 1, Steps: int64(runs(40)) * 500}, "")
			name := fmt.Sprintf("measured, k=%d", k)
			if shape[name] == nil {
				shape[name] = &chart.Series{Name: name}
			}
			s := shape[name]
			s.X, s.Y = append(s.X, x), append(s.Y, float64(r.Waiting.Entries.Max))
			t.Logf("path:%d l=%d k=%d: longest wait %d entries of others, %d entries, %.1f messages for each", n, l, k,
				r.Waiting.Entries.Max, r.Waiting.Entered, float64(r.Messages)/float64(r.Waiting.Entered))
			if k == 1 && r.Waiting.Entries.Max > int64(l*(2*n-3)) {
				t.Errorf("path:%d l=%d k=%d: %d entries of others, above ℓ(2n-3)", n, l, k, r.Waiting.Entries.Max)
			}
			if n > 2 && r.Waiting.Entries.Max > int64(l*(2*n-3)*(2*n-3)) {
				t.Errorf("path:%d l=%d k=%d: %d entries of others, above Theorem 2", n, l, k, r.Waiting.Entries.Max)
			}
		}
	}
	if golden.IsRewriting() {
		picture(t, "tree-waiting", chart.Chart{Title: "Waiting time: entries of others while a process waits, at the worst",
			Subtitle: "paths, ℓ = 4, everybody asks again at once, random schedule", XLabel: "processes", YLabel: "entries", LogY: true, LogX: true,
			Series: []chart.Series{*shape["measured, k=1"], *shape["measured, k=4"], bound, linear}})
	}
}

// TestCrash: a process crashes, somewhat later comes back with empty memory, and what it held is made again. Until it is
// back nothing moves through it, so in the end nothing moves at all: this is not what the protocol is for.
func TestCrash(t *testing.T) {
	v := values("l", 5, "k", 3, "ticks", 400)
	lost, worst, unsafe := 0, int64(0), int64(0)
	var entered, without int64
	for victim := range 20 {
		back := simulate(t, "tree:20,seed=3", v, sim.Options{Seed: 5, Steps: 60_000},
			fmt.Sprintf("at 20000 crash %d\nat 30000 restart %d\n", victim, victim))
		if victim > 0 && back.Property("safety").Violations > 0 {
			t.Errorf("victim %d: %d unsafe configurations", victim, back.Property("safety").Violations)
		}
		if len(back.Unfired()) > 0 || back.Stabilized.Step < 0 {
			t.Errorf("victim %d: not stable again: %+v", victim, back)
		}
		if back.Outside > 0 {
			lost++
		}
		worst = max(worst, back.Outside)
		unsafe += back.Property("safety").Violations
		entered += back.Waiting.Entered
		gone := simulate(t, "tree:20,seed=3", v, sim.Options{Seed: 5, Steps: 60_000}, fmt.Sprintf("at 20000 crash %d\n", victim))
		without += gone.Waiting.Entered
	}
	t.Logf("20 victims: %d restarts lost tokens, repaired after %d steps at the worst; %d unsafe configurations; %d entries, %d where the victim stays away",
		lost, worst, unsafe, entered, without)
	if lost == 0 {
		t.Error("no restart cost a token, so nothing was repaired")
	}
	if without >= entered {
		t.Error("the tree goes on as well without the process as with it; the tokens should pile up in front of it")
	}
}

// TestHundredThousand simulates a large tree for a while.
func TestHundredThousand(t *testing.T) {
	needsFull(t)
	r := simulate(t, "tree:100000,seed=1", values("l", 1000, "k", 5), sim.Options{Seed: 1, Steps: 10_000_000}, "")
	t.Logf("%d steps, %d rounds, %d entries, %d processes served, verdict %s", r.Steps, r.Rounds, r.Waiting.Entered, r.Waiting.Served, r.Verdict)
	if r.Verdict == sim.Violated || r.Waiting.Entered == 0 {
		t.Errorf("%s, %d entries", r.Verdict, r.Waiting.Entered)
	}
}
