// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "testing"

// quiet hears nothing.
type quiet struct{ granted []int64 }

func (q *quiet) Visit(int32, *Visit)        {}
func (q *quiet) Wake(Wake)                  {}
func (q *quiet) Granted(id int64, _ []Unit) { q.granted = append(q.granted, id) }
func (q *quiet) Lost(int64, Loss)           {}
func (q *quiet) Stuck()                     {}

// alone is a seat that is its own root and reigns.
func alone(units int32) (*Seat, *quiet) {
	o := &Options{Units: units, Lease: 1000, Margin: 10, Pace: 100, Audit: 500, Patience: 50, Turns: 16, Passes: 8, Burst: 1 << 20, FenceShift: FenceBits}
	q := &quiet{granted: make([]int64, 0, 1<<10)}
	s := NewSeat(o, q)
	s.Begin(1, 0, 1, true)
	s.Reign(1000)
	return s, q
}

// handOver releases the oldest grant and asks again, with so many requests waiting all the time.
func handOver(b *testing.B, waiting int) {
	s, q := alone(8)
	id := int64(0)
	for range waiting + 2 {
		id++
		s.Request(id, 3, 0)
	}
	next := 0
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		s.Release(q.granted[next])
		if next++; next == 1000 {
			q.granted = q.granted[:copy(q.granted, q.granted[next:])]
			next = 0
		}
		id++
		s.Request(id, 3, 0)
	}
}

func BenchmarkHandOver16(b *testing.B)    { handOver(b, 16) }
func BenchmarkHandOver10000(b *testing.B) { handOver(b, 10000) }

// TestHandOverAllocatesNothing: units go from one request of a member to the next without new memory.
func TestHandOverAllocatesNothing(t *testing.T) {
	s, q := alone(8)
	id := int64(0)
	for range 100 {
		id++
		s.Request(id, 3, 0)
	}
	if n := testing.AllocsPerRun(1000, func() {
		s.Release(q.granted[0])
		q.granted = q.granted[:copy(q.granted, q.granted[1:])]
		id++
		s.Request(id, 3, 0)
	}); n > 0.1 {
		t.Errorf("%v allocations for each grant", n)
	}
}
