// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"allot/model"
	"allot/protocol/abp"
	"allot/protocol/peterson"
)

func TestSameSeedGivesTheSameRunOnAnyNumberOfCores(t *testing.T) {
	courier := newCourier(t, "ring:9", model.Links{Unordered: true, Lossy: true})
	ring := ringOf(t, 50, 50, "")
	runs := func() string {
		var all []any
		for _, seed := range []uint64{1, 2} {
			all = append(all,
				mustRun(t, ring, Options{Start: Arbitrary, Seed: seed, Steps: 5000, Script: scriptOf(t, ring, "every 100 corrupt random 3")}),
				mustRun(t, ring, Options{Start: Arbitrary, Seed: seed, Steps: 500, Daemon: daemonOf(t, "distributed:0.3")}),
				mustRun(t, courier, Options{Start: Arbitrary, Seed: seed, Steps: 5000, CountBytes: true, Script: scriptOf(t, courier, "every 70 forge 0->1")}))
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := runs()
	cores := runtime.GOMAXPROCS(1)
	second := runs()
	runtime.GOMAXPROCS(cores)
	if first != second {
		t.Errorf("two runs differ:\n%.300s\n%.300s", first, second)
	}
	a, b := mustRun(t, ring, Options{Seed: 1, Start: Arbitrary}), mustRun(t, ring, Options{Seed: 2, Start: Arbitrary})
	if a.Trace == b.Trace {
		t.Error("two seeds give the same run")
	}
}

func TestAFaultMoreDoesNotShiftTheSchedule(t *testing.T) {
	inst := newSpinner(t, "ring:7")
	sites := func(script string) []int32 {
		r := mustRun(t, inst, Options{Seed: 3, Steps: 300, Record: true, Script: scriptOf(t, inst, script)})
		var list []int32
		for _, step := range r.Run.Steps {
			if step[0].Kind == model.Act {
				list = append(list, step[0].At)
			}
		}
		return list
	}
	plain, faulty := sites(""), sites("every 10 corrupt 3")
	for i, p := range plain {
		if faulty[i] != p {
			t.Fatalf("step %d: %d moves, with faults %d", i, p, faulty[i])
		}
	}
}

// TestRingAgainstASecondImplementation runs Dijkstra's ring as a plain array beside the simulator.
func TestRingAgainstASecondImplementation(t *testing.T) {
	for _, spec := range []string{"central", "distributed", "synchronous", "locally-central", "round-robin", "unfair:2", "greedy"} {
		for seed := range uint64(5) {
			const n, k = 12, 12
			inst := ringOf(t, n, k, "")
			r := mustRun(t, inst, Options{Start: Arbitrary, Seed: seed, Daemon: daemonOf(t, spec), Steps: 3000, Record: true})
			x := make([]uint64, n)
			copy(x, r.Run.Start)
			// The walk of the ring's predecessors starts at the root by its first channel.
			before := func(p int) int { return (p + n - 1) % n }
			if int(inst.System.Graph().Neighbours(0)[0]) != 1 {
				before = func(p int) int { return (p + 1) % n }
			}
			isPrivileged := func(p int) bool { return (x[p] == x[before(p)]) == (p == 0) }
			count := func() (sum int) {
				for p := range n {
					if isPrivileged(p) {
						sum++
					}
				}
				return sum
			}
			stable, most := int64(-1), count()
			if most == 1 {
				stable = 0
			}
			for i, step := range r.Run.Steps {
				next := append([]uint64{}, x...)
				for _, m := range step {
					p := int(m.At)
					if !isPrivileged(p) {
						t.Fatalf("%s, seed %d: step %d: process %d moves without a privilege", spec, seed, i, p)
					}
					next[p] = x[before(p)]
					if p == 0 {
						next[p] = (x[p] + 1) % k
					}
				}
				x = next
				tokens := count()
				most = max(most, tokens)
				if tokens == 1 && stable < 0 {
					stable = int64(i) + 1
				}
			}
			if r.Stabilized.Step != stable || r.Gauges[0].Max != int64(most) || r.Verdict != Held {
				t.Errorf("%s, seed %d: stable at %d with at most %d privileges, verdict %s; the array says %d and %d",
					spec, seed, r.Stabilized.Step, r.Gauges[0].Max, r.Verdict, stable, most)
			}
		}
	}
}

func TestMutantsAreCaught(t *testing.T) {
	for _, variant := range []string{"root-guard-turned", "other-guard-turned", "root-still", "last-still", "copy-plus-one", "root-copies"} {
		verdict := Held
		for seed := range uint64(20) {
			for _, start := range []string{Clean, Arbitrary} {
				r := mustRun(t, ringOf(t, 6, 6, variant), Options{Start: start, Seed: seed, Steps: 5000})
				if r.Verdict == Violated {
					verdict = Violated
				}
			}
		}
		if verdict != Violated {
			t.Errorf("mutant %s is not noticed", variant)
		}
	}
	if r := mustRun(t, ringOf(t, 9, 2, ""), Options{Start: Arbitrary, Steps: 3, Seed: 1}); r.Verdict != Unknown {
		t.Errorf("a run cut short is %s", r.Verdict)
	}
}

func TestARunStops(t *testing.T) {
	inst := ringOf(t, 8, 8, "")
	cases := []struct {
		name string
		o    Options
		want string
		at   int64
	}{
		{"after its steps", Options{Steps: 77}, StoppedSteps, 77},
		{"stable from the start", Options{StopWhenStable: true}, StoppedStable, 0},
		{"after the script", Options{StopWhenStable: true, Script: scriptOf(t, inst, "at 500 crash 1\nat 501 resume 1")}, StoppedStable, 501},
		{"everybody crashed", Options{Script: scriptOf(t, inst, strings.Join([]string{
			"at 10 crash 0", "at 10 crash 1", "at 10 crash 2", "at 10 crash 3", "at 10 crash 4", "at 10 crash 5", "at 10 crash 6",
			"at 10 crash 7"}, "\n"))}, StoppedRest, 10},
	}
	for _, c := range cases {
		r := mustRun(t, inst, c.o)
		if r.Stopped != c.want || r.Steps != c.at {
			t.Errorf("%s: %s at %d, not %s at %d", c.name, r.Stopped, r.Steps, c.want, c.at)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	seen := int64(0)
	r, err := Run(ctx, inst, Options{Steps: 1 << 40, ProgressEvery: 1000, Progress: func(p Progress) {
		if seen = p.Step; p.Step >= 10_000 {
			cancel()
		}
	}})
	if err != nil || r.Stopped != StoppedInterrupted || seen < 10_000 || r.Steps > 20_000 {
		t.Errorf("interrupted at %d: %v, %+v", seen, err, r)
	}
}

func TestTimeJumpsOverIdleSteps(t *testing.T) {
	inst := ringOf(t, 3, 3, "")
	r := mustRun(t, inst, Options{Steps: 1 << 45, Script: scriptOf(t, inst, "at 9 crash 0\nat 9 crash 1\nat 9 crash 2\nat 1000000000000 crash 1")})
	if r.Steps != 1_000_000_000_000 || r.Idle != r.Steps-9 || r.Stopped != StoppedRest || len(r.Unfired()) != 1 {
		t.Errorf("%+v", r)
	}
	if p := r.Property("no-deadlock"); p == nil || p.Judged == 0 || r.Verdict != Violated {
		t.Errorf("rest is not noticed: %+v", p)
	}
}

func TestOptionsAreRefused(t *testing.T) {
	inst, network := ringOf(t, 4, 4, ""), newCourier(t, "ring:4", model.Links{})
	other := scriptOf(t, ringOf(t, 5, 5, ""), "at 1 crash 4")
	cases := []struct {
		inst *model.Instance
		o    Options
		want string
	}{
		{inst, Options{Start: "dirty"}, "clean or arbitrary"},
		{inst, Options{Start: Clean, Ranks: []uint64{1}}, "not both"},
		{inst, Options{Ranks: []uint64{1}}, "numbers"},
		{inst, Options{Steps: -1}, "steps"},
		{inst, Options{TickEvery: -1}, "tick"},
		{inst, Options{ProgressEvery: -1}, "progress"},
		{inst, Options{Script: other}, "5 processes"},
		{inst, Options{Daemon: &Unfair{Victim: 4}}, "0..3"},
		{inst, Options{Daemon: &Distributed{}}, "probability"},
		{inst, Options{Daemon: &Recorded{}}, "no run"},
		{inst, Options{Daemon: &Recorded{Run: &model.Run{}}, Script: scriptOf(t, inst, "")}, "script"},
		{newPair(t, "ring:4"), Options{Daemon: &Greedy{}}, "potential"},
		{newPair(t, "ring:4"), Options{StopWhenStable: true}, "stable"},
		{network, Options{Daemon: &Synchronous{}}, "one thing happens at a time"},
		{network, Options{Daemon: &Distributed{Probability: 1}}, "one thing happens at a time"},
		{network, Options{Daemon: &LocallyCentral{}}, "one thing happens at a time"},
		{nil, Options{}, "no system"},
	}
	for _, c := range cases {
		if _, err := Run(context.Background(), c.inst, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}

// TestSharedRegistersAndMessages: the other two models of computation go through the same door.
func TestSharedRegistersAndMessages(t *testing.T) {
	caught := 0
	for _, a := range []*model.Algorithm{&peterson.Algorithm, &abp.Algorithm} {
		links, err := model.ParseLinks(a.Links)
		if err != nil {
			t.Fatal(err)
		}
		for _, variant := range slices.Concat(a.Variants, a.Mutants) {
			inst, err := a.Make(model.Options{Graph: graph(t, a.Topology), Variant: variant, Links: links})
			if err != nil {
				t.Fatal(err)
			}
			r := mustRun(t, inst, Options{Seed: 1, Steps: 20_000, Record: true, StopWhenViolated: true})
			isMutant := !slices.Contains(a.Variants, variant)
			if !isMutant && r.Verdict != Held || r.Moves == 0 {
				t.Errorf("%s, %s: %s after %d moves", a.Name, variant, r.Verdict, r.Moves)
			}
			if r.Verdict == Held && !isMutant {
				for _, p := range r.Properties {
					if p.Claim == model.Sometimes.String() && !p.Holds {
						t.Errorf("%s: %s was never seen", a.Name, p.Name)
					}
				}
				continue
			}
			if r.Counterexample == nil {
				continue // what is wrong with it shows only in runs that never end
			}
			caught++
			if got := replayed(t, inst, r.Counterexample, nil); !got.IsVerified {
				t.Errorf("%s, %s: %s", a.Name, variant, got.Text)
			}
		}
	}
	if caught < 2 {
		t.Errorf("%d mutants are caught", caught)
	}
}

func TestAStepAllocatesNothing(t *testing.T) {
	for name, inst := range map[string]*model.Instance{"ring": ringOf(t, 500, 500, ""), "courier": newCourier(t, "ring:50", model.Links{})} {
		allocations := func(steps int64) float64 {
			return testing.AllocsPerRun(1, func() { mustRun(t, inst, Options{Seed: 1, Steps: steps}) })
		}
		short, long := allocations(20_000), allocations(120_000)
		if more := long - short; more > 500 {
			t.Errorf("%s: 100,000 steps more allocate %v times", name, more)
		}
	}
}
