// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package link_test

import (
	"context"
	"testing"

	"allot/check"
	"allot/model"
	"allot/protocol/internal/link"
	"allot/sim"
	"allot/topology"
)

func ask(t *testing.T, variant, links string, values map[string]string, o check.Options) *check.Result {
	t.Helper()
	g, err := topology.Parse("path:2")
	if err != nil {
		t.Fatal(err)
	}
	options, err := model.ParseLinks(links)
	if err != nil {
		t.Fatal(err)
	}
	inst, err := link.Algorithm.Make(model.Options{Graph: g, Variant: variant, Links: options, Values: values})
	if err != nil {
		t.Fatal(err)
	}
	o.Workers = 1
	r, err := check.Run(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Verdict == check.Counterexample && f.Run != nil {
			f.Run.Origin = "check"
			if report, err := sim.Replay(inst, f.Run, nil); err != nil || !report.IsVerified {
				t.Errorf("%s: the simulator does not see the violation: %v, %v", f.Property, report, err)
			}
		}
	}
	return r
}

const worst = "unordered,lossy,duplicating,capacity=2"

// TestLinks: over every kind of link the order holds, and where packets are not repeated without end there is progress. What
// is owed on a link that keeps the order is its first packet, whichever that is, so with two packets on their way the same
// one could be lost each time; there progress is asked with one. Where the order is not kept each packet is owed.
func TestLinks(t *testing.T) {
	for _, test := range []struct {
		links               string
		values              map[string]string
		isProgress          bool
		states, transitions uint64
	}{
		{"fifo,lossy,capacity=2", map[string]string{"window": "1"}, true, 7599, 46802},
		{"unordered,lossy,capacity=2", nil, true, 61474, 445950},
		{worst, nil, false, 120232, 917499},
		{"unordered,lossy,capacity=2", map[string]string{"incarnations": "3", "loads": "1", "window": "1"}, true, 214665, 1617168},
		{worst, map[string]string{"incarnations": "1", "loads": "4", "window": "2"}, false, 5499, 37235},
	} {
		o := check.Options{Fairness: check.Strong}
		if !test.isProgress {
			o.Properties = []string{"order", "kept", "delivered"}
		}
		r := ask(t, "", test.links, test.values, o)
		if r.Verdict != check.Proved || r.States != test.states || r.Transitions != test.transitions {
			t.Errorf("%s %v: %s, %d states, %d transitions", test.links, test.values, r.Verdict, r.States, r.Transitions)
		}
	}
}

// TestLongRuns: many loads and restarts under random schedules.
func TestLongRuns(t *testing.T) {
	g, err := topology.Parse("path:2")
	if err != nil {
		t.Fatal(err)
	}
	links, err := model.ParseLinks("unordered,lossy,duplicating,capacity=6")
	if err != nil {
		t.Fatal(err)
	}
	delivered := 0
	for seed := range uint64(200) {
		inst, err := link.Algorithm.Make(model.Options{Graph: g, Links: links, Values: map[string]string{"loads": "50", "window": "4", "incarnations": "20"}})
		if err != nil {
			t.Fatal(err)
		}
		report, err := sim.Run(context.Background(), inst, sim.Options{Seed: seed, Steps: 5_000})
		if err != nil {
			t.Fatal(err)
		}
		if report.Property("order").Judged+report.Property("kept").Judged > 0 {
			t.Errorf("seed %d: %+v", seed, report.Properties)
		}
		if report.Property("delivered").Holds {
			delivered++
		}
	}
	if delivered < 100 {
		t.Errorf("only %d of 200 runs delivered a whole session", delivered)
	}
}

// TestEnds goes through a session, a restart and the next session by hand.
func TestEnds(t *testing.T) {
	a, b := link.NewEnd[string](1, 2), link.NewEnd[string](1, 2)
	if a.Send("too early") {
		t.Error("a load was taken before there was a session")
	}
	toA := b.Receive(a.Retry()[0]).Reply // the hello of a, answered
	if out := a.Receive(toA); out.HasReply || !a.IsOpen() || !b.IsOpen() {
		t.Errorf("after one hello each: %+v", out)
	}
	if !a.Send("x") || !a.Send("y") || a.Send("z") {
		t.Error("the buffer holds two")
	}
	both := a.Retry()
	if out := b.Receive(both[1]); out.HasLoad {
		t.Error("the second load was delivered before the first")
	}
	out := b.Receive(both[0])
	if !out.HasLoad || out.Load != "x" {
		t.Errorf("%+v", out)
	}
	a.Receive(out.Reply)
	if len(a.Buffer) != 1 || b.Receive(both[0]).HasLoad {
		t.Error("x is acknowledged, and is not delivered twice")
	}
	b = link.NewEnd[string](2, 2) // b restarts
	out = b.Receive(both[1])
	if out.HasLoad || !out.HasReply {
		t.Errorf("a load of the old session: %+v", out)
	}
	if out := a.Receive(out.Reply); !out.IsEnded || len(a.Buffer) != 0 {
		t.Errorf("a must be told that the session is over: %+v", out)
	}
	a.Send("new")
	if out := b.Receive(a.Retry()[0]); out.Load != "new" {
		t.Errorf("%+v", out)
	}
}

func TestEveryMutantIsCaught(t *testing.T) {
	for _, mutant := range link.Algorithm.Mutants {
		property := map[string]string{"ack-any": "kept", "no-hello": "progress"}[mutant]
		if property == "" {
			property = "order"
		}
		values := map[string]string{}
		if mutant == "any-sender" {
			values["incarnations"] = "3"
		}
		r := ask(t, mutant, "unordered,lossy,capacity=2", values, check.Options{Fairness: check.Strong, Properties: []string{property}})
		if r.Verdict != check.Counterexample {
			t.Errorf("%s: %s", mutant, r.Verdict)
		}
	}
}
