// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"allot/model"
)

// space keeps the configurations of a search under numbers, their ids. The searches are written once over it.
type space interface {
	// prepare is called when e has measured the moves of a configuration, before identify and add.
	prepare(e *explorer)
	// identify is the id of the configuration after step s of configuration id, which e has loaded; nowhere if it is
	// not kept.
	identify(e *explorer, id uint64, s int) uint64
	// add keeps the configuration after step s. It tells whether it was new.
	add(e *explorer, id uint64, s int) (uint64, bool)
	// addStart keeps a start, under its ordinal number among the starts.
	addStart(e *explorer, c model.Configuration, ordinal uint64) (uint64, bool)
	// load fills c with a kept configuration. Spaces of fingerprints cannot.
	load(id uint64, c model.Configuration)
	// has tells whether the configuration with this id is kept. Ids are below limit.
	has(id uint64) bool
	limit() uint64
	// origin tells from where a configuration was reached first, or its ordinal number if it is a start.
	origin(id uint64) (from uint64, isStart bool)
	bytes() uint64
}

const nowhere = ^uint64(0)

// direct gives every configuration that there could be a place of its own: its id is the mixed-radix number whose
// digits are the numbers of its words' values. The successor's id is found by adding, nothing is encoded or hashed.
type direct struct {
	size   uint64
	words  []directWord
	varies []int // the words with more than one value
	// reached holds for every id one more than where it was reached from, or isStart. It is nil when all configurations are
	// starts.
	reached []uint32
	kept    atomic.Uint64
}

type directWord struct {
	radix, weight uint64
	fixed         uint64   // the value, if there is only one
	values        []uint64 // by digit; nil if the values are the digits
	digits        []uint32 // by value, if the values are small
	digitOf       map[uint64]uint32
}

const directStart = ^uint32(0)

// maxDirect bounds the ids of a direct space, so that they fit four bytes.
const maxDirect = 1<<32 - 2

// newDirect makes a direct space, or says why it cannot.
func newDirect(s model.System, o Options) (*direct, error) {
	if _, ok := s.(*model.Network); ok {
		return nil, fmt.Errorf("the messages of a network cannot be listed in advance")
	}
	d := &direct{size: 1, words: make([]directWord, s.Words())}
	for w := range d.words {
		size, value := s.Domain(w)
		if size == 0 || size > maxDirect {
			return nil, fmt.Errorf("word %d of the configuration has too many values", w)
		}
		high, low := bits.Mul64(d.size, size)
		if high != 0 || low > maxDirect || low > o.MaxMemory/4 {
			return nil, fmt.Errorf("the product of the domains is too large for an array")
		}
		d.words[w] = directWord{radix: size, weight: d.size, fixed: value(0)}
		if size > 1 {
			d.words[w].listValues(size, value)
			d.varies = append(d.varies, w)
		}
		d.size = low
	}
	return d, nil
}

func (w *directWord) listValues(size uint64, value func(uint64) uint64) {
	largest, isIdentity := uint64(0), true
	for i := range size {
		v := value(i)
		largest = max(largest, v)
		isIdentity = isIdentity && v == i
	}
	if isIdentity {
		return
	}
	w.values = make([]uint64, size)
	if largest < 1<<22 {
		w.digits = make([]uint32, largest+1)
	} else {
		w.digitOf = make(map[uint64]uint32, size)
	}
	for i := range size {
		v := value(i)
		w.values[i] = v
		if w.digits != nil {
			w.digits[v] = uint32(i)
		} else {
			w.digitOf[v] = uint32(i)
		}
	}
}

func (w *directWord) digit(v uint64) uint64 {
	switch {
	case w.values == nil:
		return v
	case w.digits != nil:
		return uint64(w.digits[v])
	}
	return uint64(w.digitOf[v])
}

// track makes room for where configurations were reached from. Without it every configuration counts as a start.
func (d *direct) track() { d.reached = make([]uint32, d.size) }

func (d *direct) prepare(e *explorer) {
	e.deltas = e.deltas[:0]
	for i := range e.moves {
		var delta uint64
		for w := e.effects[i].from; w < e.effects[i].to; w++ {
			word := &d.words[e.writes[w]]
			delta += (word.digit(e.values[w]) - word.digit(e.c[e.writes[w]])) * word.weight
		}
		e.deltas = append(e.deltas, delta)
	}
}

func (d *direct) identify(e *explorer, id uint64, s int) uint64 {
	for _, pick := range e.picks[e.steps[s].from:e.steps[s].to] {
		id += e.deltas[pick]
	}
	return id
}

func (d *direct) add(e *explorer, id uint64, s int) (uint64, bool) {
	to := d.identify(e, id, s)
	return to, d.mark(to, uint32(id)+1)
}

func (d *direct) addStart(_ *explorer, c model.Configuration, _ uint64) (uint64, bool) {
	id := d.idOf(c)
	return id, d.mark(id, directStart)
}

func (d *direct) idOf(c model.Configuration) uint64 {
	var id uint64
	for _, w := range d.varies {
		id += d.words[w].digit(c[w]) * d.words[w].weight
	}
	return id
}

func (d *direct) mark(id uint64, from uint32) bool {
	if d.reached == nil || atomic.LoadUint32(&d.reached[id]) != 0 || !atomic.CompareAndSwapUint32(&d.reached[id], 0, from) {
		return false
	}
	d.kept.Add(1)
	return true
}

func (d *direct) load(id uint64, c model.Configuration) {
	for w := range d.words {
		c[w] = d.words[w].fixed
	}
	for _, w := range d.varies {
		word := &d.words[w]
		digit := id % word.radix
		id /= word.radix
		if word.values == nil {
			c[w] = digit
		} else {
			c[w] = word.values[digit]
		}
	}
}

// increment makes c, the configuration of some id, that of the next one.
func (d *direct) increment(c model.Configuration) {
	for _, w := range d.varies {
		word := &d.words[w]
		digit := word.digit(c[w]) + 1
		if digit < word.radix {
			if word.values == nil {
				c[w] = digit
			} else {
				c[w] = word.values[digit]
			}
			return
		}
		c[w] = word.fixed
	}
}

func (d *direct) has(id uint64) bool {
	return d.reached == nil || atomic.LoadUint32(&d.reached[id]) != 0
}

func (d *direct) limit() uint64 { return d.size }

func (d *direct) origin(id uint64) (uint64, bool) {
	if d.reached == nil || d.reached[id] == directStart {
		return 0, true
	}
	return uint64(d.reached[id] - 1), false
}

func (d *direct) bytes() uint64 { return 4 * uint64(len(d.reached)) }
