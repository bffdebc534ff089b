// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"allot/model"
	"allot/topology"
)

func newTopology() *cobra.Command {
	var asDOT, asJSON bool
	cmd := &cobra.Command{
		Use:   "topology NAME|FILE.dot",
		Short: "describe a network, or write it as DOT",
		Long:  "Describe a network: its size, degrees and diameter. With --dot, write it in a form that Graphviz draws and --topology reads.\n\n" + topologyHelp(),
		Example: `  allot lab topology grid:3x4
  allot lab topology random:20,seed=1 --dot | dot -Tsvg > random.svg
  allot lab topology network.dot --json`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&asDOT, "dot", false, "write DOT")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		g, err := (&question{topology: args[0]}).graph()
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		facts := describeGraph(args[0], g)
		switch {
		case asDOT:
			_, err = out.Write(topology.WriteDOT(g))
		case asJSON:
			err = printJSON(out, facts)
		default:
			_, err = fmt.Fprintf(out, "%s: %d processes, %d edges, degree %d to %d, root %s, %s\n", plain(args[0]), facts.Processes, facts.Edges,
				facts.LeastDegree, facts.MostDegree, plain(facts.Root), facts.diameterText())
		}
		if err != nil {
			return fileError(err)
		}
		return nil
	}
	return cmd
}

func topologyHelp() string {
	var b strings.Builder
	b.WriteString("Names:\n")
	for _, info := range topology.Names() {
		fmt.Fprintf(&b, "  %-22s %s\n", info.Form, info.Help)
	}
	return b.String()
}

type graphFacts struct {
	Name        string `json:"name"`
	Processes   int    `json:"processes"`
	Edges       int    `json:"edges"`
	LeastDegree int    `json:"least_degree"`
	MostDegree  int    `json:"most_degree"`
	Root        string `json:"root"`
	IsConnected bool   `json:"connected"`
	// Height is the largest distance from the root, Diameter between any two; null if it was not computed.
	Height   int  `json:"height"`
	Diameter *int `json:"diameter"`
}

// mostForDiameter bounds the networks whose diameter is computed, which takes a search from every process.
const mostForDiameter = 5_000

func describeGraph(name string, g *model.Graph) graphFacts {
	f := graphFacts{Name: name, Processes: g.Len(), Edges: g.Links() / 2, LeastDegree: g.Degree(0), Root: g.Name(g.Root), IsConnected: g.IsConnected()}
	diameter := 0
	for p := range g.Len() {
		f.LeastDegree, f.MostDegree = min(f.LeastDegree, g.Degree(p)), max(f.MostDegree, g.Degree(p))
		if p == g.Root || g.Len() <= mostForDiameter {
			far := 0
			for _, d := range g.Distances(p) {
				far = max(far, int(d))
			}
			diameter = max(diameter, far)
			if p == g.Root {
				f.Height = far
			}
		}
	}
	if f.IsConnected && g.Len() <= mostForDiameter {
		f.Diameter = &diameter
	}
	return f
}

func (f graphFacts) diameterText() string {
	switch {
	case !f.IsConnected:
		return "not connected"
	case f.Diameter == nil:
		return fmt.Sprintf("%d hops from the root at the most", f.Height)
	}
	return fmt.Sprintf("diameter %d", *f.Diameter)
}
