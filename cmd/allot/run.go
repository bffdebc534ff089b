// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"allot"
)

// runOptions are the flags of run.
type runOptions struct {
	remote
	wait, killAfter, ttl time.Duration
	isImpatient          bool
	reason, owner        string
}

func newRun() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run POOL[:N] [flags] -- COMMAND [ARGUMENT...]",
		Short: "hold units of a pool while a command runs",
		Long: `Take N units of a pool (1 unless given), run a command, and give the units back when it ends. Signals and the exit code are passed
through. If the units are lost meanwhile, the command gets SIGTERM, and SIGKILL when --kill-after has passed.

The command finds in its environment:
  ALLOT_POOL   the pool
  ALLOT_UNITS  the numbers of its units, such as 0,3
  ALLOT_FENCE  a number greater than every earlier holder's of these units, for the thing that is shared to check
  ALLOT_GRANT  the id of the grant, for allot ps, allot release and allot evict

Exit: the command's own code, 128 plus the signal that ended it, 64 usage, 69 no node can be reached, 70 the units were lost, 75 not
acquired in time.`,
		Example: `  allot run gpus:2 -- ./train.sh
  allot run licences --wait 10m --reason "nightly build" -- make
  allot run deploy --nonblock -- ./deploy.sh || echo "somebody else deploys"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() != 1 || len(args) < 2 {
				return errors.New("run: say what to take and, after --, what to run, such as: allot run gpus:2 -- ./train.sh")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0], args[1:], cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.DurationVar(&o.wait, "wait", 0, "give up after this time, such as 30s (0: never)")
	f.BoolVar(&o.isImpatient, "nonblock", false, "do not wait at all")
	f.StringVar(&o.reason, "reason", "", "what the units are for, shown by allot ps (default: the command)")
	f.StringVar(&o.owner, "owner", "", "who this is, shown by allot ps (default: host, program and process id)")
	f.DurationVar(&o.killAfter, "kill-after", 10*time.Second, "how long the command may take to end when the units are lost")
	f.DurationVar(&o.ttl, "ttl", 5*time.Second, "how long the units stay blocked if this machine crashes; so long it may be cut off without losing them")
	o.register(cmd)
	return cmd
}

// parsePool reads POOL or POOL:N.
func parsePool(text string) (pool string, units int, err error) {
	pool, number, ok := strings.Cut(text, ":")
	if !ok {
		return pool, 1, nil
	}
	units, err = strconv.Atoi(number)
	if err != nil || units < 1 || pool == "" {
		return "", 0, fmt.Errorf("%q: say which pool and how many units, at least 1, such as gpus:2", text)
	}
	return pool, units, nil
}

func (o *runOptions) run(ctx context.Context, what string, args []string, stderr io.Writer) error {
	pool, units, err := parsePool(what)
	if err != nil {
		return err
	}
	switch {
	case o.wait < 0:
		return fmt.Errorf("--wait %s: it must not be negative", o.wait)
	case o.killAfter < 0:
		return fmt.Errorf("--kill-after %s: it must not be negative", o.killAfter)
	case o.wait > 0 && o.isImpatient:
		return errors.New("--wait and --nonblock: say one or the other")
	}
	options, err := o.options()
	if err != nil {
		return err
	}
	options.TTL, options.Owner = o.ttl, o.owner
	dialing, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	client, err := options.Dial(dialing)
	if err != nil {
		return remoteError(err)
	}
	defer client.Close()
	grant, err := o.acquire(ctx, client, pool, units, args, stderr)
	if err != nil {
		return err
	}
	err = o.hold(grant, args, stderr)
	// The command has ended, whatever becomes of the release: if the node does not hear it, the session ends by itself.
	releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.timeout)
	defer cancel()
	if problem := grant.Release(releasing); problem != nil && !errors.Is(problem, allot.ErrLost) {
		fmt.Fprintf(stderr, "allot: the units come back when the session has ended: %s\n", plain(problem.Error()))
	}
	return err
}

// acquire waits for the units, and tells a person where it stands.
func (o *runOptions) acquire(ctx context.Context, client *allot.Client, pool string, units int, args []string, stderr io.Writer) (*allot.Grant, error) {
	reason := o.reason
	if reason == "" {
		reason = strings.Join(args, " ")
		reason = strings.ToValidUTF8(reason[:min(len(reason), 200)], "")
	}
	more := []allot.AcquireOption{allot.WithReason(reason)}
	switch {
	case o.isImpatient:
		more = append(more, allot.WithWait(0))
	case o.wait > 0:
		more = append(more, allot.WithWait(o.wait))
	}
	clear := func() {}
	if file, ok := stderr.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		begin, shown := time.Now(), false
		more = append(more, allot.WithPlace(func(place int) {
			if place > 0 {
				shown = true
				fmt.Fprintf(stderr, "\r\x1b[Kallot: waiting for %d of %s, place %d in the queue, %s", units, plain(pool), place, time.Since(begin).Round(time.Second))
			}
		}))
		clear = func() {
			if shown {
				fmt.Fprint(stderr, "\r\x1b[K")
			}
		}
	}
	if o.isImpatient {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	grant, err := client.Acquire(ctx, pool, units, more...)
	clear()
	if errors.Is(err, context.Canceled) {
		return nil, exitError{code: exitNotAcquired, err: errors.New("interrupted before the units were to be had")}
	}
	return grant, remoteError(err)
}

// hold runs the command, passes signals through, and stops it when the units are lost.
func (o *runOptions) hold(grant *allot.Grant, args []string, stderr io.Writer) error {
	child := exec.Command(args[0], args[1:]...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.Env = append(os.Environ(), "ALLOT_POOL="+grant.Pool, "ALLOT_UNITS="+numbers(grant.Units),
		"ALLOT_FENCE="+strconv.FormatUint(grant.Fence, 10), "ALLOT_GRANT="+grant.Name())
	child.SysProcAttr = childAttributes()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, passedSignals...)
	defer signal.Stop(signals)
	started, done := make(chan error, 1), make(chan error, 1)
	go func() {
		// Where the system ends the command together with allot, it goes by the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := child.Start()
		started <- err
		if err == nil {
			done <- child.Wait()
		}
	}()
	if err := <-started; err != nil {
		code := 127
		if errors.Is(err, os.ErrPermission) {
			code = 126
		}
		return exitError{code: code, err: err}
	}
	lost := grant.Lost()
	var kill <-chan time.Time
	var loss error
	for {
		select {
		case s := <-signals:
			// A terminal sends its signals to the command as well; a second one does no harm. One that has ended gets none.
			_ = child.Process.Signal(s)
		case <-lost:
			lost, loss = nil, grant.Err()
			fmt.Fprintf(stderr, "allot: %s; stopping the command\n", plain(loss.Error()))
			_ = child.Process.Signal(syscall.SIGTERM)
			timer := time.NewTimer(o.killAfter)
			defer timer.Stop()
			kill = timer.C
		case <-kill:
			fmt.Fprintf(stderr, "allot: the command did not end within %s; killing it\n", o.killAfter)
			_ = child.Process.Kill()
		case err := <-done:
			if loss != nil {
				return exitError{code: exitLost}
			}
			return exitOf(err)
		}
	}
}

// exitOf ends allot as the command has ended.
func exitOf(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitError{code: 128 + int(status.Signal())}
	}
	return exitError{code: exit.ExitCode()}
}
