// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"strings"
	"testing"

	"allot/model"
)

func TestStories(t *testing.T) {
	act := func(p int32, arg uint64) []model.Move { return []model.Move{{Kind: model.Act, At: p, Arg: arg}} }
	for _, test := range []struct {
		inst *model.Instance
		run  model.Run
		want string
	}{
		{
			newHops(t, graphOf(t, "path:2"), model.Budget{}),
			model.Run{Header: model.Header{Loop: 2, Why: "it goes round"}, Steps: [][]model.Move{
				act(0, mend), {{Kind: model.Act, At: 0, Arg: forget}, {Kind: model.Act, At: 1, Arg: mend}}, act(0, mend), {{Kind: model.Crash, At: 1}},
				{{Kind: model.Resume, At: 1}},
			}},
			`  start
        0: dist=2
        1: dist=2
     1  process 0: mend   (0.dist: 2→0)
     2  process 0: forget; process 1: mend   (0.dist: 0→2, 1.dist: 2→1)
  from here on, for ever:
     3  process 0: mend   (0.dist: 2→0)
     4  process 1 crashes   (1.crashed: →yes)
     5  process 1 comes back with its memory   (1.crashed: yes→)
  it goes round
`,
		},
		{
			// What process 1 writes into a register is told when it happens.
			newLedger(t, "path:2", model.Budget{}),
			model.Run{Header: model.Header{Loop: 2}, Steps: [][]model.Move{act(1, 0), act(1, 0)}},
			`  start
        0: pc=0 seen=0 lock=0 sum=0
        1: pc=0 seen=0
     1  process 1: begin   (1.pc: 0→1)
     2  process 1: try, swaps lock from 0 to 2, finds 0   (0.lock: 0→2, 1.pc: 1→2)
  and here the run may end
`,
		},
		{
			newPeers(t, "path:2", 2, 0, model.Links{}, model.Budget{}),
			model.Run{Header: model.Header{Loop: -1}, Steps: [][]model.Move{act(0, 0), {{Kind: model.Duplicate}}, {{Kind: model.Lose, Arg: 1}}, {{Kind: model.Deliver}}}},
			`  start
        0: next=0 pongs=0 ticks=0 cuts=0 hellos=0
        1: next=0 pongs=0 cuts=0 hellos=0
     1  process 0: ping   (0.next: 0→1, 0→1: [ping(tag 0)])
     2  link 0→1 repeats ping(tag 0)   (0→1: [ping(tag 0) ping(tag 0)])
     3  link 0→1 loses ping(tag 0)   (0→1: [ping(tag 0)])
     4  process 1 receives ping(tag 0) from 0   (0→1: [], 1→0: [pong(tag 0)])
`,
		},
	} {
		story, err := model.Tell(test.inst, &test.run)
		if err != nil {
			t.Fatal(err)
		}
		if got := story.String(); got != test.want {
			t.Errorf("got\n%s\nwant\n%s", got, test.want)
		}
	}
	inst := newHops(t, graphOf(t, "path:2"), model.Budget{})
	for _, run := range []model.Run{
		{Steps: [][]model.Move{act(0, mend), act(0, mend)}},
		{Header: model.Header{Start: []uint64{1}}},
	} {
		if _, err := model.Tell(inst, &run); err == nil {
			t.Errorf("%v is told", run)
		}
	}
	_, err := model.Tell(inst, &model.Run{Steps: [][]model.Move{act(0, mend), act(0, mend)}})
	if err == nil || !strings.HasPrefix(err.Error(), "step 2: action 0 of process 0 is not enabled") {
		t.Error(err)
	}
}
