// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"strings"
	"testing"

	"allot/model"
)

func act(p int32, action uint64) []model.Move {
	return []model.Move{{Kind: model.Act, At: p, Arg: action}}
}

func TestReplayVerifiesWhatTheHeaderSays(t *testing.T) {
	// On the ring of 4 with 2 values: 0 1 0 1, all privileged but the root, and a way round outside the legitimate set.
	small := ringOf(t, 4, 2, "")
	cycle := findCycle(t, small)
	still := ringOf(t, 3, 3, "root-still")
	cases := []struct {
		name string
		inst *model.Instance
		run  model.Run
		ok   bool
		text string
	}{
		{"a cycle", small, cycle, true, "repeated for ever"},
		{"a cycle that is none", small, with(cycle, func(r *model.Run) { r.Steps = r.Steps[:len(r.Steps)-1] }), false, "not the one before"},
		{"a stable cycle", small, model.Run{Header: model.Header{Property: "stabilizes", Loop: 0, Origin: "check"},
			Steps: [][]model.Move{act(0, 0), act(1, 1), act(2, 1), act(3, 1), act(0, 0), act(1, 1), act(2, 1), act(3, 1)}}, false, "holds somewhere"},
		{"at rest", still, model.Run{Header: model.Header{Property: "no-deadlock", Loop: -1}}, true, "nobody owes"},
		{"at rest for ever", still, model.Run{Header: model.Header{Property: "service", Loop: 0, Process: 1}}, true, "stays for ever"},
		{"not at rest", small, model.Run{Header: model.Header{Property: "no-deadlock", Loop: -1}}, false, "somebody owes"},
		{"it holds", small, model.Run{Header: model.Header{Property: "exclusion", Loop: -1}}, false, "holds"},
		{"it does not hold", small, model.Run{Header: model.Header{Property: "exclusion", Loop: -1, Start: []uint64{0, 1, 0, 1, 0, 0}}}, true, "privileged at once"},
		{"it just ends", small, model.Run{Header: model.Header{Property: "stabilizes", Loop: -1, Start: []uint64{0, 1, 0, 1, 0, 0}}}, false, "owes a move"},
		{"nothing named", small, model.Run{Header: model.Header{Loop: -1}, Steps: [][]model.Move{act(0, 0)}}, false, "no property"},
	}
	for _, c := range cases {
		r, err := Replay(c.inst, &c.run, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if r.IsVerified != c.ok || !strings.Contains(r.Text, c.text) {
			t.Errorf("%s: %v, %s", c.name, r.IsVerified, r.Text)
		}
	}
}

func with(run model.Run, change func(*model.Run)) model.Run {
	change(&run)
	return run
}

// findCycle walks about the configurations outside the legitimate set until one comes back.
func findCycle(t *testing.T, inst *model.Instance) model.Run {
	t.Helper()
	s := inst.System
	var run model.Run
	seen := map[[4]uint64]int{}
	start := []uint64{0, 1, 0, 1, 0, 0}
	var dive func(c model.Configuration) bool
	dive = func(c model.Configuration) bool {
		key := [4]uint64(c[:4])
		if at, ok := seen[key]; ok {
			run.Loop = at
			return true
		}
		seen[key] = len(run.Steps)
		for p := range 4 {
			for _, m := range s.Enabled(c, p, nil) {
				next := append(model.Configuration{}, c...)
				var b model.Buffer
				s.Apply(next, []model.Move{m}, &b)
				v := inst.View(next)
				if v.Sum(0) == 1 {
					continue
				}
				run.Steps = append(run.Steps, []model.Move{m})
				if dive(next) {
					return true
				}
				run.Steps = run.Steps[:len(run.Steps)-1]
			}
		}
		delete(seen, key)
		return false
	}
	c, err := model.StartAt(s, start)
	if err != nil {
		t.Fatal(err)
	}
	if !dive(c) {
		t.Fatal("there is no cycle")
	}
	run.Header = model.Header{Origin: "check", Property: "stabilizes", Process: -1, Loop: run.Loop, Start: start}
	return run
}

func TestReplayRefusesWhatIsNotPossible(t *testing.T) {
	ring, network := ringOf(t, 4, 4, ""), newCourier(t, "ring:4", model.Links{})
	cases := []struct {
		inst *model.Instance
		run  model.Run
		want string
	}{
		{ring, model.Run{Steps: [][]model.Move{act(0, 0), act(0, 0)}}, "step 1: action 0 of process 0 is not enabled"},
		{ring, model.Run{Steps: [][]model.Move{{}}}, "at least one move"},
		{ring, model.Run{Steps: [][]model.Move{act(9, 0)}}, "no process 9"},
		{ring, model.Run{Steps: [][]model.Move{{act(0, 0)[0], act(0, 0)[0]}}}, "twice"},
		{ring, model.Run{Steps: [][]model.Move{{act(0, 0)[0], {Kind: model.Crash, At: 1}}}}, "a step of its own"},
		{ring, model.Run{Header: model.Header{Start: []uint64{9, 0, 0, 0, 0, 0}}}, "no number 9"},
		{ring, model.Run{Header: model.Header{Start: []uint64{1}}}, "numbers"},
		{ring, model.Run{Header: model.Header{Property: "peace"}}, "no property"},
		{ring, model.Run{Header: model.Header{Loop: 7}}, "loop"},
		{ring, model.Run{Header: model.Header{Property: "service", Process: 4}}, "no process 4"},
		{ring, model.Run{Header: model.Header{Origin: "check"}, Steps: [][]model.Move{{{Kind: model.Crash, At: 1}}}}, "budget"},
		{network, model.Run{Steps: [][]model.Move{{act(0, 0)[0], act(1, 0)[0]}}}, "one thing happens at a time"},
		{network, model.Run{Steps: [][]model.Move{{{Kind: model.Deliver, At: 1}}}}, "holds 0 messages"},
		{network, model.Run{Steps: [][]model.Move{{{Kind: model.Tick, At: 1}}}}, "no clock"},
	}
	for _, c := range cases {
		if _, err := Replay(c.inst, &c.run, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.run, err, c.want)
		}
	}
}

// TestFairnessOfALoopIsChecked: in a loop in which one process alone spins, the others are owed a move.
func TestFairnessOfALoopIsChecked(t *testing.T) {
	inst := newSpinner(t, "ring:3")
	inst.Properties = []model.Property{{Name: "moved", Claim: model.Recurs, HoldsFor: func(v *model.View, p int) bool { return v.C[p] == 4 }}}
	var steps [][]model.Move
	for range 5 {
		steps = append(steps, act(0, 0))
	}
	for fairness, ok := range map[string]bool{"": true, "none": true, "weak": false, "strong": false} {
		r := replayed(t, inst, &model.Run{Header: model.Header{Property: "moved", Process: 1, Fairness: fairness, Origin: "check"}, Steps: steps}, nil)
		if r.IsVerified != ok {
			t.Errorf("fairness %q: %v, %s", fairness, r.IsVerified, r.Text)
		}
	}
}

func TestARecordingSurvivesItsFile(t *testing.T) {
	for _, links := range []model.Links{{Garbage: 1}, {Unordered: true, Lossy: true}, {Duplicating: true, Lossy: true, Capacity: 3}} {
		inst := newCourier(t, "ring:5", links)
		r := mustRun(t, inst, Options{Start: Arbitrary, Seed: 6, Steps: 500, Record: true, Script: scriptOf(t, inst, "every 60 corrupt 1")})
		var file bytes.Buffer
		if err := r.Run.Write(&file); err != nil {
			t.Fatal(err)
		}
		run, err := model.ReadRun(&file)
		if err != nil {
			t.Fatal(err)
		}
		if got := replayed(t, inst, run, nil); got.Steps != len(r.Run.Steps) {
			t.Errorf("%d steps of %d", got.Steps, len(r.Run.Steps))
		}
	}
}

// FuzzReplay takes any bytes as a run: four of them are a move.
func FuzzReplay(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 2, 1}, int8(-1), uint8(0))
	f.Add([]byte{5, 0, 0, 3, 0, 1, 7, 0, 0, 8, 0, 0}, int8(0), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, loop int8, choice uint8) {
		// Made anew each time: what an earlier run has interned would change what this one covers.
		instances := []*model.Instance{
			ringOf(t, 4, 4, ""), newCourier(t, "ring:4", model.Links{Capacity: 4}), newCourier(t, "ring:4", model.Links{Unordered: true, Garbage: 1}),
		}
		inst := instances[int(choice)%len(instances)]
		run := &model.Run{Header: model.Header{Loop: int(loop), Process: int(int8(choice)), Fairness: []string{"", weak, strong}[choice%3]}}
		run.Origin = []string{"check", originLive, originInterned, ""}[choice%4]
		if p := int(choice) % (len(inst.Properties) + 1); p > 0 {
			run.Property = inst.Properties[p-1].Name
		}
		for ; len(data) >= 4; data = data[4:] {
			m := model.Move{Kind: model.Kind(data[0]), At: int32(int8(data[1])), Arg: uint64(data[2])}
			if data[2] == 0xff {
				m.Arg = ^uint64(0)
			}
			if n := len(run.Steps); data[3]%4 == 0 && n > 0 {
				run.Steps[n-1] = append(run.Steps[n-1], m)
			} else {
				run.Steps = append(run.Steps, []model.Move{m})
			}
		}
		report, err := Replay(inst, run, nil)
		if err == nil && report.Steps != len(run.Steps) {
			t.Errorf("%d steps of %d", report.Steps, len(run.Steps))
		}
		// What is left when the impossible is left out can be replayed.
		if possible, ok := repair(inst, run); ok && run.Origin != "check" {
			if _, err := Replay(inst, possible, nil); err != nil && !strings.Contains(err.Error(), "loop") {
				t.Errorf("repaired: %v", err)
			}
		}
	})
}
