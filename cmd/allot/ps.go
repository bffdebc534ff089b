// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"allot"
)

func newPS() *cobra.Command {
	var r remote
	var onlyHolders, onlyWaiters, isLocal, asJSON bool
	cmd := &cobra.Command{
		Use:   "ps [POOL]",
		Short: "who holds and who waits",
		Example: `  allot ps
  allot ps gpus --waiting
  allot ps --who --json
  allot ps --local`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if isLocal {
				return listLocal(cmd.OutOrStdout(), asJSON)
			}
			if onlyHolders && onlyWaiters {
				return errors.New("--who and --waiting: say one or the other, or neither for both")
			}
			pool := ""
			if len(args) == 1 {
				pool = args[0]
			}
			return r.with(cmd.Context(), func(ctx context.Context, c *allot.Client) error {
				return list(ctx, c, cmd.OutOrStdout(), pool, !onlyWaiters, !onlyHolders, asJSON)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&onlyHolders, "who", false, "only those who hold")
	f.BoolVar(&onlyWaiters, "waiting", false, "only those who wait")
	f.BoolVar(&isLocal, "local", false, "the slots of this machine (allot slots), without a server")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	r.register(cmd)
	return cmd
}

func list(ctx context.Context, c *allot.Client, w io.Writer, pool string, holders, waiters, asJSON bool) error {
	// Nil is left out of the JSON, an empty list is not.
	var answer struct {
		Holders *[]allot.Holder `json:"holders,omitempty"`
		Waiters *[]allot.Waiter `json:"waiters,omitempty"`
	}
	if holders {
		rows, err := c.Holders(ctx, pool)
		if err != nil {
			return err
		}
		answer.Holders = &rows
	}
	if waiters {
		rows, err := c.Waiters(ctx, pool)
		if err != nil {
			return err
		}
		answer.Waiters = &rows
	}
	if asJSON {
		return printJSON(w, answer)
	}
	if holders {
		if err := printHolders(w, *answer.Holders); err != nil {
			return err
		}
	}
	if waiters {
		if holders {
			fmt.Fprintln(w)
		}
		return printWaiters(w, *answer.Waiters)
	}
	return nil
}

func printHolders(w io.Writer, all []allot.Holder) error {
	if len(all) == 0 {
		fmt.Fprintln(w, "nobody holds anything")
		return nil
	}
	rows := [][]string{{"HOLDS", "POOL", "UNITS", "FENCE", "FOR", "GOOD", "OWNER", "WHO", "REASON"}}
	for _, h := range all {
		rows = append(rows, []string{plain(h.ID), plain(h.Pool), numbers(h.Units), strconv.FormatUint(h.Fence, 10), ago(h.HeldFor), ago(h.GoodFor),
			dash(h.Owner), dash(h.Principal), dash(h.Reason)})
	}
	return table(w, rows)
}

func printWaiters(w io.Writer, all []allot.Waiter) error {
	if len(all) == 0 {
		fmt.Fprintln(w, "nobody waits")
		return nil
	}
	rows := [][]string{{"WAITS", "POOL", "UNITS", "PLACE", "FOR", "OWNER", "WHO", "REASON"}}
	for _, v := range all {
		rows = append(rows, []string{plain(v.ID), plain(v.Pool), strconv.Itoa(v.Units), strconv.Itoa(v.Place), ago(v.WaitedFor),
			dash(v.Owner), dash(v.Principal), dash(v.Reason)})
	}
	return table(w, rows)
}
