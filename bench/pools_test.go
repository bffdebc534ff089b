// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"allot"
	"allot/daemon"
)

// frames is how many frames the nodes have sent each other.
func frames(b *testing.B, n *daemon.Network) float64 {
	b.Helper()
	sum := 0.0
	for _, d := range n.Nodes {
		r, err := http.Get("http://" + d.Address() + "/metrics")
		if err != nil {
			b.Fatal(err)
		}
		lines := bufio.NewScanner(r.Body)
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), `allot_frames_total{direction="out"} `); ok {
				v, err := strconv.ParseFloat(text, 64)
				if err != nil {
					b.Fatal(err)
				}
				sum += v
			}
		}
		_ = r.Body.Close()
	}
	return sum
}

// BenchmarkPool takes and gives back units through the network API, nodes and clients in one process. The number of operations is
// that of grants. For a comparison with others, each in a process of its own, see bench/service.
func BenchmarkPool(b *testing.B) {
	for _, t := range []struct{ nodes, clients, units, want int }{
		{1, 1, 8, 3}, {1, 16, 8, 3}, {3, 1, 8, 3}, {3, 16, 8, 3}, {1, 16, 64, 1},
	} {
		b.Run(fmt.Sprintf("nodes=%d/clients=%d/units=%d/want=%d", t.nodes, t.clients, t.units, t.want), func(b *testing.B) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			n, err := daemon.StartNetwork(ctx, daemon.NetworkOptions{Nodes: t.nodes, Listen: "127.0.0.1:0",
				Pools: []daemon.Pool{{Name: "p", Units: t.units, Most: t.want}}})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = n.Close() }()
			var clients []*allot.Client
			for i := range t.clients {
				c, err := allot.Dial(ctx, n.Nodes[i%t.nodes].Address())
				if err != nil {
					b.Fatal(err)
				}
				defer c.Close()
				g, err := c.Acquire(ctx, "p", 1)
				if err != nil {
					b.Fatal(err)
				}
				g.LetGo()
				clients = append(clients, c)
			}
			b.ReportAllocs()
			before := frames(b, n)
			b.ResetTimer()
			var wg sync.WaitGroup
			for i, c := range clients {
				wg.Go(func() {
					for n := b.N/len(clients) + min(1, max(0, b.N%len(clients)-i)); n > 0; n-- {
						g, err := c.Acquire(ctx, "p", t.want)
						if err != nil {
							b.Error(err)
							return
						}
						g.LetGo()
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric((frames(b, n)-before)/float64(b.N), "frames/grant")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "grants/s")
		})
	}
	b.Run("empty-call", func(b *testing.B) {
		ctx := context.Background()
		n, err := daemon.StartNetwork(ctx, daemon.NetworkOptions{Nodes: 1, Listen: "127.0.0.1:0"})
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = n.Close() }()
		c, err := allot.Dial(ctx, n.Nodes[0].Address())
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			if _, err := c.Status(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
}
