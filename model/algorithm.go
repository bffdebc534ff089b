// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Algorithm is one entry in the list of the laboratory: everything that the command line needs to offer it.
type Algorithm struct {
	Name     string
	Summary  string // one line
	Source   string // where it was published
	Model    string // "guarded actions", "message passing" or "shared registers"
	Topology string // the default, such as "ring:5"
	Links    string // what the links do unless the caller says otherwise; only for message passing
	// Start is the usual start, "clean" or "arbitrary".
	Start string
	// Fairness is the usual one, "weak" or "strong"; empty means none. Only claims that something recurs ask for it.
	Fairness string
	// Variants, the default first. Mutants are deliberately broken variants; the checker must catch each of them.
	Variants, Mutants []string
	Parameters        []Parameter
	// Bounds are what theorems say about measured numbers; plots draw them beside the measurements.
	Bounds []Bound
	// New makes an instance. It refuses networks and parameters that the algorithm is not made for.
	New func(Options) (*Instance, error)
}

// Bound is what a theorem says about a column of a sweep, such as stabilized_steps.
type Bound struct {
	Column string
	Name   string // how the plot calls it, with the formula
	Of     func(Options) float64
}

// Parameter of an algorithm: an integer with bounds, one of several words, or a text that the algorithm reads itself.
type Parameter struct {
	Name string
	Text string
	// Default is the value if none is given; "n" is the number of processes. Words lists the values if it is not a number.
	Default  string
	Min, Max int
	Words    []string
	// IsText marks a value that New reads and refuses by itself, such as the form of a quorum system.
	IsText bool
}

// Options is what an instance is made from.
type Options struct {
	Graph   *Graph
	Variant string
	Values  map[string]string // by name of the parameter
	Links   Links
	Budget  Budget
}

// Int is the value of a numeric parameter. Resolve has checked it.
func (o Options) Int(name string) int {
	n, err := strconv.Atoi(o.Values[name])
	if err != nil {
		panic(fmt.Sprintf("model: parameter %s was not resolved: %v", name, err))
	}
	return n
}

// Resolve checks the options and fills in what is missing.
func (a *Algorithm) Resolve(o Options) (Options, error) {
	if o.Variant == "" {
		o.Variant = a.Variants[0]
	}
	if all := slices.Concat(a.Variants, a.Mutants); !slices.Contains(all, o.Variant) {
		return o, fmt.Errorf("%s has no variant %q; there are %s", a.Name, o.Variant, strings.Join(all, ", "))
	}
	values := make(map[string]string, len(a.Parameters))
	for _, p := range a.Parameters {
		v, ok := o.Values[p.Name]
		if !ok {
			v = p.Default
		}
		if v == "n" && len(p.Words) == 0 && !p.IsText && o.Graph != nil {
			v = strconv.Itoa(o.Graph.Len())
		}
		if err := p.check(v); err != nil {
			return o, fmt.Errorf("--%s %s: %w", p.Name, v, err)
		}
		values[p.Name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(o.Values)) {
		if _, ok := values[name]; !ok {
			return o, fmt.Errorf("%s has no parameter %q", a.Name, name)
		}
	}
	o.Values = values
	return o, nil
}

func (p Parameter) check(v string) error {
	if p.IsText {
		return nil
	}
	if len(p.Words) > 0 {
		if !slices.Contains(p.Words, v) {
			return fmt.Errorf("it must be one of %s", strings.Join(p.Words, ", "))
		}
		return nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < p.Min || n > p.Max {
		return fmt.Errorf("it must be a number from %d to %d", p.Min, p.Max)
	}
	return nil
}

// Make resolves the options and makes an instance.
func (a *Algorithm) Make(o Options) (*Instance, error) {
	o, err := a.Resolve(o)
	if err != nil {
		return nil, err
	}
	if o.Graph == nil {
		return nil, fmt.Errorf("%s needs a network", a.Name)
	}
	inst, err := a.New(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	if err := checkBudget(inst.System, o.Budget); err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	return inst, nil
}

// maxChoices bounds the values among which the adversary chooses one.
const maxChoices = 1 << 20

// checkBudget refuses faults whose values are too many to be listed: the adversary would never be done choosing.
func checkBudget(s System, b Budget) error {
	if b.Corrupt > 0 {
		for p := range s.Graph().Len() {
			if size, _ := s.Domain(p); size > maxChoices {
				return fmt.Errorf("faults corrupt=%d: process %s has more than %d possible states", b.Corrupt, s.Graph().Name(p), maxChoices)
			}
		}
	}
	if n, ok := s.(*Network); ok && b.Forge > 0 && n.body.countMessages() > maxChoices {
		return fmt.Errorf("faults forge=%d: there are more than %d possible messages", b.Forge, maxChoices)
	}
	return nil
}
