// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package transform

import "allot/model"

// VisitState names the variables of the program and of every end; the cache belongs to the token.
func (m *machine) VisitState(p int, s *state, f *model.Fields) {
	model.Word(f, "", m.layouts[p], &s.word)
	for i, q := range m.graph.Neighbours(p) {
		e, name := &s.ends[i], m.names[p][i]
		model.Int(f, name.number, &e.number, 0, m.numbers-1)
		has := bit(e.has)
		model.Union(f, name.token, &has, []string{"no", "yes"}, func(f *model.Fields, has uint8) {
			if has == 1 {
				model.Word(f, name.cache, m.layouts[q], &e.cache)
				m.visitCuts(f, name.cache+"cuts", &e.cuts, m.graph.Degree(int(q)))
			}
		})
		if e.has = has == 1; !e.has {
			e.cache, e.cuts = 0, 0
		}
		if m.isChanging {
			// Whether a link is cut is no memory of the process: its surroundings tell it.
			cut := bit(e.isCut)
			model.Ghost(f, name.cache+"cut", &cut, 0, 1)
			e.isCut = cut == 1
		}
	}
	if m.work > 0 {
		model.Int(f, "done", &s.done, 0, m.work)
	}
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// visitCuts visits a set of channels.
func (m *machine) visitCuts(f *model.Fields, name string, cuts *uint64, degree int) {
	if m.isChanging {
		set := []uint64{*cuts}
		model.Set(f, name, &set, degree)
		*cuts = set[0]
	}
}

// digit is how many values of a rank are visited at once, so that every one of them can be chosen.
const digit = model.MaxListed

// VisitMessage names the number and the state. All processes share one kind of message, so the domain of the state is that of the process with the
// most; what its sender cannot have is refused where it arrives.
func (m *machine) VisitMessage(msg *message, f *model.Fields) {
	model.Int(f, "number", &msg.number, 0, m.numbers-1)
	rest, rank, power := msg.rank, uint64(0), uint64(1)
	for most := m.most; ; most /= digit {
		v := int32(rest % digit)
		model.Int(f, "state", &v, 0, int32(min(most, digit-1)))
		rank += uint64(v) * power
		if most < digit {
			break
		}
		rest, power = rest/digit, power*digit
	}
	msg.rank = rank
	m.visitCuts(f, "cuts", &msg.cuts, m.degree)
}
