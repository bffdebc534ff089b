// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band

import "allot/model"

// crash forgets everything but the incarnation.
func (v *visit) crash() {
	old := *v.s
	*v.s = person{incarnation: old.incarnation, wishes: old.wishes, withdrawn: old.withdrawn, suspected: old.suspected, isDown: true, fell: old.fell || old.inside,
		generation: old.generation, form: old.form}
	v.clear(v.s)
	if v.changes > 0 {
		v.s.generation, v.s.form, v.s.isFrozen = -1, 0, true
	}
}

// restart is outside. As an arbiter it knows nobody.
func (v *visit) restart() {
	v.s.isDown = false
	v.s.incarnation++
	v.s.settle = v.expiry
	if v.changes > 0 {
		v.send(v.n, letter{topic: hello, from: v.s.incarnation})
		return
	}
	v.pokeAll()
	v.renumber()
}

func (v *visit) pokeAll() {
	v.now().askers[v.p].Each(func(x int) {
		if x != v.p {
			v.poke(x)
		}
	})
}

func (v *visit) onTick() {
	if v.p == v.n {
		if v.s.control.isChanging {
			v.freezeOthers()
		}
		return
	}
	if v.s.isDown {
		return
	}
	if v.s.isFrozen {
		v.send(v.n, letter{topic: hello, from: v.s.incarnation})
	}
	if v.s.generation < 0 {
		v.s.settle = less(v.s.settle)
		return
	}
	v.retell()
	v.age()
}

// onFreeze promises to act no more before the generation begins.
func (v *visit) onFreeze(l letter) {
	if l.to != v.s.incarnation || l.generation <= v.s.generation {
		return
	}
	v.s.isFrozen = true
	v.s.promised = max(v.s.promised, l.generation)
	for j := range v.s.ties {
		v.s.ties[j].isGranted, v.s.ties[j].isSure = false, false
		v.s.ties[j].known = nil
	}
	where := without
	if v.s.inside {
		where = within
	}
	v.send(v.n, letter{topic: frozen, generation: l.generation, from: v.s.incarnation, where: where})
}

// onBegin enters a generation, knowing nobody.
func (v *visit) onBegin(l letter) {
	s := v.s
	if l.to != s.incarnation || l.generation <= s.generation || l.generation < s.promised && v.mutant != "tolerant-no-promise" {
		return
	}
	s.generation, s.form, s.promised, s.isFrozen = l.generation, l.form, l.generation, false
	for x := range s.entries {
		if v.mutant != "tolerant-keeps-book" {
			s.entries[x] = entry{}
		}
	}
	for i := range s.locks {
		s.locks[i] = lease{holder: -1}
	}
	s.settle = v.expiry
	v.pokeAll()
	if !v.isMember() {
		s.wish, s.time = resting, 0
		return
	}
	v.renumber()
}

// The control process.

func (d *tolerant) controlInputs(c *control, inputs []model.Input) []model.Input {
	if !c.isChanging && c.changes < d.changes {
		inputs = append(inputs, model.Input{Name: "members change", Code: changeCode, Environment: true})
	}
	return inputs
}

func (v *visit) change() {
	c := &v.s.control
	c.isChanging = true
	c.changes++
	c.frozen.Clear()
	c.inside.Clear()
	v.freezeOthers()
	if v.mutant == "tolerant-no-wait" {
		v.maybeBegin()
	}
}

func (v *visit) freezeOthers() {
	c := &v.s.control
	for p := range v.n {
		if !c.frozen.Has(p) && !c.gone.Has(p) {
			v.send(p, letter{topic: freeze, generation: c.generation + 1, to: c.known[p]})
		}
	}
}

func (v *visit) onControl(from int, l letter) {
	c := &v.s.control
	switch l.topic {
	case hello:
		v.onHello(from, l)
	case gone:
		c.gone.Add(from)
		c.frozen.Remove(from)
		c.inside.Remove(from)
		if c.isChanging {
			v.maybeBegin()
		}
	case frozen:
		if !c.isChanging || l.generation != c.generation+1 || l.from != c.known[from] {
			return
		}
		c.frozen.Add(from)
		if l.where == within {
			c.inside.Add(from)
		}
		v.maybeBegin()
	case tell, noted, given, recall, still, yes, poke, freeze, begin:
	}
}

// onHello answers one who has restarted or waits. What a former incarnation has promised is void.
func (v *visit) onHello(from int, l letter) {
	c := &v.s.control
	if l.from < c.known[from] {
		return
	}
	if l.from > c.known[from] {
		c.known[from] = l.from
		c.frozen.Remove(from)
		c.inside.Remove(from)
	}
	switch {
	case !c.isChanging:
		v.send(from, letter{topic: begin, generation: c.generation, form: c.form, to: l.from})
	case !c.frozen.Has(from):
		v.send(from, letter{topic: freeze, generation: c.generation + 1, to: l.from})
	}
}

// maybeBegin begins the next generation once everybody is frozen or has stopped for good. If somebody who would be no member any more is inside, the members stay as
// they were.
func (v *visit) maybeBegin() {
	c := &v.s.control
	if c.frozen.Len()+c.gone.Len() < v.n && v.mutant != "tolerant-no-wait" {
		return
	}
	next := 1 - c.form
	isSafe := true
	c.inside.Each(func(p int) { isSafe = isSafe && p < v.forms[next].members })
	if isSafe || v.mutant == "tolerant-drops-members" {
		c.form = next
	}
	c.generation++
	c.isChanging = false
	for p := range v.n {
		v.send(p, letter{topic: begin, generation: c.generation, form: c.form, to: c.known[p]})
	}
}
