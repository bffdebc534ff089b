// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package abp

import "allot/model"

// state of either end: the sender's present bit and item, or the bit and item that the receiver expects next.
type state struct {
	bit  uint8
	item int
	// wrong is set for good when the receiver takes another item than the next one.
	wrong bool
}

func (s *state) visit(p int, f *model.Fields, items int) {
	model.Int(f, "bit", &s.bit, 0, 1)
	model.Int(f, "item", &s.item, 0, items-1)
	if p == receiver {
		model.Bool(f, "wrong", &s.wrong)
	}
}
