// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"errors"
	"fmt"

	"allot/model"
)

// Algorithm is the entry in the list of the laboratory.
var Algorithm = model.Algorithm{
	Name:     "ring",
	Summary:  "Dijkstra's self-stabilizing K-state token ring",
	Source:   "E. W. Dijkstra, EWD426; Communications of the ACM 17(11), 1974",
	Model:    "guarded actions",
	Topology: "ring:5",
	Start:    "arbitrary",
	Variants: []string{"printed"},
	Mutants:  mutantNames(),
	Parameters: []model.Parameter{
		{Name: "k", Text: "number of values of a counter", Default: "n", Min: 1, Max: 1 << 31},
	},
	Bounds: []model.Bound{{
		Column: "stabilized_steps",
		Name:   "exact worst case 3n(n−1)/2−n−1",
		Of: func(o model.Options) float64 {
			n := float64(o.Graph.Len())
			return 3*n*(n-1)/2 - n - 1
		},
	}},
	New: newInstance,
}

// program is the ring as guarded actions. The state of a process is its counter.
type program struct {
	before []int32 // by process: its predecessor
	root   int
	k      uint64
	layout model.Layout
	rule   rule
}

func newInstance(o model.Options) (*model.Instance, error) {
	before, err := predecessors(o.Graph)
	if err != nil {
		return nil, err
	}
	p := &program{before: before, root: o.Graph.Root, k: uint64(o.Int("k")), rule: rules[o.Variant]}
	if p.layout, err = model.NewLayout(&model.Field{Name: "x", Size: p.k}); err != nil {
		return nil, err
	}
	system, err := model.NewGuarded(o.Graph, p, o.Budget)
	if err != nil {
		return nil, err
	}
	return &model.Instance{
		System:     system,
		Gauges:     gauges,
		Properties: properties,
		Phase:      phase,
		Potential:  func(v *model.View) int64 { return v.Sum(privileges) },
	}, nil
}

// predecessors walks round the ring from the root by its first channel. The process from which the walk comes is the
// predecessor, so the privilege travels in the direction of the walk.
func predecessors(g *model.Graph) ([]int32, error) {
	n := g.Len()
	if n < 2 {
		return nil, errors.New("a ring needs at least 2 processes")
	}
	before := make([]int32, n)
	if n == 2 && g.Degree(0) == 1 {
		before[0], before[1] = 1, 0
		return before, nil
	}
	from, at := -1, g.Root
	for range n {
		if g.Degree(at) != 2 {
			return nil, fmt.Errorf("the network is not a ring: process %s has %d neighbours", g.Name(at), g.Degree(at))
		}
		next := int(g.Neighbours(at)[0])
		if next == from {
			next = int(g.Neighbours(at)[1])
		}
		before[next] = int32(at)
		from, at = at, next
		if at == g.Root {
			break
		}
	}
	if at != g.Root || before[at] != int32(from) || !g.IsConnected() {
		return nil, errors.New("the network is not one ring")
	}
	return before, nil
}

func (r *program) Layout(int) model.Layout { return r.layout }

func (r *program) Clean(int) uint64 { return 0 }

// Reads tells that a process looks at its predecessor only.
func (r *program) Reads(p int) []int32 { return r.before[p : p+1] }

func (r *program) Actions() []model.Action {
	return []model.Action{{Name: "add one"}, {Name: "copy the predecessor"}}
}

const (
	addOne = iota
	copyPredecessor
)

func (r *program) Enabled(p int, c model.Configuration) uint64 {
	isEqual := c[p] == c[r.before[p]]
	if r.rule != asPrinted {
		return r.enabledMutant(p, isEqual)
	}
	switch {
	case p == r.root && isEqual:
		return 1 << addOne
	case p != r.root && !isEqual:
		return 1 << copyPredecessor
	}
	return 0
}

func (r *program) Next(p, action int, c model.Configuration) uint64 {
	if action == copyPredecessor {
		if r.rule == copyPlusOne {
			return (c[r.before[p]] + 1) % r.k
		}
		return c[r.before[p]]
	}
	if x := c[p] + 1; x < r.k {
		return x
	}
	return 0
}
