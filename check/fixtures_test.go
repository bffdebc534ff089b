// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"context"
	"fmt"
	"testing"

	"allot/check"
	"allot/model"
	"allot/protocol"
	"allot/topology"
)

// toy is a program made of tables, for questions whose answer is plain.
type toy struct {
	layout  model.Layout
	actions []model.Action
	enabled func(p int, c model.Configuration) uint64
	next    func(p, a int, c model.Configuration) uint64
}

func (t *toy) Layout(int) model.Layout                     { return t.layout }
func (t *toy) Clean(int) uint64                            { return 0 }
func (t *toy) Actions() []model.Action                     { return t.actions }
func (t *toy) Enabled(p int, c model.Configuration) uint64 { return t.enabled(p, c) }
func (t *toy) Next(p, a int, c model.Configuration) uint64 { return t.next(p, a, c) }
func bit(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}

func newToy(t *testing.T, spec string, values uint64, enabled func(int, model.Configuration) uint64,
	next func(int, int, model.Configuration) uint64, properties ...model.Property) *model.Instance {
	t.Helper()
	layout, err := model.NewLayout(&model.Field{Name: "x", Size: values})
	if err != nil {
		t.Fatal(err)
	}
	program := &toy{layout: layout, actions: []model.Action{{Name: "act"}}, enabled: enabled, next: next}
	system, err := model.NewGuarded(parse(t, spec), program, model.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	return &model.Instance{System: system, Properties: properties}
}

func parse(t *testing.T, spec string) *model.Graph {
	t.Helper()
	g, err := topology.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// instance makes an instance of an algorithm of the list.
func instance(t *testing.T, name, spec string, o model.Options) *model.Instance {
	t.Helper()
	a, err := protocol.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	if spec == "" {
		spec = a.Topology
	}
	o.Graph = parse(t, spec)
	if o.Links == (model.Links{}) {
		if o.Links, err = model.ParseLinks(a.Links); err != nil {
			t.Fatal(err)
		}
	}
	inst, err := a.Make(o)
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

func ringOf(t *testing.T, n, k int, variant string, budget model.Budget) *model.Instance {
	t.Helper()
	return instance(t, "ring", fmt.Sprintf("ring:%d", n), model.Options{Variant: variant, Budget: budget, Values: map[string]string{"k": fmt.Sprint(k)}})
}

func ask(t *testing.T, inst *model.Instance, o check.Options) *check.Result {
	t.Helper()
	r, err := check.Run(context.Background(), inst, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Verdict == check.Counterexample && f.Run != nil {
			verify(t, inst, f, o)
		}
	}
	return r
}

func verdict(t *testing.T, r *check.Result, property string) check.Verdict {
	t.Helper()
	return finding(t, r, property).Verdict
}

func finding(t *testing.T, r *check.Result, property string) check.Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Property == property {
			return f
		}
	}
	t.Fatalf("there is no finding for %s", property)
	return check.Finding{}
}

// verify replays a counterexample with nothing but the transition relation: every move is possible, the property really
// fails, and what is said to repeat for ever does, with everybody getting what the fairness owes.
func verify(t *testing.T, inst *model.Instance, f check.Finding, o check.Options) {
	t.Helper()
	sys := inst.System
	c, err := model.StartAt(sys, f.Run.Start)
	if err != nil {
		t.Fatal(err)
	}
	var property model.Property
	for _, p := range inst.Properties {
		if p.Name == f.Property {
			property = p
		}
	}
	isOutside := func(c model.Configuration) bool {
		v := inst.View(c)
		if property.Claim == model.Recurs {
			return !property.HoldsFor(&v, f.Run.Process)
		}
		return !property.Holds(&v)
	}
	var b model.Buffer
	var atLoop, before model.Configuration
	owed, everOwed, taken := map[int]bool{}, map[int]bool{}, map[int]bool{}
	note := func(first bool) {
		here := map[int]bool{}
		for site := range sys.Sites() {
			for _, m := range sys.Enabled(c, site, nil) {
				if class := sys.Class(c, m); class != model.NoClass {
					here[class], everOwed[class] = true, true
				}
			}
		}
		if first {
			owed = here
		}
		for class := range owed {
			if !here[class] {
				delete(owed, class)
			}
		}
	}
	for i, step := range f.Run.Steps {
		if i == f.Run.Loop {
			atLoop = append(model.Configuration(nil), c...)
		}
		if f.Run.Loop >= 0 && i >= f.Run.Loop {
			if !isOutside(c) {
				t.Fatalf("%s: the loop leaves the region at step %d", f.Property, i)
			}
			note(i == f.Run.Loop)
			for _, m := range step {
				taken[sys.Class(c, m)] = true
			}
		}
		for _, m := range step {
			if err := sys.Check(c, m); err != nil {
				t.Fatalf("%s, step %d: %v", f.Property, i, err)
			}
		}
		before = append(before[:0], c...)
		sys.Apply(c, step, &b)
	}
	switch {
	case f.Run.Loop == len(f.Run.Steps): // a dead end
		note(true)
		if !isOutside(c) || len(owed) > 0 {
			t.Fatalf("%s: the run need not end here", f.Property)
		}
	case f.Run.Loop >= 0:
		if !c.Equal(atLoop) {
			t.Fatalf("%s: the loop does not close", f.Property)
		}
		stops := property.Stops
		for class := range map[check.Fairness]map[int]bool{check.Weak: owed, check.Strong: everOwed}[o.Fairness] {
			if !taken[class] {
				if stops--; stops >= 0 && class != f.Run.Process {
					continue
				}
				t.Fatalf("%s: the loop is not fair to %s", f.Property, sys.ClassName(class))
			}
		}
	case property.Claim == model.Stabilizes: // closure broken by the last step
		if isOutside(before) || !isOutside(c) {
			t.Fatalf("%s: the last step does not leave the set", f.Property)
		}
	case property.Claim == model.AlwaysStep:
		b, a := inst.View(before), inst.View(c)
		if property.HoldsStep(&b, &a, f.Run.Steps[len(f.Run.Steps)-1]) {
			t.Fatalf("%s: the last step keeps it", f.Property)
		}
	case !isOutside(c):
		t.Fatalf("%s: it holds in the last configuration", f.Property)
	}
}
