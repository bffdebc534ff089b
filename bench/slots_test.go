// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"allot/slots"
)

// limiter lets at most k do something at once.
type limiter interface {
	do(ctx context.Context, work func())
}

type slotLimiter struct{ *slots.Slots }

func (l slotLimiter) do(ctx context.Context, work func()) {
	slot, err := l.Acquire(ctx)
	if err != nil {
		panic(err)
	}
	work()
	slot.Release()
}

type semaphoreLimiter struct{ *semaphore.Weighted }

func (l semaphoreLimiter) do(ctx context.Context, work func()) {
	if err := l.Acquire(ctx, 1); err != nil {
		panic(err)
	}
	work()
	l.Release(1)
}

type channelLimiter chan struct{}

func (l channelLimiter) do(ctx context.Context, work func()) {
	select {
	case l <- struct{}{}:
	case <-ctx.Done():
		panic(ctx.Err())
	}
	work()
	<-l
}

func limiters(b *testing.B, n, k int) map[string]limiter {
	s, err := slots.NewWith(slots.Options{K: k, Seats: n})
	if err != nil {
		b.Fatal(err)
	}
	return map[string]limiter{
		"slots":   slotLimiter{s},
		"x-sync":  semaphoreLimiter{semaphore.NewWeighted(int64(k))},
		"channel": channelLimiter(make(chan struct{}, k)),
	}
}

func nothing() {}

// microsecond burns a microsecond of processor time.
func microsecond() {
	for start := time.Now(); time.Since(start) < time.Microsecond; {
	}
}

// BenchmarkSlots compares slots with the semaphore of x/sync and a buffered channel: alone, with as many goroutines as
// may be inside, and with many.
func BenchmarkSlots(b *testing.B) {
	for _, n := range []int{4, 8, 16, 64} {
		seen := map[int]bool{}
		for _, k := range []int{1, 2, n / 2, n - 1} {
			if seen[k] {
				continue
			}
			seen[k] = true
			for _, competitors := range []int{1, k, n, 8 * n} {
				for work, do := range map[string]func(){"empty": nothing, "1us": microsecond} {
					for name, l := range limiters(b, n, k) {
						b.Run(fmt.Sprintf("n=%d/k=%d/goroutines=%d/%s/%s", n, k, competitors, work, name), func(b *testing.B) {
							compete(b, l, competitors, do)
						})
					}
				}
			}
		}
	}
}

func compete(b *testing.B, l limiter, goroutines int, work func()) {
	ctx := context.Background()
	if goroutines == 1 {
		for b.Loop() {
			l.do(ctx, work)
		}
		return
	}
	b.SetParallelism(goroutines) // times GOMAXPROCS
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			l.do(ctx, work)
		}
	})
}
