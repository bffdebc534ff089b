// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"allot/daemon"
)

func newNodeForget() *cobra.Command {
	var r remote
	cmd := &cobra.Command{
		Use:   "forget NAME",
		Short: "remove a node that will not come back from the control plane, so that it no longer counts for the majority",
		Long: `Forget tells a node of the network that another one will not come back. A majority must be there, the node itself must not. It needs
somebody who may manage all pools. The name can be used again after five minutes, with an empty folder.`,
		Example: "  allot node forget c --address 10.0.0.1:4710",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := json.Marshal(daemon.ForgetRequest{Node: args[0]})
			if err != nil {
				return err
			}
			if err := r.post(cmd.Context(), daemon.ForgetPath, body); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "node %s is forgotten\n", plain(args[0]))
			return nil
		},
	}
	r.register(cmd)
	return cmd
}

// post sends JSON to the first of the addresses that answers.
func (r *remote) post(ctx context.Context, path string, body []byte) error {
	o, err := r.options()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	scheme := "http://"
	if o.TLS != nil {
		scheme = "https://"
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: o.TLS, DisableKeepAlives: true}}
	var failed error
	for _, address := range o.Addresses {
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, scheme+address+path, bytes.NewReader(body))
		if err != nil {
			return fmt.Errorf("--address %s: it must be HOST:PORT", address)
		}
		q.Header.Set("Content-Type", "application/json")
		if o.Token != "" {
			q.Header.Set("Authorization", "Bearer "+o.Token)
		}
		answer, err := client.Do(q)
		if err != nil {
			failed = exitError{code: exitUnreachable, err: err}
			continue
		}
		return refusal(answer)
	}
	return failed
}

// refusal is nil if what was asked for was done, and else what the node says.
func refusal(answer *http.Response) error {
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 4096))
	switch {
	case answer.StatusCode/100 == 2:
		return nil
	case err != nil:
		return exitError{code: exitUnreachable, err: err}
	}
	return errors.New(strings.TrimSpace(string(text)))
}

func newNodeReady() *cobra.Command {
	var path, listen string
	cmd := &cobra.Command{
		Use:   "ready",
		Short: "ask the node of this machine whether it is part of a working network, for health checks",
		Long: `Ready asks the node that runs on this machine with the same options whether it is ready: it prints what the node says, and exits with 0
only if it is. It does not look at whose certificate the node shows, and needs no token.`,
		Example: "  allot node ready\n  allot node ready --config /etc/allot/allot.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var o daemon.Options
			if path != "" {
				var err error
				if o, err = readOptions(path); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("listen") {
				o.Listen = listen
			}
			return askReady(cmd, o)
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "file with the options of the node")
	cmd.Flags().StringVar(&listen, "listen", "", "address of its API (default: "+daemon.DefaultListen+")")
	return cmd
}

// readyTimeout is how long a node that is well takes at most to say so.
const readyTimeout = 3 * time.Second

func askReady(cmd *cobra.Command, o daemon.Options) error {
	if o.Listen == "" {
		o.Listen = daemon.DefaultListen
	}
	host, port, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return fmt.Errorf("--listen %s: it must be HOST:PORT", o.Listen)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost" // a node that listens on all addresses listens there, too
	}
	url := "http://" + net.JoinHostPort(host, port) + "/readyz"
	// Nothing is told to the node and nothing is believed that matters, so anybody may answer.
	secure := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}
	if o.TLS.Cert != "" {
		url = "https" + strings.TrimPrefix(url, "http")
		// A node that asks for certificates sees its own.
		if pair, err := tls.LoadX509KeyPair(o.TLS.Cert, o.TLS.Key); err == nil {
			secure.Certificates = []tls.Certificate{pair}
		}
	}
	client := &http.Client{Timeout: readyTimeout, Transport: &http.Transport{TLSClientConfig: secure, DisableKeepAlives: true}}
	q, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(q)
	if err != nil {
		return exitError{code: exitUnreachable, err: err}
	}
	if err := refusal(answer); err != nil {
		return exitError{code: exitUnreachable, err: err}
	}
	fmt.Fprintln(cmd.OutOrStdout(), "ready")
	return nil
}
