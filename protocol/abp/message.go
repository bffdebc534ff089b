// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package abp

import "allot/model"

// message is an item with its bit from the sender, or an acknowledgement from the receiver.
type message struct {
	kind kind
	bit  uint8
	item int
}

type kind uint8

const (
	data kind = iota
	ack
)

func (m *message) visit(f *model.Fields, items int) {
	model.Union(f, "kind", &m.kind, []string{"data", "ack"}, func(f *model.Fields, k kind) {
		model.Int(f, "bit", &m.bit, 0, 1)
		if k == data {
			model.Int(f, "item", &m.item, 0, items-1)
		}
	})
}
