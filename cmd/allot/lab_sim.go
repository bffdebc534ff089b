// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"allot/check"
	"allot/model"
	"allot/sim"
)

func newSim() *cobra.Command {
	verb := &cobra.Command{
		Use:   "sim ALGORITHM",
		Short: "run a large instance under a seeded scheduler, with faults",
		Long: `Run one instance, of any size, under a seeded scheduler. The same seed gives the same run, byte for byte.

Faults come from a script (see docs/fault-scripts.md). Exit 0 held, 1 violated, 2 unknown (the run ended before it was
stable), 64 usage.`,
		Example: `  allot lab sim ring --topology ring:10000 --seed 7
  allot lab sim ring --topology ring:8 --start arbitrary --daemon optimal --until stable
  allot lab sim ring --topology ring:100 --start clean --script faults.txt --record run.run
  allot lab sim abp --steps 100000 --json`,
	}
	return perAlgorithm(verb, newSimOf)
}

// simFlags are the flags that sim and sweep share.
type simFlags struct {
	*question
	daemon, script, until string
	seed                  uint64
	steps                 int64
	countBytes            bool
}

func addSimFlags(cmd *cobra.Command, a *model.Algorithm) *simFlags {
	s := &simFlags{question: addQuestion(cmd, a)}
	f := cmd.Flags()
	f.StringVar(&s.daemon, "daemon", "central", "who moves: central, distributed[:P], synchronous, locally-central, round-robin, unfair:P, greedy, optimal (from the checker, small instances)")
	f.StringVar(&s.script, "script", "", "a file of faults, see docs/fault-scripts.md")
	f.StringVar(&s.until, "until", "steps", "when to end: steps (all are taken), stable, or violated")
	f.Uint64Var(&s.seed, "seed", 1, "seed of all chance")
	f.Int64Var(&s.steps, "steps", sim.DefaultSteps, "take at most so many steps")
	f.BoolVar(&s.countBytes, "bytes", false, "count the bytes of messages")
	return s
}

// options makes the options of one run of an instance.
func (s *simFlags) options(ctx context.Context, inst *model.Instance) (sim.Options, error) {
	o := sim.Options{Start: s.start, Seed: s.seed, Steps: s.steps, CountBytes: s.countBytes}
	if s.steps < 1 {
		return o, fmt.Errorf("--steps %d: it must be at least 1", s.steps)
	}
	switch s.until {
	case "steps":
	case "stable":
		o.StopWhenStable = true
	case "violated":
		o.StopWhenViolated = true
	default:
		return o, fmt.Errorf("--until %s: it must be steps, stable or violated", s.until)
	}
	var err error
	if s.daemon == "optimal" {
		o.Daemon, err = optimal(ctx, inst)
	} else {
		o.Daemon, err = sim.ParseDaemon(s.daemon)
	}
	if err != nil {
		return o, err
	}
	if s.script != "" {
		text, err := os.ReadFile(s.script)
		if err != nil {
			return o, err
		}
		if o.Script, err = sim.ParseScript(text, inst.System.Graph()); err != nil {
			return o, fmt.Errorf("%s: %w", s.script, err)
		}
	}
	return o, nil
}

// optimal is the adversary that the checker's exact distances make of the greedy daemon.
func optimal(ctx context.Context, inst *model.Instance) (sim.Daemon, error) {
	i := slices.IndexFunc(inst.Properties, func(p model.Property) bool { return p.Claim == model.Stabilizes })
	if i < 0 {
		return nil, fmt.Errorf("--daemon optimal: this algorithm has no property that says when it is stable")
	}
	result, err := check.Run(ctx, inst, check.Options{Arbitrary: true, Distances: true, Properties: []string{inst.Properties[i].Name}})
	if err != nil {
		return nil, fmt.Errorf("--daemon optimal: %w", err)
	}
	if result.Findings[0].WorstSteps == nil {
		return nil, fmt.Errorf("--daemon optimal: the checker found no longest way to the legitimate set (%s)", result.Verdict)
	}
	return &sim.Greedy{Name: "optimal", Potential: func(v *model.View) int64 {
		d, _ := result.Distance(v.C)
		return int64(d)
	}}, nil
}

func newSimOf(a *model.Algorithm) *cobra.Command {
	cmd := &cobra.Command{Example: fmt.Sprintf("  allot lab sim %[1]s --seed 7\n  allot lab sim %[1]s --topology %[2]s --steps 100000 --json", a.Name, a.Topology)}
	s := addSimFlags(cmd, a)
	var record, shrink string
	var asJSON, perProcess bool
	f := cmd.Flags()
	f.StringVar(&record, "record", "", "save every decision of the run to this file, for allot lab replay")
	f.StringVar(&shrink, "shrink", "", "if a property is violated, look for a short run that violates it too and save it to this file")
	f.BoolVar(&perProcess, "per-process", false, "with --json: also the numbers of each process")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		inst, err := s.make()
		if err != nil {
			return err
		}
		o, err := s.options(cmd.Context(), inst)
		if err != nil {
			return err
		}
		o.Record = record != "" || shrink != ""
		o.StopWhenViolated = o.StopWhenViolated || shrink != ""
		meter := newMeter(cmd.ErrOrStderr())
		o.Progress = func(p sim.Progress) {
			meter.show(fmt.Sprintf("step %s of %s, %s moves, %s rounds", grouped(uint64(p.Step)), grouped(uint64(p.Steps)), grouped(uint64(p.Moves)), grouped(uint64(p.Rounds))))
		}
		begin := time.Now()
		report, err := sim.Run(cmd.Context(), inst, o)
		meter.clear()
		if err != nil {
			return err
		}
		seconds := time.Since(begin).Seconds()
		if report.Run != nil {
			if err := s.saveRuns(cmd, inst, report, record, shrink); err != nil {
				return err
			}
		}
		if report.Waiting != nil && (!perProcess || !asJSON) {
			report.Waiting.Services, report.Waiting.LongestSteps, report.Waiting.LongestEntries = nil, nil, nil
		}
		out := simAnswer{Question: s.describe(inst), Algorithm: a.Name, Variant: s.variant, Seconds: seconds,
			MovesPerSecond: float64(report.Moves) / max(seconds, 1e-9), Report: report}
		if asJSON {
			if err := printJSON(cmd.OutOrStdout(), out); err != nil {
				return fileError(err)
			}
		} else {
			out.print(cmd.OutOrStdout())
		}
		return simExit(report.Verdict)
	}
	return cmd
}

func simExit(verdict string) error {
	switch verdict {
	case sim.Violated:
		return exitError{code: exitViolated}
	case sim.Unknown:
		return exitError{code: exitUnknown}
	}
	return nil
}

// saveRuns writes the recording and, of a failing run, a shorter one.
func (s *simFlags) saveRuns(cmd *cobra.Command, inst *model.Instance, report *sim.Report, record, shrink string) error {
	run := s.named(inst, report.Run)
	if record != "" {
		if err := writeRun(record, run); err != nil {
			return err
		}
	}
	if shrink == "" || report.Verdict != sim.Violated {
		return nil
	}
	meter := newMeter(cmd.ErrOrStderr())
	short, err := sim.ShrinkProperty(cmd.Context(), inst, run, func(p sim.ShrinkProgress) {
		meter.show(fmt.Sprintf("shrinking: %s steps after %s trials", grouped(uint64(p.Steps)), grouped(uint64(p.Trials))))
	})
	meter.clear()
	if err != nil {
		return err
	}
	return writeRun(shrink, short)
}

// named is a recorded run with everything filled in that a file must say.
func (s *simFlags) named(inst *model.Instance, run *model.Run) *model.Run {
	header := s.header(inst.System.Graph())
	own := run.Header
	header.Origin, header.Daemon, header.Seed, header.Script = own.Origin, own.Daemon, own.Seed, own.Script
	header.Start, header.Property, header.Process, header.Why = own.Start, own.Property, own.Process, own.Why
	return &model.Run{Header: header, Steps: run.Steps}
}

// simAnswer is what is printed of a report.
type simAnswer struct {
	Question       string  `json:"question"`
	Algorithm      string  `json:"algorithm"`
	Variant        string  `json:"variant"`
	Seconds        float64 `json:"seconds"`
	MovesPerSecond float64 `json:"moves_per_second"`
	*sim.Report
}

func (a simAnswer) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s daemon, seed %d\n\n", a.Question, a.Daemon, a.Seed)
	fmt.Fprintf(w, "  steps       %s, %s moves, %s rounds; ended: %s\n", grouped(uint64(a.Steps)), grouped(uint64(a.Moves)), grouped(uint64(a.Rounds)), a.Stopped)
	if a.Messages > 0 {
		fmt.Fprintf(w, "  messages    %s", grouped(uint64(a.Messages)))
		if a.Bytes > 0 {
			fmt.Fprintf(w, ", %s bytes", grouped(uint64(a.Bytes)))
		}
		fmt.Fprintln(w)
	}
	if a.Stabilized.Step >= 0 {
		fmt.Fprintf(w, "  stable      since step %s (move %s, round %s)\n", grouped(uint64(a.Stabilized.Step)), grouped(uint64(a.Stabilized.Moves)), grouped(uint64(a.Stabilized.Round)))
	}
	for _, g := range a.Gauges {
		fmt.Fprintf(w, "  %-11s %d at the end, %d to %d\n", g.Name, g.Last, g.Min, g.Max)
	}
	if wait := a.Waiting; wait != nil && wait.Entered > 0 {
		fmt.Fprintf(w, "  waiting     mean %.1f, p50 %d, p99 %d, longest %d steps; longest %d entries of others\n", wait.Steps.Mean, wait.Steps.P50, wait.Steps.P99, wait.Steps.Max, wait.Entries.Max)
		fmt.Fprintf(w, "  service     %s entries, %s processes served, Jain's index %.4f\n", grouped(uint64(wait.Entered)), grouped(uint64(wait.Served)), wait.Jain)
	}
	for _, st := range a.Statements {
		fmt.Fprintf(w, "  fault       line %d: %s: %d happened", st.Line, st.Text, st.Fired)
		if st.Skipped > 0 {
			fmt.Fprintf(w, ", %d could not (%s)", st.Skipped, st.Reason)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	for _, p := range a.Properties {
		a.printProperty(w, p)
	}
	fmt.Fprintf(w, "\n%s: trace %s, %.2f s, %s moves/s\n", a.Verdict, a.Trace, a.Seconds, grouped(uint64(a.MovesPerSecond)))
}

func (a simAnswer) printProperty(w io.Writer, p sim.PropertyReport) {
	state := "holds"
	switch {
	case p.Skipped != "":
		state = "not looked at: " + p.Skipped
	case p.Judged > 0:
		state = fmt.Sprintf("violated %s times, first at step %d, longest stretch %d: %s", grouped(uint64(p.Judged)), p.First, p.Longest, p.Why)
	case !p.Holds:
		state = "does not hold at the end"
	case p.Violations > 0:
		state = fmt.Sprintf("holds now; %s configurations before were outside", grouped(uint64(p.Violations)))
	}
	fmt.Fprintf(w, "  %-14s %s\n", p.Name, state)
}
