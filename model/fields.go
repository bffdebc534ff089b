// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// Fields walks over the variables of a state or a message. One method of the algorithm, which names each variable
// and its bounds, serves to encode, decode, describe, count and choose values:
//
//	func (s *State) visit(f *model.Fields) {
//		model.Int(f, "need", &s.Need, 0, s.max)
//		model.Enum(f, "state", &s.State, "out", "req", "in")
//	}
//
// The bounds are the domain of the variable: decoding refuses what is outside, arbitrary starts and corruption take
// every value inside. A variable with more than 2^16 values (a sequence number, a fence) takes one of its lowest 2^16
// values when chosen.
type Fields struct {
	mode mode
	buf  []byte // encode appends to it, decode eats it
	err  error
	list []Variable
	rank uint64 // choose: what is left of the rank; count: the product so far
	// stamps is what gather has found; for rename, all stamps that there are, sorted.
	stamps []int64
}

type mode uint8

const (
	encode mode = iota
	decode
	describe
	count
	choose
	scatter // choose where the combinations cannot be numbered: the rank is a seed
	gather  // list the stamps
	rename  // give the stamps new names
)

// MaxListed bounds the values of one variable that enumeration and corruption take.
const MaxListed = 1 << 16

// Uncountable is the count of a domain with more than 2^63 values.
const Uncountable = 1 << 63

var errShort = errors.New("it ends too early")

// DomainError is what encoding panics with when an algorithm has put into a variable what its domain does not hold: it is
// not made for what happened to it, such as more messages than its buffers take. Checker and simulator make an error
// of it.
type DomainError struct {
	Variable    string
	Value, Most uint64 // counted from the smallest value
}

func (e *DomainError) Error() string {
	return fmt.Sprintf("variable %s holds value number %d, its last one is number %d: the algorithm left its domain, so it is not made for these faults or links",
		e.Variable, e.Value, e.Most)
}

// CatchDomain is for a deferred call: it turns a panic with a DomainError into an error.
func CatchDomain(err *error) {
	switch cause := recover().(type) {
	case nil:
	case *DomainError:
		*err = cause
	default:
		panic(cause)
	}
}

// Integer is what Int and Enum can point to.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32
}

// Int visits a variable with the values lo..hi.
func Int[T Integer](f *Fields, name string, v *T, lo, hi T) {
	if f.mode == describe {
		f.list = append(f.list, Variable{Name: name, Value: fmt.Sprint(*v)})
		return
	}
	got := f.number(name, uint64(int64(*v)-int64(lo)), uint64(int64(hi)-int64(lo)))
	if f.mode != encode && f.mode != count {
		*v = T(int64(got) + int64(lo))
	}
}

// Enum visits a variable whose values 0, 1, … have names.
func Enum[T Integer](f *Fields, name string, v *T, names ...string) {
	if f.mode == describe {
		text := fmt.Sprint(*v)
		if i := int64(*v); i >= 0 && i < int64(len(names)) {
			text = names[i]
		}
		f.list = append(f.list, Variable{Name: name, Value: text})
		return
	}
	Int(f, name, v, 0, T(len(names)-1))
}

// Bool visits a truth value.
func Bool(f *Fields, name string, v *bool) {
	if f.mode == describe {
		f.list = append(f.list, Variable{Name: name, Value: fmt.Sprint(*v)})
		return
	}
	var b uint8
	if *v {
		b = 1
	}
	Int(f, name, &b, 0, 1)
	*v = b != 0
}

// Word visits the variables of a layout, which are packed in one word. Their names begin with the given one.
func Word(f *Fields, name string, l Layout, w *uint64) {
	for _, field := range l.fields {
		v := field.Get(*w)
		if f.mode == describe {
			f.list = append(f.list, Variable{Name: name + field.Name, Value: field.show(v)})
			continue
		}
		got := f.number(field.Name, v, field.Size-1)
		if f.mode != encode && f.mode != count {
			*w = field.Set(*w, got)
		}
	}
}

// Ghost visits a variable that belongs to the model rather than to the memory of a process, such as a bound on how often
// a timer may run out. It is kept and shown like an Int, but no fault reaches it: arbitrary starts and corruption set it
// to lo.
func Ghost[T Integer](f *Fields, name string, v *T, lo, hi T) {
	switch f.mode {
	case count:
	case choose, scatter:
		*v = lo
	case encode, decode, describe, gather, rename:
		Int(f, name, v, lo, hi)
	}
}

// number visits a number in 0..most.
func (f *Fields) number(name string, v, most uint64) uint64 {
	switch f.mode {
	case encode:
		if v > most {
			panic(&DomainError{Variable: name, Value: v, Most: most})
		}
		if most < 1<<8 {
			f.buf = append(f.buf, byte(v))
		} else {
			f.buf = binary.AppendUvarint(f.buf, v)
		}
	case decode:
		v = f.decodeNumber(name, most)
	case count:
		f.rank = multiply(f.rank, min(most, MaxListed-1)+1)
	case choose:
		size := min(most, MaxListed-1) + 1
		v = f.rank % size
		f.rank /= size
	case scatter:
		v = f.draw() % (min(most, MaxListed-1) + 1)
	case describe, gather, rename:
	}
	return v
}

func (f *Fields) decodeNumber(name string, most uint64) uint64 {
	if f.err != nil {
		return 0
	}
	var v uint64
	size := 1
	if len(f.buf) == 0 {
		size = 0
	} else if most < 1<<8 {
		v = uint64(f.buf[0])
	} else {
		v, size = binary.Uvarint(f.buf)
	}
	switch {
	case size <= 0:
		f.err = fmt.Errorf("variable %s: %w", name, errShort)
		return 0
	case size > 1 && v < 1<<(7*(size-1)):
		f.err = fmt.Errorf("variable %s: %d is written in more bytes than it needs", name, v)
		return 0
	case v > most:
		f.err = fmt.Errorf("variable %s: %d is more than %d", name, v, most)
		return 0
	}
	f.buf = f.buf[size:]
	return v
}

func multiply(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high != 0 || low > Uncountable {
		return Uncountable
	}
	return low
}

// Encode appends the encoding of what visit shows.
func Encode(buf []byte, visit func(*Fields)) []byte {
	f := Fields{mode: encode, buf: buf}
	visit(&f)
	return f.buf
}

// Decode fills what visit points to and refuses values outside their bounds and bytes left over.
func Decode(data []byte, visit func(*Fields)) error {
	f := Fields{mode: decode, buf: data}
	visit(&f)
	if f.err == nil && len(f.buf) > 0 {
		f.err = fmt.Errorf("%d bytes too many", len(f.buf))
	}
	return f.err
}

// Describe lists names and values.
func Describe(visit func(*Fields)) []Variable {
	f := Fields{mode: describe}
	visit(&f)
	return f.list
}

// Count is the number of combinations of values, Uncountable if there are too many.
func Count(visit func(*Fields)) uint64 {
	f := Fields{mode: count, rank: 1}
	visit(&f)
	return f.rank
}

// Choose fills what visit points to with combination number rank. Where there are too many to count, rank is the seed
// of a value drawn for each variable on its own.
func Choose(rank uint64, visit func(*Fields)) {
	f := Fields{mode: choose, rank: rank}
	if Count(visit) == Uncountable {
		f.mode = scatter
	}
	visit(&f)
}

// draw is splitmix64: chance comes in as an argument, this only spreads it.
func (f *Fields) draw() uint64 {
	f.rank += 0x9e3779b97f4a7c15
	z := f.rank
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
