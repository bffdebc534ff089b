// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"

	"allot/model"
)

// privileges is the number of the only gauge.
const privileges = 0

var gauges = []model.Gauge{{
	Name: "privileges",
	Text: "processes that may act",
	Of: func(v *model.View, site int) int64 {
		s := v.System.(*model.Guarded)
		if site < s.Graph().Len() && isPrivileged(v, site) {
			return 1
		}
		return 0
	},
}}

func isPrivileged(v *model.View, p int) bool {
	return v.System.(*model.Guarded).Program().(*program).isPrivileged(p, v.C)
}

// isPrivileged is what the paper calls a privilege. It does not depend on the variant: a mutant is judged by the
// printed meaning.
func (r *program) isPrivileged(p int, c model.Configuration) bool {
	return (p == r.root) == (c[p] == c[r.before[p]])
}

func phase(v *model.View, p int) model.Phase {
	if isPrivileged(v, p) {
		return model.Inside
	}
	return model.Waiting
}

func why(v *model.View) string {
	return fmt.Sprintf("%d processes are privileged at once", v.Sum(privileges))
}

var properties = []model.Property{
	{
		Name:  "stabilizes",
		Text:  "from some moment on exactly one process is privileged, whatever the start",
		Claim: model.Stabilizes,
		Holds: func(v *model.View) bool { return v.Sum(privileges) == 1 },
		Why:   why,
	},
	{
		Name:      "exclusion",
		Text:      "exactly one process is privileged",
		Claim:     model.Always,
		CleanOnly: true,
		Holds:     func(v *model.View) bool { return v.Sum(privileges) == 1 },
		Why:       why,
	},
	{
		Name:  "no-deadlock",
		Text:  "somebody can always act",
		Claim: model.Rests,
		Holds: func(*model.View) bool { return false },
	},
	{
		Name:     "service",
		Text:     "every process is privileged again and again",
		Claim:    model.Recurs,
		HoldsFor: isPrivileged,
	},
}
