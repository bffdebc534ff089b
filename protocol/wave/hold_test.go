// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave_test

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"allot/chart"
	"allot/check"
	"allot/model"
)

// keeping asks everything of the variant that keeps tokens, for every set of fewer than ℓ processes that stay.
func keeping(t *testing.T, net network, l int, arbitrary bool, table *strings.Builder) {
	t.Helper()
	for stay := range uint(1) << net.graph.Len() {
		if bits.OnesCount(stay) >= l {
			continue
		}
		r := ask(t, instance(t, net.graph, "keeping", l, "stay", fmt.Sprint(stay)), check.Options{Arbitrary: arbitrary, Daemon: check.Distributed, Fairness: check.Weak})
		fmt.Fprintf(table, "%-20s l=%d staying %04b %7d states %8d transitions; %s %v\n", net.name, l, stay, r.States, r.Transitions, r.Verdict, failed(r))
		if r.Verdict != check.Proved {
			t.Errorf("%s l=%d staying %b: %v", net.name, l, stay, failed(r))
		}
	}
}

// TestKeeping: high-level liveness. Fewer than ℓ processes stay for ever, any of them, and everybody else is served again and
// again; from every configuration on the smallest networks, from the clean start on larger ones.
func TestKeeping(t *testing.T) {
	var table strings.Builder
	for l := 1; l <= 3; l++ {
		keeping(t, named(t, "path:2")[0], l, true, &table)
	}
	for _, net := range named(t, "path:3", "complete:3", "star:4") {
		keeping(t, net, 2, false, &table)
	}
	compare(t, "keeping", table.String())
}

// TestFullKeeping: every network of 3 processes from every configuration, and those of 4 from the clean start.
func TestFullKeeping(t *testing.T) {
	long(t)
	var table strings.Builder
	for _, net := range connected(t, 3) {
		for l := 1; l <= 2; l++ {
			keeping(t, net, l, true, &table)
		}
	}
	for _, net := range connected(t, 4) {
		keeping(t, net, 2, false, &table)
	}
	compare(t, "keeping_full", table.String())
}

// TestFreeUsers: critical sections of every length. Whoever keeps a token gives it back whenever it likes, or never, and there are never more
// than ℓ that are kept.
func TestFreeUsers(t *testing.T) {
	var table strings.Builder
	for _, net := range upTo(t, 3) {
		freeUsers(t, net, 3, &table)
	}
	for _, net := range connected(t, 4) {
		freeUsers(t, net, 2, &table)
	}
	compare(t, "free_users", table.String())
}

// TestFullFreeUsers: the same on some networks of 5 processes.
func TestFullFreeUsers(t *testing.T) {
	long(t)
	var table strings.Builder
	for _, net := range named(t, "path:5", "ring:5", "star:5") {
		freeUsers(t, net, 2, &table)
	}
	compare(t, "free_users_full", table.String())
}

func freeUsers(t *testing.T, net network, most int, table *strings.Builder) {
	t.Helper()
	for l := 1; l <= most; l++ {
		r := ask(t, instance(t, net.graph, "keeping", l, "users", "free"), check.Options{Daemon: check.Distributed, Fairness: check.Weak})
		fmt.Fprintf(table, "%-30s l=%d %7d states %8d transitions; %s %v\n", net.name, l, r.States, r.Transitions, r.Verdict, failed(r))
		if r.Verdict != check.Proved {
			t.Errorf("%s l=%d: %v", net.name, l, failed(r))
		}
	}
}

// TestKeepingMutants: without the count too many tokens are kept. A process that keeps a token and is still a place in its own
// rotor swallows tokens that others could have; nothing is refuted, since its rotor goes on, but it is a waste.
func TestKeepingMutants(t *testing.T) {
	g := named(t, "path:2")[0].graph
	r := ask(t, instance(t, g, "keeping-without-count", 2, "stay", "2"), check.Options{Arbitrary: true, Daemon: check.Distributed, Fairness: check.Weak})
	if got := strings.Join(failed(r), " "); got != "stabilizes" {
		t.Errorf("without the count: %q", got)
	}
	r = ask(t, instance(t, g, "keeping-without-count", 1, "stay", "2"), check.Options{Daemon: check.Distributed, Properties: []string{"exclusion"}})
	if r.Verdict != check.Counterexample {
		t.Errorf("without the count, clean: %s", r.Verdict)
	}
	for _, net := range named(t, "path:3", "star:3") {
		r = ask(t, instance(t, net.graph, "keeping-without-once", 2, "stay", "2"), check.Options{Daemon: check.Distributed, Fairness: check.Weak})
		if r.Verdict != check.Proved {
			t.Errorf("two tokens in one place: %v is refuted on %s, so it is no survivor", failed(r), net.name)
		}
	}
}

// use runs a synchronous run from the clean start. It returns how many privileges there were at once on average and at the
// most, and how many were used by others than the process that stays, in the second half of the run. Nobody gives
// back before the next broadcast. A process that stays keeps its token; where tokens
// are not kept it does not finish its a6 (isStuck).
func use(t *testing.T, inst *model.Instance, stays int, isStuck bool, steps int) (mean float64, most, others int64) {
	t.Helper()
	sys := inst.System
	c := sys.Clean()
	view := inst.View(c)
	var b model.Buffer
	var moves, step []model.Move
	wasIn := make([]bool, sys.Graph().Len())
	sum := int64(0)
	for i := range steps {
		step = step[:0]
		for p := range sys.Graph().Len() {
			moves = sys.Enabled(c, p, moves[:0])
			if len(moves) == 0 {
				continue
			}
			name := sys.Describe(c, moves[0])
			if strings.HasSuffix(name, "give back") || p == stays && isStuck && strings.Contains(name, ": a6 ") {
				continue
			}
			step = append(step, moves[0])
		}
		if len(step) > 0 {
			sys.Apply(c, step, &b)
		}
		isLate := i >= steps/2
		for p := range wasIn {
			isIn := inst.Phase(&view, p) == model.Inside
			if isLate && isIn && !wasIn[p] && p != stays {
				others++
			}
			wasIn[p] = isIn
		}
		if n := view.Sum(0); isLate {
			sum += n
			most = max(most, n)
		}
	}
	return float64(sum) / float64(steps-steps/2), most, others
}

// TestUse: how many of the ℓ privileges are used at once, before and after; and what one process that stays does to the
// others.
func TestUse(t *testing.T) {
	var table strings.Builder
	before := chart.Series{Name: "corrected"}
	after := chart.Series{Name: "keeping"}
	full := chart.Series{Name: "ℓ = 4", Dashed: true}
	for i, net := range named(t, "star:16", "path:16", "ring:16", "grid:4x4", "binary:15", "complete:16", "random:16,seed=1") {
		mean, most, _ := use(t, instance(t, net.graph, "corrected", 4), -1, false, 4000)
		kept, mostKept, _ := use(t, instance(t, net.graph, "keeping", 4), -1, false, 4000)
		last := net.graph.Len() - 1
		_, _, blocked := use(t, instance(t, net.graph, "corrected", 4), last, true, 4000)
		_, _, served := use(t, instance(t, net.graph, "keeping", 4, "stay", fmt.Sprint(1<<last)), last, false, 4000)
		fmt.Fprintf(&table, "%-17s l=4 at once: corrected %.2f (at most %d), keeping %.2f (at most %d); process %d stays, others served in 2000 steps: corrected %d, keeping %d\n",
			net.name, mean, most, kept, mostKept, last, blocked, served)
		before.X, before.Y = append(before.X, float64(i+1)), append(before.Y, mean)
		after.X, after.Y = append(after.X, float64(i+1)), append(after.Y, kept)
		full.X, full.Y = append(full.X, float64(i+1)), append(full.Y, 4)
		if served == 0 {
			t.Errorf("%s: nobody else is served", net.name)
		}
	}
	before.Points, after.Points = true, true
	draw(t, "wave-use.svg", chart.Chart{Title: "Wave: privileges used at once, on average", Subtitle: "ℓ = 4, synchronous; 1 star, 2 path, 3 ring, 4 grid 4×4, 5 binary tree, 6 complete, 7 random; 15 or 16 processes",
		XLabel: "network", YLabel: "privileges", Series: []chart.Series{before, after, full}})
	compare(t, "use", table.String())
}
