// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package processes

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// twin is a file with a seat in it, whose memory is as told.
func twin(t *testing.T, n, k, me int, memory []uint64) *Seat {
	t.Helper()
	m, err := machineFor(n, k)
	if err != nil {
		t.Fatal(err)
	}
	f := &File{K: k, Seats: n, machine: m, header: &header{}, memory: slices.Clone(memory)}
	f.share()
	return &Seat{file: f, me: me, local: m.Out()}
}

// TestExpress compares the two ways that are written out, into the lane and out, with the machine that the checker explores:
// they end in the same state and leave the same memory.
func TestExpress(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	entered := 0
	for range 20000 {
		n := 2 + chance.IntN(12)
		k := 1 + chance.IntN(n-1)
		m, err := machineFor(n, k)
		if err != nil {
			t.Fatal(err)
		}
		memory := make([]uint64, len(m.Registers()))
		me := chance.IntN(n)
		inside := uint64(0)
		for other := range n {
			if other != me && int(inside) < k && chance.IntN(3) == 0 {
				memory[other] = m.Top()
				memory[n+m.Turns()+int(inside)] = uint64(other) + 1
				inside++
			}
		}
		if inside > 0 && chance.IntN(2) == 0 { // the first to come has left
			inside--
			memory[memory[n+m.Turns()]-1], memory[n+m.Turns()] = 0, 0
		}
		memory[m.Lane()] = inside
		if chance.IntN(5) == 0 {
			memory[m.Lane()] += uint64(n + 1) // somebody is slow
		}
		direct, machine := twin(t, n, k, me, memory), twin(t, n, k, me, memory)
		isIn := direct.express()
		for machine.local != m.Enlist() && !m.IsInside(machine.local) {
			machine.step(0)
		}
		if direct.local != machine.local || isIn != m.IsInside(machine.local) || !slices.Equal(direct.file.memory, machine.file.memory) {
			t.Fatalf("(%d,%d), process %d, memory %v: in %v, memory %v, the machine has %v", n, k, me, memory, isIn, direct.file.memory, machine.file.memory)
		}
		if !isIn {
			continue
		}
		entered++
		direct.leave()
		for !m.IsOut(machine.local) {
			machine.step(0)
		}
		if direct.local != machine.local || !slices.Equal(direct.file.memory, machine.file.memory) {
			t.Fatalf("(%d,%d): after leaving, memory is %v, the machine has %v", n, k, direct.file.memory, machine.file.memory)
		}
	}
	if entered < 2000 || entered > 18000 {
		t.Errorf("the lane was open %d times of 20000: the test looks at one side only", entered)
	}
}
