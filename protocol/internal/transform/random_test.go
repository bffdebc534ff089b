// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package transform_test

import (
	"fmt"
	"testing"

	"allot/check"
	"allot/model"
	"allot/protocol/internal/transform"
)

// random is a program without rhyme or reason: what is enabled, and what comes of it, is drawn for every sight that a process can
// have of itself and its neighbours. Its processes differ in the number of their states.
type random struct {
	graph *model.Graph
	seed  uint64
}

func (r *random) Layout(p int) model.Layout {
	l, _ := model.NewLayout(&model.Field{Name: "x", Size: uint64(2 + p%2)})
	return l
}

func (r *random) Clean(p int) uint64 { return uint64(p % 2) }

func (r *random) Actions() []model.Action {
	return []model.Action{{Name: "one"}, {Name: "other"}, {Name: "at will", Environment: true}}
}

// draw spreads the sight of p over all numbers.
func (r *random) draw(p, salt int, c model.Configuration) uint64 {
	h := r.seed*0x9e3779b97f4a7c15 + uint64(salt)<<32 + uint64(p)<<16 + c[p]
	for _, q := range r.graph.Neighbours(p) {
		h = (h ^ h>>29) * 0xbf58476d1ce4e5b9
		h += c[q] + 1
	}
	h = (h ^ h>>30) * 0x94d049bb133111eb
	return h ^ h>>31
}

func (r *random) Enabled(p int, c model.Configuration) uint64 { return r.draw(p, 7, c) >> 5 & 7 }

func (r *random) Next(p, action int, c model.Configuration) uint64 {
	return r.draw(p, action, c) % r.Layout(p).Size()
}

// TestRandomPrograms: the transformer knows nothing of what it carries. Over programs that were drawn at random, edges become sound
// from every start, turns come again and again, and every step is one that the program could have taken.
func TestRandomPrograms(t *testing.T) { randomPrograms(t, 6, 253_424) }

// TestFullRandomPrograms: the same with more of them.
func TestFullRandomPrograms(t *testing.T) {
	long(t)
	randomPrograms(t, 60, 2_531_904)
}

func randomPrograms(t *testing.T, count, states uint64) {
	t.Helper()
	var seen uint64
	for seed := range count {
		algorithm := model.Algorithm{Name: "random", Variants: []string{"corrected"}, New: func(o model.Options) (*model.Instance, error) {
			s, err := model.NewGuarded(o.Graph, &random{o.Graph, seed}, o.Budget)
			return &model.Instance{System: s}, err
		}}
		over := transform.Over(&algorithm, "path:2")
		o := check.Options{Fairness: check.Strong}
		s := story{&over, "path:3", "fifo,lossy,capacity=1", values{"numbers": "2", "work": fmt.Sprint(seed % 2)}}
		if seed%2 == 0 {
			s, o.Arbitrary = story{&over, "path:2", one, nil}, true
		}
		r := ask(t, s.instance(t, ""), o)
		seen += r.States
		if r.Verdict != check.Proved {
			t.Errorf("program %d on %s: %v", seed, s.topology, failed(r))
		}
	}
	if seen != states {
		t.Errorf("%d states, not %d", seen, states)
	}
}
