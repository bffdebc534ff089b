// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allocator

import (
	"container/heap"
	"sync"
)

// timers call back when their time has come. A timer is never taken away: who is called looks whether there is still
// something to do.
type timers struct {
	mu   sync.Mutex
	heap timerHeap
}

type timer struct {
	at   int64
	fire func(now int64)
}

type timerHeap []timer

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h timerHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *timerHeap) Push(x any)        { *h = append(*h, x.(timer)) }
func (h *timerHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = timer{}
	*h = (*h)[:last]
	return t
}

// set calls fire at or after a time.
func (t *timers) set(at int64, fire func(now int64)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	heap.Push(&t.heap, timer{at, fire})
}

// run fires all timers whose time has come.
func (t *timers) run(now int64) {
	for {
		t.mu.Lock()
		if len(t.heap) == 0 || t.heap[0].at > now {
			t.mu.Unlock()
			return
		}
		due := heap.Pop(&t.heap).(timer)
		t.mu.Unlock()
		due.fire(now)
	}
}
