// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package peterson

import (
	"errors"
	"fmt"

	"allot/model"
)

// Algorithm is the entry in the list of the laboratory.
var Algorithm = model.Algorithm{
	Name:     "peterson",
	Summary:  "Peterson's mutual exclusion of two processes over shared registers",
	Source:   "G. L. Peterson, Information Processing Letters 12(3), 1981",
	Model:    "shared registers",
	Topology: "path:2",
	Start:    "clean",
	Fairness: "weak",
	Variants: []string{"printed"},
	Mutants:  []string{"no-flag", "no-turn", "turn-first"},
	New:      newInstance,
}

// The registers.
const (
	flag0 = iota
	flag1
	turn
)

// Where a process stands.
const (
	remainder = iota
	writeFlag
	writeTurn
	readFlag
	readTurn
	critical
	lowerFlag
	places
)

var placeNames = [places]string{"remainder", "raise flag", "give way", "read flag", "read turn", "critical", "lower flag"}

type program struct {
	variant   string
	layout    model.Layout
	registers []*model.Field
}

func newInstance(o model.Options) (*model.Instance, error) {
	if o.Graph.Len() != 2 {
		return nil, fmt.Errorf("it is made for 2 processes, not %d", o.Graph.Len())
	}
	if o.Links != (model.Links{}) {
		return nil, errors.New("it has no links")
	}
	p := &program{variant: o.Variant, registers: []*model.Field{
		{Name: "flag[0]", Size: 2}, {Name: "flag[1]", Size: 2}, {Name: "turn", Size: 2},
	}}
	var err error
	p.layout, err = model.NewLayout(&model.Field{Name: "at", Size: places, Show: func(v uint64) string { return placeNames[v] }})
	if err != nil {
		return nil, err
	}
	system, err := model.NewRegisters(o.Graph, p, o.Budget)
	if err != nil {
		return nil, err
	}
	return &model.Instance{System: system, Gauges: gauges, Properties: properties, Phase: phase}, nil
}

func (p *program) Registers() []*model.Field { return p.registers }

func (p *program) Initial(int) uint64 { return 0 }

func (p *program) Layout(int) model.Layout { return p.layout }

func (p *program) Clean(int) uint64 { return remainder }

// order lists the places of the trying region.
func (p *program) order() []uint64 {
	switch p.variant {
	case "turn-first":
		return []uint64{writeTurn, writeFlag, readFlag, readTurn}
	case "no-flag":
		return []uint64{writeTurn, readFlag, readTurn}
	case "no-turn":
		return []uint64{writeFlag, readFlag, readTurn}
	}
	return []uint64{writeFlag, writeTurn, readFlag, readTurn}
}

// after is the place that follows in the trying region.
func (p *program) after(at uint64) uint64 {
	order := p.order()
	for i, place := range order[:len(order)-1] {
		if place == at {
			return order[i+1]
		}
	}
	return readFlag
}

func (p *program) Accesses(me int, at uint64, steps []model.Access) []model.Access {
	name := placeNames[at]
	switch at {
	case remainder:
		return append(steps, model.Access{Name: "begins to try", Environment: true})
	case writeFlag:
		return append(steps, model.Access{Name: name, Op: model.Write, Register: flag0 + me, Value: 1})
	case writeTurn:
		return append(steps, model.Access{Name: name, Op: model.Write, Register: turn, Value: uint64(me)})
	case readFlag:
		return append(steps, model.Access{Name: name, Op: model.Read, Register: flag0 + 1 - me})
	case readTurn:
		return append(steps, model.Access{Name: name, Op: model.Read, Register: turn})
	case critical:
		return append(steps, model.Access{Name: "leaves the critical section"})
	default:
		return append(steps, model.Access{Name: name, Op: model.Write, Register: flag0 + me, Value: 0})
	}
}

func (p *program) After(me int, at uint64, _ int, found uint64) uint64 {
	switch at {
	case remainder:
		return p.order()[0]
	case writeFlag, writeTurn:
		return p.after(at)
	case readFlag:
		if found == 0 {
			return critical
		}
		return readTurn
	case readTurn:
		if found != uint64(me) {
			return critical
		}
		return readFlag
	case critical:
		return lowerFlag
	default:
		return remainder
	}
}
