// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band_test

import (
	"context"
	"strings"
	"testing"

	"allot/model"
	"allot/protocol/band"
	"allot/sim"
)

// act is asking a process, and then letting messages arrive, always on the first link that holds one, until none is left.
func act(t *testing.T, inst *model.Instance, asked ...[]int) *model.Run {
	t.Helper()
	c := inst.System.Clean()
	run := &model.Run{Header: model.Header{Origin: "sim", Loop: -1, Process: -1}}
	var b model.Buffer
	take := func(m model.Move) {
		if err := inst.System.Check(c, m); err != nil {
			t.Fatal(err)
		}
		inst.System.Apply(c, []model.Move{m}, &b)
		run.Steps = append(run.Steps, []model.Move{m})
	}
	for _, together := range asked {
		for _, p := range together {
			take(model.Move{Kind: model.Act, At: int32(p)})
		}
		for isMoving := true; isMoving; {
			isMoving = false
			for site := inst.System.Graph().Len(); site < inst.System.Sites() && !isMoving; site++ {
				if moves := inst.System.Enabled(c, site, nil); len(moves) > 0 {
					take(moves[0])
					isMoving = true
				}
			}
		}
	}
	return run
}

func TestStories(t *testing.T) {
	for file, s := range map[string]struct {
		question
		asked [][]int
	}{
		"one_leaves_and_comes_back.txt":               {question{object: "mutin", n: 3, l: 1, coterie: "majority", inside: "0+1", times: 9}, [][]int{{0}, {0}}},
		"the_last_one_waits_until_another_enters.txt": {question{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", inside: "0", times: 9}, [][]int{{0}, {1}}},
		"two_want_to_leave_at_once.txt":               {question{object: "mutin", n: 3, l: 1, coterie: "majority", inside: "0+1", times: 9}, [][]int{{0, 1}, {2}}},
		"lean_one_leaves_and_comes_back.txt":          {question{object: "mutin", n: 3, l: 1, coterie: "majority", inside: "0+1", times: 9, variant: "lean"}, [][]int{{0}, {0}}},
	} {
		inst := s.make(t)
		compare(t, file, story(t, inst, act(t, inst, s.asked...)))
	}
}

func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		question
		reason string
	}{
		{question{object: "gcs", n: 3, l: 2, k: 2, coterie: "majority"}, "the floor l = 2 is not below the ceiling k = 2"},
		{question{object: "gcs", n: 3, l: 1, k: 4, coterie: "majority"}, "above the number of processes"},
		{question{object: "mutin", n: 3, l: 3, coterie: "majority"}, "the floor l = 3 is not below"},
		{question{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", inside: "none"}, "0 inside at the start is below the floor l = 1"},
		{question{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", inside: "0+1+2"}, "3 inside at the start is above the ceiling k = 2"},
		{question{object: "mutex", n: 3, coterie: "majority", inside: "0"}, "begins with nobody inside"},
		{question{object: "gcs", n: 3, l: 1, k: 2, coterie: "majority", inside: "7"}, "is not a process"},
		{question{object: "gcs", n: 3, l: 1, k: 2, coterie: "grid:4"}, "made for 4 processes, not 3"},
		{question{object: "gcs", n: 3, l: 1, k: 2, coterie: "own:0/1/2"}, "[0] of process 0 and [1] of process 1 have no member in common"},
		{question{object: "gcs", n: 3, l: 1, k: 2, coterie: "circle"}, "there is no such form"},
	} {
		if _, err := band.Algorithm.Make(test.options(t)); err == nil || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s: %v", test.question, err)
		}
	}
}

// TestLongRuns drives the same machine in the simulator under random schedules; live and interned give the same trace.
func TestLongRuns(t *testing.T) {
	for _, variant := range []string{"corrected", "lean"} {
		for _, coterie := range []string{"majority", "grid", "tree", "wall", "plane"} {
			q := question{object: "gcs", n: 13, l: 4, k: 7, coterie: coterie, times: 1 << 20, variant: variant}
			report, err := sim.Run(context.Background(), q.make(t), sim.Options{Seed: 5, Steps: 60_000})
			if err != nil {
				t.Fatal(err)
			}
			if report.Verdict != sim.Held || report.Waiting.Served != 13 {
				t.Errorf("%s: %s, %d served: %+v", q, report.Verdict, report.Waiting.Served, report.Properties)
			}
		}
	}
	q := question{object: "gcs", n: 4, l: 1, k: 3, coterie: "majority", times: 1 << 20}
	var traces []string
	for _, interned := range []bool{false, true} {
		report, err := sim.Run(context.Background(), q.make(t), sim.Options{Seed: 5, Steps: 20_000, Interned: interned})
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, report.Trace)
	}
	if traces[0] != traces[1] {
		t.Errorf("live %s, interned %s", traces[0], traces[1])
	}
}
