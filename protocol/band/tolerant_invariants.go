// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import (
	"fmt"

	"allot/model"
)

func personOf(v *model.View, p int) *person { return model.StateOf[person](v.Network(), v.C, p) }

// The gauges, by number.
const (
	tolerantInside = iota
	tolerantEntering
	tolerantLeaving
	tolerantFell
)

func (d *tolerant) instance(o model.Options) *model.Instance {
	count := func(name, text string, is func(*person) bool) model.Gauge {
		return model.Gauge{Name: name, Text: text, Of: func(v *model.View, site int) int64 {
			if site < d.n && is(personOf(v, site)) {
				return 1
			}
			return 0
		}}
	}
	return &model.Instance{
		System:     model.NewNetwork(d.graph, d, o.Links, o.Budget),
		Properties: d.properties(),
		Gauges: []model.Gauge{
			count("inside", "processes inside", func(s *person) bool { return s.inside }),
			count("entering", "processes that wish to enter", func(s *person) bool { return s.wish == entering }),
			count("leaving", "processes that wish to leave", func(s *person) bool { return s.wish == leaving }),
			count("fell", "processes that crashed inside and are not back", func(s *person) bool { return s.fell }),
			{Name: "restarts", Text: "restarts without memory", Of: func(v *model.View, site int) int64 {
				if site < d.n {
					return int64(personOf(v, site).incarnation) - 1
				}
				return 0
			}},
			{Name: "changes", Text: "generations that have begun", Of: func(v *model.View, site int) int64 {
				if d.changes > 0 && site == d.n {
					return int64(personOf(v, site).control.generation)
				}
				return 0
			}},
		},
		Phase: func(v *model.View, p int) model.Phase {
			if p < d.n && personOf(v, p).wish != resting {
				return model.Waiting
			}
			return model.Inside
		},
	}
}

func (d *tolerant) properties() []model.Property {
	inside := func(v *model.View) int { return int(v.Sum(tolerantInside)) }
	why := func(v *model.View) string {
		return fmt.Sprintf("%d inside, %d crashed inside and are not back, floor %d, ceiling %d", inside(v), v.Sum(tolerantFell), d.l, d.k)
	}
	properties := []model.Property{
		{
			Name: "floor", Text: fmt.Sprintf("at least %d are inside, but for those whom a crash took", d.l), Claim: model.Always, CleanOnly: true,
			Holds: func(v *model.View) bool { return inside(v)+int(v.Sum(tolerantFell)) >= d.l }, Why: why,
		},
		{
			Name: "ceiling", Text: fmt.Sprintf("at most %d are inside", d.k), Claim: model.Always, CleanOnly: true,
			Holds: func(v *model.View) bool { return inside(v) <= d.k }, Why: why,
		},
		{
			Name: "exit", Text: fmt.Sprintf("nobody leaves unless %d stay inside, counting the crashed only as long as nobody who was asked knows of the crash", d.l),
			Claim: model.AlwaysStep, CleanOnly: true, HoldsStep: d.isExitSafe, Why: why,
		},
		{
			Name: "rest", Text: "when nothing is on its way, whoever waits waits for a bound, or for the next tick because it was suspected", Claim: model.Rests, CleanOnly: true,
			Holds: func(v *model.View) bool { return d.whyStuck(v) == "" }, Why: d.whyStuck,
		},
		{
			Name: "lowest", Text: fmt.Sprintf("the floor is reached: %d inside", d.l), Claim: model.Sometimes,
			Holds: func(v *model.View) bool { return inside(v) == d.l },
		},
		{
			Name: "highest", Text: fmt.Sprintf("the ceiling is reached: %d inside", d.k), Claim: model.Sometimes,
			Holds: func(v *model.View) bool { return inside(v) == d.k },
		},
	}
	if d.isStepping {
		properties = append(properties, model.Property{
			Name: "refill", Text: fmt.Sprintf("when nothing is on its way and everybody is back, at least %d are inside again", d.l), Claim: model.Rests, CleanOnly: true,
			Holds: func(v *model.View) bool { return inside(v) >= d.l || d.isSuspected(v) }, Why: why,
		})
	}
	if d.crashes > 0 {
		properties = append(properties, model.Property{
			Name: "back", Text: "somebody who has crashed is inside again", Claim: model.Sometimes,
			Holds: func(v *model.View) bool {
				return d.some(v, func(s *person) bool { return s.inside && s.incarnation > 1 })
			},
		})
	}
	if d.changes > 0 {
		properties = append(properties, model.Property{
			Name: "changed", Text: "somebody who was no member before, or has other quorums now, has changed sides after a change", Claim: model.Sometimes,
			Holds: func(v *model.View) bool {
				return d.some(v, func(s *person) bool { return s.generation > 0 && s.form == 1 && s.wishes > 0 && s.wish == resting })
			},
		})
	}
	if d.isBurying && d.changes > 0 {
		properties = append(properties, model.Property{
			Name: "buried", Text: "somebody has changed sides after a change without somebody who has stopped for good", Claim: model.Sometimes,
			Holds: func(v *model.View) bool {
				return d.some(v, func(s *person) bool { return s.isGone }) &&
					d.some(v, func(s *person) bool { return s.generation > 0 && s.form == 1 && s.inside })
			},
		})
	}
	return properties
}

func (d *tolerant) some(v *model.View, is func(*person) bool) bool {
	for p := range d.n {
		if is(personOf(v, p)) {
			return true
		}
	}
	return false
}

// isExitSafe looks at who leaves in a step. It may have counted those who crashed inside as long as every arbiter that it asked, and that knows
// them, had told it that they are registered.
func (d *tolerant) isExitSafe(before, after *model.View, step []model.Move) bool {
	for p := range d.n {
		b, a := personOf(before, p), personOf(after, p)
		if !b.inside || a.inside || a.isDown {
			continue
		}
		stay := int(after.Sum(tolerantInside))
		for x := range d.n {
			if personOf(after, x).fell && d.wasSaid(before, p, x, step[0]) {
				stay++
			}
		}
		return stay >= d.l
	}
	return true
}

// wasSaid tells whether p has heard from all arbiters in both quorums, with this step at the latest, that x is registered inside.
func (d *tolerant) wasSaid(before *model.View, p, x int, m model.Move) bool {
	s := personOf(before, p)
	f := &d.forms[s.form]
	for _, j := range f.quorums[p] {
		if !f.in[x].Has(j) {
			continue
		}
		isSaid := s.ties[j].known.Has(x) || j == p && s.entries[x].where == within
		if m.Kind == model.Deliver {
			l := model.MessageOf[letter](before.Network(), before.C, int(m.At), int(m.Arg))
			from, _ := d.graph.Ends(int(m.At))
			isSaid = isSaid || from == j && l.who.Has(x) || j == p && from == x && l.topic == tell && l.where == within
		}
		if !isSaid {
			return false
		}
	}
	return true
}

// whyStuck names a process that waits although the bounds allow what it wishes.
func (d *tolerant) whyStuck(v *model.View) string {
	inside := int(v.Sum(tolerantInside))
	for p := range d.n {
		s := personOf(v, p)
		isBound := s.wish == entering && inside >= d.k || s.wish == leaving && inside <= d.l
		if s.wish == resting || isBound || d.isSuspected(v) || d.hasGone(v, p) {
			continue
		}
		return fmt.Sprintf("process %d is %s for ever, with %d inside, floor %d, ceiling %d", p, opNames[s.wish], inside, d.l, d.k)
	}
	return ""
}

// isSuspected tells whether somebody who lives was struck off: it tells the arbiter again with its next tick, and a check has none.
func (d *tolerant) isSuspected(v *model.View) bool {
	for p := range d.n {
		if s := personOf(v, p); s.suspected > 0 {
			return true
		}
	}
	return false
}

// hasGone tells whether a member has stopped for good: whoever has it in its quorum, or counts on it, waits until the members change.
func (d *tolerant) hasGone(v *model.View, p int) bool {
	for j := range d.forms[personOf(v, p).form].members {
		if personOf(v, j).isGone {
			return true
		}
	}
	return false
}
