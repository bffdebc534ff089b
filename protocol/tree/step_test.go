// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"strings"
	"testing"

	"allot/model"
	"allot/topology"
)

// TestRing: tokens follow depth-first order whatever process is the root (Figures 1 and 4).
func TestRing(t *testing.T) {
	for network, want := range map[string]string{
		"path:2":        "0 1",
		"path:3":        "0 1 2 1",
		"path:3,root=1": "1 0 1 2",
		"star:4":        "0 1 0 2 0 3",
		"star:4,root=2": "2 0 1 0 3 0",
		"binary:5":      "0 1 3 1 4 1 0 2",
	} {
		g, err := topology.Parse(network)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, link := range shapeOf(g).ring {
			from, _ := g.Ends(int(link))
			got = append(got, g.Name(from))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: the ring is %s, want %s", network, s, want)
		}
	}
}

// TestRefusals: what the protocol is not made for is refused in one line.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		network, why string
		links        model.Links
		values       map[string]string
	}{
		{network: "ring:3", why: "made for trees"},
		{network: "path:2", why: "more than the 1 units", values: values("l", 1, "k", 2)},
		{network: "path:2", why: "keep the order", links: model.Links{Unordered: true}},
		{network: "path:2", why: "no circulation differs", values: values("counter", 1)},
		{network: "path:2", why: "must be one of", values: values("stage", "all")},
	} {
		g, err := topology.Parse(c.network)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Algorithm.Make(model.Options{Graph: g, Links: c.links, Values: c.values})
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s %v: %v, want %q", c.network, c.values, err, c.why)
		}
	}
}

// TestSingle: a single process has all units to itself and no channel to send anything on.
func TestSingle(t *testing.T) {
	inst := question{network: "single", values: values("l", 3, "k", 2)}.make(t)
	c := inst.System.Clean()
	moves := inst.System.Enabled(c, 0, nil)
	if len(moves) != 2 {
		t.Fatalf("%d inputs, want a request for 1 and one for 2 units", len(moves))
	}
	var b model.Buffer
	inst.System.Apply(c, moves[1:2], &b)
	v := inst.View(c)
	if got := v.Sum(gaugeUsed); got != 2 || b.Sent != 0 {
		t.Errorf("%d units in use and %d messages after a request for 2, want 2 and 0", got, b.Sent)
	}
}
