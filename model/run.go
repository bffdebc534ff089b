// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Run is a recorded run: a counterexample of the checker or a recording of the simulator. It holds decisions, not
// configurations, so that it can be replayed, cut short and stepped through.
type Run struct {
	Header
	Steps [][]Move
}

// Header says what a run is a run of.
type Header struct {
	Format    string            `json:"format"`
	Origin    string            `json:"origin"` // "check" or "sim"
	Algorithm string            `json:"algorithm"`
	Variant   string            `json:"variant"`
	Topology  string            `json:"topology"`        // how the network was asked for
	Graph     string            `json:"graph,omitempty"` // the network itself, as DOT
	Values    map[string]string `json:"parameters,omitempty"`
	Links     string            `json:"links,omitempty"`
	Faults    string            `json:"faults,omitempty"`
	Daemon    string            `json:"daemon,omitempty"`
	Fairness  string            `json:"fairness,omitempty"`
	Seed      uint64            `json:"seed,omitempty"`
	Script    string            `json:"script,omitempty"`
	// Start holds for every word of the configuration the number of its value in its domain. Empty means clean.
	Start []uint64 `json:"start,omitempty"`
	// Property that the run violates, if any, and what is wrong, in words. Process is the one concerned, or -1.
	Property string `json:"property,omitempty"`
	Process  int    `json:"process"`
	Why      string `json:"why,omitempty"`
	// Loop is the number of the step before which the configuration is the same as after the last step, so that the
	// steps from there on can be repeated for ever; -1 if the run just ends.
	Loop int `json:"loop"`
}

// RunFormat is the first thing in a file of a run.
const RunFormat = "allot run 1"

// Limits of a file of a run: whatever is larger is refused.
const (
	MaxRunSteps = 1 << 26
	maxRunLine  = 1 << 26
)

// ErrTruncated is returned when a file of a run ends before its last line.
var ErrTruncated = errors.New("the file is truncated: its last line is missing")

// Write writes the run as lines: the header, one line for each step, and the number of steps.
func (r *Run) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	header := r.Header
	header.Format = RunFormat
	line, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("write a run: %w", err)
	}
	out.Write(line)
	out.WriteByte('\n')
	for _, step := range r.Steps {
		for i, m := range step {
			if i > 0 {
				out.WriteString("; ")
			}
			fmt.Fprintf(out, "%s %d %d", m.Kind, m.At, m.Arg)
		}
		out.WriteByte('\n')
	}
	fmt.Fprintf(out, "end %d\n", len(r.Steps))
	return out.Flush()
}

// ReadRun reads what Write wrote. It checks the form only; whether the moves are possible shows when it is replayed.
func ReadRun(r io.Reader) (*Run, error) { return readRun(r, MaxRunSteps, maxRunLine) }

func readRun(r io.Reader, maxSteps, maxLine int) (*Run, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 1<<16), maxLine)
	if !lines.Scan() {
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("line 1: %w", err)
		}
		return nil, ErrTruncated
	}
	var run Run
	if err := json.Unmarshal(lines.Bytes(), &run.Header); err != nil || run.Format != RunFormat {
		return nil, fmt.Errorf("line 1: this is not a recorded run (a file of a run begins with {\"format\":%q, …})", RunFormat)
	}
	for number := 2; lines.Scan(); number++ {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "end "); ok {
			if rest != fmt.Sprint(len(run.Steps)) {
				return nil, fmt.Errorf("line %d: the file says %s steps and has %d", number, rest, len(run.Steps))
			}
			if run.Loop < -1 || run.Loop > len(run.Steps) {
				return nil, fmt.Errorf("line 1: loop %d is not among the %d steps", run.Loop, len(run.Steps))
			}
			return &run, nil
		}
		if len(run.Steps) == maxSteps {
			return nil, fmt.Errorf("line %d: a run has at most %d steps", number, maxSteps)
		}
		step, err := ParseStep(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		run.Steps = append(run.Steps, step)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read a run: %w", err)
	}
	return nil, ErrTruncated
}

// ParseStep reads "act 3 0; act 5 1".
func ParseStep(line string) ([]Move, error) {
	var step []Move
	for text := range strings.SplitSeq(line, "; ") {
		name, numbers, _ := strings.Cut(text, " ")
		place, argument, _ := strings.Cut(numbers, " ")
		at, atErr := strconv.ParseInt(place, 10, 32)
		arg, argErr := strconv.ParseUint(argument, 10, 64)
		if atErr != nil || argErr != nil {
			return nil, fmt.Errorf("%.40q is not a move: it must be KIND PLACE ARGUMENT, such as act 3 0", text)
		}
		kind, err := ParseKind(name)
		if err != nil {
			return nil, err
		}
		step = append(step, Move{Kind: kind, At: int32(at), Arg: arg})
	}
	return step, nil
}

// StartAt is the configuration in which every word has the value of the given number in its domain; without numbers,
// the clean start.
func StartAt(s System, ranks []uint64) (Configuration, error) {
	c := s.Clean()
	if len(ranks) == 0 {
		return c, nil
	}
	if len(ranks) != len(c) {
		return nil, fmt.Errorf("the start has %d numbers, a configuration has %d words", len(ranks), len(c))
	}
	for w, rank := range ranks {
		size, value := s.Domain(w)
		if size > 0 && rank >= size && size < Uncountable {
			return nil, fmt.Errorf("the start: word %d has %d values, there is no number %d", w, size, rank)
		}
		if size > 0 {
			c[w] = value(rank)
		}
	}
	return c, nil
}
