// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// NewServer makes a server for a handler with the limits that the API wants: HTTP/1.1 and HTTP/2 on one port, over TLS if there
// are options for it, else in plain text with HTTP/2 by prior knowledge (h2c), as gRPC clients speak it.
//
// With TLS, the caller listens with tls.NewListener(l, server.TLSConfig) or serves with ServeTLS.
func NewServer(h http.Handler, options *tls.Config) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(options != nil)
	protocols.SetUnencryptedHTTP2(options == nil)
	if options != nil {
		options = options.Clone()
		options.NextProtos = []string{"h2", "http/1.1"}
	}
	server := &http.Server{
		Handler:   h,
		TLSConfig: options,
		Protocols: protocols,
		// A stranger that sends its headers one byte at a time is not waited for. The bodies of calls are small and have no
		// deadline of their own, because a stream's body is open as long as the stream.
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 1 << 12,
			// A connection whose other end has vanished without a word is noticed.
			SendPingTimeout: 15 * time.Second,
			PingTimeout:     15 * time.Second,
		},
	}
	if ours, ok := h.(*Handler); ok {
		// What strangers do wrong before they have sent a request, such as broken handshakes.
		server.ErrorLog = slog.NewLogLogger(ours.log.Handler(), slog.LevelDebug)
	}
	return server
}

// Limit makes a listener that hangs up on connections beyond a number that are open at the same time.
func Limit(l net.Listener, most int) net.Listener {
	return &limited{Listener: l, free: make(chan struct{}, most)}
}

type limited struct {
	net.Listener
	free chan struct{} // holds a token for each connection
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.free <- struct{}{}:
			return &counted{Conn: conn, done: sync.OnceFunc(func() { <-l.free })}, nil
		default:
			_ = conn.Close() // it was never served
		}
	}
}

// counted gives its place free when it is closed.
type counted struct {
	net.Conn
	done func()
}

func (c *counted) Close() error {
	defer c.done()
	return c.Conn.Close()
}
