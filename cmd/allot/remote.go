// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"allot"
)

// remote is how to reach a network: the flags that all verbs have which speak to one.
type remote struct {
	address, token, ca, cert, key string
	timeout                       time.Duration
}

func (r *remote) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.address, "address", allot.DefaultAddress, "address of a node, or of several with commas between them")
	f.StringVar(&r.token, "token", "", "token to show to the node (better in ALLOT_TOKEN, where lists of processes do not show it)")
	f.StringVar(&r.ca, "ca", "", "file with the authority of the node's certificate, in PEM format; asks for TLS")
	f.StringVar(&r.cert, "cert", "", "file with a client certificate, in PEM format; asks for TLS")
	f.StringVar(&r.key, "key", "", "file with the key of the client certificate, in PEM format")
	f.DurationVar(&r.timeout, "timeout", 10*time.Second, "give up when nobody answers for this time")
}

// options turns the flags into those of a client.
func (r *remote) options() (allot.Options, error) {
	o := allot.Options{Addresses: strings.Split(r.address, ","), Token: r.token}
	if r.timeout <= 0 {
		return o, fmt.Errorf("--timeout %s: it must be more than 0", r.timeout)
	}
	if (r.cert == "") != (r.key == "") {
		return o, errors.New("--cert and --key: one needs the other")
	}
	if r.ca == "" && r.cert == "" {
		return o, nil
	}
	o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	if r.ca != "" {
		pem, err := os.ReadFile(r.ca)
		if err != nil {
			return o, fileError(fmt.Errorf("--ca: %w", err))
		}
		o.TLS.RootCAs = x509.NewCertPool()
		if !o.TLS.RootCAs.AppendCertsFromPEM(pem) {
			return o, fileError(fmt.Errorf("--ca %s: there is no certificate in it", r.ca))
		}
	}
	if r.cert != "" {
		pair, err := tls.LoadX509KeyPair(r.cert, r.key)
		if err != nil {
			return o, fileError(fmt.Errorf("--cert: %w", err))
		}
		o.TLS.Certificates = []tls.Certificate{pair}
	}
	return o, nil
}

// with dials, does something within the timeout, and hangs up.
func (r *remote) with(ctx context.Context, do func(context.Context, *allot.Client) error) error {
	o, err := r.options()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	client, err := o.Dial(ctx)
	if err != nil {
		return remoteError(err)
	}
	defer client.Close()
	return remoteError(do(ctx, client))
}

// remoteError gives an error of the network its exit code. What the node refuses because it makes no sense or is not allowed
// counts as usage; what it cannot do now, as a network that cannot be reached.
func remoteError(err error) error {
	var done exitError
	if err == nil || errors.As(err, &done) {
		return err
	}
	for _, k := range []struct {
		err  error
		code int
	}{
		{allot.ErrLost, exitLost}, {allot.ErrNotNow, exitNotAcquired}, {allot.ErrUnreachable, exitUnreachable},
		{allot.ErrUnavailable, exitUnreachable}, {allot.ErrInternal, exitUnreachable}, {allot.ErrLimit, exitUnreachable},
		{context.DeadlineExceeded, exitUnreachable}, {context.Canceled, exitUnreachable},
	} {
		if errors.Is(err, k.err) {
			return exitError{code: k.code, err: err}
		}
	}
	return err
}

// table prints rows in columns. The texts of strangers have gone through plain.
func table(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

// ago is a time for people.
func ago(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// dash stands for nothing in a table.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return plain(text)
}

// numbers is a list of units, such as 0,1,5.
func numbers(units []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(units), "[]"), " ", ",")
}
