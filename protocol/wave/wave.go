// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"slices"

	"allot/model"
)

// Algorithm is the entry in the list of the laboratory.
var Algorithm = model.Algorithm{
	Name:     "wave",
	Summary:  "self-stabilizing ℓ-exclusion on any connected rooted network",
	Source:   "R. Hadid and M. H. Karaata, A stabilizing ℓ-exclusion algorithm in arbitrary rooted networks",
	Model:    "guarded actions",
	Topology: "complete:3",
	Start:    "arbitrary",
	Variants: []string{"corrected", "printed", "repaired", "keeping"},
	Mutants:  mutantNames(),
	Parameters: []model.Parameter{
		{Name: "l", Text: "number of tokens", Default: "2", Min: 1, Max: 1 << 20},
		{Name: "d", Text: "largest level of a process in the tree; 0 means one less than there are processes, the only one that is safe on every network", Default: "0", Min: 0, Max: 1 << 20},
		{Name: "stay", Text: "processes that never give back what they keep, as a sum of powers of two; only for the variant keeping", Default: "0", Min: 0, Max: 1 << 30},
		{Name: "users", Text: "whether those who do not stay give back when the next broadcast comes by at the latest, or whenever they like; only for the variant keeping", Default: "polite", Words: []string{"polite", "free"}},
		{Name: "wiring", Text: "whether links and processes come and go while it runs", Default: "fixed", Words: []string{"fixed", "changing"}},
		{Name: "claims", Text: "whether to ask what the paper claims beyond that", Default: "own", Words: []string{"own", "paper"}},
	},
	New: newInstance,
}

// changing is the program on a network whose links are cut and healed and whose processes leave and join. It is a type of
// its own because the layout is larger: next to the root P and L are constants only as long as the link is there.
type changing struct{ *program }

// Rewire is handed the way to ask for cut links.
func (w *changing) Rewire(isCut func(c model.Configuration, link int) bool) { w.isCut = isCut }

func newInstance(o model.Options) (*model.Instance, error) {
	depth := o.Int("d")
	if depth == 0 {
		depth = max(1, o.Graph.Len()-1)
	}
	isChanging := o.Values["wiring"] == "changing"
	w, err := newProgram(o.Graph, rulesOf(o.Variant), o.Int("l"), depth, isChanging)
	if err != nil {
		return nil, err
	}
	w.stays, w.areFree = uint64(o.Int("stay")), o.Values["users"] == "free"
	var p model.Program = w
	if isChanging {
		p = &changing{w}
	}
	system, err := model.NewGuarded(o.Graph, p, o.Budget)
	if err != nil {
		return nil, err
	}
	inst := &model.Instance{
		System:     system,
		Gauges:     gauges,
		Properties: properties,
		Phase:      phase,
		Potential:  func(v *model.View) int64 { return v.Sum(strays) + v.Sum(inFlight) },
	}
	if w.rules.has(keeping) {
		inst.Properties = keepingProperties(properties, w.areFree)
	}
	if o.Values["claims"] == "paper" {
		inst.Properties = slices.Concat(inst.Properties, claims)
	}
	return inst, nil
}
