// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"allot/check"
	"allot/internal/golden"
	"allot/model"
	"allot/topology"
)

// values makes parameters from names and values; of a name that is given twice the last value counts.
func values(pairs ...any) map[string]string {
	v := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		v[pairs[i].(string)] = fmt.Sprint(pairs[i+1])
	}
	return v
}

// question to the checker.
type question struct {
	network, variant, start, faults string
	values                          map[string]string
	properties                      []string
	limit                           uint64 // of configurations; 0 means none to speak of
}

// String is the command that asks the same.
func (x question) String() string {
	words := []string{"allot lab check tree --topology " + x.network}
	for _, p := range Algorithm.Parameters {
		if v, ok := x.values[p.Name]; ok && v != p.Default {
			words = append(words, "--"+p.Name+" "+v)
		}
	}
	for _, w := range [][2]string{{"variant", x.variant}, {"start", x.start}, {"faults", x.faults},
		{"property", strings.Join(x.properties, ",")}} {
		if w[1] != "" {
			words = append(words, "--"+w[0]+" "+w[1])
		}
	}
	return strings.Join(words, " ")
}

func (x question) make(t testing.TB) *model.Instance {
	t.Helper()
	g, err := topology.Parse(x.network)
	if err != nil {
		t.Fatal(err)
	}
	budget, err := model.ParseBudget(x.faults)
	if err != nil {
		t.Fatal(err)
	}
	inst, err := Algorithm.Make(model.Options{Graph: g, Variant: x.variant, Values: x.values, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func (x question) ask(t testing.TB) *check.Result {
	t.Helper()
	r, err := check.Run(context.Background(), x.make(t), check.Options{Arbitrary: x.start == "arbitrary",
		Fairness: check.Weak, Properties: x.properties, Workers: 1, MaxMemory: 8 << 30, MaxStates: x.limit})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// refuted demands a counterexample to one property, and compares its story with the file of that name if there is one.
func (x question) refuted(t *testing.T, property, story string) {
	t.Helper()
	x.properties = []string{property}
	r := x.ask(t)
	if r.Verdict != check.Counterexample {
		t.Errorf("%s: %s, want a counterexample to %s", x, r.Verdict, property)
		return
	}
	if story != "" {
		compare(t, story+".txt", tell(t, x, r.Findings[0]))
	}
}

// broken lists the properties with a counterexample.
func broken(r *check.Result) []string {
	var names []string
	for _, f := range r.Findings {
		if f.Verdict == check.Counterexample {
			names = append(names, f.Property)
		}
	}
	return names
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	golden.Compare(t, filepath.Join("testdata", file), got)
}

// tell writes a run for a person: the command, each step and what it changed.
func tell(t testing.TB, x question, f check.Finding) string {
	t.Helper()
	inst := x.make(t)
	sys := inst.System
	c, err := model.StartAt(sys, f.Run.Start)
	if err != nil {
		t.Fatal(err)
	}
	var s strings.Builder
	fmt.Fprintf(&s, "$ %s\n%s: %s\n\n", x, f.Property, f.Why)
	shown := make([]string, sys.Sites())
	show := func(isFirst bool) {
		for site := range sys.Sites() {
			text := describe(sys, c, site)
			if text != shown[site] && (!isFirst || len(f.Run.Start) > 0) {
				fmt.Fprintf(&s, "      %s\n", text)
			}
			shown[site] = text
		}
	}
	show(true)
	var b model.Buffer
	for i, step := range f.Run.Steps {
		if i == f.Run.Loop {
			s.WriteString("for ever:\n")
		}
		fmt.Fprintf(&s, "%3d %s\n", i+1, sys.Describe(c, step[0]))
		sys.Apply(c, step, &b)
		show(false)
	}
	return s.String()
}

func describe(sys model.System, c model.Configuration, site int) string {
	where := sys.Site(site)
	var words []string
	for _, v := range sys.Variables(c, site) {
		isChannel := v.Name == "Prio" || strings.HasPrefix(v.Name, "RSet")
		switch {
		case where.Link >= 0:
			words = append(words, v.Value)
		case v.Value == "false" || v.Value == "-1" || v.Value == "0" && !isChannel || v.Name == "fired":
		default:
			words = append(words, v.Name+" "+v.Value)
		}
	}
	switch {
	case where.Link >= 0:
		from, to := sys.Graph().Ends(where.Link)
		return fmt.Sprintf("%d→%d: %s", from, to, strings.Join(words, ", "))
	case where.Process >= 0:
		return fmt.Sprintf("process %d: %s", where.Process, strings.Join(words, ", "))
	}
	return ""
}
