// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"crypto/tls"
	"net/http"
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
	return &http.Server{
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
}
