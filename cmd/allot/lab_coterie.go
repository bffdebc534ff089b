// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"allot/chart"
	"allot/protocol/coterie"
)

// coterieCommand holds the flags of allot lab coterie.
type coterieCommand struct {
	p       float64
	samples int
	seed    uint64
	plot    string
	members bool
	asJSON  bool
}

func newCoterie() *cobra.Command {
	c := &coterieCommand{}
	cmd := &cobra.Command{
		Use:   "coterie FORM…",
		Short: "quorum systems: their sizes, load and availability",
		Long: `Build quorum systems, check them, and compute what they cost and what they survive.

A coterie that has an empty quorum, or two quorums without a common member, is refused and the pair is named.
Load is the part of all quorums that the busiest process is in, when every process asks its own quorum equally often.
Availability is the probability that some quorum is alive when each process fails with probability p: one of those
that the processes are assigned, and any that the construction allows. It is exact up to ` + fmt.Sprint(coterie.ExactUpTo) + ` processes.

Forms, each with the number of processes as in grid:25: ` + coterie.Forms,
		Example: `  allot lab coterie grid:25
  allot lab coterie majority:21 grid:21 plane:21 tree:21 wall:21 --p 0.05 --plot availability.svg
  allot lab coterie own:0+1/1+2/0+2 --members --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd, args) },
	}
	f := cmd.Flags()
	f.Float64Var(&c.p, "p", 0.1, "the probability with which each process fails, 0 to 1")
	f.IntVar(&c.samples, "samples", 100_000, "how often to draw the failures where the sum over all of them is too long")
	f.Uint64Var(&c.seed, "seed", 1, "seed of the samples")
	f.StringVar(&c.plot, "plot", "", "draw availability against p to this SVG file")
	f.BoolVar(&c.members, "members", false, "list the quorum of every process")
	f.BoolVar(&c.asJSON, "json", false, "print JSON")
	return cmd
}

// coterieReport is what is printed of one coterie.
type coterieReport struct {
	Form      string `json:"coterie"`
	Processes int    `json:"processes"`
	Distinct  int    `json:"distinct_quorums"`
	coterie.Worth
	Availability coterie.Availability `json:"availability"`
	Quorums      [][]int              `json:"quorums,omitempty"`
}

func (c *coterieCommand) run(cmd *cobra.Command, forms []string) error {
	if !(c.p >= 0 && c.p <= 1) {
		return fmt.Errorf("--p %v: it must be 0 to 1", c.p)
	}
	if c.samples < 1 || c.samples > 100_000_000 {
		return fmt.Errorf("--samples %d: it must be 1 to 100,000,000", c.samples)
	}
	coteries := make([]*coterie.Coterie, len(forms))
	reports := make([]coterieReport, len(forms))
	for i, form := range forms {
		built, err := coterie.Parse(form, 0)
		if err != nil {
			return err
		}
		coteries[i] = built
		reports[i] = coterieReport{Form: built.Name, Processes: built.Len(), Distinct: built.Distinct(), Worth: built.Worth(),
			Availability: built.Availability(c.p, c.samples, c.seed)}
		if c.members {
			for p := range built.Len() {
				reports[i].Quorums = append(reports[i].Quorums, built.Quorum(p))
			}
		}
	}
	if c.plot != "" {
		if err := c.draw(coteries); err != nil {
			return err
		}
	}
	if c.asJSON {
		return printJSON(cmd.OutOrStdout(), reports)
	}
	for i, r := range reports {
		if i > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		r.print(cmd.OutOrStdout())
	}
	return nil
}

func (r coterieReport) print(w io.Writer) {
	fmt.Fprintf(w, "%s: %d processes, %d different quorums; all are non-empty and any two have a common member\n", r.Form, r.Processes, r.Distinct)
	if r.Minimality == "" {
		fmt.Fprintln(w, "  minimal       yes")
	} else {
		fmt.Fprintf(w, "  minimal       no (it costs messages, not correctness): %s\n", r.Minimality)
	}
	fmt.Fprintf(w, "  quorum size   %d to %d, mean %.2f\n", r.Smallest, r.Largest, r.Mean)
	fmt.Fprintf(w, "  load          %.4f at the busiest process, %.4f at the idlest (each process asks its own quorum equally often;\n"+
		"                no strategy for quorums of %d or more can be below %.4f)\n", r.Load, r.LeastLoad, r.Smallest, r.LoadBound)
	a := r.Availability
	how := "exact"
	if !a.IsExact {
		how = fmt.Sprintf("sampled, standard error %.1g", a.Error)
	}
	fmt.Fprintf(w, "  availability  %.6f of an assigned quorum, %.6f of any quorum of the construction, when each fails with p = %g (%s)\n", a.Assigned, a.Any, a.P, how)
	for p, q := range r.Quorums {
		fmt.Fprintf(w, "  quorum %-6d %v\n", p, q)
	}
}

// draw plots availability against p, and for comparison that of a single process.
func (c *coterieCommand) draw(coteries []*coterie.Coterie) error {
	const points = 26
	picture := chart.Chart{
		Title: "Availability of quorum systems", Subtitle: "probability that some quorum of the construction is alive",
		XLabel: "probability p with which each process fails", YLabel: "availability",
	}
	single := chart.Series{Name: "a single process", Dashed: true}
	for _, built := range coteries {
		series := chart.Series{Name: built.Name}
		for i := range points {
			p := 0.5 * float64(i) / (points - 1)
			series.X = append(series.X, p)
			series.Y = append(series.Y, built.Availability(p, min(c.samples, 20_000), c.seed).Any)
		}
		picture.Series = append(picture.Series, series)
	}
	for i := range points {
		p := 0.5 * float64(i) / (points - 1)
		single.X, single.Y = append(single.X, p), append(single.Y, 1-p)
	}
	picture.Series = append(picture.Series, single)
	svg, err := picture.SVG()
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.plot, svg, 0o644); err != nil {
		return fileError(err)
	}
	return nil
}
