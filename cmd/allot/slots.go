// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"allot/slots/processes"
)

func newSlots() *cobra.Command {
	var o processes.Options
	var wait time.Duration
	var isImpatient, isOpen bool
	cmd := &cobra.Command{
		Use:   "slots -k K [flags] -- COMMAND [ARGUMENT...]",
		Short: "run a command when fewer than k others run, on this machine, without a server",
		Long: `Run a command in one of k slots of this machine: at most k run at once, the others wait their turn. There is no server.

Whatever is killed is recovered, kill -9 too. The command keeps the slot while it or a child of it runs, even if allot itself
is killed; --no-inherit lets go as soon as allot ends. The command finds the number of its slot, 0 to k-1, in ALLOT_SLOT.

Exit: the command's own code, 128 plus the signal that ended it, 127 if it cannot be started, 75 if no slot was free in
time, 74 if the file of slots cannot be used, 64 usage.`,
		Example: `  allot slots -k 4 -- make -j8
  allot slots -k 1 --name deploy --wait 10m -- ./deploy.sh
  allot slots -k 2 --nonblock -- ./backup.sh || echo "two backups are running"
  allot ps --local`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("say which command to run, after --")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.IntVarP(&o.K, "slots", "k", 0, "how many may run at once")
	f.StringVar(&o.Name, "name", "default", "commands with the same name share slots")
	f.IntVar(&o.Seats, "seats", 0, fmt.Sprintf("how many can run or wait; more wait for a seat (default %d)", processes.DefaultSeats))
	f.DurationVar(&wait, "wait", 0, "give up after this time, such as 30s (0: never)")
	f.BoolVar(&isImpatient, "nonblock", false, "do not wait at all")
	f.BoolVar(&isOpen, "no-inherit", false, "do not let the command keep the slot when allot is killed")
	f.SetInterspersed(false)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.K == 0 {
			return errors.New("-k: say how many may run at once, such as -k 4")
		}
		if wait < 0 {
			return fmt.Errorf("--wait %s: it must not be negative", wait)
		}
		file, err := processes.Open(o)
		var unusable *processes.FileError
		if errors.As(err, &unusable) {
			return fileError(err)
		}
		if err != nil {
			return err
		}
		if file.Note != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "allot: slots %s: %s; nobody uses it, so it was made anew\n", file.Path, file.Note)
		}
		hold, err := acquire(cmd.Context(), file, wait, isImpatient)
		if err != nil {
			return errors.Join(err, file.Close())
		}
		err = runHolding(hold, o, args, !isOpen)
		if releaseErr := errors.Join(hold.Release(), file.Close()); releaseErr != nil && err == nil {
			err = fileError(releaseErr)
		}
		return err
	}
	return cmd
}

func acquire(ctx context.Context, file *processes.File, wait time.Duration, isImpatient bool) (*processes.Hold, error) {
	if isImpatient {
		hold, err := file.TryAcquire()
		return hold, notAcquired(err)
	}
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	hold, err := file.Acquire(ctx)
	return hold, notAcquired(err)
}

func notAcquired(err error) error {
	switch {
	case errors.Is(err, processes.ErrFull):
		return exitError{code: exitNotAcquired, err: errors.New("not acquired: all slots are taken (see allot ps --local)")}
	case errors.Is(err, context.DeadlineExceeded):
		return exitError{code: exitNotAcquired, err: errors.New("not acquired in time (see allot ps --local)")}
	case errors.Is(err, context.Canceled):
		return exitError{code: exitNotAcquired, err: errors.New("interrupted before a slot was free")}
	}
	return err
}

// runHolding runs the command and passes signals and the exit code through.
func runHolding(hold *processes.Hold, o processes.Options, args []string, inherits bool) error {
	child := exec.Command(args[0], args[1:]...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.Env = append(os.Environ(), fmt.Sprintf("ALLOT_SLOT=%d", hold.Slot), fmt.Sprintf("ALLOT_SLOTS=%d", o.K))
	if inherits {
		child.ExtraFiles = []*os.File{hold.File()}
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	if err := child.Start(); err != nil {
		return exitError{code: 127, err: err}
	}
	done := make(chan error, 1)
	go func() { done <- child.Wait() }()
	for {
		select {
		case s := <-signals:
			// A terminal sends its signals to the command as well; a second one does no harm.
			if err := child.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return fileError(err)
			}
		case err := <-done:
			return exitOf(err)
		}
	}
}

// listLocal lists the slots of this machine.
func listLocal(out io.Writer, asJSON bool) error {
	list, err := processes.List(processes.Folder())
	if err != nil {
		return fileError(err)
	}
	if asJSON {
		return printJSON(out, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(out, "nobody has used slots here yet")
	}
	for _, l := range list {
		printListing(out, l)
	}
	return nil
}

func printListing(w io.Writer, l processes.Listing) {
	if l.Problem != "" {
		fmt.Fprintf(w, "%s: %s\n", plain(l.Name), plain(l.Problem))
		return
	}
	inside := 0
	for _, s := range l.Taken {
		if s.IsInside {
			inside++
		}
	}
	fmt.Fprintf(w, "%s: %d of %d slots held, %d waiting\n", plain(l.Name), inside, l.K, len(l.Taken)-inside)
	for _, s := range l.Taken {
		state := "waits"
		if s.IsInside {
			state = "holds"
		}
		owner := fmt.Sprint(s.PID)
		if s.IsAlone {
			owner += " (gone, a child goes on)"
		}
		fmt.Fprintf(w, "  seat %-4d %s  %8s  pid %s  %s\n", s.Number, state, time.Since(s.Since).Round(time.Second), owner, plain(strings.TrimSpace(s.Command)))
	}
}
