// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"sync"

	"allot/model"
)

// prints keeps a 64-bit fingerprint of every configuration and of the one it was reached from: sixteen bytes, whatever
// the size of a configuration. Two configurations with the same fingerprint are taken for one, so something may be
// missed; collision is the probability. Configurations cannot be loaded again, so only safety can be asked.
type prints struct {
	packing
	shard [shards]printShard
}

type printShard struct {
	sync.Mutex
	prints, from []uint64 // open addressing; 0 is free
	kept         int
	_            [32]byte
}

func newPrints(s model.System) *prints {
	x := &prints{packing: newPacking(s)}
	for i := range x.shard {
		x.shard[i].prints, x.shard[i].from = make([]uint64, 1<<10), make([]uint64, 1<<10)
	}
	return x
}

// printStart marks a start in place of the fingerprint it was reached from.
const printStart = 1

// print is the fingerprint of a configuration: not 0, which is free, and not printStart.
func (x *prints) print(e *explorer, c model.Configuration) uint64 {
	e.key = x.pack(c, e.key[:0])
	return max(hash(e.key), printStart+1)
}

func (x *prints) prepare(*explorer) {}

func (x *prints) identify(e *explorer, _ uint64, s int) uint64 {
	e.compose(s)
	return x.print(e, e.next)
}

func (x *prints) add(e *explorer, id uint64, s int) (uint64, bool) {
	to := x.identify(e, id, s)
	return to, x.insert(to, id)
}

func (x *prints) addStart(e *explorer, c model.Configuration, _ uint64) (uint64, bool) {
	id := x.print(e, c)
	return id, x.insert(id, printStart)
}

func (sh *printShard) find(id uint64) int {
	mask := len(sh.prints) - 1
	slot := int(id>>6) & mask
	for sh.prints[slot] != 0 && sh.prints[slot] != id {
		slot = (slot + 1) & mask
	}
	return slot
}

func (x *prints) insert(id, from uint64) bool {
	sh := &x.shard[id%shards]
	sh.Lock()
	defer sh.Unlock()
	slot := sh.find(id)
	if sh.prints[slot] == id {
		return false
	}
	if 2*sh.kept >= len(sh.prints) {
		old, oldFrom := sh.prints, sh.from
		sh.prints, sh.from = make([]uint64, 2*len(old)), make([]uint64, 2*len(old))
		for i, p := range old {
			if p != 0 {
				s := sh.find(p)
				sh.prints[s], sh.from[s] = p, oldFrom[i]
			}
		}
		slot = sh.find(id)
	}
	sh.prints[slot], sh.from[slot] = id, from
	sh.kept++
	return true
}

func (x *prints) load(uint64, model.Configuration) {
	panic("check: a fingerprint cannot be turned back into a configuration")
}

func (x *prints) has(id uint64) bool {
	sh := &x.shard[id%shards]
	sh.Lock()
	defer sh.Unlock()
	return sh.prints[sh.find(id)] == id
}

func (x *prints) limit() uint64 { return nowhere }

func (x *prints) origin(id uint64) (uint64, bool) {
	sh := &x.shard[id%shards]
	from := sh.from[sh.find(id)]
	return from, from == printStart
}

func (x *prints) bytes() uint64 {
	var sum uint64
	for i := range x.shard {
		sh := &x.shard[i]
		sh.Lock()
		sum += 16 * uint64(len(sh.prints))
		sh.Unlock()
	}
	return sum
}

// collision is the probability that among n random fingerprints two are equal, at the most.
func collision(n uint64) float64 { return float64(n) * float64(n) / 2 / (1 << 63) / 2 }
