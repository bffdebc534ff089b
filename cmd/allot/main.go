// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Command allot shares scarce things among many parties, and holds the laboratory in which its algorithms are checked,
// simulated and measured.
//
//	allot up            a demonstration
//	allot lab list      the algorithms
//	allot lab check     every interleaving of a small instance: proved, counterexample or unknown
//	allot lab sim       large instances under a seeded scheduler, with faults
//	allot lab sweep     many simulations over growing sizes, as a table and a plot
//	allot lab replay    a recorded run, step by step
//
// Main reads flags, turns signals into a context, and leaves the work to the other rooms.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit codes of the laboratory.
const (
	exitHeld        = 0  // proved, or held
	exitViolated    = 1  // a counterexample, or violated
	exitUnknown     = 2  // a limit cut the search or the run
	exitUsage       = 64 // what was asked makes no sense
	exitUnreachable = 69 // the network cannot be reached
	exitLost        = 70 // what was held is lost
	exitFile        = 74 // a file could not be read or written
	exitNotAcquired = 75 // not acquired in time
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with everything handed in, so that tests can call it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	out := &printer{w: stdout}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if out.err != nil {
		err = fileError(fmt.Errorf("standard output: %w", out.err))
	}
	if err == nil {
		return exitHeld
	}
	var code exitError
	if !errors.As(err, &code) {
		code = exitError{code: exitUsage, err: err}
	}
	if code.err != nil {
		fmt.Fprintf(stderr, "allot: %s\n", plain(strings.TrimSpace(code.err.Error())))
	}
	return code.code
}

// printer remembers the first thing that went wrong, so that not every line that is printed has to ask.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) Write(data []byte) (int, error) {
	n, err := p.w.Write(data)
	if p.err == nil {
		p.err = err
	}
	return n, err
}

// plain makes one line of a text that may come from a file, without anything that a terminal would obey.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// exitError ends the program with a code. Without an error nothing more is printed: the verdict has been.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

// fileError is for what went wrong with a file.
func fileError(err error) error { return exitError{code: exitFile, err: err} }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "allot",
		Short:         "share scarce things among many parties: correctly, fairly, fast, and healing by itself",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return readEnvironment(cmd.Flags()) }
	root.AddCommand(newUp(), newNode(), newRun(), newPS(), newStatus(), newPool(), newRelease(), newEvict(), newSlots(), newLab())
	return root
}

// readEnvironment sets every flag that was not given and has an ALLOT_ variable.
func readEnvironment(flags *pflag.FlagSet) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "ALLOT_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := os.LookupEnv(name)
		if !ok || f.Changed || failed != nil {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			failed = fmt.Errorf("%s=%s: %w", name, value, err)
		}
	})
	return failed
}
