// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"allot/model"
	"allot/sim"
	"allot/topology"
)

// TestIndex: what the simulator keeps up to date is what a look at everything gives, in every configuration of runs with all
// kinds of faults.
func TestIndex(t *testing.T) {
	right, wrong := 0, 0
	for seed := range uint64(60) {
		network := fmt.Sprintf("tree:%d,seed=%d", 2+seed%12, 1+seed)
		g, err := topology.Parse(network)
		if err != nil {
			t.Fatal(err)
		}
		inst, err := Algorithm.Make(model.Options{Graph: g, Links: model.Links{Garbage: 2}, Values: values("l", 3, "k", 2, "resends", seed%3)})
		if err != nil {
			t.Fatal(err)
		}
		inst.Properties = append(inst.Properties, model.Property{Name: "index", Claim: model.Always, Holds: func(v *model.View) bool {
			bare := model.View{System: v.System, C: v.C, Gauges: v.Gauges}
			isRight := v.Index.(*index).isRight(v)
			if isRight {
				right++
			} else {
				wrong++
			}
			for i := range v.Gauges {
				if bare.Sum(i) != v.Sum(i) {
					return false
				}
			}
			for i := range inst.Properties {
				p := &inst.Properties[i]
				if (p.Name == "census" || p.Name == "legitimate") && p.Holds(&bare) != p.Holds(v) {
					return false
				}
			}
			return true
		}})
		from, to := g.Ends(int(seed) % g.Links())
		text := strings.NewReplacer("A", fmt.Sprint(from), "B", fmt.Sprint(to)).Replace("every 700 corrupt random 1\nevery 33 from 50 drop A->B\n" +
			"every 45 duplicate A->B\nat 900 crash A\nat 950 restart A\nevery 611 forge A->B\nat 1700 cut A-B\nat 1750 heal A-B\n")
		script, err := sim.ParseScript([]byte(text), g)
		if err != nil {
			t.Fatal(err)
		}
		o := sim.Options{Seed: seed, Steps: 3000, Script: script}
		if seed%3 == 0 {
			o.Script = nil
		}
		if seed%2 == 0 {
			o.Start = sim.Arbitrary
		}
		r, err := sim.Run(context.Background(), inst, o)
		if err != nil {
			t.Fatal(err)
		}
		if p := r.Property("index"); p.Violations > 0 {
			t.Errorf("%s seed %d: the index is wrong in %d configurations, first at step %d", network, seed, p.Violations, p.First)
		}
	}
	if right == 0 || wrong == 0 {
		t.Errorf("%d configurations in order and %d not: nothing was compared", right, wrong)
	}
}
