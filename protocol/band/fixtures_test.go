// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"allot/check"
	"allot/internal/golden"
	"allot/model"
	"allot/protocol/band"
	"allot/sim"
	"allot/topology"
)

// question is what one check asks, written as on the command line.
type question struct {
	object, coterie, variant, inside string
	n, l, k, times                   int
	faults                           string
	crashes, crashers                int
	more                             string // further flags, as on the command line
}

func (q question) String() string {
	text := fmt.Sprintf("--object %s --n %d", q.object, q.n)
	if q.object == "mutin" || q.object == "gcs" {
		text += fmt.Sprintf(" --l %d", q.l)
	}
	if q.object == "kmutex" || q.object == "gcs" {
		text += fmt.Sprintf(" --k %d", q.k)
	}
	text += fmt.Sprintf(" --coterie %s --times %d", q.coterie, q.times)
	if q.inside != "" {
		text += " --inside " + q.inside
	}
	if q.variant != "" && q.variant != "corrected" {
		text += " --variant " + q.variant
	}
	if q.crashes > 0 {
		text += fmt.Sprintf(" --crashes %d --crashers %d", q.crashes, q.crashers)
	}
	if q.more != "" {
		text += " " + q.more
	}
	if q.faults != "" {
		text += " --faults " + q.faults
	}
	return text
}

func (q question) options(t testing.TB) model.Options {
	t.Helper()
	g, err := topology.Parse("complete:3")
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"object": q.object, "n": fmt.Sprint(q.n), "l": fmt.Sprint(q.l), "k": fmt.Sprint(max(q.k, 1)),
		"coterie": q.coterie, "times": fmt.Sprint(q.times),
		"crashes": fmt.Sprint(q.crashes), "crashers": fmt.Sprint(q.crashers)}
	if q.inside != "" {
		values["inside"] = q.inside
	}
	var links model.Links
	words := strings.Fields(q.more)
	for i := 0; i < len(words); i += 2 {
		if words[i] == "--links" {
			if links, err = model.ParseLinks(words[i+1]); err != nil {
				t.Fatal(err)
			}
			continue
		}
		values[strings.TrimPrefix(words[i], "--")] = words[i+1]
	}
	budget, err := model.ParseBudget(q.faults)
	if err != nil {
		t.Fatal(err)
	}
	return model.Options{Graph: g, Variant: q.variant, Values: values, Links: links, Budget: budget}
}

func (q question) make(t testing.TB) *model.Instance {
	t.Helper()
	inst, err := band.Algorithm.Make(q.options(t))
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return inst
}

// ask checks, and lets the simulator see every counterexample too.
func ask(t *testing.T, q question, o check.Options) (*check.Result, *model.Instance) {
	t.Helper()
	inst := q.make(t)
	o.Workers, o.Fairness = 1, check.Weak
	r, err := check.Run(context.Background(), inst, o)
	if err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	for _, f := range r.Findings {
		if f.Verdict != check.Counterexample || f.Run == nil {
			continue
		}
		f.Run.Origin = "check"
		if report, err := sim.Replay(inst, f.Run, nil); err != nil || !report.IsVerified {
			t.Errorf("%s, %s: the simulator does not see the violation: %v, %v", q, f.Property, report, err)
		}
	}
	return r, inst
}

// story tells a run: one line for each step, with who is inside where that changes.
func story(t *testing.T, inst *model.Instance, run *model.Run) string {
	t.Helper()
	var lines []string
	inside := insideText(inst.System, inst.System.Clean())
	lines = append(lines, "start: "+inside)
	_, err := sim.Replay(inst, run, func(_ int, v *model.View, moves []model.Move) {
		if now := insideText(v.System, v.C); now != inside {
			inside = now
			lines[len(lines)-1] += "  [" + now + "]"
		}
		if len(moves) > 0 {
			lines = append(lines, v.System.Describe(v.C, moves[0]))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if run.Why != "" {
		lines = append(lines, "end: "+run.Why)
	}
	return strings.Join(lines, "\n") + "\n"
}

func insideText(s model.System, c model.Configuration) string {
	var inside []string
	for p := range s.Graph().Len() {
		if s.Variables(c, p)[0].Value == "true" {
			inside = append(inside, fmt.Sprint(p))
		}
	}
	if len(inside) == 0 {
		return "nobody inside"
	}
	return strings.Join(inside, ", ") + " inside"
}

// compare holds a text against a file.
func compare(t *testing.T, file, got string) {
	t.Helper()
	golden.Compare(t, filepath.Join("testdata", file), got)
}
