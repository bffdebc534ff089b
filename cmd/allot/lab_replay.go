// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"allot/model"
	"allot/protocol"
	"allot/sim"
	"allot/topology"
)

func newReplay() *cobra.Command {
	var quiet, asJSON bool
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "show a recorded run or a counterexample step by step, and verify it",
		Long: `Replay a run that allot lab check --out or allot lab sim --record saved. Every move is checked, and if the file says
that the run breaks a property, that is verified anew.

Exit 0 if the run names no property, 1 if it breaks the property that it names, 2 if it does not, 64 if the file is not
a run or cannot be replayed.`,
		Example: `  allot lab check ring --topology ring:4 --k 2 --out cycle.run
  allot lab replay cycle.run
  allot lab replay cycle.run --quiet`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&quiet, "quiet", false, "only the verdict")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		run, inst, err := openRun(args[0])
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		report, err := sim.Replay(inst, run, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		out := cmd.OutOrStdout()
		var st *model.Story
		if !quiet || asJSON {
			if st, err = model.Tell(asRecorded(inst, run), run); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
		}
		if asJSON {
			err = printJSON(out, struct {
				model.Header
				*sim.ReplayReport
				Story *model.Story `json:"story"`
			}{run.Header, report, st})
		} else {
			fmt.Fprintf(out, "%s on %s, variant %s, recorded by %s\n\n", run.Algorithm, run.Topology, run.Variant, run.Origin)
			if st != nil {
				fmt.Fprint(out, st)
				fmt.Fprintln(out)
			}
			_, err = fmt.Fprintf(out, "%d steps: %s\n", report.Steps, report.Text)
		}
		if err != nil {
			return fileError(err)
		}
		switch {
		case run.Property == "":
			return nil
		case report.IsVerified:
			return exitError{code: exitViolated}
		}
		return exitError{code: exitUnknown}
	}
	return cmd
}

// openRun reads a recorded run and makes the instance that it is a run of.
func openRun(path string) (*model.Run, *model.Instance, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	run, err := model.ReadRun(bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	for _, text := range []*string{&run.Topology, &run.Why, &run.Origin, &run.Daemon, &run.Fairness} {
		*text = plain(*text)
	}
	algorithm, err := protocol.Find(run.Algorithm)
	if err != nil {
		return nil, nil, err
	}
	g, err := topology.ParseDOT([]byte(run.Graph))
	if err != nil {
		return nil, nil, fmt.Errorf("its network: %w", err)
	}
	links, err := model.ParseLinks(run.Links)
	if err != nil {
		return nil, nil, err
	}
	budget, err := model.ParseBudget(run.Faults)
	if err != nil {
		return nil, nil, err
	}
	inst, err := algorithm.Make(model.Options{Graph: g, Variant: run.Variant, Values: run.Values, Links: links, Budget: budget})
	return run, inst, err
}

// asRecorded is the instance over the kind of store that the run was recorded with: positions on unordered links mean
// different messages in the two.
func asRecorded(inst *model.Instance, run *model.Run) *model.Instance {
	if n, ok := inst.System.(*model.Network); ok && run.Origin == "sim" {
		return inst.With(n.Live())
	}
	return inst
}
