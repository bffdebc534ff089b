// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"os"
	"testing"

	"allot/check"
)

// needsFull skips a test that takes minutes and gigabytes. `make full` sets ALLOT_FULL.
func needsFull(t *testing.T) {
	t.Helper()
	if os.Getenv("ALLOT_FULL") != "1" {
		t.Skip("long: set ALLOT_FULL=1 to run it")
	}
}

// expectation is what a search must find: the exact number of configurations and steps, so that a change that makes the
// search look at less is seen.
type expectation struct {
	question
	states, transitions uint64
}

func (e expectation) prove(t *testing.T) {
	t.Helper()
	r := e.ask(t)
	if r.Verdict != check.Proved {
		t.Errorf("%s: %s %s", e.question, r.Verdict, broken(r))
	}
	if r.States != e.states || r.Transitions != e.transitions {
		t.Errorf("%s: %d states and %d transitions, want %d and %d", e.question, r.States, r.Transitions, e.states, e.transitions)
	}
}

// q is a question from the clean start with a counter of two values and a timer that does not run out: with reliable
// links and no faults nothing more is needed, and TestTimer and TestCounter look at the rest.
func q(network string, l, k int, more ...any) question {
	v := append([]any{"l", l, "k", k, "counter", 2, "resends", 0}, more...)
	return question{network: network, values: values(v...)}
}

// TestCleanStart: from the clean start the numbers of tokens are exact, the controller counts right, nobody uses what is
// not there, nothing rests and every request is served under weak fairness, on all ordered rooted trees with up to four
// processes.
func TestCleanStart(t *testing.T) {
	for _, e := range []expectation{
		{q("single", 1, 1), 2, 2},
		{q("single", 3, 2), 3, 4},
		{q("path:2", 1, 1), 1803, 4569},
		{q("path:2", 2, 1), 6134, 16472},
		{q("path:2", 2, 2), 17334, 47850},
		{q("path:2", 3, 2), 48288, 136787},
		{q("path:2", 3, 3), 97820, 275375},
		{q("path:3", 1, 1), 37476, 136270},
		{q("star:3", 1, 1), 38264, 138488},
		{q("path:3", 2, 1), 200617, 792747},
		{q("star:3", 2, 1), 205320, 809979},
		{q("path:4", 1, 1), 316664, 1403712},
		{q("star:4", 1, 1), 341524, 1511632},
	} {
		e.prove(t)
	}
}

// TestCleanStartFull is TestCleanStart with more units and the other trees of four.
func TestCleanStartFull(t *testing.T) {
	needsFull(t)
	for _, e := range []expectation{
		{q("path:4,root=1", 1, 1), 320028, 1414144},
		{q("path:4,root=2", 1, 1), 354968, 1574976},
		{q("star:4,root=1", 1, 1), 336484, 1494512},
		{q("path:3", 2, 2), 901231, 3667270},
		{q("star:3", 2, 2), 909215, 3685774},
		{q("path:4", 2, 1), 2355350, 11477953},
	} {
		e.prove(t)
	}
}

// TestGrain: the verdicts are the same where the code after the receives is a step of its own, as in the paper's loop
// over the channels.
func TestGrain(t *testing.T) {
	for _, e := range []expectation{
		{q("path:2", 2, 2, "grain", "loop"), 28275, 84970},
		{q("star:3", 1, 1, "grain", "loop"), 79440, 310542},
	} {
		e.prove(t)
	}
}

// TestTimer: a timer that runs out too early does no harm, with the paper's number of counters.
func TestTimer(t *testing.T) {
	for _, e := range []expectation{
		{q("path:2", 1, 1, "resends", 1, "counter", 0), 42857, 123419},
		{q("path:2", 1, 1, "resends", 2), 191128, 587204},
	} {
		e.prove(t)
	}
}

// TestConstruction follows the paper's steps: tokens alone deadlock (Figure 2), with the pusher a process can starve
// (Figure 3, on its network with its ℓ and k), with the priority token all is well as long as there is no fault.
func TestConstruction(t *testing.T) {
	tokens := q("path:2", 2, 2, "stage", "tokens")
	tokens.refuted(t, "deadlock", "figure_2_tokens_alone_deadlock")
	pushed := q("star:3", 3, 2, "stage", "pusher")
	pushed.refuted(t, "served", "figure_3_pusher_starves_a_process")
	for _, e := range []expectation{
		{q("path:2", 2, 2, "stage", "priority"), 1135, 3021},
		{q("star:3", 3, 2, "stage", "priority"), 99993, 400133},
		{q("path:4", 1, 1, "stage", "priority"), 10040, 39716},
	} {
		e.prove(t)
	}
	// Without the controller one lost token is lost for good.
	lost := q("path:2", 1, 1, "stage", "priority")
	lost.faults = "lose=1"
	lost.refuted(t, "served", "")
}

// TestLiveness is (k,ℓ)-liveness, Lemma 14: some processes never release, and what fits in the rest is served.
func TestLiveness(t *testing.T) {
	for _, e := range []expectation{
		{q("path:2", 2, 2, "forever", 1), 17310, 46373},
		{q("path:2", 3, 2, "forever", 2), 36289, 97045},
		{q("path:3", 2, 1, "forever", 1), 200549, 775452},
		{q("path:3", 2, 1, "forever", 2), 151573, 563915},
		{q("path:3", 2, 1, "forever", 4), 186509, 715706},
		{q("star:3", 2, 2, "forever", 2, "stage", "priority"), 30705, 113113},
		{q("star:3", 3, 2, "forever", 6, "stage", "priority"), 99993, 380029},
	} {
		e.prove(t)
	}
}

// TestStabilizes: from every state of every process, with empty links.
func TestStabilizes(t *testing.T) {
	for _, e := range []expectation{
		{arbitrary("path:2", 1, 1), 503242, 1437202},
	} {
		e.prove(t)
	}
}

func TestStabilizesFull(t *testing.T) {
	needsFull(t)
	for _, e := range []expectation{
		{arbitrary("path:2", 1, 1, "resends", 1), 625874, 1819278},
		{arbitrary("path:2", 1, 1, "resends", 1, "counter", 3), 1132014, 3296871},
		{arbitrary("path:2", 2, 1), 718928, 2053608},
		{arbitrary("path:2", 2, 2), 6496100, 20504442},
	} {
		e.prove(t)
	}
}

func arbitrary(network string, l, k int, more ...any) question {
	x := q(network, l, k, more...)
	x.start = "arbitrary"
	return x
}

// TestLostController: the paper's links are reliable. Ours need not be: a controller that is lost and sent again costs
// neither safety nor stability.
func TestLostController(t *testing.T) {
	e := expectation{q("path:2", 1, 1, "resends", 1), 144568, 557961}
	e.faults, e.properties = "lose=1", []string{"safety", "legitimate"}
	e.prove(t)
}

func TestLostControllerFull(t *testing.T) {
	needsFull(t)
	expectation{lost3, 5309542, 27119055}.prove(t)
}
