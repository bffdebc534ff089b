// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"allot"
)

func newStatus() *cobra.Command {
	var r remote
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "how the network stands: nodes, root, generation, pools, stabilized or not",
		Example: "  allot status\n  allot status --json --address 10.0.0.5:4710",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.with(cmd.Context(), func(ctx context.Context, c *allot.Client) error {
				status, err := c.Status(ctx)
				if err != nil {
					return err
				}
				pools, err := c.ListPools(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), struct {
						allot.Status
						Pools []allot.PoolStatus `json:"pools"`
					}{status, pools})
				}
				return printStatus(cmd.OutOrStdout(), status, pools)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	r.register(cmd)
	return cmd
}

func printStatus(w io.Writer, s allot.Status, pools []allot.PoolStatus) error {
	state := "ready"
	if !s.Ready {
		state = "not a member of the present generation"
	}
	fmt.Fprintf(w, "node %s: %s\nroot %s, generation %d\n\n", plain(s.Node), state, dash(s.Root), s.Generation)
	rows := [][]string{{"NODE", "ADDRESS", "ROLE"}}
	for _, m := range s.Members {
		role := "member"
		if m.Name == s.Root {
			role = "root"
		}
		rows = append(rows, []string{plain(m.Name), dash(m.Address), role})
	}
	if err := table(w, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return printPools(w, pools)
}

func printPools(w io.Writer, pools []allot.PoolStatus) error {
	if len(pools) == 0 {
		fmt.Fprintln(w, "there is no pool yet; make one with: allot pool create NAME --size N")
		return nil
	}
	rows := [][]string{{"POOL", "SIZE", "MOST", "FREE", "HELD", "MOVING", "MISSING", "WAITING", "LEASE", "STATE"}}
	for _, p := range pools {
		state := "stable"
		if !p.Stable {
			state = "settling"
		}
		row := []string{plain(p.Name)}
		for _, n := range []int{p.Units, p.Most, p.Free, p.Held, p.InTransit, p.Missing, p.Waiting} {
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, append(row, p.Lease.String(), state))
	}
	return table(w, rows)
}
