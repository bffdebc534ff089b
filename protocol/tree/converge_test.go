// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
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

// The kinds of corruption. Half of the runs begin with everything arbitrary; the others begin clean, and something happens
// in the midst of the work.
var corruptions = []string{"everything", "memory", "forged", "lost", "doubled", "crash", "mixed"}

func corruptionOf(seed uint64) int {
	if seed%2 == 0 {
		return 0
	}
	return int(1 + seed/2%uint64(len(corruptions)-1))
}

// scriptOf writes what happens in a run that does not begin with everything arbitrary. Most links are empty most of the
// time, so a message is lost or repeated only in some of the attempts.
func scriptOf(kind int, g *model.Graph, chance *rand.Rand) string {
	var s strings.Builder
	n := g.Len()
	start := 20 + chance.IntN(30*n)
	attempt := func(verb string, times int) {
		for i := range times {
			from, to := g.Ends(chance.IntN(g.Links()))
			fmt.Fprintf(&s, "at %d %s %d->%d\n", start+i, verb, from, to)
		}
	}
	switch corruptions[kind] {
	case "memory":
		fmt.Fprintf(&s, "at %d corrupt random %d\n", start, 1+chance.IntN(n))
	case "forged":
		attempt("forge", 1+chance.IntN(n))
	case "lost":
		attempt("drop", g.Links())
	case "doubled":
		attempt("duplicate", g.Links())
	case "crash":
		for range 1 + chance.IntN(3) {
			p := chance.IntN(n)
			fmt.Fprintf(&s, "at %d crash %d\nat %d restart %d\n", start, p, start+1+chance.IntN(20*n), p)
		}
	case "mixed":
		fmt.Fprintf(&s, "at %d corrupt random %d\n", start, 1+chance.IntN(n))
		attempt("forge", 1+chance.IntN(n))
		attempt("drop", g.Links())
		attempt("duplicate", g.Links())
		p := chance.IntN(n)
		fmt.Fprintf(&s, "at %d crash %d\nat %d restart %d\n", start, p, start+1+chance.IntN(20*n), p)
	}
	return s.String()
}

// convergence is what a run showed.
type convergence struct {
	seed    uint64
	n, l, k int
	rounds  int64 // from the start, or from the last fault, until stable
	steps   int64 // likewise
	faults  int64 // that happened, the start aside
	unsafe  int64 // configurations with more than ℓ units in use
	times   int64 // how often that began
	longest int64 // the longest stretch of them
	excess  int64 // units in use above ℓ, at the worst
}

// sizeOf draws the size of a tree, 2 to 50. Small trees, where more coincides, are as likely as large ones on a logarithmic
// scale; after 100,000 runs they are much more likely, so that a million runs end in reasonable time.
func sizeOf(seed uint64, chance *rand.Rand) int {
	u := chance.Float64()
	if seed > 100_000 {
		u = math.Pow(u, 6)
	}
	return int(2 * math.Pow(25.49, u))
}

// converge makes one run.
func converge(t testing.TB, seed uint64) convergence {
	t.Helper()
	chance := rand.New(rand.NewPCG(seed, 8))
	kind := corruptionOf(seed)
	n := sizeOf(seed, chance)
	l := 1 + chance.IntN(6)
	k := 1 + chance.IntN(l)
	g, err := topology.Parse(fmt.Sprintf("tree:%d,seed=%d", n, 1+seed%1000))
	if err != nil {
		t.Fatal(err)
	}
	v := values("l", l, "k", k, "ticks", 2*n)
	if kind == 0 && seed/2%3 == 2 {
		v = values("l", l, "k", k, "resends", 8) // a timer that runs out whenever it likes, mostly too early
	}
	o := model.Options{Graph: g, Links: model.Links{Garbage: garbage}, Values: v}
	inst, err := Algorithm.Make(o)
	if err != nil {
		t.Fatal(err)
	}
	so := sim.Options{Seed: seed, Steps: 3_000_000, StopWhenStable: true}
	if kind == 0 || corruptions[kind] == "mixed" {
		so.Ranks = arbitraryStart(inst, messageCount(2*(n-1)*(garbage+1)+1, l), chance)
	}
	if kind > 0 {
		if so.Script, err = sim.ParseScript([]byte(scriptOf(kind, g, chance)), g); err != nil {
			t.Fatal(err)
		}
	}
	report, err := sim.Run(context.Background(), inst, so)
	if err != nil {
		t.Fatal(err)
	}
	if report.Stopped != sim.StoppedStable {
		t.Errorf("seed %d: n=%d l=%d k=%d %s ended %q after %d steps", seed, n, l, k, corruptions[kind], report.Stopped, report.Steps)
	}
	safety := report.Property("safety")
	c := convergence{seed: seed, n: n, l: l, k: k, unsafe: safety.Violations, times: safety.Stretches, longest: safety.Longest,
		excess: max(0, safety.Worst["used"]-int64(l))}
	if report.Outside > 0 || kind == 0 { // otherwise the last fault left it stable, as it had been before
		c.rounds, c.steps = report.Stabilized.Round-max(0, report.LastFaultRound), report.Stabilized.Step-max(0, report.LastFault)
	}
	for _, count := range report.Faults {
		c.faults += count
	}
	return c
}

const rowFormat = "%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d\n"

func (c *convergence) fields() []any {
	return []any{&c.seed, &c.n, &c.l, &c.k, &c.rounds, &c.steps, &c.faults, &c.unsafe, &c.times, &c.longest, &c.excess}
}

// runs is how many runs a test makes: few unless asked for more.
func runs(few int) int { return number("ALLOT_RUNS", few) }

// number reads an environment variable.
func number(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return usual
}

// TestConvergence: from arbitrary memory and arbitrary messages, and after every other kind of corruption, on random trees
// of 2 to 50 processes. ALLOT_RUNS makes it longer. ALLOT_RECORDS names a file in which the runs are kept, one on a line;
// what is there already is not run again, so that a long test can be made in parts. Seeds begin with ALLOT_FROM.
func TestConvergence(t *testing.T) {
	count, from, file := runs(84), number("ALLOT_FROM", 1), os.Getenv("ALLOT_RECORDS")
	all := readRuns(t, file, from)
	var rows strings.Builder
	for seed := from + len(all); seed < from+count; seed++ {
		c := converge(t, uint64(seed))
		all = append(all, c)
		fmt.Fprintf(&rows, rowFormat, c.seed, c.n, c.l, c.k, c.rounds, c.steps, c.faults, c.unsafe, c.times, c.longest, c.excess)
		if rows.Len() > 1<<16 || seed == from+count-1 {
			appendRuns(t, file, rows.String())
			rows.Reset()
		}
	}
	for kind, name := range corruptions {
		summarize(t, name, slices.DeleteFunc(slices.Clone(all), func(c convergence) bool { return corruptionOf(c.seed) != kind }))
	}
	if golden.IsRewriting() {
		drawConvergence(t, all)
	}
}

func readRuns(t *testing.T, file string, from int) []convergence {
	if file == "" {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var all []convergence
	for line := range strings.Lines(string(data)) {
		var c convergence
		if _, err := fmt.Sscanf(line, rowFormat, c.fields()...); err != nil || c.seed != uint64(from+len(all)) {
			t.Fatalf("%s: line %d does not belong here: %q", file, len(all)+1, line)
		}
		all = append(all, c)
	}
	return all
}

func appendRuns(t *testing.T, file, rows string) {
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(rows)
	if cerr := f.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
}

// summarize prints the distribution of what the runs with one kind of corruption showed.
func summarize(t *testing.T, name string, all []convergence) {
	if len(all) == 0 {
		return
	}
	unsafe := 0
	for _, c := range all {
		if c.unsafe > 0 {
			unsafe++
		}
	}
	t.Logf("%s: %d runs, %d of them unsafe for a while", name, len(all), unsafe)
	for _, line := range []struct {
		name string
		of   func(convergence) int64
	}{
		{"rounds until stable", func(c convergence) int64 { return c.rounds }},
		{"the same in circulations of the virtual ring, times 100", func(c convergence) int64 { return c.rounds * 100 / int64(2*c.n-2) }},
		{"steps until stable", func(c convergence) int64 { return c.steps }},
		{"faults", func(c convergence) int64 { return c.faults }},
		{"unsafe configurations", func(c convergence) int64 { return c.unsafe }},
		{"unsafe stretches", func(c convergence) int64 { return c.times }},
		{"longest unsafe stretch", func(c convergence) int64 { return c.longest }},
		{"units in use above ℓ", func(c convergence) int64 { return c.excess }},
	} {
		v := make([]int64, 0, len(all))
		for _, c := range all {
			v = append(v, line.of(c))
		}
		slices.Sort(v)
		at := func(part float64) int64 { return v[int(part*float64(len(v)-1))] }
		t.Logf("  %s: p50 %d, p90 %d, p99 %d, p99.99 %d, max %d", line.name, at(0.5), at(0.9), at(0.99), at(0.9999), at(1))
	}
}

func drawConvergence(t *testing.T, all []convergence) {
	var perHop []float64
	for _, c := range all {
		if corruptionOf(c.seed) == 0 {
			perHop = append(perHop, float64(c.rounds)/float64(2*c.n-2))
		}
	}
	count := len(perHop)
	cut := slices.Sorted(slices.Values(perHop))[count*995/1000]
	perHop = slices.DeleteFunc(perHop, func(x float64) bool { return x > cut })
	// The smallest trees have a ring of two hops, so that their times are multiples of a half, and so are the columns.
	series, err := chart.Histogram("", perHop, int(2*(slices.Max(perHop)-slices.Min(perHop))))
	if err != nil {
		t.Fatal(err)
	}
	picture(t, "tree-stabilization", chart.Chart{Title: "Rounds until stable, from arbitrary memory and messages",
		Subtitle: fmt.Sprintf("%d runs on random trees of 2 to 50 processes, ℓ 1 to 6; the slowest 0.5%% are not shown", count),
		XLabel:   "rounds, as a multiple of the length of the virtual ring 2(n-1)", YLabel: "runs", Series: []chart.Series{series}})
}
