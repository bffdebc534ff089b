// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"allot/daemon"
)

func newNode() *cobra.Command {
	var path string
	var reign time.Duration
	var o daemon.Options
	c := &cobra.Command{
		Use:   "node",
		Short: "one node of a network, until interrupted",
		Long: `Node runs one node. Options come from a file in TOML (--config), from flags, which go first, and from ALLOT_ variables. A node alone needs
no options. Nodes on several machines find each other by --cluster and --join; they need TLS and credentials, see docs/operations.md.`,
		Example: `  allot node
  allot node --config /etc/allot/allot.toml
  allot node --name a --dir /var/lib/allot --cluster 127.0.0.1:6221 --join 127.0.0.1:6221,127.0.0.1:6222,127.0.0.1:6223
  allot node --nats nats://127.0.0.1:4222`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags := o
			if path != "" {
				read, err := readOptions(path)
				if err != nil {
					return err
				}
				o = read
			}
			for name, set := range map[string]func(){
				"name": func() { o.Node = flags.Node }, "network": func() { o.Network = flags.Network },
				"listen": func() { o.Listen = flags.Listen }, "advertise": func() { o.Advertise = flags.Advertise },
				"dir": func() { o.Dir = flags.Dir }, "cluster": func() { o.Cluster.Listen = flags.Cluster.Listen },
				"join": func() { o.Cluster.Join = flags.Cluster.Join }, "nats": func() { o.NATS.URL = flags.NATS.URL },
				"log-level": func() { o.Log.Level = flags.Log.Level }, "log-format": func() { o.Log.Format = flags.Log.Format },
				"test-hooks": func() { o.TestHooks = flags.TestHooks }, "trace": func() { o.Trace = flags.Trace },
				"reign": func() { o.Reign = daemon.Duration(reign) },
			} {
				if cmd.Flags().Changed(name) {
					set()
				}
			}
			d, err := daemon.New(o)
			if err != nil {
				return err
			}
			err = d.Run(cmd.Context())
			var option *daemon.OptionError
			if err == nil || errors.As(err, &option) {
				return err
			}
			return exitError{code: exitUnreachable, err: err}
		},
	}
	f := c.Flags()
	f.StringVar(&path, "config", "", "file with options in TOML")
	f.StringVar(&o.Node, "name", "", "name of this node, unique in its network (default: the name of the machine)")
	f.StringVar(&o.Network, "network", "", "name of the network (default: allot)")
	f.StringVar(&o.Listen, "listen", "", "address of the API (default: "+daemon.DefaultListen+")")
	f.StringVar(&o.Advertise, "advertise", "", "address of the API as clients reach it, if it is another")
	f.StringVar(&o.Dir, "dir", "", "folder that keeps the control plane (default: a temporary one)")
	f.StringVar(&o.Cluster.Listen, "cluster", "", "address for other nodes, such as 127.0.0.1:6222 (default: this node is alone)")
	f.StringSliceVar(&o.Cluster.Join, "join", nil, "cluster addresses of the other nodes")
	f.StringVar(&o.NATS.URL, "nats", "", "address of an existing NATS with JetStream, instead of the embedded one")
	f.StringVar(&o.Log.Level, "log-level", "", "debug, info, warn or error (default: info)")
	f.StringVar(&o.Log.Format, "log-format", "", "text or json (default: text)")
	f.StringVar(&o.Trace, "trace", "", "address of an OpenTelemetry collector, such as http://127.0.0.1:4318")
	f.DurationVar(&reign, "reign", 0, "how long the root may act without the control plane (default: 8s)")
	f.BoolVar(&o.TestHooks, "test-hooks", false, "let callers damage memory, to see it heal; never in production")
	c.AddCommand(newNodeForget(), newNodeReady())
	return c
}

// readOptions reads a file with the options of a node.
func readOptions(path string) (daemon.Options, error) {
	o, err := daemon.ReadOptions(path)
	var file *fs.PathError
	if errors.As(err, &file) {
		return o, fileError(err)
	}
	return o, err
}
