// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"allot/model"
)

// beam is an adversary that looks for runs in which process 0 tries for as many units as can be found. Unit after unit it lets the
// others act in many ways from each of the configurations that it keeps, and keeps those that look worst for process 0.
type beam struct {
	inst    *model.Instance
	n       int
	stopped int // processes 1..stopped have gone inside and stopped there
	chance  *rand.Rand
	buffer  model.Buffer
	machine *Machine
}

type beamState struct {
	c     model.Configuration
	score int
}

// owes tells whether a process has to act.
func (b *beam) owes(c model.Configuration, p int) bool {
	if p > 0 && p <= b.stopped {
		return false
	}
	var space [2]model.Move
	moves := b.inst.System.Enabled(c, p, space[:0])
	return len(moves) > 0 && b.inst.System.Class(c, moves[0]) != model.NoClass
}

func (b *beam) act(c model.Configuration, p int) {
	b.inst.System.Apply(c, []model.Move{{Kind: model.Act, At: int32(p)}}, &b.buffer)
}

// unit lets everybody who has to act do so once, and some more often. It tells whether process 0 still tries.
func (b *beam) unit(c model.Configuration) bool {
	var pending uint32
	for p := range b.n {
		if b.owes(c, p) {
			pending |= 1 << p
		}
	}
	// Who is in favour acts more often.
	favour, most := b.chance.IntN(b.n), []int{1, 2, 8, 40}[b.chance.IntN(4)]
	for pending != 0 {
		p := b.chance.IntN(b.n)
		switch {
		case p == 0 && (pending != 1 && b.chance.IntN(8) > 0 || pending&1 == 0): // as late as can be, and once
			continue
		case p > 0 && p <= b.stopped:
			continue
		case pending>>p&1 == 0 && b.chance.IntN(2) > 0:
			continue
		}
		times := 1
		if p > 0 && (p == favour || b.chance.IntN(3) == 0) {
			times = 1 + b.chance.IntN(most)
		}
		for range times {
			b.act(c, p)
			pending &^= 1 << p
			if b.machine.IsInside(c[0]) {
				return false
			}
		}
		for q := range b.n {
			if pending>>q&1 != 0 && !b.owes(c, q) {
				pending &^= 1 << q
			}
		}
	}
	return true
}

// score is low where much lies before process 0: it is in an early round, it is the last one there, and many others are there or
// beyond.
func (b *beam) score(c model.Configuration) int {
	m, registers := b.machine, b.inst.System.(*model.Registers)
	r := m.roundOf(0, c[0])
	score := 1000 * int(m.round.Get(c[0]))
	if m.IsCounting(c[0]) && registers.Register(c, m.turn(r.turn)) != 1 {
		score += 500
	}
	for p := r.from; p < r.to; p++ {
		if p != 0 && registers.Register(c, p) >= r.code {
			score -= 10
		}
	}
	return score
}

// beamSearch is the largest number of units found that process 0 needs, after so many have stopped inside as the question says: a
// lower bound of the worst case.
func beamSearch(t testing.TB, q question, width, ways int, seed uint64) int {
	t.Helper()
	stopped := q.crashes
	q.crashes = 0
	b := &beam{inst: q.instance(t), n: q.n, stopped: stopped, chance: rand.New(rand.NewPCG(seed, 11))}
	var err error
	if b.machine, err = New(Config{Algorithm: q.algorithm, N: q.n, K: q.k, Variant: q.variant}); err != nil {
		t.Fatal(err)
	}
	states := b.begin(width)
	units := 1
	for ; len(states) > 0; units++ {
		var next []beamState
		seen := map[string]bool{}
		for _, s := range states {
			for range ways {
				c := slices.Clone(s.c)
				if !b.unit(c) {
					continue
				}
				if key := keyOf(c); !seen[key] {
					seen[key] = true
					next = append(next, beamState{c, b.score(c)})
				}
			}
		}
		b.chance.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
		slices.SortStableFunc(next, func(a, b beamState) int { return cmp.Compare(a.score, b.score) })
		// Some of the others are kept as well: what looks best is not always what comes to most.
		keep := min(len(next), width*3/4)
		rest := next[keep:]
		b.chance.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		states = next[:min(len(next), width)]
	}
	return units
}

func keyOf(c model.Configuration) string {
	var key []byte
	for _, w := range c {
		key = binary.AppendUvarint(key, w)
	}
	return string(key)
}

// begin lists configurations in which process 0 has just begun to try.
func (b *beam) begin(width int) []beamState {
	var states []beamState
	for range width {
		c := b.inst.System.Clean()
		for p := range b.n {
			b.act(c, p) // arrives
		}
		for p := 1; p <= b.stopped; p++ {
			for !b.machine.IsInside(c[p]) {
				b.act(c, p)
			}
		}
		for range b.chance.IntN(60 * b.n) {
			if p := 1 + b.chance.IntN(b.n-1); p > b.stopped {
				b.act(c, p)
			}
		}
		b.act(c, 0)
		states = append(states, beamState{c, b.score(c)})
	}
	return states
}

// search is the most that a few beams find.
func search(t testing.TB, q question) int {
	t.Helper()
	most := 0
	for seed := range uint64(3) {
		most = max(most, beamSearch(t, q, 100, 5, seed))
	}
	return most
}

// TestSearch: what the search finds is never more than the exact worst case, and comes near to it.
func TestSearch(t *testing.T) {
	for _, w := range []struct {
		question
		exact int
	}{
		{question{algorithm: EXCL, n: 2, k: 1, variant: "whole-scan"}, 10},
		{question{algorithm: EXCL, n: 3, k: 1, variant: "whole-scan"}, 32},
		{question{algorithm: EXCL, n: 4, k: 1, variant: "whole-scan"}, 70},
		{question{algorithm: GTEX, n: 4, k: 1, variant: "whole-scan"}, 44},
		{question{algorithm: EXCL, n: 3, k: 2, variant: "whole-scan", crashes: 1}, 13},
		{question{algorithm: EXCL, n: 4, k: 2, variant: "whole-scan", crashes: 1}, 40},
	} {
		found := search(t, w.question)
		if found > w.exact || 2*found < w.exact {
			t.Errorf("%s: the search found %d units, the worst case is %d", w.question, found, w.exact)
		}
		t.Logf("%s: found %d of %d units", w.question, found, w.exact)
	}
}
