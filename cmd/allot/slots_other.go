// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"
)

var errLinuxOnly = errors.New("slots between processes need locks and futexes of Linux; there is no other way here yet")

func newSlots() *cobra.Command {
	return &cobra.Command{
		Use:   "slots",
		Short: "run a command when fewer than k others run, on this machine (Linux only)",
		RunE:  func(*cobra.Command, []string) error { return errLinuxOnly },
	}
}

func listLocal(io.Writer, bool) error { return errLinuxOnly }
