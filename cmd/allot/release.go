// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/spf13/cobra"

	"allot"
)

func newRelease() *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use:     "release ID",
		Short:   "give back units of your own, such as those that a script left behind",
		Long:    "Give back units that you hold yourself, by the id that allot ps shows or ALLOT_GRANT holds. Those of others are taken with allot evict.",
		Example: "  allot release a/3f/1\n  allot release \"$ALLOT_GRANT\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.with(cmd.Context(), func(ctx context.Context, c *allot.Client) error { return c.ReleaseGrant(ctx, args[0]) })
		},
	}
	r.register(cmd)
	return cmd
}
