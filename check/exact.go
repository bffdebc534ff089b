// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"bytes"
	"math/bits"
	"sync"

	"allot/model"
)

// packing writes configurations as short keys of equal length: the words that can vary, each in as many bytes as its
// values need.
type packing struct {
	words  []packedWord
	length int
	fixed  model.Configuration
}

type packedWord struct {
	word, width int
}

func newPacking(s model.System) packing {
	p := packing{fixed: s.Clean()}
	_, isNetwork := s.(*model.Network)
	for w := range s.Words() {
		size, value := s.Domain(w)
		width := 8
		switch {
		case size == 1 && (s.IsStatus(w) || !isNetwork):
			continue
		case isNetwork && !s.IsStatus(w):
			width = 4 // a handle
		case size > 0 && size <= 1<<16:
			var largest uint64
			for i := range size {
				largest = max(largest, value(i))
			}
			width = max(1, (bits.Len64(largest)+7)/8)
		}
		p.words = append(p.words, packedWord{w, width})
		p.length += width
	}
	return p
}

func (p *packing) pack(c model.Configuration, key []byte) []byte {
	for _, w := range p.words {
		v := c[w.word]
		for range w.width {
			key = append(key, byte(v))
			v >>= 8
		}
	}
	return key
}

func (p *packing) unpack(key []byte, c model.Configuration) {
	copy(c, p.fixed)
	for _, w := range p.words {
		var v uint64
		for i := w.width - 1; i >= 0; i-- {
			v = v<<8 | uint64(key[i])
		}
		key = key[w.width:]
		c[w.word] = v
	}
}

// hash is a fixed function, so that two runs agree: eight bytes at a time, each mixed by a multiplication.
func hash(key []byte) uint64 {
	h := uint64(len(key)) * 0x9e3779b97f4a7c15
	for len(key) > 0 {
		var v uint64
		n := min(8, len(key))
		for i := range n {
			v |= uint64(key[i]) << (8 * i)
		}
		key = key[n:]
		high, low := bits.Mul64(h^v^0xa0761d6478bd642f, 0xe7037ed1a0b428db)
		h = high ^ low
	}
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// shards is the number of parts of a table, each with a lock of its own.
const shards = 64

// exact keeps the key of every configuration, so nothing is ever mistaken for something else.
type exact struct {
	packing
	shard [shards]exactShard
}

type exactShard struct {
	sync.Mutex
	slots []uint32 // open addressing: one more than the local number, 0 is free
	keys  []byte
	from  []uint32 // by local number: where it was reached from, or startBit and the ordinal number of a start
	_     [32]byte // keeps neighbouring locks on different cache lines
}

const startBit = 1 << 31

func newExact(s model.System) *exact {
	x := &exact{packing: newPacking(s)}
	for i := range x.shard {
		x.shard[i].slots = make([]uint32, 1<<10)
	}
	return x
}

func (x *exact) prepare(*explorer) {}

// find looks a key up in its shard, which is locked: the slot of its local number, or the free slot where it belongs.
func (x *exact) find(sh *exactShard, h uint64, key []byte) (slot int, isThere bool) {
	mask := len(sh.slots) - 1
	slot = int(h>>6) & mask
	for sh.slots[slot] != 0 {
		local := int(sh.slots[slot] - 1)
		if bytes.Equal(sh.keys[local*x.length:(local+1)*x.length], key) {
			return slot, true
		}
		slot = (slot + 1) & mask
	}
	return slot, false
}

func (x *exact) insert(h uint64, key []byte, from uint32) (uint64, bool) {
	number := h % shards
	sh := &x.shard[number]
	sh.Lock()
	defer sh.Unlock()
	slot, isThere := x.find(sh, h, key)
	if !isThere {
		if 2*len(sh.from) >= len(sh.slots) {
			x.grow(sh)
			slot, _ = x.find(sh, h, key)
		}
		sh.slots[slot] = uint32(len(sh.from)) + 1
		sh.from = append(sh.from, from)
		sh.keys = append(sh.keys, key...)
	}
	return uint64(sh.slots[slot]-1)*shards + number, !isThere
}

func (x *exact) grow(sh *exactShard) {
	sh.slots = make([]uint32, 2*len(sh.slots))
	for local := range sh.from {
		key := sh.keys[local*x.length : (local+1)*x.length]
		slot, _ := x.find(sh, hash(key), key)
		sh.slots[slot] = uint32(local) + 1
	}
}

func (x *exact) identify(e *explorer, _ uint64, s int) uint64 {
	e.compose(s)
	e.key = x.pack(e.next, e.key[:0])
	h := hash(e.key)
	sh := &x.shard[h%shards]
	sh.Lock()
	defer sh.Unlock()
	slot, isThere := x.find(sh, h, e.key)
	if !isThere {
		return nowhere
	}
	return uint64(sh.slots[slot]-1)*shards + h%shards
}

func (x *exact) add(e *explorer, id uint64, s int) (uint64, bool) {
	e.compose(s)
	e.key = x.pack(e.next, e.key[:0])
	return x.insert(hash(e.key), e.key, uint32(id))
}

func (x *exact) addStart(e *explorer, c model.Configuration, ordinal uint64) (uint64, bool) {
	e.key = x.pack(c, e.key[:0])
	return x.insert(hash(e.key), e.key, startBit|uint32(ordinal))
}

func (x *exact) load(id uint64, c model.Configuration) {
	sh, local := &x.shard[id%shards], int(id/shards)
	sh.Lock()
	x.unpack(sh.keys[local*x.length:(local+1)*x.length], c)
	sh.Unlock()
}

func (x *exact) has(id uint64) bool { return id/shards < uint64(len(x.shard[id%shards].from)) }

func (x *exact) limit() uint64 {
	most := 0
	for i := range x.shard {
		most = max(most, len(x.shard[i].from))
	}
	return uint64(most) * shards
}

func (x *exact) origin(id uint64) (uint64, bool) {
	from := x.shard[id%shards].from[id/shards]
	return uint64(from &^ startBit), from&startBit != 0
}

func (x *exact) bytes() uint64 {
	var sum uint64
	for i := range x.shard {
		sh := &x.shard[i]
		sh.Lock()
		sum += uint64(4*len(sh.slots) + cap(sh.keys) + 4*cap(sh.from))
		sh.Unlock()
	}
	return sum
}
