// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"allot/chart"
	"allot/model"
	"allot/sim"
)

func newSweep() *cobra.Command {
	verb := &cobra.Command{
		Use:   "sweep ALGORITHM",
		Short: "many simulations over growing sizes, as a table and a plot",
		Long: `Run many simulations on all cores, over the values of one or more parameters. n is the number of processes; every
parameter of the algorithm can be swept too. The result does not depend on the number of cores.

Exit 0 if every run held, 1 if one was violated, 2 if the sweep was cut or a run ended before it was stable.`,
		Example: `  allot lab sweep ring --over n=10..1000 --repeat 20 --plot ring.svg
  allot lab sweep ring --topology ring:20 --over k=20,40,80 --repeat 50 --csv ring.csv
  allot lab sweep ring --over n=5,10,20 --until steps --steps 100000 --column wait_entries_max --json`,
	}
	return perAlgorithm(verb, newSweepOf)
}

type sweepCommand struct {
	*simFlags
	over            []string
	repeat, workers int
	column          string
	plot, csv, out  string
	asJSON          bool
}

// sweepSteps bounds the runs of a sweep, which usually end when they are stable.
const sweepSteps = 100_000_000

func newSweepOf(a *model.Algorithm) *cobra.Command {
	cmd := &cobra.Command{Example: fmt.Sprintf("  allot lab sweep %s --over n=4..64 --repeat 20 --plot %s.svg", a.Name, a.Name)}
	s := &sweepCommand{simFlags: addSimFlags(cmd, a)}
	f := cmd.Flags()
	f.StringArrayVar(&s.over, "over", nil, "a parameter and its values: n=10..1000, n=10..1000,steps=8 or n=10,20,50 (may be given several times)")
	f.IntVar(&s.repeat, "repeat", 1, "runs at each point, with the seeds --seed, --seed+1, …")
	f.IntVar(&s.workers, "workers", 0, "runs at a time (0: one for each processor)")
	f.StringVar(&s.column, "column", "", "what to plot and to show: "+strings.Join(sim.ColumnNames(), ", "))
	f.StringVar(&s.plot, "plot", "", "draw the column against the first parameter, as SVG")
	f.StringVar(&s.csv, "csv", "", "write every run to this file, as CSV")
	f.StringVar(&s.out, "out", "", "write the table to this file, as JSON")
	f.BoolVar(&s.asJSON, "json", false, "print the table as JSON")
	if isStabilizing(a) {
		changeDefault(cmd, "until", "stable")
	}
	changeDefault(cmd, "steps", fmt.Sprint(sweepSteps))
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return s.run(cmd) }
	return cmd
}

// isStabilizing tells whether an algorithm starts anywhere and says when it is stable.
func isStabilizing(a *model.Algorithm) bool {
	entry, err := newListEntry(a)
	return err == nil && a.Start == "arbitrary" &&
		slices.ContainsFunc(entry.Properties, func(p listProperty) bool { return p.Claim == model.Stabilizes.String() })
}

func changeDefault(cmd *cobra.Command, flag, value string) {
	f := cmd.Flags().Lookup(flag)
	f.DefValue = value
	if err := f.Value.Set(value); err != nil {
		panic(err)
	}
}

func (s *sweepCommand) run(cmd *cobra.Command) error {
	options, err := s.sweepOptions(cmd)
	if err != nil {
		return err
	}
	column, err := s.columnNumber()
	if err != nil {
		return err
	}
	meter := newMeter(cmd.ErrOrStderr())
	options.Progress = func(done, total int) { meter.show(bar(done, total)) }
	table, err := sim.Sweep(cmd.Context(), options)
	meter.clear()
	if err != nil {
		return err
	}
	if err := s.save(table, column); err != nil {
		return err
	}
	if s.asJSON {
		err = printJSON(cmd.OutOrStdout(), table)
	} else {
		err = s.print(cmd.OutOrStdout(), table, column)
	}
	if err != nil {
		return fileError(err)
	}
	return sweepExit(table)
}

func (s *sweepCommand) sweepOptions(cmd *cobra.Command) (sim.SweepOptions, error) {
	o := sim.SweepOptions{Repeat: s.repeat, Seed: s.seed, Workers: s.workers}
	if len(s.over) == 0 {
		return o, fmt.Errorf("--over: say what to go over, such as --over n=10..1000")
	}
	if s.repeat < 1 {
		return o, fmt.Errorf("--repeat %d: it must be at least 1", s.repeat)
	}
	for _, spec := range s.over {
		over, err := sim.ParseOver(spec)
		if err != nil {
			return o, fmt.Errorf("--over: %w", err)
		}
		if _, ok := s.values[over.Name]; !ok && over.Name != "n" {
			return o, fmt.Errorf("--over %s: %s has no parameter %q; it has n%s", spec, s.algorithm.Name, over.Name, parameterNames(s.algorithm))
		}
		o.Over = append(o.Over, over)
	}
	o.Make = func(p sim.Point) (*model.Instance, sim.Options, error) {
		at, err := s.at(p)
		if err != nil {
			return nil, sim.Options{}, err
		}
		inst, err := at.make()
		if err != nil {
			return nil, sim.Options{}, err
		}
		options, err := at.options(cmd.Context(), inst)
		return inst, options, err
	}
	return o, nil
}

func parameterNames(a *model.Algorithm) string {
	var b strings.Builder
	for _, p := range a.Parameters {
		b.WriteString(", " + p.Name)
	}
	return b.String()
}

// at is the same question at one point of the sweep.
func (s *sweepCommand) at(p sim.Point) (*simFlags, error) {
	q := *s.question
	q.values = map[string]*string{}
	for name, v := range s.values {
		q.values[name] = v
	}
	for i, name := range p.Names {
		value := fmt.Sprint(p.Values[i])
		if _, ok := q.values[name]; ok {
			q.values[name] = &value
			continue
		}
		shape, rest, ok := strings.Cut(q.topology, ":")
		size, options, hasOptions := strings.Cut(rest, ",")
		if !ok || strings.Contains(size, "x") {
			return nil, fmt.Errorf("--over n: --topology %s cannot be given a size; use one such as ring:5", q.topology)
		}
		q.topology = shape + ":" + value
		if hasOptions {
			q.topology += "," + options
		}
	}
	flags := *s.simFlags
	flags.question = &q
	return &flags, nil
}

func (s *sweepCommand) columnNumber() (int, error) {
	names := sim.ColumnNames()
	name := s.column
	if name == "" {
		name = "wait_entries_max"
		if s.until == "stable" {
			name = "stabilized_steps"
		}
	}
	i := slices.Index(names, name)
	if i < 0 {
		return 0, fmt.Errorf("--column %s: it must be one of %s", name, strings.Join(names, ", "))
	}
	return i, nil
}

func (s *sweepCommand) save(t *sim.Table, column int) error {
	var files = []struct {
		path string
		make func() ([]byte, error)
	}{
		{s.csv, func() ([]byte, error) {
			var b bytes.Buffer
			err := t.WriteCSV(&b)
			return b.Bytes(), err
		}},
		{s.out, func() ([]byte, error) {
			var b bytes.Buffer
			err := printJSON(&b, t)
			return b.Bytes(), err
		}},
		{s.plot, func() ([]byte, error) { return s.draw(t, column) }},
	}
	for _, f := range files {
		if f.path == "" {
			continue
		}
		data, err := f.make()
		if err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		if err := os.WriteFile(f.path, data, 0o644); err != nil {
			return fileError(err)
		}
	}
	return nil
}

// draw plots a column against the first parameter, one line for each combination of the others.
func (s *sweepCommand) draw(t *sim.Table, column int) ([]byte, error) {
	name := strings.ReplaceAll(t.Columns[column], "_", " ")
	c := chart.Chart{
		Title:    fmt.Sprintf("%s: %s", s.algorithm.Name, name),
		Subtitle: fmt.Sprintf("%s, %s start, %s daemon; mean of %d runs, band from least to most", s.shape(t), s.start, s.daemon, s.repeat),
		XLabel:   t.Parameters[0], YLabel: name,
		LogX: true, LogY: true,
	}
	if g, ok := t.Growth[t.Columns[column]]; ok {
		c.Subtitle += fmt.Sprintf("; grows like %s^%.2f", t.Parameters[0], float64(g))
	}
	var labels []string
	for _, p := range t.Points {
		label := "mean"
		for i, v := range p.Values[1:] {
			label += fmt.Sprintf(" %s=%d", t.Parameters[i+1], v)
		}
		st := p.Stats[column]
		if st.Count == 0 {
			continue
		}
		i := slices.Index(labels, label)
		if i < 0 {
			i = len(labels)
			labels = append(labels, label)
			c.Series = append(c.Series, chart.Series{Name: label})
		}
		line := &c.Series[i]
		line.X, line.Y = append(line.X, float64(p.Values[0])), append(line.Y, float64(st.Mean))
		line.Low, line.High = append(line.Low, float64(st.Min)), append(line.High, float64(st.Max))
		c.LogX, c.LogY = c.LogX && p.Values[0] > 0, c.LogY && st.Min > 0
	}
	if err := s.drawBounds(&c, t, column); err != nil {
		return nil, err
	}
	return c.SVG()
}

// drawBounds adds what theorems say about the column, along the first parameter with the first values of the others.
func (s *sweepCommand) drawBounds(c *chart.Chart, t *sim.Table, column int) error {
	for _, b := range s.algorithm.Bounds {
		if b.Column != t.Columns[column] {
			continue
		}
		line := chart.Series{Name: b.Name, Dashed: true}
		for _, p := range t.Points {
			if !slices.Equal(p.Values[1:], t.Points[0].Values[1:]) {
				continue
			}
			at, err := s.at(sim.Point{Names: t.Parameters, Values: p.Values})
			if err != nil {
				return err
			}
			o, err := at.resolve()
			if err != nil {
				return err
			}
			y := b.Of(o)
			line.X, line.Y = append(line.X, float64(p.Values[0])), append(line.Y, y)
			c.LogY = c.LogY && y > 0
		}
		c.Series = append(c.Series, line)
	}
	return nil
}

// shape is the topology, without its size if that is what was swept.
func (s *sweepCommand) shape(t *sim.Table) string {
	if _, isParameter := s.values["n"]; slices.Contains(t.Parameters, "n") && !isParameter {
		shape, _, _ := strings.Cut(s.topology, ":")
		return shape
	}
	return s.topology
}

func (s *sweepCommand) print(w io.Writer, t *sim.Table, column int) error {
	fmt.Fprintf(w, "%s · %s · %s start · %s daemon · %d runs at each point\n\n", s.algorithm.Name, s.shape(t), s.start, s.daemon, s.repeat)
	name := t.Columns[column]
	fmt.Fprintf(w, "  %-20s %8s %12s %12s %12s %12s\n", strings.Join(t.Parameters, " "), "runs", name, "least", "median", "most")
	for _, p := range t.Points {
		values := make([]string, len(p.Values))
		for i, v := range p.Values {
			values[i] = fmt.Sprint(v)
		}
		st := p.Stats[column]
		fmt.Fprintf(w, "  %-20s %8d %12.5g %12.5g %12.5g %12.5g\n", strings.Join(values, " "), p.Runs, float64(st.Mean), float64(st.Min), float64(st.P50), float64(st.Max))
	}
	if g, ok := t.Growth[name]; ok {
		fmt.Fprintf(w, "\n%s grows like %s^%.2f\n", name, t.Parameters[0], float64(g))
	}
	return nil
}

func sweepExit(t *sim.Table) error {
	code := exitHeld
	if t.IsCut {
		code = exitUnknown
	}
	for _, r := range t.Rows {
		switch r.Verdict {
		case sim.Violated:
			return exitError{code: exitViolated}
		case sim.Unknown:
			code = exitUnknown
		}
	}
	if code == exitHeld {
		return nil
	}
	return exitError{code: code}
}

// bar draws how much is done.
func bar(done, total int) string {
	const width = 30
	full := done * width / total
	return fmt.Sprintf("[%s%s] %d of %d runs", strings.Repeat("█", full), strings.Repeat("░", width-full), done, total)
}
