// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"allot/model"
)

// demo is an algorithm whose instances are those of the peers.
func demo(t *testing.T) *model.Algorithm {
	return &model.Algorithm{
		Name: "demo", Variants: []string{"corrected", "printed"}, Mutants: []string{"mute"},
		Parameters: []model.Parameter{
			{Name: "k", Default: "n", Min: 2, Max: 9},
			{Name: "mode", Default: "slow", Words: []string{"slow", "fast", "n"}},
		},
		New: func(o model.Options) (*model.Instance, error) {
			if o.Graph.Len() > 9 {
				return nil, errors.New("it is too large")
			}
			memory := 0
			if o.Values["mode"] == "n" {
				memory = 60
			}
			return newPeers(t, fmt.Sprintf("path:%d", o.Graph.Len()), uint8(o.Int("k")), memory, o.Links, o.Budget), nil
		},
	}
}

func TestResolveFillsIn(t *testing.T) {
	a, g := demo(t), graphOf(t, "path:4")
	o, err := a.Resolve(model.Options{Graph: g})
	if err != nil || o.Variant != "corrected" || o.Values["k"] != "4" || o.Values["mode"] != "slow" || o.Int("k") != 4 {
		t.Errorf("%+v, %v", o, err)
	}
	given := map[string]string{"k": "9", "mode": "n"}
	o, err = a.Resolve(model.Options{Variant: "mute", Values: given})
	if err != nil || o.Variant != "mute" || o.Int("k") != 9 || o.Values["mode"] != "n" || len(given) != 2 {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestMakeRefuses(t *testing.T) {
	g := graphOf(t, "path:3")
	for _, test := range []struct {
		o    model.Options
		want string
	}{
		{model.Options{Graph: g, Variant: "loud"}, `demo has no variant "loud"; there are corrected, printed, mute`},
		{model.Options{Graph: g, Values: map[string]string{"k": "1"}}, "--k 1: it must be a number from 2 to 9"},
		{model.Options{Graph: g, Values: map[string]string{"k": "10"}}, "--k 10: it must be a number from 2 to 9"},
		{model.Options{Graph: g, Values: map[string]string{"k": "three"}}, "--k three: it must be a number"},
		{model.Options{Graph: g, Values: map[string]string{"k": ""}}, "--k : it must be a number"},
		{model.Options{Graph: g, Values: map[string]string{"k": "99999999999999999999"}}, "it must be a number"},
		{model.Options{Graph: g, Values: map[string]string{"mode": "Fast"}}, "--mode Fast: it must be one of slow, fast, n"},
		{model.Options{Graph: g, Values: map[string]string{"z": "1", "b": "1", "y": "2"}}, `demo has no parameter "b"`},
		{model.Options{Values: map[string]string{"k": "2"}}, "demo needs a network"},
		{model.Options{}, "--k n: it must be a number from 2 to 9"},
		{model.Options{Graph: graphOf(t, "path:10"), Values: map[string]string{"k": "2"}}, "demo: it is too large"},
		// What the adversary would have to list.
		{model.Options{Graph: g, Values: map[string]string{"mode": "n"}, Budget: model.Budget{Corrupt: 1}},
			"demo: faults corrupt=1: process 0 has more than 1048576 possible states"},
	} {
		if inst, err := demo(t).Make(test.o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, %v, want %s", test.o, inst, err, test.want)
		}
	}
	for _, o := range []model.Options{
		{Graph: g, Budget: model.Budget{Corrupt: 1, Forge: 1}},
		{Graph: g, Values: map[string]string{"mode": "n"}, Budget: model.Budget{Crash: 1, Forge: 1}},
	} {
		if _, err := demo(t).Make(o); err != nil {
			t.Error(err)
		}
	}
}

// longLetters is a machine whose messages cannot be listed.
type longLetters struct{}

func (longLetters) Clean(int) peer                                          { return peer{} }
func (longLetters) Step(int, *peer, model.Event[wide], *model.Outbox[wide]) {}
func (longLetters) Inputs(int, *peer, []model.Input) []model.Input          { return nil }
func (longLetters) VisitState(int, *peer, *model.Fields)                    {}
func (longLetters) VisitMessage(m *wide, f *model.Fields)                   { m.visit(f) }

func TestForgingNeedsAListOfMessages(t *testing.T) {
	g := graphOf(t, "path:2")
	a := &model.Algorithm{Name: "letters", Variants: []string{""}, New: func(o model.Options) (*model.Instance, error) {
		return &model.Instance{System: model.NewNetwork(o.Graph, longLetters{}, o.Links, o.Budget)}, nil
	}}
	_, err := a.Make(model.Options{Graph: g, Budget: model.Budget{Forge: 1}})
	if err == nil || err.Error() != "letters: faults forge=1: there are more than 1048576 possible messages" {
		t.Error(err)
	}
	// A script may forge one of them by any number.
	inst, err := a.Make(model.Options{Graph: g})
	if err != nil {
		t.Fatal(err)
	}
	c := inst.System.Clean()
	apply(t, inst.System, c, model.Move{Kind: model.Forge, Arg: 1<<64 - 1})
	apply(t, inst.System, c, model.Move{Kind: model.Deliver})
}

func TestUnresolvedParametersPanic(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "parameter k was not resolved") {
			t.Errorf("%v", p)
		}
	}()
	model.Options{}.Int("k")
}

func TestViewsAddUpGauges(t *testing.T) {
	inst := newHops(t, graphOf(t, "path:3"), model.Budget{})
	c := inst.System.Clean()
	v := inst.View(c)
	if v.Sum(0) != 9 || v.Sum(1) != 1 { // 3+3+3, and only the root is wrong
		t.Errorf("sums %d and %d", v.Sum(0), v.Sum(1))
	}
	v.Sums = []int64{7, 8}
	if v.Sum(1) != 8 {
		t.Errorf("a sum that is kept is not taken: %d", v.Sum(1))
	}
	n := networkOf(newPeers(t, "path:2", 2, 0, model.Links{Lossy: true}, model.Budget{}))
	twin := inst.With(n)
	view := twin.View(n.Clean())
	if view.Network() != n || inst.System == model.System(n) || len(twin.Gauges) != 2 || !n.LinkOptions().Lossy {
		t.Error("With changes more than the system")
	}
}

func TestWords(t *testing.T) {
	var words []string
	for c := model.Always; c <= model.Stabilizes; c++ {
		words = append(words, c.String())
	}
	for p := model.Idle; p <= model.Inside; p++ {
		words = append(words, p.String())
	}
	if got := strings.Join(words, "; "); got != "always; always (each step); sometimes; rests; recurs; stabilizes; idle; waiting; inside" {
		t.Error(got)
	}
	a := model.Configuration{1, 2}
	if a.Equal(model.Configuration{1}) || a.Equal(model.Configuration{1, 3}) || !a.Equal(model.Configuration{1, 2}) {
		t.Error("Equal")
	}
	var out model.Outbox[int]
	out.Send(1, 5)
	out.Send(0, 6)
	var sent []int
	out.Each(func(channel, m int) { sent = append(sent, channel, m) })
	if fmt.Sprint(sent) != "[1 5 0 6]" {
		t.Error(sent)
	}
	out.Reset()
	out.Each(func(int, int) { t.Error("an empty outbox has a message") })
}
