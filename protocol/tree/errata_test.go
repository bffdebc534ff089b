// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"bytes"
	"testing"

	"allot/check"
	"allot/model"
	"allot/sim"
)

// errata are the errors of the paper. Each is the corrected protocol with one thing as printed, so that the story shows
// that one error and no other. docs/errata.md explains them.
var errata = []struct {
	question question
	property string
	story    string
}{
	{variant(q("path:2", 1, 1), "printed"), "safety", "printed_two_use_the_only_unit"},
	{variant(q("path:2", 1, 1), "count-late"), "exact", "root_counts_too_late"},
	{variant(q("path:2", 1, 1), "count-late"), "safety", "root_counts_too_late_two_use_the_only_unit"},
	{variant(q("path:2", 2, 2), "push-if-priority"), "served", "pusher_guard_turned_round"},
	{variant(withFaults(q("path:2", 1, 1), "duplicate=1"), "prio-pass-uncounted"), "legitimate", "two_priority_tokens_look_like_one"},
	{variant(withFaults(q("path:2", 1, 1), "duplicate=1"), "hard-reset"), "backed", "reset_takes_a_unit_in_use"},
	{variant(lost3, "resent-judged"), "safety", "lost_controller_two_use_the_only_unit"},
}

// lost3 has too many configurations for every day once nothing is wrong; TestLostControllerFull asks it.
var lost3 = withFaults(q("path:3", 1, 1, "resends", 1), "lose=1", "safety")

func variant(x question, name string) question {
	x.variant = name
	return x
}

// TestErrata: each error of the paper has a counterexample, and the corrected protocol passes the same question.
func TestErrata(t *testing.T) {
	for _, e := range errata {
		e.question.refuted(t, e.property, e.story)
		if e.question.network == lost3.network {
			continue
		}
		corrected := variant(e.question, "")
		corrected.properties = []string{e.property}
		if r := corrected.ask(t); r.Verdict != check.Proved {
			t.Errorf("%s: %s, want proved", corrected, r.Verdict)
		}
	}
}

// TestErrataReplay: a counterexample can be written to a file, read again and replayed to the same violation.
func TestErrataReplay(t *testing.T) {
	x := errata[0].question
	x.properties = []string{errata[0].property}
	r := x.ask(t)
	run := r.Findings[0].Run
	run.Property = errata[0].property
	var file bytes.Buffer
	if err := run.Write(&file); err != nil {
		t.Fatal(err)
	}
	again, err := model.ReadRun(&file)
	if err != nil {
		t.Fatal(err)
	}
	inst := x.make(t)
	var used int64
	if _, err := sim.Replay(inst, again, func(_ int, v *model.View, _ []model.Move) { used = v.Sum(gaugeUsed) }); err != nil {
		t.Fatal(err)
	}
	if used != 2 {
		t.Errorf("%d units are in use at the end of the replay, want 2 of the 1 that there is", used)
	}
}
