// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import "allot/model"

// Report is what was measured in a run.
type Report struct {
	// Verdict is "held", "violated", or "unknown" when the run ended before it was stable.
	Verdict string `json:"verdict"`
	Stopped string `json:"stopped"` // why the run ended; one of the Stopped… words
	Seed    uint64 `json:"seed"`
	Daemon  string `json:"daemon"`
	Start   string `json:"start"`
	// Trace is a hash of all moves of the run, faults and ticks included: equal runs have equal traces.
	Trace string `json:"trace"`

	Steps    int64 `json:"steps"`    // time that passed: one for each step of the daemon
	Idle     int64 `json:"idle"`     // of these, steps in which nobody could move
	Moves    int64 `json:"moves"`    // moves of processes, deliveries and ticks
	Ticks    int64 `json:"ticks"`    // of these, ticks
	Rounds   int64 `json:"rounds"`   // asynchronous rounds that were completed
	Messages int64 `json:"messages"` // sent by processes
	Bytes    int64 `json:"bytes"`    // their encoded size, if counted

	// Stabilized is when the legitimate set was entered for the last time; all -1 if the run ended outside.
	Stabilized Moment `json:"stabilized"`
	// LastFault is the time of the last fault of the script, -1 if there was none, and Outside counts the
	// configurations outside the legitimate set since then.
	LastFault int64 `json:"last_fault"`
	Outside   int64 `json:"outside"`
	// LastFaultRound is how many rounds were completed before the last fault, -1 if there was none.
	LastFaultRound int64 `json:"last_fault_round"`

	Properties []PropertyReport `json:"properties"`
	Gauges     []GaugeReport    `json:"gauges,omitempty"`
	Waiting    *Waiting         `json:"waiting,omitempty"`

	Faults     map[string]int64  `json:"faults,omitempty"` // that happened, by kind
	Statements []StatementReport `json:"script,omitempty"`

	// Run holds the decisions, if they were recorded. Its header says what the simulator knows; the caller adds the names
	// of algorithm, topology and parameters.
	Run *model.Run `json:"-"`
	// Counterexample is the recording up to the first violation of a claim; nil if there is none.
	Counterexample *model.Run `json:"-"`
}

// The verdicts.
const (
	Held     = "held"
	Violated = "violated"
	Unknown  = "unknown"
)

// Why a run ended.
const (
	StoppedSteps       = "all steps taken"
	StoppedStable      = "stable"
	StoppedViolated    = "violated"
	StoppedRest        = "at rest: nobody can move"
	StoppedInterrupted = "interrupted"
	StoppedOverflow    = "a reliable link of bounded capacity overflowed"
	StoppedRecording   = "the recording ended"
	StoppedFull        = "the recording is full"
)

// Moment is a point of a run.
type Moment struct {
	Step  int64 `json:"step"`
	Moves int64 `json:"moves"`
	Round int64 `json:"round"` // rounds completed before
}

var noMoment = Moment{-1, -1, -1}

// PropertyReport says how a property fared. Configurations are counted, or steps for AlwaysStep.
type PropertyReport struct {
	Name  string `json:"name"`
	Claim string `json:"claim"`
	// Skipped says why the property was not looked at; empty if it was.
	Skipped string `json:"skipped,omitempty"`
	// Holds at the end of the run. Of Sometimes: was seen.
	Holds bool `json:"holds"`
	// Violations counts where it did not hold, and Judged those of them that break the claim: not outside the
	// legitimate set where the claim is about reaching it, not where the claim is made for clean starts only and memory
	// has been corrupted.
	Violations int64 `json:"violations"`
	Judged     int64 `json:"judged"`
	First      int64 `json:"first"`     // time of the first violation, -1 if none
	Stretches  int64 `json:"stretches"` // how often it ceased to hold
	Longest    int64 `json:"longest"`   // longest stretch of violations
	// Worst is the largest value of each gauge while it was violated.
	Worst map[string]int64 `json:"worst,omitempty"`
	Why   string           `json:"why,omitempty"` // of the first violation that breaks the claim
	// Since is when a Stabilizes property was reached for the last time.
	Since Moment `json:"since"`
}

// GaugeReport is what a gauge showed.
type GaugeReport struct {
	Name string `json:"name"`
	Last int64  `json:"last"`
	Min  int64  `json:"min"`
	Max  int64  `json:"max"`
}

// Distribution of a measured number. Quantiles above 64 are exact to within a sixty-fourth.
type Distribution struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"`
	P50   int64   `json:"p50"`
	P99   int64   `json:"p99"`
	Max   int64   `json:"max"`
}

// Waiting is how long processes waited to get inside and how often they were.
type Waiting struct {
	Steps   Distribution `json:"steps"`
	Entries Distribution `json:"entries"` // entries of others in between
	Entered int64        `json:"entered"` // entries of all
	Served  int64        `json:"served"`  // processes that were inside at least once
	Jain    float64      `json:"jain"`    // Jain's index of the services: 1 is fair, 1/n is one process alone; 0 if none
	// Open counts processes that still wait at the end, LongestOpen how long the worst of them has; -1 if none.
	Open        int64 `json:"open"`
	LongestOpen int64 `json:"longest_open"`
	// By process: entries, and the longest time waited, -1 if it never got in. They are as long as the network is large;
	// whoever prints a report may set them to nil.
	Services       []int64 `json:"services,omitempty"`
	LongestSteps   []int64 `json:"longest_steps,omitempty"`
	LongestEntries []int64 `json:"longest_entries,omitempty"`
}

// StatementReport says what became of a statement of the script.
type StatementReport struct {
	Line    int    `json:"line"`
	Text    string `json:"text"`
	Fired   int64  `json:"fired"` // faults that happened
	Skipped int64  `json:"skipped"`
	Reason  string `json:"reason,omitempty"` // of the last one that was skipped
}

// Property is the report of a property by name, or nil.
func (r *Report) Property(name string) *PropertyReport {
	for i := range r.Properties {
		if r.Properties[i].Name == name {
			return &r.Properties[i]
		}
	}
	return nil
}

// Unfired lists the statements of the script of which no fault happened: a test that relies on them tested nothing.
func (r *Report) Unfired() []StatementReport {
	var list []StatementReport
	for _, s := range r.Statements {
		if s.Fired == 0 {
			list = append(list, s)
		}
	}
	return list
}
