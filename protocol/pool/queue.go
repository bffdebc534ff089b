// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import "slices"

// waitList is a queue of requests in the order of their rounds. The first is taken at once, however many wait.
type waitList struct {
	items []Pending
	head  int // those before it have left
}

func (q *waitList) len() int { return len(q.items) - q.head }

// list is what waits, good until the next change.
func (q *waitList) list() []Pending { return q.items[q.head:] }

// add puts a request behind those of its round and of earlier ones.
func (q *waitList) add(p Pending) {
	list := q.list()
	at, _ := slices.BinarySearchFunc(list, p.Round, func(p Pending, round int64) int {
		if p.Round <= round {
			return -1
		}
		return 1
	})
	if q.head > 0 && at < len(list)/2 {
		// There is room before the first, and it is nearer.
		q.head--
		copy(q.items[q.head:], q.items[q.head+1:q.head+1+at])
		q.items[q.head+at] = p
		return
	}
	if len(q.items) == cap(q.items) && 2*q.head >= len(q.items) {
		q.items = q.items[:copy(q.items, list)]
		q.head = 0
	}
	q.items = slices.Insert(q.items, q.head+at, p)
}

// remove takes out the request at a position.
func (q *waitList) remove(i int) {
	if i >= q.len()/2 && i > 0 {
		q.items = slices.Delete(q.items, q.head+i, q.head+i+1)
		return
	}
	copy(q.items[q.head+1:], q.items[q.head:q.head+i])
	q.items[q.head] = Pending{}
	if q.head++; q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
}
