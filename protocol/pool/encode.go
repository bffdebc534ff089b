// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Limits of what a message may name. Whoever parses says how large its network can be at most.
type Limits struct {
	Units   int32 // numbers of units are below it; at most MostUnits
	Members int32 // places are below it; at most MostMembers
}

// MostUnits and MostMembers are the largest numbers that the machine is made for.
const (
	MostUnits   = 1 << 16
	MostMembers = 1 << 10
)

// ErrEncoding is returned when bytes are not what AppendVisit or AppendWake writes. Whoever reads them drops them: a message that
// was lost is nothing new to the machine.
var ErrEncoding = errors.New("not a message of a pool")

// The first byte tells the kind and the format; a visit has its flags in the lower half of it.
const (
	visitFormat = 0x10
	wakeFormat  = 0x20
	seenFlag    = 0x01
	movedFlag   = 0x02
	oddFlag     = 0x04
)

// AppendVisit writes a controller behind dst. All numbers are variable in length. A fence is written as the difference from the one
// before it, the first one from the least fence of the generation, so that it takes two bytes instead of eight.
func AppendVisit(dst []byte, v *Visit) []byte {
	first := byte(visitFormat)
	for i, is := range []bool{v.Seen, v.Moved, v.Odd} {
		if is {
			first |= 1 << i
		}
	}
	dst = append(dst, first)
	dst = binary.AppendUvarint(dst, uint64(v.Generation))
	dst = binary.AppendUvarint(dst, uint64(v.Circ))
	dst = binary.AppendUvarint(dst, uint64(v.Done))
	dst = binary.AppendUvarint(dst, uint64(v.Units))
	dst = binary.AppendUvarint(dst, uint64(v.Prio+1))
	dst = binary.AppendUvarint(dst, uint64(v.Lack))
	fence := v.Generation << FenceBits
	dst = binary.AppendVarint(dst, v.Top-fence)
	dst = binary.AppendUvarint(dst, uint64(len(v.Board)))
	for _, u := range v.Board {
		dst = binary.AppendUvarint(dst, uint64(u.Number))
		dst = binary.AppendVarint(dst, u.Fence-fence)
		fence = u.Fence
	}
	dst = binary.AppendUvarint(dst, uint64(len(v.Waiters)))
	for _, w := range v.Waiters {
		dst = appendWaiter(dst, w)
	}
	return appendSet(dst, v.Present)
}

// AppendWake writes a wake-up call behind dst.
func AppendWake(dst []byte, w Wake) []byte {
	dst = append(dst, wakeFormat)
	dst = binary.AppendUvarint(dst, uint64(w.Generation))
	return appendWaiter(dst, w.Waiter)
}

func appendWaiter(dst []byte, w Waiter) []byte {
	dst = binary.AppendUvarint(dst, uint64(w.Place))
	dst = binary.AppendUvarint(dst, uint64(w.Lack))
	return binary.AppendUvarint(dst, uint64(w.Call))
}

// appendSet writes a set as bytes, up to the last one that is not 0.
func appendSet(dst []byte, s Set) []byte {
	n := len(s)
	for n > 0 && s[n-1] == 0 {
		n--
	}
	size := 0
	if n > 0 {
		size = 8*(n-1) + bytesOf(s[n-1])
	}
	dst = binary.AppendUvarint(dst, uint64(size))
	for i := range size {
		dst = append(dst, byte(s[i/8]>>(i%8*8)))
	}
	return dst
}

func bytesOf(word uint64) int {
	n := 0
	for ; word != 0; word >>= 8 {
		n++
	}
	return n
}

// ParseVisit reads a controller into v and uses the slices that v has. It accepts exactly what AppendVisit writes of a controller
// within the limits: no number in more bytes than it needs, no unit twice on board, waiters in the order of their places,
// and nothing behind the end. On error v is of no use.
func ParseVisit(v *Visit, data []byte, limits Limits) error {
	r := reader{data: data}
	first := r.byte()
	if first&^(seenFlag|movedFlag|oddFlag) != visitFormat {
		return fmt.Errorf("%w: its first byte is %#02x", ErrEncoding, first)
	}
	v.Seen, v.Moved, v.Odd = first&seenFlag != 0, first&movedFlag != 0, first&oddFlag != 0
	v.Generation = r.long(math.MaxInt64 >> FenceBits)
	v.Circ = r.long(math.MaxInt64)
	v.Done = r.long(math.MaxInt64)
	v.Units = r.int(limits.Units)
	v.Prio = r.int(limits.Members) - 1
	v.Lack = r.int(limits.Units)
	fence := v.Generation << FenceBits
	v.Top = r.fence(fence)
	v.Board = v.Board[:0]
	var small [8]uint64
	board := Set(small[:]) // it grows with the greatest number on board, not with the limit
	for range r.count(limits.Units, 2) {
		u := Unit{Number: r.int(limits.Units - 1), Fence: r.fence(fence)}
		fence = u.Fence
		if board.Has(u.Number) {
			r.isBad = true
		}
		for int(u.Number>>6) >= len(board) {
			board = append(board, 0)
		}
		board[u.Number>>6] |= 1 << (u.Number & 63)
		v.Board = append(v.Board, u)
	}
	v.Waiters = v.Waiters[:0]
	last := int32(-1)
	for range r.count(limits.Members, 3) {
		w := r.waiter(limits)
		if w.Place <= last || w.Lack == 0 {
			r.isBad = true
		}
		last = w.Place
		v.Waiters = append(v.Waiters, w)
	}
	v.Present = r.set(v.Present[:0], limits.Units)
	return r.end()
}

// ParseWake reads a wake-up call and accepts exactly what AppendWake writes of a call within the limits.
func ParseWake(w *Wake, data []byte, limits Limits) error {
	r := reader{data: data}
	if first := r.byte(); first != wakeFormat {
		return fmt.Errorf("%w: its first byte is %#02x", ErrEncoding, first)
	}
	w.Generation = r.long(math.MaxInt64 >> FenceBits)
	w.Waiter = r.waiter(limits)
	return r.end()
}

// reader takes bytes from the front. After the first mistake it gives nothing but zeros.
type reader struct {
	data  []byte
	isBad bool
}

func (r *reader) byte() byte {
	if r.isBad || len(r.data) == 0 {
		r.isBad = true
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

// long reads a number of 0..most.
func (r *reader) long(most int64) int64 {
	x, n := binary.Uvarint(r.data)
	if r.isBad || n <= 0 || n > 1 && r.data[n-1] == 0 || most < 0 || x > uint64(most) {
		r.isBad = true
		return 0
	}
	r.data = r.data[n:]
	return int64(x)
}

func (r *reader) int(most int32) int32 { return int32(r.long(int64(most))) }

// fence reads a difference from another fence. No fence is negative.
func (r *reader) fence(from int64) int64 {
	x, n := binary.Varint(r.data)
	if r.isBad || n <= 0 || n > 1 && r.data[n-1] == 0 || from+x < 0 {
		r.isBad = true
		return 0
	}
	r.data = r.data[n:]
	return from + x
}

// count reads how many things follow, of which each takes at least so many bytes.
func (r *reader) count(most int32, size int) int {
	n := int(r.int(most))
	if n > len(r.data)/size {
		r.isBad = true
		return 0
	}
	return n
}

func (r *reader) waiter(limits Limits) Waiter {
	return Waiter{Place: r.int(limits.Members - 1), Lack: r.int(limits.Units), Call: r.long(math.MaxInt64)}
}

// set reads numbers below most into s.
func (r *reader) set(s Set, most int32) Set {
	size := r.count((most+7)/8, 1)
	for i := range size {
		b := r.byte()
		if i == size-1 && (b == 0 || int32(8*i+bitsOf(b)) > most) {
			r.isBad = true
		}
		if i%8 == 0 {
			s = append(s, 0)
		}
		s[i/8] |= uint64(b) << (i % 8 * 8)
	}
	return s
}

func bitsOf(b byte) int {
	n := 0
	for ; b != 0; b >>= 1 {
		n++
	}
	return n
}

func (r *reader) end() error {
	switch {
	case r.isBad:
		return ErrEncoding
	case len(r.data) > 0:
		return fmt.Errorf("%w: %d bytes too many", ErrEncoding, len(r.data))
	}
	return nil
}
