// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"allot"
)

func newPool() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pool",
		Short: "create, change, list, show and delete pools",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPoolCreate(), newPoolSet(), newPoolList(), newPoolShow(), newPoolDelete())
	return cmd
}

// printPool is the answer to a change.
func printPool(cmd *cobra.Command, p allot.Pool, asJSON bool) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), p)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s, lease %s\n", plain(p.String()), p.Lease)
	return nil
}

func newPoolCreate() *cobra.Command {
	var r remote
	var size, most int
	var lease time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "create NAME --size N",
		Short: "define a pool",
		Example: `  allot pool create gpus --size 8 --most 4
  allot pool create deploy --size 1 --lease 30s`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if size == 0 {
				return errors.New("--size: say how many units the pool has, such as --size 8")
			}
			return r.with(cmd.Context(), func(ctx context.Context, c *allot.Client) error {
				p, err := c.CreatePool(ctx, allot.Pool{Name: args[0], Units: size, Most: most, Lease: lease})
				if err != nil {
					return err
				}
				return printPool(cmd, p, asJSON)
			})
		},
	}
	f := cmd.Flags()
	// They are not called --units: a command under allot run finds its units in ALLOT_UNITS.
	f.IntVar(&size, "size", 0, "how many units the pool has")
	f.IntVar(&most, "most", 0, "how many units one request may take (default: all)")
	f.DurationVar(&lease, "lease", 20*time.Second, "how long a node that is cut off may use what it holds; a crashed node's units come back after it")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	r.register(cmd)
	return cmd
}

func newPoolSet() *cobra.Command {
	var r remote
	var size, most int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "set NAME [--size N] [--most N]",
		Short: "change the size of a pool",
		Long:  "Change the size of a pool. Growing is immediate. Shrinking revokes nothing: it waits for units to come home.",
		Example: `  allot pool set gpus --size 12
  allot pool set gpus --most 2`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if size == 0 && most == 0 {
				return errors.New("set: say what to change, with --size or --most")
			}
			return r.with(cmd.Context(), func(ctx context.Context, c *allot.Client) error {
				p, err := c.ResizePool(ctx, args[0], size, most)
				if err != nil {
					return err
				}
				return printPool(cmd, p, asJSON)
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&size, "size", 0, "how many units the pool has (0: as before)")
	f.IntVar(&most, "most", 0, "how many units one request may take (0: as before)")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	r.register(cmd)
	return cmd
}

func newPoolList() *cobra.Command {
	var r remote
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "list the pools",
		Example: "  allot pool list\n  allot pool list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.with(cmd.Context(), func(ctx context.Context, c *allot.Client) error {
				pools, err := c.ListPools(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), pools)
				}
				return printPools(cmd.OutOrStdout(), pools)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	r.register(cmd)
	return cmd
}

func newPoolShow() *cobra.Command {
	var r remote
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show NAME",
		Short:   "show how a pool stands",
		Example: "  allot pool show gpus\n  allot pool show gpus --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.with(cmd.Context(), func(ctx context.Context, c *allot.Client) error {
				p, err := c.GetPool(ctx, args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), p)
				}
				w := cmd.OutOrStdout()
				fmt.Fprintf(w, "root %s, generation %d, %d visits; %d grants, %d lost\n\n", dash(p.Root), p.Generation, p.Visits, p.Grants, p.Lost)
				return printPools(w, []allot.PoolStatus{p})
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	r.register(cmd)
	return cmd
}

func newPoolDelete() *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use:     "delete NAME",
		Short:   "delete a pool; its holders are told that they lost their units",
		Example: "  allot pool delete gpus",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.with(cmd.Context(), func(ctx context.Context, c *allot.Client) error { return c.DeletePool(ctx, args[0]) })
		},
	}
	r.register(cmd)
	return cmd
}
