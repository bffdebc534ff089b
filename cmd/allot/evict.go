// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"allot"
)

func newEvict() *cobra.Command {
	var r remote
	var reason string
	cmd := &cobra.Command{
		Use:   "evict ID",
		Short: "take units away from a holder; it is told, and it is recorded",
		Long: `Take units away from a holder, by the id that allot ps shows. The holder is told that it lost them before anybody else gets them. Who did it,
and why, goes on record at the node.`,
		Example: `  allot evict a/3f/1 --reason "host is down"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.with(cmd.Context(), func(ctx context.Context, c *allot.Client) error { return c.Evict(ctx, args[0], reason) })
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the record")
	r.register(cmd)
	return cmd
}
