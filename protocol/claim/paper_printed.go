// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"errors"

	"allot/model"
)

// rawState is a client or a resource as the paper prints it. The names of the paper stand beside the variables.
type rawState struct {
	user
	weakAt int // D[2], or D[1] of a claim of one

	strong, weak []rawRequest // Q_strong, Q_weak
	awaited      []int32      // Q_token
	held         []rawRequest // NewRequest messages in the reception buffer, which are not received while Lock holds
	least        int32        // r_min; the number of resources stands for infinity

	isLocked, isNewHead, isStrongReady, isWeakReady bool // Lock, NewHead, StrongReady, WeakReady
	hasToken, isSending                             bool // HoldingToken, SendingToken
}

// rawRequest is an element of a queue: a client, which of its requests (RqNo: 1 strong, 2 weak), and the other resource
// (NextResId; the number of resources stands for none).
type rawRequest struct {
	client int32
	number int8
	next   int32
}

type rawMessage struct {
	kind    rawKind
	client  int32
	number  int8
	next    int32
	least   int32
	initial int32
}

type rawKind uint8

const (
	rNewRequest rawKind = iota
	rToken
	rAllowed
	rDone
	rEnd
	rNewStrong
	rNewStrongACK
	rStrongReady // called Res1Ready where it is sent
	rSeekLoop
	rNoLoop
	rRemoteKill
	rKillLoop
	rKillACK1 // called KillLoopACK1 where it is received
	rKillACK2
)

var rawKinds = []string{"NewRequest", "Token", "resAllowed", "Done", "EndACK", "NewStrong", "newStrongACK", "StrongReady",
	"seekLoop", "NoLoop", "RemoteKillLoop", "KillLoop", "KillACK1", "KillACK2"}

// The repairs, each on top of those before it: what a variant printed-N has repaired. Without them the first error of
// the listing would hide all others.
const (
	fixPop   = 1 + iota // lines 79-80: the next resource is read before the queue is popped
	fixToken            // lines 75, 83: only the holder sends the token, at once if idle, and it waits for its own requests
	fixLeast            // lines 87, 92, 104: a passing message does not overwrite the resource's own priority
	fixNames            // lines 57-68, 85-119: every message names the client that it is about
	fixEdge             // lines 101-107: a search goes on only where the dependency exists
)

type raw struct{ shape }

func newRaw(s shape, g *model.Graph, o model.Options) (*model.Instance, error) {
	if s.resources < 2 {
		return nil, errors.New("--resources 1: the paper's resources stand on a ring")
	}
	m := &raw{s}
	w := &observer{shape: &m.shape, userOf: func(v *model.View, c int) *user {
		return &model.StateOf[rawState](v.Network(), v.C, c).user
	}}
	return &model.Instance{System: model.NewNetwork(g, m, o.Links, o.Budget), Properties: append(w.properties(), m.oneToken()), Phase: w.phase}, nil
}

func (m *raw) none() int32 { return int32(m.resources) }

// Clean gives the token to the root, the first resource.
func (m *raw) Clean(p int) rawState {
	s := rawState{user: m.cleanUser()}
	if !m.isClient(p) {
		s.least = int32(p - m.clients)
		s.hasToken = s.least == 0
	}
	return s
}

// VisitState names the variables.
func (m *raw) VisitState(p int, s *rawState, f *model.Fields) {
	if m.isClient(p) {
		s.visit(f, &m.shape)
		model.Int(f, "D[2]", &s.weakAt, 0, m.resources-1)
		return
	}
	m.visitQueue(f, "Qstrong", &s.strong)
	m.visitQueue(f, "Qweak", &s.weak)
	m.visitQueue(f, "buffer", &s.held)
	model.List(f, "Qtoken", &s.awaited, 2*m.clients, func(f *model.Fields, name string, c *int32) {
		model.Int(f, name, c, 0, int32(m.clients-1))
	})
	model.Int(f, "rmin", &s.least, 0, m.none())
	for _, flag := range []struct {
		name string
		v    *bool
	}{{"Lock", &s.isLocked}, {"NewHead", &s.isNewHead}, {"StrongReady", &s.isStrongReady}, {"WeakReady", &s.isWeakReady},
		{"HoldingToken", &s.hasToken}, {"SendingToken", &s.isSending}} {
		model.Bool(f, flag.name, flag.v)
	}
}

func (m *raw) visitQueue(f *model.Fields, name string, list *[]rawRequest) {
	model.List(f, name, list, 2*m.clients, func(f *model.Fields, name string, q *rawRequest) {
		model.Int(f, name+".client", &q.client, 0, int32(m.clients-1))
		model.Int(f, name+".RqNo", &q.number, 1, 2)
		model.Int(f, name+".next", &q.next, 0, m.none())
	})
}

// VisitMessage names the variables. Only what the listing puts into a message is in it.
func (m *raw) VisitMessage(msg *rawMessage, f *model.Fields) {
	client := func() { model.Int(f, "client", &msg.client, 0, int32(m.clients-1)) }
	model.Union(f, "kind", &msg.kind, rawKinds, func(f *model.Fields, k rawKind) {
		switch k {
		case rNewRequest:
			client()
			model.Int(f, "RqNo", &msg.number, 1, 2)
			model.Int(f, "next", &msg.next, 0, m.none())
		case rNewStrong, rKillLoop:
			client()
		case rSeekLoop:
			model.Int(f, "rmin", &msg.least, 0, m.none())
			model.Int(f, "rinit", &msg.initial, 0, m.none()-1)
			if m.rule.repairs >= fixNames {
				client()
			}
		case rNewStrongACK, rStrongReady, rNoLoop, rRemoteKill, rKillACK1:
			if m.rule.repairs >= fixNames {
				client()
			}
		case rToken, rAllowed, rDone, rEnd, rKillACK2:
		}
	})
}

// Inputs are the user's.
func (m *raw) Inputs(p int, s *rawState, inputs []model.Input) []model.Input {
	if !m.isClient(p) {
		return inputs
	}
	return orderedInputs(s.inputs(&m.shape, inputs))
}

// oneToken counts tokens at resources and on links.
func (m *raw) oneToken() model.Property {
	return oneToken(&m.shape, func(v *model.View, p int) bool {
		return model.StateOf[rawState](v.Network(), v.C, p).hasToken
	}, func(v *model.View, link, i int) bool {
		return model.MessageOf[rawMessage](v.Network(), v.C, link, i).kind == rToken
	})
}
