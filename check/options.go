// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"

	"allot/model"
)

// Daemon decides who acts in a step of guarded actions.
type Daemon string

// The daemons. Systems that are not concurrent know only Central.
const (
	Central        Daemon = "central"         // one process
	Distributed    Daemon = "distributed"     // any set of processes
	LocallyCentral Daemon = "locally-central" // any set without neighbours
	Synchronous    Daemon = "synchronous"     // all that can
)

// Daemons lists the daemons.
var Daemons = []Daemon{Central, Distributed, LocallyCentral, Synchronous}

// Fairness is what the daemon owes to those who could act.
type Fairness string

// The kinds of fairness, each towards every fairness class of the system.
const (
	None   Fairness = "none"   // nothing: the unfair daemon
	Weak   Fairness = "weak"   // who can act without interruption acts in the end
	Strong Fairness = "strong" // who can act again and again acts in the end
)

// Fairnesses lists the kinds of fairness.
var Fairnesses = []Fairness{None, Weak, Strong}

// Keep is how the search keeps what it has seen.
type Keep string

// The ways to keep configurations.
const (
	Auto        Keep = "auto"        // Direct where the product of domains fits, otherwise Exact
	Direct      Keep = "direct"      // an array with a place for every configuration there could be
	Exact       Keep = "exact"       // a table of encoded configurations
	Fingerprint Keep = "fingerprint" // a table of 64-bit fingerprints: safety only, with a chance to miss something
)

// Keeps lists the ways to keep configurations.
var Keeps = []Keep{Auto, Direct, Exact, Fingerprint}

// Options of a question to the checker. The zero value asks all properties of the clean start under the unfair central
// daemon.
type Options struct {
	// Arbitrary starts from every configuration instead of the clean one.
	Arbitrary bool
	// Starts, if given with Arbitrary, are the only starts, each as the header of a recorded run has it: the number of the
	// value of each word in its domain. A question that is too large can be asked in parts: what holds from each of several
	// sets of starts holds from all of them.
	Starts   [][]uint64
	Daemon   Daemon
	Fairness Fairness
	// Properties by name; none means all that are made for the start.
	Properties []string
	Keep       Keep
	// MaxStates and MaxMemory (bytes) cut the search; what was not decided by then is unknown. Zero means 1<<30 states
	// and 4 GiB.
	MaxStates uint64
	MaxMemory uint64
	// Rounds asks for the exact worst case in rounds too, which multiplies the work by up to 2^n.
	Rounds bool
	// Distances keeps the exact number of steps to stabilize of every configuration, for Result.Distance.
	Distances bool
	// Workers is the number of goroutines; zero means one for each processor.
	Workers int
	// Progress is called now and then by one of the workers.
	Progress func(Progress)
}

// MaxStates bounds Options.MaxStates: ids fit 31 bits.
const MaxStates = 1_500_000_000

// Progress tells how far a search has come.
type Progress struct {
	Phase       string // what is being done, in words
	States      uint64 // configurations seen
	Transitions uint64
	Depth       int    // of the breadth-first search, where there is one
	Total       uint64 // configurations in all, if known
}

func (o Options) validate(s model.System) (Options, error) {
	if o.Daemon == "" {
		o.Daemon = Central
	}
	if o.Fairness == "" {
		o.Fairness = None
	}
	if o.Keep == "" {
		o.Keep = Auto
	}
	if o.MaxStates == 0 {
		o.MaxStates = 1 << 30
	}
	if o.MaxMemory == 0 {
		o.MaxMemory = 4 << 30
	}
	switch {
	case !slices.Contains(Daemons, o.Daemon):
		return o, fmt.Errorf("unknown daemon %q; there are %s", o.Daemon, list(Daemons))
	case !slices.Contains(Fairnesses, o.Fairness):
		return o, fmt.Errorf("unknown fairness %q; there are %s", o.Fairness, list(Fairnesses))
	case !slices.Contains(Keeps, o.Keep):
		return o, fmt.Errorf("unknown way to keep configurations %q; there are %s", o.Keep, list(Keeps))
	case o.MaxStates > MaxStates:
		return o, fmt.Errorf("a limit of %d configurations: at most %d can be kept", o.MaxStates, uint64(MaxStates))
	case o.Daemon != Central && !s.IsConcurrent():
		return o, fmt.Errorf("daemon %s: the processes of this algorithm act one after the other, so only %s makes sense", o.Daemon, Central)
	}
	return o, nil
}

func list[T ~string](items []T) string {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = string(item)
	}
	return strings.Join(words, ", ")
}

// choose picks the properties to ask.
func (o Options) choose(all []model.Property) ([]model.Property, error) {
	var chosen []model.Property
	if len(o.Properties) == 0 {
		for _, p := range all {
			if p.CleanOnly && o.Arbitrary || p.Claim == model.Stabilizes && !o.Arbitrary {
				continue
			}
			chosen = append(chosen, p)
		}
		return chosen, nil
	}
	for _, name := range o.Properties {
		i := slices.IndexFunc(all, func(p model.Property) bool { return p.Name == name })
		if i < 0 {
			names := make([]string, len(all))
			for i, p := range all {
				names[i] = p.Name
			}
			return nil, fmt.Errorf("unknown property %q; there are %s", name, strings.Join(names, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
