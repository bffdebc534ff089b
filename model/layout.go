// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math/bits"
)

// Field is one variable of a process or one shared register. Its values are 0..Size-1. Layout places it inside a
// word of 64 bits; Get and Set are shifts, so that guards read variables at the speed of memory.
type Field struct {
	Name string
	Size uint64
	// Show writes a value for people. Nil means the number.
	Show func(v uint64) string

	shift uint8
	mask  uint64
}

// Get reads the field from a word.
func (f *Field) Get(w uint64) uint64 { return w >> f.shift & f.mask }

// Set returns the word with the field changed.
func (f *Field) Set(w, v uint64) uint64 { return w&^(f.mask<<f.shift) | v<<f.shift }

func (f *Field) show(v uint64) string {
	if f.Show != nil {
		return f.Show(v)
	}
	return fmt.Sprint(v)
}

// Layout packs the variables of one process into a word.
type Layout struct {
	fields []*Field
	size   uint64
}

// NewLayout places the fields one after the other, from the lowest bits up. Each field must have at least one value,
// and together they must fit 64 bits and have fewer than 2^63 combinations.
func NewLayout(fields ...*Field) (Layout, error) {
	l := Layout{fields: fields, size: 1}
	shift := 0
	for _, f := range fields {
		if f.Size == 0 {
			return l, fmt.Errorf("variable %s has no value", f.Name)
		}
		width := bits.Len64(f.Size - 1)
		if shift+width > 64 {
			return l, fmt.Errorf("variable %s does not fit: the variables of a process share 64 bits", f.Name)
		}
		f.shift, f.mask = uint8(shift), 1<<width-1
		shift += width
		high, low := bits.Mul64(l.size, f.Size)
		if high != 0 || low >= 1<<63 {
			return l, fmt.Errorf("variable %s: the variables of a process must have fewer than 2^63 combinations", f.Name)
		}
		l.size = low
	}
	return l, nil
}

// Size is the number of combinations of values.
func (l Layout) Size() uint64 { return l.size }

// Value is the i-th combination.
func (l Layout) Value(i uint64) uint64 {
	var w uint64
	for _, f := range l.fields {
		w = f.Set(w, i%f.Size)
		i /= f.Size
	}
	return w
}

// Rank is the number of a combination: Value(Rank(w)) is w. The word must be one that the layout contains.
func (l Layout) Rank(w uint64) uint64 {
	var rank uint64
	for i := len(l.fields) - 1; i >= 0; i-- {
		rank = rank*l.fields[i].Size + l.fields[i].Get(w)
	}
	return rank
}

// Contains tells whether every field of w is inside its domain and no other bit is set.
func (l Layout) Contains(w uint64) bool {
	for _, f := range l.fields {
		if f.Get(w) >= f.Size {
			return false
		}
		w = f.Set(w, 0)
	}
	return w == 0
}

// Variables shows the fields of w.
func (l Layout) Variables(w uint64) []Variable {
	vs := make([]Variable, len(l.fields))
	for i, f := range l.fields {
		vs[i] = Variable{Name: f.Name, Value: f.show(f.Get(w))}
	}
	return vs
}
