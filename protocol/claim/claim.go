// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"allot/model"
)

// Algorithm is the entry in the list of the laboratory.
var Algorithm = model.Algorithm{
	Name:     "claim",
	Summary:  "several named resources at once, among clients that do not know each other",
	Source:   "Datta, Devismes, Kawala, Larmore and Potop-Butucaru, Multi-resource Allocation with Unknown Participants, 2012",
	Model:    "message passing",
	Topology: "single",
	Links:    "unordered",
	Start:    "clean",
	Fairness: "weak",
	Variants: []string{corrected, printed},
	Mutants:  mutantNames(),
	Parameters: []model.Parameter{
		{Name: "clients", Text: "clients", Default: "2", Min: 1, Max: 1 << 12},
		{Name: "resources", Text: "resources", Default: "2", Min: 1, Max: maxResources},
		{Name: "most", Text: "resources in one claim at the most", Default: "2", Min: 1, Max: maxResources},
		{Name: "least", Text: "resources in one claim at the least", Default: "1", Min: 1, Max: maxResources},
		{Name: "protocol", Text: "how the resources agree; a variant that exists for one protocol only chooses that one",
			Default: stampsName, Words: []string{stampsName, paperName, tokenName, orderedName}},
		{Name: "stamps", Text: "which stamp a resource proposes: any above those that it has, or the next number (protocol stamps)",
			Default: "any", Words: []string{"any", "next"}},
		{Name: "claims", Text: "claims that each client makes; 0 means without end", Default: "0", Max: 1 << 20},
		{Name: "departures", Text: "what clients may do beside claiming and releasing (protocols stamps and ordered)",
			Default: "none", Words: []string{"none", "cancel", "vanish", "both"}},
		{Name: "losses", Text: "how often each resource may lose its queue (protocol stamps)", Default: "0", Max: 100},
		{Name: "losers", Text: "how many of the resources may lose their queue; 0 means all (protocol stamps)", Default: "0", Max: maxResources},
		{Name: "loans", Text: "how often a claim may lend what it has to others while it waits for the rest (protocol stamps)",
			Default: "0", Max: maxLoans},
		{Name: "delivery", Text: "prompt: messages for which it does not matter when they arrive do so at once (protocols stamps and paper)",
			Default: "any", Words: []string{"any", "prompt"}},
		{Name: "fences", Text: "fences are numbered modulo this; 1 leaves them out (protocol stamps)", Default: "1", Min: 1, Max: 1 << 30},
	},
	New: newInstance,
}

// The protocols that are compared.
const (
	stampsName  = "stamps"
	paperName   = "paper"
	tokenName   = "token"
	orderedName = "ordered"
)

// maxResources is what fits into a set, maxChoices how many different claims a client may choose from.
const (
	maxResources = 62
	maxChoices   = 4096
	maxLoans     = 255
)

// shape is what all protocols are told: how many there are, and what clients may do. Clients are the processes from 0
// on and resources those after them. Channel r of a client leads to resource r, channel c of a resource to client c; in
// protocols in which resources talk to each other the channels after these do.
type shape struct {
	clients, resources int
	most, least        int
	claims             int
	canCancel          bool
	canVanish          bool
	isPrompt           bool
	rule               rule
	choices            []set // the claims that a client may make
}

func newInstance(o model.Options) (*model.Instance, error) {
	s := shape{clients: o.Int("clients"), resources: o.Int("resources"), most: o.Int("most"), least: o.Int("least"),
		claims: o.Int("claims"), rule: rules[o.Variant]}
	departures := o.Values["departures"]
	s.canCancel = departures == "cancel" || departures == "both"
	s.canVanish = departures == "vanish" || departures == "both"
	name := o.Values["protocol"]
	if s.rule.protocol != "" {
		name = s.rule.protocol
	}
	s.most = min(s.most, s.resources)
	if name == paperName {
		s.most = min(s.most, 2)
	}
	s.isPrompt = o.Values["delivery"] == "prompt"
	losses := o.Int("losses")
	switch {
	case s.least > s.most:
		return nil, fmt.Errorf("--least %d: a claim has at most %d resources here", s.least, s.most)
	case departures != "none" && name != stampsName && name != orderedName:
		return nil, fmt.Errorf("--departures %s: protocol %s is here to be compared, without departures", departures, name)
	case departures != "none" && name == orderedName && s.clients > maxResources:
		return nil, fmt.Errorf("--departures %s: at most %d clients with protocol %s", departures, maxResources, name)
	case losses > 0 && name != stampsName:
		return nil, fmt.Errorf("--losses %d: only protocol stamps has a way back for resources that lost their queue", losses)
	}
	if s.choices = subsets(s.resources, s.least, s.most); s.choices == nil {
		return nil, fmt.Errorf("--resources %d --most %d: there are more than %d different claims to choose from", s.resources, s.most, maxChoices)
	}
	g, err := s.graph(name == paperName || name == tokenName)
	if err != nil {
		return nil, err
	}
	if err := isOwn(o.Graph, g); err != nil {
		return nil, err
	}
	switch name {
	case paperName:
		return newPaper(s, g, o)
	case tokenName:
		return newToken(s, g, o)
	case orderedName:
		return newOrdered(s, g, o)
	}
	return newStamps(s, g, o, losses)
}

// graph joins every client to every resource and, if asked, the resources to each other.
func (s *shape) graph(isJoined bool) (*model.Graph, error) {
	var edges [][2]int
	for c := range s.clients {
		for r := range s.resources {
			edges = append(edges, [2]int{c, s.clients + r})
		}
	}
	for r := range s.resources {
		for q := r + 1; isJoined && q < s.resources; q++ {
			edges = append(edges, [2]int{s.clients + r, s.clients + q})
		}
	}
	g, err := model.NewGraph(s.clients+s.resources, edges)
	if err != nil {
		return nil, err
	}
	var names []string
	for c := range s.clients {
		names = append(names, fmt.Sprintf("c%d", c+1))
	}
	for r := range s.resources {
		names = append(names, fmt.Sprintf("r%d", r+1))
	}
	return g.WithNames(names)
}

// isOwn accepts no network but the default, which says nothing, and the one that is made here, which recorded runs name.
func isOwn(given, own *model.Graph) error {
	if given.Len() == 1 || given.Len() == own.Len() && slices.Equal(given.Edges(), own.Edges()) {
		return nil
	}
	return errors.New("the network follows from --clients and --resources: leave --topology away")
}

func (s *shape) isClient(p int) bool { return p < s.clients }

// toResource is the channel of resource r that leads to resource q.
func (s *shape) toResource(r, q int) int {
	if q < r {
		return s.clients + q
	}
	return s.clients + q - 1
}

// fromResource is the resource to which a channel of resource r leads.
func (s *shape) fromResource(r, channel int) int {
	if q := channel - s.clients; q < r {
		return q
	}
	return channel - s.clients + 1
}

// set of resources, or of clients where these are few: bit i stands for number i.
type set int64

func (s set) has(i int) bool { return s>>i&1 != 0 }

func (s set) with(i int) set { return s | 1<<i }

func (s set) without(i int) set { return s &^ (1 << i) }

func (s set) len() int { return bits.OnesCount64(uint64(s)) }

// first is the smallest member; of the empty set it makes no sense.
func (s set) first() int { return bits.TrailingZeros64(uint64(s)) }

// last is the largest member; of the empty set it makes no sense.
func (s set) last() int { return 63 - bits.LeadingZeros64(uint64(s)) }

// each calls do for every member, in order.
func (s set) each(do func(i int)) {
	for ; s != 0; s &= s - 1 {
		do(s.first())
	}
}

func (s set) String() string {
	text := ""
	s.each(func(i int) { text += fmt.Sprintf(" r%d", i+1) })
	return text
}

func visitSet(f *model.Fields, name string, s *set, members int) {
	model.Int(f, name, s, 0, 1<<members-1)
}

// subsets lists the sets of least to most of the numbers below n, nil if there are too many.
func subsets(n, least, most int) []set {
	var list []set
	var extend func(from int, s set) bool
	extend = func(from int, s set) bool {
		if s.len() >= least {
			list = append(list, s)
		}
		for i := from; i < n && s.len() < most; i++ {
			if len(list) > maxChoices || !extend(i+1, s.with(i)) {
				return false
			}
		}
		return len(list) <= maxChoices
	}
	if !extend(0, 0) {
		return nil
	}
	return list
}
