// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"allot/allocator"
	"allot/node/natsbus"
)

// NetworkOptions say what a network in one process is.
type NetworkOptions struct {
	// Nodes is how many there are. 0 means 3.
	Nodes int
	// Listen is the address of the first node's API; the others take free ports. Empty means 127.0.0.1:4710.
	Listen string
	// Log is told what happens. nil means silence.
	Log *slog.Logger
	// TestHooks: see Options.
	TestHooks bool
	// Pools are made at the start.
	Pools []Pool
}

// Pool is the definition of a pool.
type Pool = allocator.Pool

// Network is several nodes in one process that share one embedded NATS, for a first look and for tests.
type Network struct {
	server *natsbus.Server
	Nodes  []*Daemon
}

// StartNetwork starts it. It is ready when this returns.
func StartNetwork(ctx context.Context, o NetworkOptions) (n *Network, err error) {
	if o.Nodes == 0 {
		o.Nodes = 3
	}
	if o.Nodes < 1 || o.Nodes > 100 {
		return nil, &OptionError{"nodes", fmt.Sprint(o.Nodes), "it must be 1 to 100"}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	n = &Network{}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	if n.server, err = natsbus.StartServer(ctx, natsbus.ServerOptions{Log: o.Log}); err != nil {
		return n, err
	}
	for i := range o.Nodes {
		listen := "127.0.0.1:0"
		if i == 0 && o.Listen != "" {
			listen = o.Listen
		} else if i == 0 {
			listen = DefaultListen
		}
		d, err := New(Options{Node: fmt.Sprintf("node%d", i+1), Listen: listen, TestHooks: o.TestHooks, server: n.server, logger: o.Log,
			Reign: Duration(time.Second)})
		if err != nil {
			return n, err
		}
		if err := d.Start(ctx); err != nil {
			return n, err
		}
		n.Nodes = append(n.Nodes, d)
	}
	for _, d := range n.Nodes {
		if err := d.Ready(ctx); err != nil {
			return n, err
		}
	}
	for _, p := range o.Pools {
		if _, err := n.Nodes[0].alloc.CreatePool(ctx, p); err != nil {
			return n, err
		}
	}
	return n, nil
}

// Close ends all nodes at once.
func (n *Network) Close() error {
	var errs []error
	for _, d := range n.Nodes {
		errs = append(errs, d.Kill())
	}
	if n.server != nil {
		errs = append(errs, n.server.Close())
	}
	return errors.Join(errs...)
}
