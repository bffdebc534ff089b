// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave_test

import (
	"fmt"
	"strings"
	"testing"

	"allot/chart"
	"allot/model"
)

// stays runs a synchronous run from the clean start in which every critical section takes so many steps. In corrected it is part of
// an action, which is put off so long; in keeping a process gives back what it keeps when the time is over. It returns
// how many were inside at once on average and how many critical sections ended, both in the second half of the run.
func stays(t *testing.T, inst *model.Instance, isKeeping bool, length, steps int) (mean float64, ended int) {
	t.Helper()
	sys := inst.System
	c := sys.Clean()
	view := inst.View(c)
	var b model.Buffer
	var moves, step []model.Move
	age := make([]int, sys.Graph().Len())
	sum := int64(0)
	for i := range steps {
		isLate := i >= steps/2
		step = step[:0]
		for p := range age {
			if inst.Phase(&view, p) != model.Inside {
				age[p] = 0
			} else {
				age[p]++
			}
			if moves = sys.Enabled(c, p, moves[:0]); len(moves) == 0 {
				continue
			}
			m := moves[0]
			isOver := age[p] >= length
			last := moves[len(moves)-1]
			isGivingBack := strings.HasSuffix(sys.Describe(c, last), "give back")
			switch {
			case isGivingBack && isOver:
				m = last
			case isGivingBack && len(moves) == 1, !isKeeping && age[p] > 0 && !isOver:
				continue
			}
			if isLate && isOver && age[p] > 0 {
				ended++
			}
			step = append(step, m)
		}
		if len(step) > 0 {
			sys.Apply(c, step, &b)
		}
		if isLate {
			sum += view.Sum(0)
		}
	}
	return float64(sum) / float64(steps-steps/2), ended
}

// TestUseOfLongSections: how many of the ℓ privileges are used at once when critical sections take longer than a step, and longer
// than a wave.
func TestUseOfLongSections(t *testing.T) {
	useOfLongSections(t, "use_long", named(t, "star:16", "path:16", "grid:4x4"), []int{1, 10, 100}, 1000, 20)
}

// TestFullUseOfLongSections: on more networks, for longer.
func TestFullUseOfLongSections(t *testing.T) {
	long(t)
	picture := useOfLongSections(t, "use_long_full", named(t, "star:16", "path:16", "grid:4x4", "ring:16", "binary:15", "complete:16", "random:16,seed=1"),
		[]int{1, 10, 100, 1000}, 8000, 200)
	picture.Series = picture.Series[:6]
	draw(t, "wave-use-long.svg", picture)
}

func useOfLongSections(t *testing.T, name string, networks []network, lengths []int, least, each int) chart.Chart {
	t.Helper()
	var table strings.Builder
	picture := chart.Chart{Title: "Wave: critical sections at once, on average, against their length", Subtitle: "ℓ = 4, synchronous, from the clean start; 16 processes",
		XLabel: "steps that a critical section takes", YLabel: "critical sections at once", LogX: true}
	for _, net := range networks {
		before := chart.Series{Name: net.name + ", corrected", Points: true}
		after := chart.Series{Name: net.name + ", keeping", Points: true}
		for _, length := range lengths {
			steps := least + each*length
			mean, ended := stays(t, instance(t, net.graph, "corrected", 4), false, length, steps)
			kept, endedKept := stays(t, instance(t, net.graph, "keeping", 4, "users", "free"), true, length, steps)
			fmt.Fprintf(&table, "%-17s l=4 length %4d: at once %.2f corrected, %.2f keeping; ended in %d steps %d corrected, %d keeping\n",
				net.name, length, mean, kept, steps/2, ended, endedKept)
			before.X, before.Y = append(before.X, float64(length)), append(before.Y, mean)
			after.X, after.Y = append(after.X, float64(length)), append(after.Y, kept)
			if kept > 4 || mean > 4 {
				t.Errorf("%s: more than ℓ at once on average", net.name)
			}
		}
		picture.Series = append(picture.Series, before, after)
	}
	compare(t, name, table.String())
	return picture
}
