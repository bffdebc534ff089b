// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"allot/check"
	"allot/model"
	"allot/protocol/ring"
	"allot/sim"
	"allot/topology"
)

func newTour() *cobra.Command {
	return &cobra.Command{
		Use:     "tour",
		Short:   "a demonstration: an algorithm proved, refuted, broken and healing, in a few seconds",
		Example: "  allot lab tour",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return demonstrate(cmd.Context(), cmd.OutOrStdout()) },
	}
}

// demonstrate shows the laboratory on Dijkstra's ring.
func demonstrate(ctx context.Context, w io.Writer) error {
	fmt.Fprintln(w, "allot shares scarce things among many parties. This is its laboratory, on the first algorithm")
	fmt.Fprintln(w, "that healed by itself: Dijkstra's token ring of 1974.")
	for _, part := range []func(context.Context, io.Writer) error{demonstrateProof, demonstrateFlaw, demonstrateHealing} {
		fmt.Fprintln(w)
		if err := part(ctx, w); err != nil {
			return err
		}
	}
	fmt.Fprintln(w, "\nGo on with:")
	fmt.Fprintln(w, "  allot lab list")
	fmt.Fprintln(w, "  allot lab check ring --topology ring:7 --daemon distributed")
	fmt.Fprintln(w, "  allot lab sim ring --topology ring:10000 --start arbitrary --until stable --steps 1000000000")
	fmt.Fprintln(w, "  allot lab sweep ring --over n=10..1000 --repeat 20 --plot ring.svg")
	return nil
}

func ringOf(n, k int) (*model.Instance, error) {
	g, err := topology.Parse(fmt.Sprintf("ring:%d", n))
	if err != nil {
		return nil, err
	}
	return ring.Algorithm.Make(model.Options{Graph: g, Values: map[string]string{"k": fmt.Sprint(k)}})
}

func demonstrateProof(ctx context.Context, w io.Writer) error {
	inst, err := ringOf(7, 7)
	if err != nil {
		return err
	}
	begin := time.Now()
	result, err := check.Run(ctx, inst, check.Options{Arbitrary: true})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "1. A proof. Seven processes, each with a counter of seven values: %s configurations.\n", grouped(result.States))
	for _, f := range result.Findings {
		fmt.Fprintf(w, "   %-12s %s: %s\n", f.Property, f.Verdict, f.Text)
		if f.WorstSteps != nil {
			fmt.Fprintf(w, "   %-12s from the worst of them it takes exactly %d steps\n", "", *f.WorstSteps)
		}
	}
	fmt.Fprintf(w, "   every one of them was looked at, in %.2f s\n", time.Since(begin).Seconds())
	return nil
}

func demonstrateFlaw(ctx context.Context, w io.Writer) error {
	inst, err := ringOf(4, 2)
	if err != nil {
		return err
	}
	result, err := check.Run(ctx, inst, check.Options{Arbitrary: true, Properties: []string{"stabilizes"}})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "2. A counterexample. Four processes, but counters of two values only:")
	st, err := model.Tell(inst, result.Findings[0].Run)
	if err != nil {
		return err
	}
	for line := range strings.Lines(st.String()) {
		fmt.Fprint(w, " ", line)
	}
	return nil
}

// demonstrateHealing corrupts a large ring and draws how the number of privileges comes back to one.
func demonstrateHealing(ctx context.Context, w io.Writer) error {
	const n = 200
	inst, err := ringOf(n, n)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "3. Healing. %d processes; at step 1,000 the memory of all of them is overwritten.\n", n)
	script, err := sim.ParseScript([]byte("at 1000 corrupt all\n"), inst.System.Graph())
	if err != nil {
		return err
	}
	report, err := sim.Run(ctx, inst, sim.Options{Seed: 7, Steps: 10_000_000, Script: script, StopWhenStable: true})
	if err != nil {
		return err
	}
	for _, g := range report.Gauges {
		fmt.Fprintf(w, "   %s rose from 1 to %d and came back to %d", g.Name, g.Max, g.Last)
	}
	fmt.Fprintf(w, " after %s steps; nobody did anything.\n", grouped(uint64(report.Stabilized.Step-report.LastFault)))
	if report.Verdict != sim.Held {
		return fmt.Errorf("the demonstration ended %s, which is a bug", report.Verdict)
	}
	return nil
}
