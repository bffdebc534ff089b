// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"allot"
	"allot/allocator"
	"allot/api"
	"allot/api/apitest"
)

// BenchmarkContended has 16 clients, each with a connection of its own, share 8 units of which each wants 3: at most two hold
// some at any time. The node behind the API is one in memory, so this is the price of the API and the client.
func BenchmarkContended(b *testing.B) {
	for _, way := range []struct {
		name    string
		streams bool
		confirm bool
	}{{"upgrade/let-go", false, false}, {"upgrade/release", false, true}, {"stream/let-go", true, false}, {"stream/release", true, true}} {
		b.Run(way.name, func(b *testing.B) {
			backend := apitest.New(apitest.Options{})
			ctx := context.Background()
			if _, err := backend.CreatePool(ctx, allocator.Pool{Name: "gpus", Units: 8, Most: 3}); err != nil {
				b.Fatal(err)
			}
			s := apitest.Serve(b, backend, api.Options{})
			var left atomic.Int64
			left.Store(int64(b.N))
			var clients []*allot.Client
			for range 16 {
				c := dial(b, allot.Options{Addresses: []string{s.Address}, Streams: way.streams})
				if g, err := c.Acquire(ctx, "gpus", 1); err != nil || g.Release(ctx) != nil {
					b.Fatal(err)
				}
				clients = append(clients, c)
			}
			b.ResetTimer()
			before := processorTime(b)
			var all sync.WaitGroup
			for _, c := range clients {
				all.Go(func() {
					for left.Add(-1) >= 0 {
						g, err := c.Acquire(ctx, "gpus", 3)
						if err != nil {
							b.Error(err)
							return
						}
						if !way.confirm {
							g.LetGo()
						} else if err := g.Release(ctx); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "grants/s")
			b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// processorTime is what the process has used so far, node and clients together. On a machine that does other things too, it
// tells more than the time that has passed.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkUncontended is one client alone: acquire and release, against an empty call and a bare exchange of bytes.
func BenchmarkUncontended(b *testing.B) {
	for _, way := range []struct {
		name    string
		streams bool
	}{{"upgrade", false}, {"stream", true}} {
		b.Run(way.name, func(b *testing.B) {
			_, s := network(b, apitest.Options{})
			ctx := context.Background()
			c := dial(b, allot.Options{Addresses: []string{s.Address}, Streams: way.streams})
			for b.Loop() {
				g, err := c.Acquire(ctx, "gpus", 3)
				if err != nil {
					b.Fatal(err)
				}
				if err := g.Release(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("empty-call", func(b *testing.B) {
		_, s := network(b, apitest.Options{})
		ctx := context.Background()
		c := dial(b, allot.Options{Addresses: []string{s.Address}})
		for b.Loop() {
			if _, err := c.Status(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bytes", func(b *testing.B) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			conn, err := l.Accept()
			if err != nil {
				return
			}
			buffer := make([]byte, 64)
			for {
				n, err := conn.Read(buffer)
				if err != nil {
					return
				}
				if _, err := conn.Write(buffer[:n]); err != nil {
					return
				}
			}
		}()
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		buffer := make([]byte, 64)
		for b.Loop() {
			if _, err := conn.Write(buffer[:32]); err != nil {
				b.Fatal(err)
			}
			if _, err := conn.Read(buffer); err != nil {
				b.Fatal(err)
			}
		}
		_ = conn.Close()
		_ = l.Close()
		<-done
	})
}
