// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"allot/check"
	"allot/model"
)

func newCheck() *cobra.Command {
	verb := &cobra.Command{
		Use:   "check ALGORITHM",
		Short: "explore every interleaving: proved, counterexample or unknown",
		Long: `Explore every interleaving of a small instance, on the code that runs in production.

The answer is proved, counterexample or unknown. A search that is cut by a limit of states, memory or time, or by
Ctrl-C, answers unknown and says how far it came. Exit 0 proved, 1 counterexample, 2 unknown, 64 usage.

Each algorithm has parameters of its own: see allot lab check ALGORITHM --help.`,
		Example: `  allot lab check ring --topology ring:7 --k 7 --daemon central
  allot lab check ring --topology ring:5 --k 3 --daemon central --out cycle.run
  allot lab check peterson --fairness weak
  allot lab check abp --links unordered,lossy,capacity=2 --property order
  allot lab check ring --faults corrupt=1 --start clean --json`,
	}
	return perAlgorithm(verb, newCheckOf)
}

// checkCommand holds the flags of one check.
type checkCommand struct {
	*question
	daemon, fairness, store, memory string
	properties                      []string
	maxStates                       uint64
	timeout                         time.Duration
	out, worst                      string
	rounds, asJSON                  bool
	workers                         int
}

func newCheckOf(a *model.Algorithm) *cobra.Command {
	cmd := &cobra.Command{Example: fmt.Sprintf("  allot lab check %[1]s\n  allot lab check %[1]s --topology %[2]s --json", a.Name, a.Topology)}
	c := &checkCommand{question: addQuestion(cmd, a)}
	f := cmd.Flags()
	f.StringVar(&c.daemon, "daemon", string(check.Central), "who acts in a step: "+joined(check.Daemons))
	f.StringVar(&c.fairness, "fairness", cmp.Or(a.Fairness, string(check.None)), "what the daemon owes: "+joined(check.Fairnesses))
	f.StringSliceVar(&c.properties, "property", nil, "only these properties (default: all that are made for the start)")
	f.StringVar(&c.faults, "faults", "", "what the adversary may do, such as crash=1,corrupt=1 (crash, resume, restart, lose, duplicate, corrupt, forge)")
	f.StringVar(&c.store, "store", string(check.Auto), "how configurations are kept: "+joined(check.Keeps))
	f.Uint64Var(&c.maxStates, "max-states", 1<<30, "cut the search at so many configurations")
	f.StringVar(&c.memory, "max-memory", "4GiB", "cut the search when configurations take so much")
	f.DurationVar(&c.timeout, "timeout", 0, "cut the search after this time, such as 30s or 10m (0: never)")
	f.BoolVar(&c.rounds, "rounds", false, "also find the exact worst case in rounds (up to 2^n times the work)")
	f.IntVar(&c.workers, "workers", 0, "goroutines (0: one for each processor)")
	f.StringVar(&c.out, "out", "", "save the counterexample to this file, for allot lab replay")
	f.StringVar(&c.worst, "worst", "", "save a run that takes the worst-case number of steps to this file")
	f.BoolVar(&c.asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return c.run(cmd) }
	return cmd
}

func joined[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}

func (c *checkCommand) options() (check.Options, error) {
	memory, err := parseBytes(c.memory)
	if err != nil {
		return check.Options{}, fmt.Errorf("--max-memory %w", err)
	}
	if c.maxStates == 0 {
		return check.Options{}, fmt.Errorf("--max-states 0: it must be at least 1")
	}
	return check.Options{
		Arbitrary: c.start == "arbitrary", Daemon: check.Daemon(c.daemon), Fairness: check.Fairness(c.fairness),
		Properties: c.properties, Keep: check.Keep(c.store), MaxStates: c.maxStates, MaxMemory: memory,
		Rounds: c.rounds, Workers: c.workers,
	}, nil
}

func (c *checkCommand) run(cmd *cobra.Command) error {
	inst, err := c.make()
	if err != nil {
		return err
	}
	options, err := c.options()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	meter := newMeter(cmd.ErrOrStderr())
	options.Progress = func(p check.Progress) { meter.show(describeProgress(p)) }
	begin := time.Now()
	result, err := check.Run(ctx, inst, options)
	meter.clear()
	if err != nil {
		return err
	}
	answer, err := c.newAnswer(inst, result, time.Since(begin).Seconds())
	if err != nil {
		return err
	}
	if err := c.save(inst, result); err != nil {
		return err
	}
	if c.asJSON {
		err = printJSON(cmd.OutOrStdout(), answer)
	} else {
		answer.print(cmd.OutOrStdout())
	}
	if err != nil {
		return fileError(err)
	}
	switch result.Verdict {
	case check.Counterexample:
		return exitError{code: exitViolated}
	case check.Unknown:
		return exitError{code: exitUnknown}
	case check.Proved:
	}
	return nil
}

// save writes the files that were asked for.
func (c *checkCommand) save(inst *model.Instance, result *check.Result) error {
	for _, f := range result.Findings {
		if c.out != "" && f.Verdict == check.Counterexample && f.Run != nil {
			if err := writeRun(c.out, c.named(inst, f.Run)); err != nil {
				return err
			}
			break
		}
	}
	for _, f := range result.Findings {
		if c.worst != "" && f.Worst != nil {
			return writeRun(c.worst, c.named(inst, f.Worst))
		}
	}
	return nil
}

// named is a run of the checker with everything filled in that a file must say.
func (c *checkCommand) named(inst *model.Instance, run *model.Run) *model.Run {
	header := c.header(inst.System.Graph())
	header.Origin, header.Daemon, header.Fairness = "check", c.daemon, c.fairness
	header.Start, header.Property, header.Process, header.Why, header.Loop = run.Start, run.Property, run.Process, run.Why, run.Loop
	return &model.Run{Header: header, Steps: run.Steps}
}

// answer is what is printed of a result.
type answer struct {
	Verdict    check.Verdict `json:"verdict"`
	Property   string        `json:"property"`
	Question   string        `json:"question"`
	Algorithm  string        `json:"algorithm"`
	Variant    string        `json:"variant"`
	Daemon     string        `json:"daemon"`
	Fairness   string        `json:"fairness"`
	WorstSteps *int          `json:"worst_steps"`
	// WorstRounds is null unless it was asked for.
	WorstRounds     *int         `json:"worst_rounds"`
	Counterexample  *model.Story `json:"counterexample"`
	Seconds         float64      `json:"seconds"`
	StatesPerSecond float64      `json:"states_per_second"`
	File            string       `json:"file,omitempty"`
	*check.Result
}

func (c *checkCommand) newAnswer(inst *model.Instance, r *check.Result, seconds float64) (*answer, error) {
	a := &answer{
		Verdict: r.Verdict, Question: c.describe(inst), Algorithm: c.algorithm.Name, Variant: c.variant,
		Daemon: c.daemon, Fairness: c.fairness, Seconds: seconds, StatesPerSecond: float64(r.States) / max(seconds, 1e-9), Result: r,
	}
	var names []string
	for _, f := range r.Findings {
		names = append(names, f.Property)
		if f.WorstSteps != nil {
			a.WorstSteps, a.WorstRounds = f.WorstSteps, f.WorstRounds
		}
	}
	a.Property = strings.Join(names, ",")
	i := slices.IndexFunc(r.Findings, func(f check.Finding) bool { return f.Verdict == check.Counterexample })
	if i < 0 {
		return a, nil
	}
	a.Property = r.Findings[i].Property
	if r.Findings[i].Run != nil {
		var err error
		if a.Counterexample, err = model.Tell(inst, r.Findings[i].Run); err != nil {
			return nil, fmt.Errorf("the counterexample cannot be replayed: %w", err)
		}
		a.File = c.out
	}
	return a, nil
}

func (a *answer) print(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s daemon, fairness %s\n\n", a.Question, a.Daemon, a.Fairness)
	for _, f := range a.Findings {
		fmt.Fprintf(w, "  %-14s %s", f.Property, f.Verdict)
		if f.WorstSteps != nil {
			fmt.Fprintf(w, ": at most %s steps, and there is a run that takes them", grouped(uint64(*f.WorstSteps)))
		}
		if f.WorstRounds != nil {
			fmt.Fprintf(w, "; at most %d rounds", *f.WorstRounds)
		}
		if f.Legitimate > 0 {
			fmt.Fprintf(w, "; %s legitimate configurations", grouped(f.Legitimate))
		}
		if f.Why != "" {
			fmt.Fprintf(w, ": %s", f.Why)
		}
		fmt.Fprintln(w)
	}
	if a.Counterexample != nil {
		fmt.Fprintf(w, "\nA run that breaks %q:\n", a.Property)
		fmt.Fprint(w, a.Counterexample)
		if a.File != "" {
			fmt.Fprintf(w, "\nSaved. See it again with: allot lab replay %s\n", a.File)
		} else {
			fmt.Fprintln(w, "\nSave it with --out FILE, and see it again with allot lab replay FILE.")
		}
	}
	fmt.Fprintf(w, "\n%s: %s states, %s transitions, diameter %d, store %s %s, %.2f s, %s states/s\n", a.Verdict,
		grouped(a.States), grouped(a.Transitions), a.Depth, a.Keep, bytesText(a.Bytes), a.Seconds, grouped(uint64(a.StatesPerSecond)))
	if a.Keep == check.Fingerprint {
		fmt.Fprintf(w, "probability that two configurations were taken for one: %.2g\n", a.Collision)
	}
	if a.Cut != "" {
		fmt.Fprintf(w, "the search was cut: %s\n", a.Cut)
	}
}

func describeProgress(p check.Progress) string {
	text := p.Phase + ": " + grouped(p.States) + " states"
	if p.Total > 0 && p.States <= p.Total {
		text += fmt.Sprintf(" (%.0f%%)", 100*float64(p.States)/float64(p.Total))
	}
	if p.Depth > 0 {
		text += fmt.Sprintf(", depth %d", p.Depth)
	}
	return text + ", " + grouped(p.Transitions) + " transitions"
}
