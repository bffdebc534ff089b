// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"allot/check"
	"allot/model"
	"allot/protocol/ring"
	"allot/sim"
	"allot/topology"
)

func ringOf(b *testing.B, n int) *model.Instance {
	b.Helper()
	g, err := topology.Parse(fmt.Sprintf("ring:%d", n))
	if err != nil {
		b.Fatal(err)
	}
	inst, err := ring.Algorithm.Make(model.Options{Graph: g})
	if err != nil {
		b.Fatal(err)
	}
	return inst
}

// BenchmarkCheckRing asks whether the ring stabilizes, from every configuration.
func BenchmarkCheckRing(b *testing.B) {
	for _, c := range []struct {
		n       int
		daemon  check.Daemon
		workers int
	}{
		{7, check.Central, 1}, {7, check.Central, 2}, {7, check.Distributed, 1}, {7, check.Synchronous, 1}, {8, check.Central, 1}, {8, check.Central, 2},
	} {
		b.Run(fmt.Sprintf("n=%d/%s/workers=%d", c.n, c.daemon, c.workers), func(b *testing.B) {
			inst := ringOf(b, c.n)
			debug.FreeOSMemory()
			var r *check.Result
			for b.Loop() {
				r = prove(b, inst, check.Options{Arbitrary: true, Daemon: c.daemon, Workers: c.workers, Properties: []string{"stabilizes"}})
			}
			reportSearch(b, r, c.workers)
			b.ReportMetric(peakMiB(b), "peak-MiB")
		})
	}
}

// BenchmarkCheckStores reaches the configurations of the ring of 6 after a corruption, kept in each way.
func BenchmarkCheckStores(b *testing.B) {
	g, err := topology.Parse("ring:6")
	if err != nil {
		b.Fatal(err)
	}
	inst, err := ring.Algorithm.Make(model.Options{Graph: g, Budget: model.Budget{Corrupt: 3}})
	if err != nil {
		b.Fatal(err)
	}
	for _, keep := range []check.Keep{check.Direct, check.Exact, check.Fingerprint} {
		b.Run(string(keep), func(b *testing.B) {
			var r *check.Result
			for b.Loop() {
				r = prove(b, inst, check.Options{Keep: keep, Workers: 1, Properties: []string{"no-deadlock"}})
			}
			reportSearch(b, r, 1)
		})
	}
}

func prove(b *testing.B, inst *model.Instance, o check.Options) *check.Result {
	b.Helper()
	r, err := check.Run(context.Background(), inst, o)
	if err != nil || r.Verdict != check.Proved {
		b.Fatal(err, r)
	}
	return r
}

// reportSearch turns the time of all searches, which were alike, into configurations a second.
func reportSearch(b *testing.B, r *check.Result, workers int) {
	b.ReportMetric(float64(r.States)*float64(b.N)/b.Elapsed().Seconds()/float64(workers)/1e6, "Mconfigurations/s/core")
	b.ReportMetric(float64(r.Bytes)/float64(r.States), "B/configuration")
}

// BenchmarkSimRing takes moves under the central daemon, with the legitimate set watched at every step.
func BenchmarkSimRing(b *testing.B) {
	for _, n := range []int{100, 10_000, 1_000_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			inst := ringOf(b, n)
			debug.FreeOSMemory()
			moves := int64(0)
			const steps = 5_000_000
			for b.Loop() {
				r, err := sim.Run(context.Background(), inst, sim.Options{Start: sim.Arbitrary, Seed: 1, Steps: steps})
				if err != nil {
					b.Fatal(err)
				}
				moves += r.Moves
			}
			b.ReportMetric(float64(moves)/b.Elapsed().Seconds()/1e6, "Mmoves/s/core")
			b.ReportMetric(peakMiB(b), "peak-MiB")
		})
	}
}

// peakMiB is the most memory that the process has held since the kernel was asked to forget, or since it started.
func peakMiB(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.Sys) / (1 << 20)
	}
	for line := range strings.Lines(string(text)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kib); n == 1 {
			// Begin anew for the next benchmark; where the kernel does not allow it, the peak is that of all so far.
			_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
			return kib / 1024
		}
	}
	b.Fatal("the kernel does not say how much memory was used")
	return 0
}
