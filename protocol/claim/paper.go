// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"fmt"

	"allot/model"
)

// paperState is a client or a resource under the paper's protocol, corrected.
type paperState struct {
	user
	weakAt int // of a client: the resource that it asked, the weak one of two

	// Of a resource. strong is the queue, in the order of arrival; weak holds the claims whose strong half is not at
	// the head of its queue yet.
	strong []half
	weak   []half
	// seeks are the searches for a loop that began here and have not come to an end. There is one at a time for a client,
	// so that messages cannot pile up on a slow link.
	seeks    []seeking
	hasToken bool
	awaited  set // the clients whose claims the token waits for
}

// half is one of the two requests of a claim, or the only one.
type half struct {
	client int32
	role   role
	peer   int32 // the resource of the other half
	// isTold tells, of a strong half, that the other resource was told that it is at the head; of the others, that the
	// client was told that it has its claim.
	isTold bool
	// Of a weak half in the queue, which with its strong half is a dependency: token tells whether the strong resource
	// had the token when the dependency began, and seen are the clients whose searches have come along it. Both last as
	// long as the dependency.
	token bool
	seen  set
}

type role uint8

const (
	alone role = iota
	strongHalf
	weakHalf
)

var roleNames = []string{"alone", "strong", "weak"}

type seeking struct {
	client  int32
	isAgain bool // another one is to follow
	isEnded bool // the claim has ended, and the client waits to be told
}

// paperMessage is a message of the paper's protocol, corrected.
type paperMessage struct {
	kind   paperKind
	client int32
	peer   int32 // ask: the strong resource, if there are two; kill: the resource where the search began
	second int32 // kill: the client whose search it was
	at     int32 // confirm: the place on the path
	isTwo  bool
	token  bool
	path   []hop
}

// hop is one dependency on the path of a search: the resource whose head waits elsewhere, for which client, and whether
// it had the token when the dependency began.
type hop struct {
	resource, client int32
	token            bool
}

type paperKind uint8

const (
	pAsk     paperKind = iota // client to the weak resource, or the only one
	pStrong                   // weak resource to the strong one: queue this client
	pNew                      // strong to weak: this client is at the head here
	pAllowed                  // weak resource to the client
	pDone                     // client to the weak resource
	pDoneToo                  // weak to strong
	pEnd                      // to the client: both know
	pSeek                     // along the dependencies
	pConfirm                  // along the path of a search that found a loop: is it all still there?
	pKill                     // to the weak resource of the dependency that gives way
	pKilled                   // and on to the strong one
	pOver                     // to where a search began: it has come to its end
	pToken
)

var paperKinds = []string{"ask", "strong", "new strong", "allowed", "done", "done too", "end", "seek", "confirm", "kill", "killed", "over", "token"}

type paper struct{ shape }

func newPaper(s shape, g *model.Graph, o model.Options) (*model.Instance, error) {
	if s.clients > maxResources {
		return nil, fmt.Errorf("--clients %d: at most %d with the paper's protocol", s.clients, maxResources)
	}
	if s.rule.isRaw {
		return newRaw(s, g, o)
	}
	m := &paper{s}
	w := &observer{shape: &m.shape, userOf: func(v *model.View, c int) *user {
		return &model.StateOf[paperState](v.Network(), v.C, c).user
	}}
	properties := append(w.properties(), m.oneToken(), m.bothHeads(), m.realLoops())
	return &model.Instance{System: model.NewNetwork(g, m, o.Links, o.Budget), Properties: properties, Phase: w.phase}, nil
}

// Clean gives the token to the first resource.
func (m *paper) Clean(p int) paperState {
	s := paperState{user: m.cleanUser()}
	s.hasToken = p == m.clients
	return s
}

// VisitState names the variables.
func (m *paper) VisitState(p int, s *paperState, f *model.Fields) {
	if m.isClient(p) {
		s.visit(f, &m.shape)
		model.Int(f, "asked", &s.weakAt, 0, m.resources-1)
		return
	}
	m.visitHalves(f, "strong", &s.strong)
	m.visitHalves(f, "weak", &s.weak)
	model.List(f, "seeks", &s.seeks, m.clients, func(f *model.Fields, name string, e *seeking) {
		model.Int(f, name+".client", &e.client, 0, int32(m.clients-1))
		model.Bool(f, name+".again", &e.isAgain)
		model.Bool(f, name+".ended", &e.isEnded)
	})
	model.Bool(f, "token", &s.hasToken)
	visitSet(f, "awaited", &s.awaited, m.clients)
}

func (m *paper) visitHalves(f *model.Fields, name string, list *[]half) {
	model.List(f, name, list, m.clients, func(f *model.Fields, name string, h *half) {
		model.Int(f, name+".client", &h.client, 0, int32(m.clients-1))
		model.Enum(f, name+".role", &h.role, roleNames...)
		model.Int(f, name+".peer", &h.peer, 0, int32(m.resources-1))
		model.Bool(f, name+".told", &h.isTold)
		if h.role == weakHalf {
			model.Bool(f, name+".token", &h.token)
			visitSet(f, name+".seen", &h.seen, m.clients)
		}
	})
}

// VisitMessage names the variables.
func (m *paper) VisitMessage(msg *paperMessage, f *model.Fields) {
	client := func(name string, v *int32) { model.Int(f, name, v, 0, int32(m.clients-1)) }
	resource := func(name string, v *int32) { model.Int(f, name, v, 0, int32(m.resources-1)) }
	model.Union(f, "kind", &msg.kind, paperKinds, func(f *model.Fields, k paperKind) {
		switch k {
		case pAsk:
			model.Bool(f, "two", &msg.isTwo)
			resource("strong", &msg.peer)
		case pStrong, pDoneToo, pKilled, pOver:
			client("client", &msg.client)
		case pNew:
			client("client", &msg.client)
			model.Bool(f, "token", &msg.token)
		case pSeek, pConfirm:
			client("for", &msg.client)
			if k == pConfirm {
				model.Int(f, "at", &msg.at, 0, int32(m.resources))
			}
			model.List(f, "path", &msg.path, m.resources+1, func(f *model.Fields, name string, h *hop) {
				resource(name+".resource", &h.resource)
				client(name+".client", &h.client)
				model.Bool(f, name+".token", &h.token)
			})
		case pKill:
			client("client", &msg.client)
			resource("began", &msg.peer)
			client("for", &msg.second)
		case pAllowed, pDone, pEnd, pToken:
		}
	})
}

// Inputs are the user's. Of two resources either may be the strong one. A token that nothing keeps sets out by itself, or
// it would rest for ever at a root that nobody asks for.
func (m *paper) Inputs(p int, s *paperState, inputs []model.Input) []model.Input {
	if !m.isClient(p) {
		if s.hasToken && s.awaited == 0 && m.resources > 1 && !m.rule.isStuck && !m.rule.isLazy {
			inputs = append(inputs, model.Input{Name: "send the token on its way", Code: doOther})
		}
		return inputs
	}
	return orderedInputs(s.inputs(&m.shape, inputs))
}

// orderedInputs offers each claim of two twice, with either resource as the strong one: the Arg then has the number of
// the weak one above the set.
func orderedInputs(inputs []model.Input) []model.Input {
	var all []model.Input
	for _, in := range inputs {
		need := set(in.Arg)
		if in.Code != doClaim {
			all = append(all, in)
			continue
		}
		need.each(func(r int) {
			one := in
			one.Arg |= uint64(r) << weakShift
			if need.len() == 2 {
				one.Name = fmt.Sprintf("claim r%d, and weakly r%d", need.without(r).first()+1, r+1)
			}
			all = append(all, one)
		})
	}
	return all
}

// weakShift is where the Arg of a claim has the number of the resource to ask. The set below it must be smaller.
const weakShift = 56
