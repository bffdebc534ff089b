// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import "math"

// timers is a binary heap of times by number (of a clock, a link, a statement). Equal times come in the order of the
// numbers, so that nothing depends on the history of the heap.
type timers struct {
	heap []timer
	at   []int32 // by number: where it stands in the heap, or -1
}

type timer struct {
	time   int64
	number int32
}

const never = math.MaxInt64

// newTimers has room for the numbers 0..n-1.
func newTimers(n int) *timers {
	t := &timers{at: make([]int32, n)}
	for i := range t.at {
		t.at[i] = -1
	}
	return t
}

// next is the earliest time, never if there is none.
func (t *timers) next() int64 {
	if len(t.heap) == 0 {
		return never
	}
	return t.heap[0].time
}

// due takes out the first number whose time has come.
func (t *timers) due(now int64) (int32, bool) {
	if t.next() > now {
		return 0, false
	}
	number := t.heap[0].number
	t.remove(0)
	return number, true
}

// set gives a number a time, whether it has one already or not.
func (t *timers) set(number int32, time int64) {
	if t.at[number] < 0 {
		t.at[number] = int32(len(t.heap))
		t.heap = append(t.heap, timer{number: number})
	}
	i := int(t.at[number])
	t.heap[i].time = time
	t.settle(i)
}

// drop takes a number out.
func (t *timers) drop(number int32) {
	if i := t.at[number]; i >= 0 {
		t.remove(int(i))
	}
}

func (t *timers) remove(i int) {
	last := len(t.heap) - 1
	t.swap(i, last)
	t.at[t.heap[last].number] = -1
	t.heap = t.heap[:last]
	if i < last {
		t.settle(i)
	}
}

// settle moves an entry up or down to where it belongs.
func (t *timers) settle(i int) {
	for i > 0 && t.isBefore(i, (i-1)/2) {
		t.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	for {
		child := 2*i + 1
		if child >= len(t.heap) {
			return
		}
		if child+1 < len(t.heap) && t.isBefore(child+1, child) {
			child++
		}
		if !t.isBefore(child, i) {
			return
		}
		t.swap(i, child)
		i = child
	}
}

func (t *timers) isBefore(i, j int) bool {
	a, b := t.heap[i], t.heap[j]
	return a.time < b.time || a.time == b.time && a.number < b.number
}

func (t *timers) swap(i, j int) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.at[t.heap[i].number], t.at[t.heap[j].number] = int32(i), int32(j)
}
