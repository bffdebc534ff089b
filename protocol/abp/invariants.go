// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package abp

import (
	"fmt"

	"allot/model"
)

func stateOf(v *model.View, p int) *state { return model.StateOf[state](v.Network(), v.C, p) }

var properties = []model.Property{
	{
		Name:      "order",
		Text:      "the receiver takes every item once and in order",
		Claim:     model.Always,
		CleanOnly: true,
		Holds:     func(v *model.View) bool { return !stateOf(v, receiver).wrong },
		Why: func(v *model.View) string {
			return fmt.Sprintf("the receiver took another item than the next one (the sender is at item %d)", stateOf(v, sender).item)
		},
	},
	{
		Name:  "delivered",
		Text:  "items are taken",
		Claim: model.Sometimes,
		Holds: func(v *model.View) bool { return stateOf(v, receiver).item > 0 },
	},
	{
		Name:  "progress",
		Text:  "items are taken again and again: the receiver keeps returning to item 0, and leaving it",
		Claim: model.Recurs,
		HoldsFor: func(v *model.View, p int) bool {
			return (stateOf(v, receiver).item == 0) == (p == receiver)
		},
	},
}
