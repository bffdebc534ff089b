// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

// View is a configuration as properties and gauges see it.
type View struct {
	System System
	C      Configuration
	// Sums holds the sum of each gauge where somebody keeps them up to date; otherwise Sum adds them up.
	Sums   []int64
	Gauges []Gauge
	// Index is the instance's, where somebody keeps it up to date; otherwise nil.
	Index Index
}

// Network is the system of a message-passing algorithm; StateOf and MessageOf look into it.
func (v *View) Network() *Network { return v.System.(*Network) }

// Sum of gauge number i over all sites.
func (v *View) Sum(i int) int64 {
	if v.Sums != nil {
		return v.Sums[i]
	}
	var sum int64
	for site := range v.System.Sites() {
		sum += v.Gauges[i].Of(v, site)
	}
	return sum
}

// Gauge is a quantity that is the sum of what the sites contribute: privileges, tokens, units held. What a site
// contributes may depend on nothing but what its enabled moves depend on too, so that the simulator can keep the sum up
// to date in the time of a step.
type Gauge struct {
	Name string
	Text string
	Of   func(v *View, site int) int64
}

// Index is what properties would like to know of a configuration beside the sums of gauges, such as where on its way a
// token is. Like a gauge it is kept up to date at the cost of a step: Refresh is called for every site in the
// beginning, and after each step for the sites that the step touched.
type Index interface {
	Refresh(v *View, site int)
}

// Claim is the kind of a property.
type Claim uint8

// The kinds of properties.
const (
	// Always: Holds in every configuration.
	Always Claim = iota
	// AlwaysStep: HoldsStep for every step.
	AlwaysStep
	// Sometimes: some reachable configuration has it. Each Always deserves one, or it may hold of nothing.
	Sometimes
	// Rests: in every configuration in which nobody owes a move, so that the run may end, Holds. Otherwise it is a
	// deadlock.
	Rests
	// Recurs: HoldsFor becomes true again and again, for each process, under the fairness of the question: no run
	// stays for ever where it is false, be it by ending there or by going round.
	Recurs
	// Stabilizes: what Holds is closed under every step (but a fault), and every run reaches it.
	Stabilizes
)

var claimNames = [...]string{"always", "always (each step)", "sometimes", "rests", "recurs", "stabilizes"}

// String names the claim.
func (c Claim) String() string { return claimNames[c] }

// Property is a claim about the runs of an algorithm.
type Property struct {
	Name  string
	Text  string // one sentence
	Claim Claim
	Holds func(v *View) bool
	// HoldsFor is asked for Recurs, of every process.
	HoldsFor func(v *View, p int) bool
	// Ask lists the processes that are asked about for Recurs; nil means all. It is for systems that are so symmetric that
	// what holds for these holds for the others.
	Ask []int
	// Stops is asked for Recurs under weak fairness: besides fair runs, it must hold in runs in which up to so many
	// processes other than p stop for ever, each wherever it is. A process that has stopped is one that is owed nothing any
	// more, so this asks about crashes without a configuration for each way to crash. It is for systems in which the
	// fairness classes are the processes.
	Stops int
	// HoldsStep is asked for AlwaysStep, of the configurations before and after.
	HoldsStep func(before, after *View, step []Move) bool
	// Why says in words what is wrong with a configuration in which the property does not hold. It may be nil.
	Why func(v *View) string
	// CleanOnly marks claims that are made for runs from the clean start only.
	CleanOnly bool
}

// Phase is where a process stands with respect to what it competes for.
type Phase uint8

// The phases. The simulator measures the time from Waiting to Inside.
const (
	Idle Phase = iota
	Waiting
	Inside
)

// String names the phase.
func (p Phase) String() string { return [...]string{"idle", "waiting", "inside"}[p] }

// Instance is an algorithm with its parameters on a network: what checker and simulator are handed.
type Instance struct {
	System     System
	Properties []Property
	Gauges     []Gauge
	// Shares writes what a site contributes to each gauge, all at once. It may be nil, and is a matter of speed alone.
	Shares func(v *View, site int, shares []int64)
	// NewIndex makes an index for one run; it may be nil. Properties must have the same answer without it.
	NewIndex func() Index
	// Phase of a process, where the algorithm is about access to something. It may be nil. Like a gauge it may
	// depend on nothing but what the enabled moves of the process depend on.
	Phase func(v *View, p int) Phase
	// Potential is a number that an adversary would like to keep high; it may be nil. The greedy daemon uses it.
	Potential func(v *View) int64
}

// View of a configuration of the instance.
func (i *Instance) View(c Configuration) View {
	return View{System: i.System, C: c, Gauges: i.Gauges}
}

// With is the same instance over a twin of its system.
func (i *Instance) With(s System) *Instance {
	twin := *i
	twin.System = s
	return &twin
}
