// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"allot"
	"allot/daemon"
)

// upOptions are the flags of up.
type upOptions struct {
	nodes   int
	listen  string
	pool    string
	units   int
	most    int
	load    int
	limit   time.Duration
	verbose bool
	hooks   bool
}

func newUp() *cobra.Command {
	var o upOptions
	c := &cobra.Command{
		Use:   "up",
		Short: "a network of several nodes in one process, with a pool and clients that use it, until interrupted",
		Long: `Up starts a network of several nodes in this process, makes a pool, and lets some clients take and give back its units. It keeps
nothing: everything is gone when it ends. For a network that lasts, see allot node.`,
		Example: `  allot up
  allot run demo:2 -- sh -c 'echo I have units $ALLOT_UNITS with fence $ALLOT_FENCE; sleep 5'
  allot ps
  allot up --nodes 5 --units 100 --most 10 --load 0`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return up(cmd.Context(), cmd.OutOrStdout(), o) },
	}
	f := c.Flags()
	f.IntVar(&o.nodes, "nodes", 3, "how many nodes")
	f.StringVar(&o.listen, "listen", daemon.DefaultListen, "address of the first node's API; the others take free ports")
	f.StringVar(&o.pool, "pool", "demo", "name of the pool")
	f.IntVar(&o.units, "units", 8, "units in the pool")
	f.IntVar(&o.most, "most", 3, "units that one request may take")
	f.IntVar(&o.load, "load", 6, "clients that use the pool; 0 for none")
	f.DurationVar(&o.limit, "for", 0, "end after this time; 0 means when interrupted")
	f.BoolVar(&o.verbose, "verbose", false, "print what the nodes log")
	f.BoolVar(&o.hooks, "test-hooks", false, "let callers damage memory, to see it heal")
	return c
}

func up(ctx context.Context, w io.Writer, o upOptions) (err error) {
	began := time.Now()
	if o.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.limit)
		defer cancel()
	}
	log := slog.New(slog.DiscardHandler)
	if o.verbose {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	n, err := daemon.StartNetwork(ctx, daemon.NetworkOptions{Nodes: o.nodes, Listen: o.listen, Log: log, TestHooks: o.hooks,
		Pools: []daemon.Pool{{Name: o.pool, Units: o.units, Most: o.most}}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	fmt.Fprintf(w, "%d nodes and the pool %q with %d units are up after %v:\n", o.nodes, o.pool, o.units, time.Since(began).Round(time.Millisecond))
	for _, d := range n.Nodes {
		fmt.Fprintf(w, "  http://%s\n", d.Address())
	}
	at := ""
	if o.listen != daemon.DefaultListen {
		at = " --address " + n.Nodes[0].Address()
	}
	fmt.Fprintf(w, "Try in another terminal:\n  allot run%s %s:2 -- sh -c 'echo units $ALLOT_UNITS, fence $ALLOT_FENCE; sleep 5'\n  allot ps%s\n  allot status%s\n", at, o.pool, at, at)
	if o.limit == 0 {
		fmt.Fprintln(w, "Ctrl-C ends it.")
	}
	grants, err := upLoad(ctx, n, o)
	if err != nil {
		return err
	}
	<-ctx.Done()
	fmt.Fprintf(w, "ended after %v and %d grants\n", time.Since(began).Round(time.Second), grants())
	return nil
}

// upLoad lets clients take and give back units at all nodes. What is returned tells how often, once they have ended.
func upLoad(ctx context.Context, n *daemon.Network, o upOptions) (func() int64, error) {
	var grants atomic.Int64
	var wg sync.WaitGroup
	for i := range o.load {
		c, err := allot.Options{Addresses: []string{n.Nodes[i%len(n.Nodes)].Address()}, Owner: fmt.Sprintf("demonstration %d", i+1)}.Dial(ctx)
		if err != nil {
			return nil, err
		}
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		wg.Go(func() {
			defer c.Close()
			for ctx.Err() == nil {
				g, err := c.Acquire(ctx, o.pool, 1+rng.IntN(o.most), allot.WithReason("showing how it works"))
				if err == nil {
					grants.Add(1)
					pause(ctx, time.Duration(rng.IntN(1000))*time.Millisecond)
					_ = g.Release(context.WithoutCancel(ctx)) // it may have been lost
				}
				pause(ctx, time.Duration(rng.IntN(1000))*time.Millisecond)
			}
		})
	}
	return func() int64 { wg.Wait(); return grants.Load() }, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
