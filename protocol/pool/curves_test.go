// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"allot/chart"
	"allot/model"
	"allot/sim"
	"allot/topology"
)

func draw(t *testing.T, name string, c chart.Chart) {
	t.Helper()
	svg, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("../../docs/pictures/"+name+".svg", svg, 0o644); err != nil {
		t.Fatal(err)
	}
}

func instanceOf(t *testing.T, members int, values map[string]string) *model.Instance {
	t.Helper()
	g, err := topology.Parse(fmt.Sprintf("complete:%d", members+1))
	if err != nil {
		t.Fatal(err)
	}
	inst, err := Algorithm.Make(model.Options{Graph: g, Variant: "corrected", Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// TestFullCurves measures messages and waiting times of a busy pool against its size, and draws them.
func TestFullCurves(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("it draws pictures; set ALLOT_FULL=1")
	}
	messages := chart.Chart{Title: "Messages for each grant", Subtitle: "8 units, requests for 1 to k, one request of each member at a time, random schedule",
		XLabel: "members", YLabel: "controllers and calls for each grant"}
	waiting := chart.Chart{Title: "Waiting time", Subtitle: "8 units, requests for 1 to k, one request of each member at a time, random schedule",
		XLabel: "members", YLabel: "grants of others while one waits, longest"}
	for _, k := range []int{1, 3, 8} {
		m, w := chart.Series{Name: fmt.Sprintf("k = %d", k)}, chart.Series{Name: fmt.Sprintf("k = %d", k)}
		for _, members := range []int{2, 3, 5, 8, 12, 16, 20, 25, 30} {
			inst := instanceOf(t, members, map[string]string{"l": "8", "k": fmt.Sprint(k), "limit": "1", "turns": "4", "passes": "2", "burst": "1000"})
			r, err := sim.Run(context.Background(), inst, sim.Options{Seed: 1, Steps: 30000})
			if err != nil || r.Verdict != sim.Held {
				t.Fatal(members, k, err, r)
			}
			m.X, m.Y = append(m.X, float64(members)), append(m.Y, float64(r.Messages)/float64(r.Waiting.Entered))
			w.X, w.Y = append(w.X, float64(members)), append(w.Y, float64(r.Waiting.Entries.Max))
			t.Logf("k %d, %d members: %d messages, %d entries, waits mean %.1f longest %d entries of others, Jain %.3f of %.3f", k, members, r.Messages,
				r.Waiting.Entered, r.Waiting.Entries.Mean, r.Waiting.Entries.Max, r.Waiting.Jain, float64(members)/float64(members+1))
		}
		messages.Series, waiting.Series = append(messages.Series, m), append(waiting.Series, w)
	}
	draw(t, "pool-messages", messages)
	draw(t, "pool-waiting", waiting)
}

// TestFullPicture draws where controller and units are in a run of four members with three units.
func TestFullPicture(t *testing.T) {
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("it draws a picture; set ALLOT_FULL=1")
	}
	const members, units = 4, 3
	inst := instanceOf(t, members, map[string]string{"l": fmt.Sprint(units), "k": "2"})
	n := inst.System.(*model.Network).Live()
	c := n.Clean()
	r := rand.New(rand.NewPCG(4, 4))
	controller := chart.Series{Name: "controller"}
	place := make([]chart.Series, units)
	for u := range place {
		place[u] = chart.Series{Name: fmt.Sprintf("unit %d", u), Points: true}
	}
	var b model.Buffer
	at := 0.0
	for step := range 120 {
		var moves []model.Move
		for site := range n.Sites() {
			moves = n.Enabled(c, site, moves)
		}
		n.Apply(c, []model.Move{moves[r.IntN(len(moves))]}, &b)
		x := float64(step)
		board := map[int32]bool{}
		for link := range n.Graph().Links() {
			for i := range n.Length(c, link) {
				if msg := model.MessageOf[message](n, c, link, i); msg.kind == visit {
					from, _ := n.Graph().Ends(link)
					at = float64(from) + 0.5
					for _, u := range msg.visit.Board {
						board[u.Number] = true
					}
				}
			}
		}
		if s := model.StateOf[state](n, c, 0); !s.seat.root.isOut {
			at = 0
		}
		controller.X, controller.Y = append(controller.X, x), append(controller.Y, at)
		for u := range place {
			y := -1.0
			if board[int32(u)] {
				y = at
			}
			for p := range members {
				s := &model.StateOf[state](n, c, p).seat
				if findHeld(s, int32(u)) != nil || findUnit(s.stock, int32(u)) >= 0 {
					y = float64(p)
				}
			}
			if y >= 0 {
				place[u].X, place[u].Y = append(place[u].X, x), append(place[u].Y, y+0.07*float64(u+1))
			}
		}
	}
	draw(t, "pool-run", chart.Chart{Title: "Where the controller and the units are", Subtitle: "4 members, 3 units, requests for 1 or 2, links fifo",
		XLabel: "step", YLabel: "place (0 is the root; between two: under way)", Series: append([]chart.Series{controller}, place...)})
}
