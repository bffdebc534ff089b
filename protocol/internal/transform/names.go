// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"slices"

	"allot/model"
)

// names of the variables of an end, made once: visiting is a hot loop of the checker.
type names struct{ number, token, cache string }

func namesOf(g *model.Graph) [][]names {
	all := make([][]names, g.Len())
	for p := range all {
		for _, q := range g.Neighbours(p) {
			name := g.Name(int(q)) + "."
			all[p] = append(all[p], names{name + "number", name + "token", name})
		}
	}
	return all
}

// collectingOrder gives every edge a colour that no other edge at either of its ends has, the smallest that is free, and lists for
// every process its channels by colour. Whoever waits for a token holds tokens of smaller colours only, so
// nobody waits in a circle, and nobody waits behind more others than there are colours: at most twice the largest degree.
func collectingOrder(g *model.Graph) [][]int32 {
	colours := make([]int, g.Links())
	for link := range colours {
		colours[link] = -1
	}
	isUsed := func(p, colour int) bool {
		for i := range g.Degree(p) {
			if colours[g.Link(p, i)] == colour {
				return true
			}
		}
		return false
	}
	for link := range colours {
		if colours[link] >= 0 {
			continue
		}
		from, to := g.Ends(link)
		colour := 0
		for isUsed(from, colour) || isUsed(to, colour) {
			colour++
		}
		colours[link], colours[g.Back(link)] = colour, colour
	}
	order := make([][]int32, g.Len())
	for p := range order {
		for i := range g.Degree(p) {
			order[p] = append(order[p], int32(i))
		}
		slices.SortFunc(order[p], func(a, b int32) int { return colours[g.Link(p, int(a))] - colours[g.Link(p, int(b))] })
	}
	return order
}
