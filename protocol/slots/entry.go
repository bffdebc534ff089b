// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"errors"

	"allot/model"
)

var yesNo = []string{"no", "yes"}

// Algorithm is the entry in the list of the laboratory.
var Algorithm = model.Algorithm{
	Name:     "slots",
	Summary:  "k-exclusion in shared memory that survives k-1 stopped processes",
	Source:   "M. Omori, K. Obokata, K. Motegi, Y. Igarashi, Analysis of Some Lockout Avoidance Algorithms for the k-Exclusion Problem, 2002",
	Model:    "shared registers",
	Topology: "complete:3",
	Start:    "clean",
	Fairness: "weak",
	Variants: []string{"corrected", "printed", "whole-scan"},
	Mutants:  mutantNames(),
	Parameters: []model.Parameter{
		{Name: "algorithm", Text: "which of the three algorithms", Default: EXCL, Words: Algorithms},
		{Name: "n", Text: "number of processes; if it is not that of the network, the network is not used", Default: "n", Min: 1, Max: MaxProcesses},
		{Name: "k", Text: "how many may be inside", Default: "1", Min: 1, Max: MaxProcesses},
		{Name: "crashes", Text: "how many processes may stop anywhere for ever; --faults crash=1,restart=1 is for those that come back", Default: "0", Min: 0, Max: 255},
		{Name: "cancel", Text: "whether waiting processes may give up", Default: "no", Words: yesNo},
		{Name: "express", Text: "whether there is a lane past all rounds when nobody waits; counted: and those inside are only counted", Default: "no", Words: []string{"no", "yes", "counted"}},
		{Name: "reads", Text: "how a count reads the others: one step each in order, or any order with the reads left out (fewer configurations)", Default: "steps", Words: []string{"steps", "interval"}},
		{Name: "seats", Text: "with express counted, how many compete at once (0: n-k)", Default: "0", Min: 0, Max: 16},
		{Name: "bits", Text: "with express counted, how many names are bits of the lane (0: all)", Default: "0", Min: 0, Max: MaxBits},
		{Name: "holders", Text: "with express counted, how many may stay inside for ever", Default: "0", Min: 0, Max: MaxProcesses},
		{Name: "try", Text: "whether processes may try without waiting, in the express lane", Default: "no", Words: yesNo},
		{Name: "names", Text: "whether everybody inside takes a number of its own", Default: "no", Words: yesNo},
		{Name: "stay", Text: "steps that are spent inside besides leaving", Default: "0", Min: 0, Max: maxStay},
	},
	New: newInstance,
}

func newInstance(o model.Options) (*model.Instance, error) {
	if o.Links != (model.Links{}) {
		return nil, errors.New("it has no links")
	}
	c := Config{
		Algorithm: o.Values["algorithm"], N: o.Int("n"), K: o.Int("k"), Variant: o.Variant,
		Express: o.Values["express"] == "yes", Names: o.Values["names"] == "yes", Cancel: o.Values["cancel"] == "yes",
		Try: o.Values["try"] == "yes", Stay: o.Int("stay"), Seats: o.Int("seats"), Bits: o.Int("bits"), Holders: o.Int("holders"),
	}
	if o.Values["reads"] == "interval" {
		return newIntervalInstance(c, o)
	}
	if o.Values["express"] == "counted" {
		return newCountedInstance(c, o)
	}
	m, err := New(c)
	if err != nil {
		return nil, err
	}
	g := o.Graph
	if g.Len() != m.N {
		// The registers are shared by all: who is joined to whom means nothing here, only how many there are.
		if g, err = model.NewGraph(m.N, nil); err != nil {
			return nil, err
		}
	}
	system, err := model.NewRegisters(g, m, o.Budget)
	if err != nil {
		return nil, err
	}
	// Both kinds of crashes together are never more than the claim speaks of.
	stops := max(0, min(o.Int("crashes"), m.K-1-int(o.Budget.Crash)))
	return &model.Instance{
		System: system, Gauges: m.gauges(), Properties: m.properties(system, stops), Phase: m.phase,
	}, nil
}
