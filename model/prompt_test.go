// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"testing"

	"allot/model"
)

// bell is a machine with prompt messages: process 0 rings, process 1 counts the ring and answers, and process 0 counts
// the answer. Rings arrive at once; answers do so too, if they are prompt.
type bell struct{ isAnswerPrompt bool }

type bellState struct{ heard int }

type bellNote struct{ isAnswer bool }

func (bell) HasPrompt() bool             { return true }
func (b bell) IsPrompt(m *bellNote) bool { return !m.isAnswer || b.isAnswerPrompt }
func (bell) Clean(int) bellState         { return bellState{} }

func (bell) VisitState(_ int, s *bellState, f *model.Fields) {
	model.Int(f, "heard", &s.heard, 0, 100)
}

func (bell) VisitMessage(m *bellNote, f *model.Fields) { model.Bool(f, "answer", &m.isAnswer) }

func (bell) Inputs(p int, _ *bellState, inputs []model.Input) []model.Input {
	if p == 0 {
		inputs = append(inputs, model.Input{Name: "ring"})
	}
	return inputs
}

func (bell) Step(p int, s *bellState, e model.Event[bellNote], out *model.Outbox[bellNote]) {
	if e.Kind == model.Received {
		s.heard++
	}
	if e.Kind == model.Given || e.Kind == model.Received && p == 1 {
		out.Send(0, bellNote{isAnswer: p == 1})
	}
}

// TestPromptMessagesArriveWithinTheStep, in both stores, unless the receiver has crashed.
func TestPromptMessagesArriveWithinTheStep(t *testing.T) {
	g := graphOf(t, "path:2")
	for _, isAnswerPrompt := range []bool{false, true} {
		n := model.NewNetwork(g, bell{isAnswerPrompt}, model.Links{}, model.Budget{Crash: 1})
		for _, n := range []*model.Network{n, n.Live()} {
			c := n.Clean()
			there, back := g.Link(0, 0), g.Link(1, 0)
			look := func(when string, caller, callee, onThere, onBack int) {
				t.Helper()
				got := [...]int{model.StateOf[bellState](n, c, 0).heard, model.StateOf[bellState](n, c, 1).heard, n.Length(c, there), n.Length(c, back)}
				if want := [...]int{caller, callee, onThere, onBack}; got != want {
					t.Errorf("%s, answers prompt %v: %v, want %v", when, isAnswerPrompt, got, want)
				}
			}
			apply(t, n, c, model.Move{Kind: model.Act})
			if isAnswerPrompt {
				look("after a ring", 1, 1, 0, 0)
			} else {
				look("after a ring", 0, 1, 0, 1)
				apply(t, n, c, model.Move{Kind: model.Deliver, At: int32(back)})
				look("after the answer", 1, 1, 0, 0)
			}
			apply(t, n, c, model.Move{Kind: model.Crash, At: 1})
			apply(t, n, c, model.Move{Kind: model.Act})
			look("after a ring to nobody", 1, 1, 1, 0)
		}
	}
}

// TestPromptStepsAreTakenBack: what a step with prompt messages wrote can be undone.
func TestPromptStepsAreTakenBack(t *testing.T) {
	g := graphOf(t, "path:2")
	n := model.NewNetwork(g, bell{true}, model.Links{}, model.Budget{})
	c, clean := n.Clean(), n.Clean()
	var b model.Buffer
	n.Apply(c, []model.Move{{Kind: model.Act}}, &b)
	if c.Equal(clean) {
		t.Error("the step changes nothing")
	}
	if b.Undo(c); !c.Equal(clean) {
		t.Errorf("%v is not taken back to %v", c, clean)
	}
}

// owned has two stamps of different owners, and process 0 may make them equal.
type owned struct{ tickets }

func (owned) VisitState(p int, s *ticketState, f *model.Fields) {
	model.StampOf(f, "own", &s.own, latest, p)
	model.StampOf(f, "known", &s.known, latest, p+1)
}

func (owned) Inputs(p int, _ *ticketState, inputs []model.Input) []model.Input {
	if p == 0 {
		inputs = append(inputs, model.Input{Name: "draw", Arg: 7})
	}
	return inputs
}

func (owned) Step(_ int, s *ticketState, e model.Event[ticketNote], _ *model.Outbox[ticketNote]) {
	s.own, s.known = int64(e.Input.Arg), int64(e.Input.Arg)
}

// TestEqualStampsOfDifferentOwners do not stay equal: that of the smaller owner is the smaller one.
func TestEqualStampsOfDifferentOwners(t *testing.T) {
	g := graphOf(t, "path:2")
	n := model.NewNetwork(g, owned{tickets{g}}, model.Links{}, model.Budget{})
	c := n.Clean()
	apply(t, n, c, model.Move{Kind: model.Act})
	if got := *model.StateOf[ticketState](n, c, 0); got != (ticketState{own: model.StampGap, known: 2 * model.StampGap}) {
		t.Errorf("%+v", got)
	}
}
