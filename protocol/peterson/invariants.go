// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package peterson

import (
	"fmt"

	"allot/model"
)

const inside = 0

var gauges = []model.Gauge{{
	Name: "inside",
	Text: "processes in the critical section",
	Of: func(v *model.View, site int) int64 {
		if site < 2 && v.C[site] == critical {
			return 1
		}
		return 0
	},
}}

func phase(v *model.View, p int) model.Phase {
	switch v.C[p] {
	case remainder, lowerFlag:
		return model.Idle
	case critical:
		return model.Inside
	}
	return model.Waiting
}

var properties = []model.Property{
	{
		Name:  "exclusion",
		Text:  "at most one process is in the critical section",
		Claim: model.Always,
		Holds: func(v *model.View) bool { return v.Sum(inside) <= 1 },
		Why: func(v *model.View) string {
			return fmt.Sprintf("%d processes are in the critical section", v.Sum(inside))
		},
	},
	{
		Name:  "entered",
		Text:  "somebody gets into the critical section",
		Claim: model.Sometimes,
		Holds: func(v *model.View) bool { return v.Sum(inside) == 1 },
	},
	{
		Name:  "no-deadlock",
		Text:  "nobody has to wait for ever while nobody does anything",
		Claim: model.Rests,
		Holds: func(v *model.View) bool { return v.C[0] == remainder && v.C[1] == remainder },
	},
	{
		Name:     "no-lockout",
		Text:     "a process that tries gets in",
		Claim:    model.Recurs,
		HoldsFor: func(v *model.View, p int) bool { return phase(v, p) != model.Waiting },
	},
}
