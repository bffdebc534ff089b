// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package apitest

import (
	"context"
	"net"
	"testing"
	"time"

	"allot/allocator"
	"allot/api"
)

// SetReady says whether the node is part of a working network.
func (b *Backend) SetReady(is bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notReady = !is
}

// SetMembers says who takes part.
func (b *Backend) SetMembers(members ...allocator.Member) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.members = members
}

// Break makes calls fail with an error from now on, until it is nil again.
func (b *Backend) Break(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken = err
}

// LoseAll ends every grant, such as when a lease runs out.
func (b *Backend) LoseAll(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sessions {
		for id, r := range s.open {
			if r.held {
				b.lose(s, id, why)
			}
		}
	}
}

// EndSessions ends every session as if its TTL had passed.
func (b *Backend) EndSessions() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.sessions {
		b.finish(s, allocator.ErrSessionEnded)
	}
}

// Sessions tells how many there are.
func (b *Backend) Sessions() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.sessions)
}

// Beats tells how many keepalives all present sessions have had.
func (b *Backend) Beats() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, s := range b.sessions {
		n += s.beats
	}
	return n
}

// Server is an API that listens on loopback.
type Server struct {
	Handler *api.Handler
	Address string
	stop    func()
}

// Stop ends it, as the end of the test does.
func (s *Server) Stop() { s.stop() }

// Serve serves a backend over plain HTTP on loopback until the test ends.
func Serve(t testing.TB, b api.Backend, o api.Options) *Server {
	t.Helper()
	return ServeAt(t, b, o, "127.0.0.1:0")
}

// ServeAt is Serve at a given address.
func ServeAt(t testing.TB, b api.Backend, o api.Options, address string) *Server {
	t.Helper()
	handler, err := api.NewHandler(b, o)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := api.NewServer(handler, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // it always ends with an error: it was stopped
	}()
	stopped := false
	s := &Server{Handler: handler, Address: listener.Addr().String(), stop: func() {
		if stopped {
			return
		}
		stopped = true
		handler.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		<-done
	}}
	t.Cleanup(s.stop)
	return s
}
