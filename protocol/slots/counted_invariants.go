// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"errors"
	"fmt"

	"allot/model"
)

// newCountedInstance makes the instance of a Counted.
func newCountedInstance(c Config, o model.Options) (*model.Instance, error) {
	m, err := NewCounted(c)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Holders >= c.K:
		return nil, fmt.Errorf("%d of %d may stay inside for ever: it must be fewer", c.Holders, c.K)
	case len(m.open) == 0 || len(m.open) == maxListed:
		return nil, errors.New("the lane has too many values to be listed: take fewer seats or a smaller k")
	case o.Int("crashes") > 0 || o.Budget != (model.Budget{}):
		return nil, errors.New("where those inside are only counted, processes stop inside and nowhere else: use holders instead of crashes and faults")
	}
	g, err := model.NewGraph(m.N, nil)
	if err != nil {
		return nil, err
	}
	system, err := model.NewRegisters(g, m, o.Budget)
	if err != nil {
		return nil, err
	}
	return &model.Instance{System: system, Gauges: gaugesOf(m.N, m.IsInside, m.IsTrying), Properties: m.properties(), Phase: m.phase}, nil
}

// unlike lists processes of which every other one is like one: a process is nothing but its state, and whether it may stay
// inside for ever, as the first ones may.
func (m *Counted) unlike() []int {
	if m.Holders == 0 || m.Holders >= m.N {
		return []int{0}
	}
	return []int{0, m.N - 1}
}

func (m *Counted) phase(v *model.View, p int) model.Phase {
	switch local := v.C[p]; {
	case m.IsInside(local):
		return model.Inside
	case m.IsTrying(local):
		return model.Waiting
	}
	return model.Idle
}

func (m *Counted) properties() []model.Property {
	ps := []model.Property{exclusion(m.K), full(min(m.N, m.K)), {
		Name:      "no-lockout",
		Text:      fmt.Sprintf("a process that has a seat and does not give up gets in, as long as at most %d stay inside for ever", m.K-1),
		Claim:     model.Recurs,
		CleanOnly: true,
		Ask:       m.unlike(),
		HoldsFor:  func(v *model.View, p int) bool { return !m.IsTrying(v.C[p]) },
	}}
	return append(ps, uniqueNames(func(c model.Configuration) int { return twins(c[:m.N], m.IsInside, m.Name) }),
		onePass(func(was, is uint64) bool {
			at := m.at.Get(was)
			return at != cTake && at != cPick || m.at.Get(is) != at || m.name.Get(is) > m.name.Get(was)
		}))
}
