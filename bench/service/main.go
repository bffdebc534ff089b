// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

// Command service measures the pools of allot beside what people use today, in one run on one machine: a semaphore in Redis, a
// mutex in etcd, a lock in the key-value store of NATS. It is a module of its own, so that the servers and clients of others
// are no part of allot.
//
//	go run . -seconds 3 -rounds 3
//
// Every server is a process of its own on loopback with its state in a temporary folder; the clients are goroutines of this
// process, each with a connection of its own. The rounds of the peers are interleaved, because the machine may be busy with other
// things at times. What is printed are medians, with the least and the greatest.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"
)

// client is one client of a peer.
type client interface {
	// take takes the units that the workload wants, and give gives them back.
	take(ctx context.Context) error
	give(ctx context.Context) error
	close()
}

// workload is what the clients do.
type workload struct {
	Clients int
	Units   int // in the pool
	Want    int // by each request
}

// peer is something that can be measured.
type peer struct {
	name string
	note string
	// start starts the servers. What it returns makes clients and stops the servers.
	start func(ctx context.Context, dir string, w workload) (running, error)
}

type running struct {
	connect func(ctx context.Context, i int) (client, error)
	stop    func()
}

// result of one round.
type result struct {
	Peer    string
	Round   int
	Grants  int
	Rate    float64 // grants a second
	P50     time.Duration
	P99     time.Duration
	Max     time.Duration
	Jain    float64
	Seconds float64
	Counts  []int // grants of each client
}

func main() {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "serve-") {
		serve(os.Args[1], os.Args[2:])
		return
	}
	seconds := flag.Float64("seconds", 3, "how long each round takes")
	rounds := flag.Int("rounds", 3, "rounds of each peer")
	clients := flag.Int("clients", 16, "clients")
	units := flag.Int("units", 8, "units in the pool")
	want := flag.Int("want", 3, "units that each request wants")
	only := flag.String("only", "", "peers to measure, by the beginning of their names, with commas between them")
	out := flag.String("json", "", "file for all results")
	require := flag.Bool("require", false, "fail if a peer is missing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, workload{*clients, *units, *want}, time.Duration(*seconds*float64(time.Second)), *rounds, *only, *out, *require); err != nil {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, w workload, length time.Duration, rounds int, only, out string, require bool) error {
	dir, err := os.MkdirTemp("", "allot-bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	fmt.Printf("%d clients, %d units, each wants %d; %d rounds of %v each\n", w.Clients, w.Units, w.Want, rounds, length)
	var results []result
	missing := 0
	type ready struct {
		peer
		running
		clients []client
	}
	var all []ready
	for i, p := range peers {
		if only != "" && !slices.ContainsFunc(strings.Split(only, ","), func(s string) bool { return strings.HasPrefix(p.name, s) }) {
			continue
		}
		r, err := p.start(ctx, fmt.Sprintf("%s/%d", dir, i), w)
		if err != nil {
			fmt.Printf("missing: %s: %v\n", p.name, err)
			missing++
			continue
		}
		defer r.stop()
		one := ready{peer: p, running: r}
		for i := range w.Clients {
			c, err := r.connect(ctx, i)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			defer c.close()
			one.clients = append(one.clients, c)
		}
		all = append(all, one)
	}
	if missing > 0 && require {
		return fmt.Errorf("%d peers are missing", missing)
	}
	for round := range rounds {
		for _, p := range all {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			fmt.Fprintf(os.Stderr, "\rround %d of %d: %-40s", round+1, rounds, p.name)
			r, err := runRound(ctx, p.clients, length)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			r.Peer, r.Round = p.name, round
			results = append(results, r)
		}
	}
	fmt.Fprintf(os.Stderr, "\r%-60s\r", "")
	print(results)
	if out != "" {
		data, err := json.MarshalIndent(results, "", " ")
		if err != nil {
			return err
		}
		return os.WriteFile(out, data, 0o644)
	}
	return nil
}

func runRound(ctx context.Context, clients []client, length time.Duration) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, length+30*time.Second)
	defer cancel()
	counts := make([]int, len(clients))
	waits := make([][]time.Duration, len(clients))
	errs := make([]error, len(clients))
	began := time.Now()
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() {
			for time.Since(began) < length {
				t := time.Now()
				if errs[i] = c.take(ctx); errs[i] != nil {
					return
				}
				waits[i] = append(waits[i], time.Since(t))
				counts[i]++
				if errs[i] = c.give(ctx); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return result{}, err
		}
	}
	took := time.Since(began)
	var r result
	var sum, squares float64
	for _, n := range counts {
		r.Grants += n
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	r.Counts = counts
	all := slices.Concat(waits...)
	slices.Sort(all)
	if len(all) > 0 {
		r.P50, r.P99, r.Max = all[len(all)/2], all[len(all)*99/100], all[len(all)-1]
	}
	r.Rate, r.Seconds = float64(r.Grants)/took.Seconds(), took.Seconds()
	if squares > 0 {
		r.Jain = sum * sum / (float64(len(counts)) * squares)
	}
	return r, nil
}

// print prints medians, with the least and the greatest rate, and how the first peer compares.
func print(results []result) {
	byPeer := map[string][]result{}
	var names []string
	for _, r := range results {
		if byPeer[r.Peer] == nil {
			names = append(names, r.Peer)
		}
		byPeer[r.Peer] = append(byPeer[r.Peer], r)
	}
	first := 0.0
	fmt.Printf("%-34s %10s %21s %9s %10s %10s %10s %6s\n", "", "grants/s", "least to greatest", "first is", "p50", "p99", "max", "Jain")
	for _, name := range names {
		list := byPeer[name]
		slices.SortFunc(list, func(a, b result) int { return int(a.Rate - b.Rate) })
		m := list[len(list)/2]
		if first == 0 {
			first = m.Rate
		}
		fmt.Printf("%-34s %10.0f %10.0f %10.0f %8.1fx %10v %10v %10v %6.3f\n", name, m.Rate, list[0].Rate, list[len(list)-1].Rate, first/m.Rate,
			m.P50.Round(time.Microsecond), m.P99.Round(time.Microsecond), m.Max.Round(time.Microsecond), m.Jain)
	}
}
