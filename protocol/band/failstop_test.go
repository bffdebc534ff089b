// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"allot/check"
	"allot/sim"
)

// TestRestarts: processes crash in every state and come back without their memory. Nobody leaves below the floor but for a
// crash that it was not told of, the ceiling holds, and whoever waits at the end waits for a bound.
func TestRestarts(t *testing.T) {
	crash := question{n: 3, l: 1, k: 2, coterie: "majority", variant: "failstop", times: 1, crashes: 1, crashers: 1}
	var questions []question
	for _, object := range []string{"mutin", "kmutex", "gcs"} {
		q := crash
		q.object = object
		questions = append(questions, q)
	}
	pair := crash
	pair.object, pair.coterie, pair.inside = "mutin", "own:0+1", "1+2"
	table(t, "failstop.txt", append(questions, pair), check.Options{})
}

// TestWithoutCrashes: a variant that never crashes is the lean one, configuration by configuration.
func TestWithoutCrashes(t *testing.T) {
	for _, object := range []string{"mutin", "kmutex"} {
		q := question{object: object, n: 3, l: 1, k: 2, coterie: "majority", times: 2, variant: "lean"}
		lean, _ := ask(t, q, check.Options{})
		q.variant = "failstop"
		if r, _ := ask(t, q, check.Options{}); r.States != lean.States || r.Transitions != lean.Transitions {
			t.Errorf("%s: %d states, lean %d", q, r.States, lean.States)
		}
	}
}

// TestMoreRestarts lets two processes crash, one crash twice, and one crash in runs without end.
func TestMoreRestarts(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("it takes some minutes; set ALLOT_FULL=1")
	}
	q := question{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", variant: "failstop", times: 1}
	two, twice := q, q
	two.crashes, two.crashers = 1, 2
	twice.crashes, twice.crashers = 2, 1
	endless := q
	endless.crashes, endless.crashers, endless.times = 1, 1, 0
	table(t, "failstop_full.txt", []question{endless, two, twice}, check.Options{})
}

// faultRuns makes seeded runs in which every process may crash and restart several times, each until nothing is left to do, and
// counts what happened.
func faultRuns(t *testing.T, runs uint64) string {
	t.Helper()
	text, err := faultRunsOf(t, "failstop", runs)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func faultRunsOf(t *testing.T, variant string, runs uint64) (string, error) {
	t.Helper()
	var crashes, steps, served int64
	for seed := range runs {
		n := 3 + int(seed%4)
		kind := kinds[seed/4%5]
		if kind == "plane" {
			kind, n = "majority", 7
		}
		q := question{object: "gcs", n: n, l: 1 + int(seed/20)%(n-2), k: n - 1, coterie: kind, times: 6, variant: variant, crashes: 2, crashers: n}
		report, err := sim.Run(context.Background(), q.make(t), sim.Options{Seed: seed, Steps: 100_000, Interned: true})
		if err != nil {
			t.Fatal(err)
		}
		if report.Verdict != sim.Held || report.Stopped != sim.StoppedRest {
			return "", fmt.Errorf("seed %d, %s: %s, %s: %+v", seed, q, report.Verdict, report.Stopped, report.Properties)
		}
		crashes += int64(2 * n)
		steps += report.Steps
		served += report.Waiting.Entered
	}
	return fmt.Sprintf("%d runs, %d crashes and restarts, %d steps, %d changes of side, every run held and came to rest\n", runs, crashes, steps, served), nil
}

func TestFaultRuns(t *testing.T) {
	if got := faultRuns(t, 40); !strings.HasPrefix(got, "40 runs, ") {
		t.Error(got)
	}
}

func TestManyFaultRuns(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("three thousand runs take some minutes; set ALLOT_FULL=1")
	}
	runs := uint64(3_000)
	if text := os.Getenv("ALLOT_RUNS"); text != "" {
		if _, err := fmt.Sscan(text, &runs); err != nil {
			t.Fatal(err)
		}
	}
	t.Log(faultRuns(t, runs))
}

// TestForeignAddress: a process that has restarted must not take for its own what was meant for its former incarnation. It takes
// several crashes to show, too many for the checker here; the simulator finds it.
func TestForeignAddress(t *testing.T) {
	if _, err := faultRunsOf(t, "failstop-any-address", 60); err == nil {
		t.Error("nobody noticed")
	}
}
