// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"allot/model"
	"allot/protocol"
	"allot/topology"
)

func newLab() *cobra.Command {
	lab := &cobra.Command{
		Use:   "lab",
		Short: "the laboratory: check, simulate and measure the algorithms",
		Long: `The laboratory drives the same pure functions as the service does.

check explores every interleaving of a small instance and answers proved, counterexample or unknown.
sim runs large instances under a seeded scheduler, with faults. sweep does so for many sizes.
replay shows a recorded run step by step. coterie says what a quorum system costs and survives.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	lab.AddCommand(newList(), newCheck(), newSim(), newSweep(), newReplay(), newCoterie(), newTopology(), newTour())
	return lab
}

// perAlgorithm gives a verb of the laboratory one subcommand for each algorithm, with the flags of its parameters.
func perAlgorithm(verb *cobra.Command, build func(a *model.Algorithm) *cobra.Command) *cobra.Command {
	verb.Args = cobra.ArbitraryArgs
	verb.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		_, err := protocol.Find(args[0])
		return err
	}
	// Flags of an unknown algorithm must not hide that the algorithm is unknown.
	verb.FParseErrWhitelist.UnknownFlags = true
	for _, a := range protocol.All {
		sub := build(a)
		sub.Use = a.Name + " [flags]"
		sub.Short = a.Summary
		sub.Args = cobra.NoArgs
		verb.AddCommand(sub)
	}
	return verb
}

func newList() *cobra.Command {
	var asJSON bool
	list := &cobra.Command{
		Use:     "list",
		Short:   "algorithms, their parameters, variants and properties",
		Example: "  allot lab list\n  allot lab list --json",
		Args:    cobra.NoArgs,
	}
	list.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	list.RunE = func(cmd *cobra.Command, _ []string) error {
		entries := make([]listEntry, len(protocol.All))
		for i, a := range protocol.All {
			var err error
			if entries[i], err = newListEntry(a); err != nil {
				return err
			}
		}
		if asJSON {
			return printJSON(cmd.OutOrStdout(), entries)
		}
		for i, e := range entries {
			if i > 0 {
				fmt.Fprintln(cmd.OutOrStdout())
			}
			e.print(cmd)
		}
		return nil
	}
	return list
}

type listEntry struct {
	Name       string          `json:"name"`
	Summary    string          `json:"summary"`
	Source     string          `json:"source"`
	Model      string          `json:"model"`
	Topology   string          `json:"topology"`
	Links      string          `json:"links,omitempty"`
	Start      string          `json:"start"`
	Variants   []string        `json:"variants"`
	Mutants    []string        `json:"mutants"`
	Parameters []listParameter `json:"parameters"`
	Properties []listProperty  `json:"properties"`
}

type listParameter struct {
	Name    string   `json:"name"`
	Text    string   `json:"text"`
	Default string   `json:"default"`
	Words   []string `json:"words,omitempty"`
}

type listProperty struct {
	Name  string `json:"name"`
	Claim string `json:"claim"`
	Text  string `json:"text"`
}

func newListEntry(a *model.Algorithm) (listEntry, error) {
	e := listEntry{Name: a.Name, Summary: a.Summary, Source: a.Source, Model: a.Model, Topology: a.Topology,
		Links: a.Links, Start: a.Start, Variants: a.Variants, Mutants: a.Mutants}
	for _, p := range a.Parameters {
		e.Parameters = append(e.Parameters, listParameter{Name: p.Name, Text: p.Text, Default: p.Default, Words: p.Words})
	}
	g, err := topology.Parse(a.Topology)
	if err != nil {
		return e, err
	}
	links, err := model.ParseLinks(a.Links)
	if err != nil {
		return e, err
	}
	inst, err := a.Make(model.Options{Graph: g, Links: links})
	if err != nil {
		return e, err
	}
	for _, p := range inst.Properties {
		e.Properties = append(e.Properties, listProperty{Name: p.Name, Claim: p.Claim.String(), Text: p.Text})
	}
	return e, nil
}

func (e listEntry) print(cmd *cobra.Command) {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s: %s\n", e.Name, e.Summary)
	fmt.Fprintf(out, "  from        %s\n", e.Source)
	fmt.Fprintf(out, "  model       %s, on %s from the %s start\n", e.Model, e.Topology, e.Start)
	if e.Links != "" {
		fmt.Fprintf(out, "  links       %s\n", e.Links)
	}
	fmt.Fprintf(out, "  variants    %s\n", strings.Join(e.Variants, ", "))
	if len(e.Mutants) > 0 {
		fmt.Fprintf(out, "  mutants     %s\n", strings.Join(e.Mutants, ", "))
	}
	for _, p := range e.Parameters {
		allowed := ""
		if len(p.Words) > 0 {
			allowed = ": " + strings.Join(p.Words, ", ")
		}
		fmt.Fprintf(out, "  parameter   --%s: %s%s (default %s)\n", p.Name, p.Text, allowed, p.Default)
	}
	for _, p := range e.Properties {
		fmt.Fprintf(out, "  property    %-12s %s (%s)\n", p.Name, p.Text, p.Claim)
	}
}

// allVariants are the variants and the mutants of an algorithm.
func allVariants(a *model.Algorithm) []string { return slices.Concat(a.Variants, a.Mutants) }
