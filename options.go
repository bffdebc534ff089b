// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// DefaultAddress is where a node listens unless it is told otherwise.
const DefaultAddress = "127.0.0.1:4710"

// Options of a client.
type Options struct {
	// Addresses of nodes: "host:port", or with "http://" or "https://" before it. The first that answers is used, and others
	// when it no longer does. The nodes tell of each other, so that one is enough while it is up. None means DefaultAddress.
	Addresses []string
	// Owner names this client in lists. Empty means the host, the program and the process id.
	Owner string
	// TTL is how long the session lives on at the node without a word from this client, 1 second to 1 hour: so long are its
	// units blocked if it crashes, and so long it may be cut off without losing them. 0 means 5 seconds.
	TTL time.Duration
	// Token is shown to the node, if not empty. It is sent in plain text to an address without TLS.
	Token string
	// TLS is used for addresses without "http://". Nil means no TLS, except for "https://".
	TLS *tls.Config
	// Streams forces the session onto an HTTP/2 stream. By default the client asks to upgrade an HTTP/1.1 connection, which is
	// faster, and falls back to a stream where something between it and the node does not let that through.
	Streams bool
}

// Dial connects to a network by the address of a node, or of several with commas between them.
func Dial(ctx context.Context, address string) (*Client, error) {
	return Options{Addresses: strings.Split(address, ",")}.Dial(ctx)
}

// Dial connects to a network. It returns when a node has answered.
func (o Options) Dial(ctx context.Context) (*Client, error) {
	c, err := newClient(o)
	if err != nil {
		return nil, err
	}
	if _, err := c.Status(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (o *Options) validate() error {
	if len(o.Addresses) == 0 {
		o.Addresses = []string{DefaultAddress}
	}
	for _, a := range o.Addresses {
		// Then the addresses that the node tells of have TLS too.
		if strings.HasPrefix(strings.TrimSpace(a), "https://") && o.TLS == nil {
			o.TLS = &tls.Config{}
		}
	}
	if o.TTL != 0 && (o.TTL < time.Second || o.TTL > time.Hour) {
		return &ValueError{Field: "ttl", Value: o.TTL.String(), Allowed: "1s to 1h"}
	}
	if o.TTL == 0 {
		o.TTL = 5 * time.Second
	}
	if len(o.Owner) > maxName || !utf8.ValidString(o.Owner) {
		return &ValueError{Field: "owner", Value: o.Owner[:min(len(o.Owner), maxName)], Allowed: "at most 128 bytes of UTF-8"}
	}
	if o.Owner == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "?"
		}
		o.Owner = fmt.Sprintf("%s/%s/%d", host, filepath.Base(os.Args[0]), os.Getpid())
		if len(o.Owner) > 128 {
			o.Owner = strings.ToValidUTF8(o.Owner[len(o.Owner)-128:], "")
		}
	}
	return nil
}

// endpoint is the address of a node, taken apart.
type endpoint struct {
	address string // as it was given
	host    string // and port
	tls     *tls.Config
}

func (o *Options) endpoint(address string) (endpoint, error) {
	address = strings.TrimSpace(address)
	e := endpoint{address: address, host: address, tls: o.TLS}
	if rest, ok := strings.CutPrefix(address, "http://"); ok {
		e.host, e.tls = rest, nil
	}
	if rest, ok := strings.CutPrefix(address, "https://"); ok {
		e.host = rest
	}
	e.host = strings.TrimSuffix(e.host, "/")
	if _, _, err := net.SplitHostPort(e.host); err != nil {
		return e, &ValueError{Field: "address", Value: address, Allowed: "host:port, such as " + DefaultAddress}
	}
	return e, nil
}

func (e endpoint) url() string {
	if e.tls != nil {
		return "https://" + e.host
	}
	return "http://" + e.host
}

// newHTTP makes the client for calls and streams: HTTP/2 always, in plain text too.
func newHTTP(o *Options) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{
		Protocols:           protocols,
		TLSClientConfig:     o.TLS,
		TLSHandshakeTimeout: connectTimeout,
		DialContext:         (&net.Dialer{Timeout: connectTimeout}).DialContext,
		IdleConnTimeout:     time.Minute,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}}
}
