// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package reign

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"allot/model"
	"allot/sim"
	"allot/topology"
)

// calm counts what is seen once nothing goes wrong any more.
type calm struct {
	all, ruled, complete int
}

// watch is a property that always holds, and looks.
func (c *calm) watch(nodes int) model.Property {
	m := &lab{nodes: nodes}
	return model.Property{Name: "watch", Claim: model.Always, Holds: func(v *model.View) bool {
		w := &stateOf(v, nodes).world
		if w.budget != (budget{}) {
			return true
		}
		for i := range w.sites {
			if w.sites[i].isStopped {
				return true
			}
		}
		c.all++
		if len(m.reigning(v)) == 1 {
			c.ruled++
		}
		isComplete := true
		for p := range nodes {
			s := stateOf(v, p)
			isMember := false
			for _, x := range w.record.Members {
				isMember = isMember || x.Name == m.member(p, 0).Name && x.Life == uint64(s.life)
			}
			isComplete = isComplete && isMember == (!s.isDead && !s.node.isLeaving)
		}
		if isComplete {
			c.complete++
		}
		return true
	}}
}

// TestCalm: when crashes, restarts, stops, leaves and losses are over, with a store that is slow but not too slow for the
// reign most of the time, one node reigns nearly always, and the members are those who are alive and stay, although beats go on
// being lost.
func TestCalm(t *testing.T) {
	var ruled, complete float64
	const runs = 60
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 13))
		nodes := 2 + r.IntN(3)
		g, err := topology.Parse(fmt.Sprintf("complete:%d", nodes+1))
		if err != nil {
			t.Fatal(err)
		}
		links, err := model.ParseLinks("fifo")
		if err != nil {
			t.Fatal(err)
		}
		crashes := fmt.Sprint(r.IntN(4))
		inst, err := Algorithm.Make(model.Options{Graph: g, Links: links, Values: map[string]string{
			"reign": "100", "margin": "4", "skew": "2", "touch": "10", "silence": "70", "stagger": "10", "answers": "slow", "news": "old",
			"losses": fmt.Sprint(r.IntN(20)), "crashes": crashes, "restarts": crashes, "stops": fmt.Sprint(r.IntN(4)),
			"leaves": fmt.Sprint(r.IntN(nodes)), "renewals": fmt.Sprint(r.IntN(4))}})
		if err != nil {
			t.Fatal(err)
		}
		var c calm
		inst.Properties = append(inst.Properties, c.watch(nodes))
		report, err := sim.Run(context.Background(), inst, sim.Options{Seed: seed, Steps: 10_000, StopWhenViolated: true})
		if err != nil || report.Verdict != sim.Held {
			t.Fatalf("seed %d: %v %+v", seed, err, report)
		}
		if c.all < 2000 || c.ruled < c.all/2 || c.complete < c.all/2 {
			t.Errorf("seed %d: of %d configurations, %d have one that reigns and %d the right members", seed, c.all, c.ruled, c.complete)
		}
		ruled += float64(c.ruled) / float64(max(1, c.all)) / runs
		complete += float64(c.complete) / float64(max(1, c.all)) / runs
	}
	t.Logf("one node reigns in %.3f of the configurations, and the members are right in %.3f", ruled, complete)
}
