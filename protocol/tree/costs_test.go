// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"testing"

	"allot/chart"
	"allot/internal/golden"
	"allot/model"
	"allot/sim"
)

// lone is a daemon under which the network is idle but for one process, which asks for k units as soon as it is out. Links
// move at random.
type lone struct {
	process   int32
	k         int
	isStarted bool
}

func (d *lone) String() string { return "lone" }

// Begin begins with the start of the root.
func (d *lone) Begin(*sim.Schedule) error {
	d.isStarted = false
	return nil
}

func (d *lone) Choose(s *sim.Schedule, step []model.Move) ([]model.Move, error) {
	n := int32(s.System().Graph().Len())
	if !d.isStarted {
		d.isStarted = true
		return append(step, s.Move(int32(s.System().Graph().Root))), nil
	}
	if s.IsEnabled(d.process) && s.Chance.Below(uint64(n)) == 0 {
		m := s.Move(d.process)
		for i := 0; m.Arg == 0 && i < 8 && d.k > 1; i++ { // whoever can ask has k moves
			m = s.Move(d.process)
		}
		if m.Arg > 0 {
			m.Arg = uint64(d.k - 1)
		}
		return append(step, m), nil
	}
	sites := s.Sites()
	for {
		if site := sites[s.Chance.Below(uint64(len(sites)))]; site >= n {
			return append(step, s.Move(site)), nil
		}
	}
}

// TestCosts measures what a critical section costs, in messages and rounds: where everybody asks again at once, and where one
// process asks and nobody else does.
func TestCosts(t *testing.T) {
	const l = 4
	steps := int64(runs(40)) * 500
	lines := map[string]*chart.Series{}
	for _, n := range []int{2, 4, 8, 16, 32} {
		for _, k := range []int{1, l} {
			v := values("l", l, "k", k)
			network := fmt.Sprintf("path:%d", n)
			busy := simulate(t, network, v, sim.Options{Seed: 1, Steps: steps}, "")
			inst := question{network: network, values: v}.make(t)
			idle, err := sim.Run(context.Background(), inst, sim.Options{Seed: 1, Steps: steps, Daemon: &lone{process: int32(n - 1), k: k}})
			if err != nil {
				t.Fatal(err)
			}
			if busy.Verdict != sim.Held || idle.Verdict != sim.Held || idle.Waiting.Served != 1 {
				t.Errorf("%s k=%d: %s and %s, %d served", network, k, busy.Verdict, idle.Verdict, idle.Waiting.Served)
			}
			each := func(r *sim.Report, of int64) float64 { return float64(of) / float64(r.Waiting.Entered) }
			t.Logf("path:%d l=%d k=%d: busy %.1f messages and %.2f rounds for each entry; alone %.1f messages and %.1f rounds", n, l, k,
				each(busy, busy.Messages), each(busy, busy.Rounds), each(idle, idle.Messages), each(idle, idle.Rounds))
			for name, y := range map[string]float64{
				fmt.Sprintf("everybody asks, k=%d", k):   each(busy, busy.Messages),
				fmt.Sprintf("one process asks, k=%d", k): each(idle, idle.Messages),
			} {
				if lines[name] == nil {
					lines[name] = &chart.Series{Name: name}
				}
				lines[name].X, lines[name].Y = append(lines[name].X, float64(n)), append(lines[name].Y, y)
			}
		}
	}
	if golden.IsRewriting() {
		picture(t, "tree-messages", chart.Chart{Title: "Messages for each critical section", Subtitle: "paths, ℓ = 4, random schedule",
			XLabel: "processes", YLabel: "messages", LogX: true, LogY: true, Series: []chart.Series{
				*lines["everybody asks, k=1"], *lines["everybody asks, k=4"], *lines["one process asks, k=1"], *lines["one process asks, k=4"]}})
	}
}
