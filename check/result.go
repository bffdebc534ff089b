// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

import "allot/model"

// Verdict is the answer to a question.
type Verdict string

// The three answers. Unknown is given whenever the search was cut, by a limit or by the caller.
const (
	Proved         Verdict = "proved"
	Counterexample Verdict = "counterexample"
	Unknown        Verdict = "unknown"
)

// Result is what the checker found.
type Result struct {
	// Verdict over all properties: a counterexample if there is one, otherwise unknown if anything is, otherwise proved.
	Verdict  Verdict   `json:"verdict"`
	Findings []Finding `json:"properties"`
	// Cut says what cut the search, if anything did.
	Cut string `json:"cut,omitempty"`
	// States is the number of configurations that were looked at, Transitions of the steps between them.
	States      uint64 `json:"states"`
	Transitions uint64 `json:"transitions"`
	// Depth is the largest number of steps from a start to a configuration: the diameter, as seen from the start.
	Depth int `json:"diameter"`
	// Keep is how configurations were kept, Bytes what that took, Collision the probability that two configurations
	// were taken for one (zero but for fingerprints).
	Keep      Keep    `json:"store"`
	Bytes     uint64  `json:"bytes"`
	Collision float64 `json:"collision_probability"`

	distance func(c model.Configuration) (int, bool)
}

// Finding is the answer for one property.
type Finding struct {
	Property string      `json:"property"`
	Claim    model.Claim `json:"-"`
	Text     string      `json:"text"`
	Verdict  Verdict     `json:"verdict"`
	// Why an answer is unknown, or what is wrong with the counterexample, in words.
	Why string `json:"why,omitempty"`
	// Run is the counterexample, or for Sometimes the witness. Only Start, Steps, Loop, Property, Process and Why are
	// filled in; the caller knows what the run is a run of.
	Run *model.Run `json:"-"`
	// WorstSteps and WorstRounds are the exact worst case until the legitimate set is reached, for Stabilizes. A
	// pointer that is nil means that it was not computed, or has no bound.
	WorstSteps  *int `json:"worst_steps,omitempty"`
	WorstRounds *int `json:"worst_rounds,omitempty"`
	// Worst is a run that takes WorstSteps.
	Worst *model.Run `json:"-"`
	// Legitimate counts the configurations in the set, for Stabilizes.
	Legitimate uint64 `json:"legitimate,omitempty"`
}

// Distance is the exact largest number of steps from c to the legitimate set; false if it was not computed. As a
// potential it makes the greedy daemon of the simulator an optimal adversary.
func (r *Result) Distance(c model.Configuration) (int, bool) {
	if r.distance == nil {
		return 0, false
	}
	return r.distance(c)
}

// conclude sets the overall verdict.
func (r *Result) conclude() {
	r.Verdict = Proved
	for _, f := range r.Findings {
		if f.Verdict == Counterexample {
			r.Verdict = Counterexample
			return
		}
		if f.Verdict == Unknown {
			r.Verdict = Unknown
		}
	}
}
