// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"allot/check"
	"allot/model"
	"allot/sim"
	"allot/topology"
)

func (s story) instance(t testing.TB, variant string) *model.Instance {
	t.Helper()
	return s.instanceWith(t, variant, model.Budget{})
}

func (s story) instanceWith(t testing.TB, variant string, budget model.Budget) *model.Instance {
	t.Helper()
	g, err := topology.Parse(s.topology)
	if err != nil {
		t.Fatal(err)
	}
	links, err := model.ParseLinks(s.links)
	if err != nil {
		t.Fatal(err)
	}
	inst, err := s.algorithm.Make(model.Options{Graph: g, Variant: variant, Links: links, Values: s.values, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

// ask puts a question to the checker, and every counterexample to the simulator, which must see the same.
func ask(t testing.TB, inst *model.Instance, o check.Options) *check.Result {
	t.Helper()
	o.Workers = 1
	r, err := check.Run(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Verdict != check.Counterexample || f.Run == nil {
			continue
		}
		f.Run.Origin = "check"
		report, err := sim.Replay(inst, f.Run, nil)
		if err != nil {
			t.Fatalf("%s: the simulator refuses the counterexample: %v", f.Property, err)
		}
		if !report.IsVerified {
			t.Fatalf("%s: the simulator does not see the violation: %s", f.Property, report.Text)
		}
	}
	return r
}

// failed lists the properties that are not proved.
func failed(r *check.Result) []string {
	var names []string
	for _, f := range r.Findings {
		if f.Verdict != check.Proved {
			names = append(names, f.Property)
		}
	}
	return names
}

// long skips a test that takes minutes unless it was asked for.
func long(t *testing.T) {
	t.Helper()
	if os.Getenv("ALLOT_FULL") == "" {
		t.Skip("this one takes minutes: set ALLOT_FULL=1 or run make full")
	}
}

// settings writes the parameters that are not at their defaults.
func settings(v map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		words = append(words, name+"="+v[name])
	}
	return strings.Join(words, " ")
}
