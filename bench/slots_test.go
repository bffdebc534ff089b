// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
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

// limiters are slots and what it is compared with, slots first: as it comes, with few seats, and with a seat for each of n.
func limiters(b *testing.B, n, k int) []limiter {
	s, err := slots.NewWith(slots.Options{K: k, Seats: n})
	if err != nil {
		b.Fatal(err)
	}
	return []limiter{
		slotLimiter{slots.New(k)}, slotLimiter{s}, semaphoreLimiter{semaphore.NewWeighted(int64(k))}, channelLimiter(make(chan struct{}, k)),
	}
}

var limiterNames = []string{"slots", "n-seats", "x-sync", "channel"}

func nothing() {}

// microsecond burns a microsecond of processor time.
func microsecond() {
	for start := time.Now(); time.Since(start) < time.Microsecond; {
	}
}

// BenchmarkSlots compares slots with the semaphore of x/sync and a buffered channel: one goroutine, as many as may be inside, as
// many as there are seats, and many more. Each line is one run of all three, in pieces that take turns, so that what
// disturbs one disturbs all; it gives the median time of each and the ratios.
func BenchmarkSlots(b *testing.B) {
	for _, n := range []int{4, 8, 16, 64} {
		ks := []int{1, 2, n / 2, n - 1}
		slices.Sort(ks)
		for _, k := range slices.Compact(ks) {
			counts := []int{1, k, n, 8 * n}
			slices.Sort(counts)
			for _, goroutines := range slices.Compact(counts) {
				for _, work := range []struct {
					name string
					do   func()
				}{{"empty", nothing}, {"1us", microsecond}} {
					b.Run(fmt.Sprintf("n=%d/k=%d/goroutines=%d/%s", n, k, goroutines, work.name), func(b *testing.B) {
						compare(b, limiters(b, n, k), goroutines, work.do)
					})
				}
			}
		}
	}
}

// pieces is into how many parts the run of each limiter is cut.
const pieces = 9

func compare(b *testing.B, limiters []limiter, goroutines int, work func()) {
	times := make([][]float64, len(limiters))
	turns := max(1, b.N/pieces/goroutines) // of each goroutine in each piece
	for range pieces {
		for i, l := range limiters {
			took := compete(l, goroutines, turns, work)
			times[i] = append(times[i], float64(took.Nanoseconds())/float64(turns*goroutines))
		}
	}
	for i := range times {
		slices.Sort(times[i])
		b.ReportMetric(times[i][pieces/2], "ns/"+limiterNames[i])
	}
	for i := 1; i < len(times); i++ {
		b.ReportMetric(times[0][pieces/2]/times[i][pieces/2], "of-"+limiterNames[i])
	}
	b.ReportMetric(0, "ns/op") // it would be the sum of all
}

// compete lets goroutines take turns of their own, and returns how long it takes until all have had theirs.
func compete(l limiter, goroutines, turns int, work func()) time.Duration {
	ctx := context.Background()
	start := time.Now()
	if goroutines == 1 {
		for range turns {
			l.do(ctx, work)
		}
		return time.Since(start)
	}
	var wait sync.WaitGroup
	for range goroutines {
		wait.Go(func() {
			for range turns {
				l.do(ctx, work)
			}
		})
	}
	wait.Wait()
	return time.Since(start)
}

// BenchmarkWaiters measures what goroutines that wait for a slot cost: processor time of the whole program while a thousand of them
// wait, in thousandths of one core.
func BenchmarkWaiters(b *testing.B) {
	s := slots.New(1)
	held, err := s.Acquire(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	for range 1000 {
		wait.Go(func() {
			if _, err := s.Acquire(ctx); !errors.Is(err, context.Canceled) {
				b.Error(err)
			}
		})
	}
	time.Sleep(200 * time.Millisecond) // until they sleep
	begin, start := processorTime(b), time.Now()
	for b.Loop() {
		time.Sleep(100 * time.Millisecond)
	}
	b.ReportMetric(1000*(processorTime(b)-begin).Seconds()/time.Since(start).Seconds(), "thousandths-of-a-core")
	cancel()
	wait.Wait()
	held.Release()
}

// processorTime is what the program has used of the processors so far.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
