// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"maps"
	"strings"
	"testing"

	"allot/model"
)

// TestEveryFault lets each verb happen on the courier and looks at what it did.
func TestEveryFault(t *testing.T) {
	cases := []struct {
		script string
		faults map[string]int64
		check  func(t *testing.T, r *Report, inst *model.Instance)
	}{
		{"at 50 corrupt 1 0", map[string]int64{"corrupt": 1}, nil},
		{"at 50 corrupt 1", map[string]int64{"corrupt": 1}, nil},
		{"at 50 corrupt 1 random", map[string]int64{"corrupt": 1}, nil},
		{"at 50 corrupt all", map[string]int64{"corrupt": 4}, nil},
		{"every 10 from 20 to 40 corrupt random 3", map[string]int64{"corrupt": 9}, nil},
		{"at 0 forge 0->1 1\nat 0 forge 0->1 1\nat 0 drop 0->1 1", map[string]int64{"forge": 2, "lose": 1}, func(t *testing.T, r *Report, _ *model.Instance) {
			if r.Gauges[0].Max != 3 {
				t.Errorf("there were %d tokens", r.Gauges[0].Max)
			}
		}},
		{"at 0 forge 0->1 0\nat 0 duplicate 0->1", map[string]int64{"forge": 1, "duplicate": 1}, nil},
		{"at 50 forge 0->1", map[string]int64{"forge": 1}, nil},
		{"at 20 crash 1", map[string]int64{"crash": 1}, func(t *testing.T, r *Report, _ *model.Instance) {
			for _, step := range r.Run.Steps[len(r.Run.Steps)/2:] {
				if m := step[0]; m.Kind == model.Act && m.At == 1 || m.Kind == model.Tick && m.At == 1 {
					t.Fatalf("process 1 has crashed and does %v", m)
				}
			}
		}},
		{"at 20 crash 1\nat 40 resume 1", map[string]int64{"crash": 1, "resume": 1}, func(t *testing.T, r *Report, _ *model.Instance) {
			if r.Gauges[0].Min != 1 || r.Verdict != Held {
				t.Errorf("a token was lost: %+v", r.Gauges[0])
			}
		}},
		{"at 30 crash 2\nat 3900 restart 2", map[string]int64{"crash": 1, "restart": 1}, func(t *testing.T, r *Report, inst *model.Instance) {
			if a, b := stateIn(t, inst, r.Run, 0).ticks, stateIn(t, inst, r.Run, 2).ticks; a < 400 || b > 20 {
				t.Errorf("after a restart the clocks show %d and %d", a, b)
			}
		}},
		{"at 30 cut 0-1\nat 60 heal 1-0", map[string]int64{"cut": 1, "heal": 1}, func(t *testing.T, r *Report, inst *model.Instance) {
			if a, b, c := stateIn(t, inst, r.Run, 0).cuts, stateIn(t, inst, r.Run, 1).cuts, stateIn(t, inst, r.Run, 2).cuts; a != 2 || b != 2 || c != 0 {
				t.Errorf("the processes were told %d, %d and %d times", a, b, c)
			}
		}},
		{"at 30 leave 3\nat 60 join 3", map[string]int64{"leave": 1, "join": 1}, func(t *testing.T, r *Report, inst *model.Instance) {
			if s := stateIn(t, inst, r.Run, 2); s.cuts != 2 {
				t.Errorf("a neighbour was told %d times", s.cuts)
			}
		}},
		{"at 0 rate 0 2.5\nat 0 rate 2 0", map[string]int64{"rate": 2}, func(t *testing.T, r *Report, inst *model.Instance) {
			if a, b := stateIn(t, inst, r.Run, 0).ticks, stateIn(t, inst, r.Run, 2).ticks; a != 4000/4 && a != 4000/4-1 && a != 0 || b != 0 {
				t.Errorf("clocks of rate 2.5 and 0 show %d and %d", a, b)
			}
		}},
		{"at 0 forge 0->1 0\nat 0 delay 0->1 500", map[string]int64{"forge": 1, "delay": 1}, func(t *testing.T, r *Report, inst *model.Instance) {
			link, time := inst.System.Graph().FindLink(0, 1), 0
			for _, step := range r.Run.Steps {
				m := step[0]
				if m.Kind == model.Deliver && int(m.At) == link {
					break
				}
				if m.Kind == model.Act || m.Kind == model.Deliver {
					time++
				}
			}
			if int64(time)+r.Idle < 500 {
				t.Errorf("the link delivers after %d steps", time)
			}
		}},
	}
	for _, c := range cases {
		inst := newCourier(t, "ring:4", model.Links{})
		r := mustRun(t, inst, Options{Seed: 4, Steps: 4000, TickEvery: 10, Record: true, Script: scriptOf(t, inst, c.script)})
		if !maps.Equal(r.Faults, c.faults) || len(r.Unfired()) > 0 || r.LastFault < 0 {
			t.Errorf("%q: faults %v, statements %+v, last %d", c.script, r.Faults, r.Statements, r.LastFault)
		}
		// Whatever happened, the recording can be taken again.
		replayed(t, inst, r.Run, nil)
		if c.check != nil {
			c.check(t, r, inst)
		}
	}
}

func TestFaultsThatCannotHappenAreSkipped(t *testing.T) {
	network, ring := newCourier(t, "ring:4", model.Links{}), ringOf(t, 4, 4, "")
	cases := []struct {
		inst      *model.Instance
		statement string
		reason    string
	}{
		{network, "at 0 drop 2->1", "holds 0 messages"},
		{network, "at 0 duplicate 2->1", "holds 0 messages"},
		{network, "at 0 corrupt 1 99999999999", "no number"},
		{network, "at 0 forge 0->1 2", "no number"},
		{network, "at 0 resume 1", "has not crashed"},
		{network, "at 0 join 1", "has not crashed"},
		{network, "at 0 heal 0-1", "already"},
		{network, "at 0 rate 1 2", "no clock"},
		{ring, "at 0 rate 1 2", "no clock"},
		{ring, "at 0 delay 0->1 5", "no messages"},
		{ring, "at 0 drop 0->1", "no messages"},
		{ring, "at 0 cut 0-1", "not made for"},
		{ring, "at 0 corrupt 1 4", "no number 4"},
	}
	for _, c := range cases {
		r := mustRun(t, c.inst, Options{Steps: 10, Script: scriptOf(t, c.inst, c.statement)})
		s := r.Statements[0]
		if s.Fired != 0 || s.Skipped != 1 || !strings.Contains(s.Reason, c.reason) || len(r.Faults) != 0 || r.LastFault != -1 {
			t.Errorf("%s: %+v, want %q", c.statement, s, c.reason)
		}
	}
	r := mustRun(t, network, Options{Steps: 100, Script: scriptOf(t, network, "at 0 crash 1\nat 1 crash 1\nat 2 leave 1\nat 3 cut 2-3\nat 4 cut 3-2\nat 5 forge 2->3")})
	if got := r.Unfired(); len(got) != 4 {
		t.Errorf("unfired: %+v", got)
	}
}

func TestTheRingRecoversFromEveryFault(t *testing.T) {
	inst := ringOf(t, 30, 30, "")
	script := "when stable corrupt all\nwhen stable corrupt random 3\nwhen stable crash 3\nevery 500 from 500 to 2000 corrupt 7\nat 2500 resume 3\nat 2600 restart 0"
	r := mustRun(t, inst, Options{Seed: 9, Steps: 1_000_000, StopWhenStable: true, Script: scriptOf(t, inst, script), Record: true})
	if r.Stopped != StoppedStable || r.Verdict != Held || len(r.Unfired()) > 0 {
		t.Fatalf("%s, %s, %+v", r.Stopped, r.Verdict, r.Statements)
	}
	if r.Faults["corrupt"] != 30+3+4 || r.Faults["restart"] != 1 || r.LastFault < 2500 {
		t.Errorf("faults %v, last %d", r.Faults, r.LastFault)
	}
	if p := r.Property("exclusion"); p.Violations == 0 || p.Judged != 0 || p.First != 0 || p.Worst["privileges"] < 3 || p.Longest == 0 {
		t.Errorf("exclusion after corruption: %+v", p)
	}
	if r.Outside != r.Stabilized.Step-r.LastFault && r.Outside != 0 {
		t.Errorf("outside for %d, last fault %d, stable at %d", r.Outside, r.LastFault, r.Stabilized.Step)
	}
	// Played again it is the same run.
	again := mustRun(t, inst, Options{Daemon: &Recorded{Run: r.Run}})
	if again.Trace != r.Trace || again.Moves != r.Moves || again.Rounds != r.Rounds || again.Stopped != StoppedRecording {
		t.Errorf("played again: %+v\n%+v", again, r)
	}
}

// TestClocksKeepTheirRate: over a long time a clock has ticked as often as its rate says, to the tick.
func TestClocksKeepTheirRate(t *testing.T) {
	inst := newCourier(t, "ring:6", model.Links{})
	r := mustRun(t, inst, Options{Steps: 90_000, TickEvery: 100, Record: true, Script: scriptOf(t, inst, "at 0 rate 2 1.000001\nat 45000 rate 4 0.1")})
	ticks := map[int32]int{}
	for _, step := range r.Run.Steps {
		if step[0].Kind == model.Tick {
			ticks[step[0].At]++
		}
	}
	for p, want := range map[int32]int{0: 900, 2: 900, 4: 495} {
		if got := ticks[p]; got < want-1 || got > want+1 {
			t.Errorf("the clock of %d ticks %d times, not %d", p, got, want)
		}
	}
	if r.Ticks == 0 || r.Property("same").Skipped == "" {
		t.Errorf("%d ticks, %+v", r.Ticks, r.Property("same"))
	}
	if i := mustRun(t, inst, Options{Steps: 3000, Interned: true}).Property("same"); i.Skipped != "" || !i.Holds {
		t.Errorf("interned: %+v", i)
	}
}

// TestLiveAndInternedRunsAreTheSame: the two ways to keep values are one transition relation.
func TestLiveAndInternedRunsAreTheSame(t *testing.T) {
	inst := newCourier(t, "ring:5", model.Links{Capacity: 3, Lossy: true, Garbage: 1})
	o := Options{Start: Arbitrary, Seed: 8, Steps: 3000, CountBytes: true, Script: scriptOf(t, inst, "every 100 corrupt 2\nat 50 cut 0-1\nat 90 heal 0-1")}
	live := mustRun(t, inst, o)
	o.Interned = true
	interned := mustRun(t, inst, o)
	if live.Trace != interned.Trace || live.Bytes != interned.Bytes || live.Bytes == 0 || live.Messages != interned.Messages {
		t.Errorf("live %s, %d bytes; interned %s, %d bytes", live.Trace, live.Bytes, interned.Trace, interned.Bytes)
	}
}

func TestOverflowEndsTheRun(t *testing.T) {
	inst := newCourier(t, "ring:4", model.Links{Capacity: 1})
	r := mustRun(t, inst, Options{Steps: 10_000, TickEvery: 1, Script: scriptOf(t, inst, "at 0 delay 0->1 1000")})
	if r.Stopped != StoppedOverflow || r.Verdict != Unknown {
		t.Errorf("%s, %s", r.Stopped, r.Verdict)
	}
}
