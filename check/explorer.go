// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"slices"

	"allot/model"
)

// explorer finds the steps that are possible in a configuration. Each worker has one.
//
// It works in two stages. First every enabled move is applied and taken back alone, and what it writes is noted: its
// effect. Then the daemon combines moves into steps. Moves of one step read the same configuration and write different
// words, so the effect of a step is the union of the effects of its moves, and nothing is executed twice.
type explorer struct {
	inst     *model.Instance
	sys      model.System
	daemon   Daemon
	c        model.Configuration
	next     model.Configuration
	view     model.View // of c
	nextView model.View // of next
	buf      model.Buffer

	moves   []model.Move
	groups  []group // the moves of each site that has any, the adversary's left out
	faults  int     // the moves from here on are the adversary's
	writes  []int32 // effects: words written
	values  []uint64
	effects []span
	deltas  []uint64 // by move, for direct spaces: what it adds to the id
	to      []uint64 // by step: the id of the configuration that it leads to, filled by expand
	cut     bool     // a reliable link overflowed: some step is missing

	steps   []span // of picks: the moves of each step
	picks   []int32
	current []int32
	counted uint64 // steps counted since the last report
	key     []byte // scratch of the spaces
}

type span struct{ from, to int32 }

// group is the moves of one site.
type group struct {
	span
	process int
}

func newExplorer(inst *model.Instance, daemon Daemon) *explorer {
	e := &explorer{inst: inst, sys: inst.System, daemon: daemon}
	e.c = make(model.Configuration, e.sys.Words())
	e.next = make(model.Configuration, e.sys.Words())
	e.view, e.nextView = inst.View(e.c), inst.View(e.next)
	return e
}

// look finds the enabled moves of e.c.
func (e *explorer) look() {
	e.moves, e.groups = e.moves[:0], e.groups[:0]
	sites := e.sys.Sites()
	e.faults = -1
	for site := range sites {
		from := len(e.moves)
		e.moves = e.sys.Enabled(e.c, site, e.moves)
		if len(e.moves) == from {
			continue
		}
		if site == sites-1 && e.sys.Site(site).IsAdversary() {
			e.faults = from
			break
		}
		e.groups = append(e.groups, group{span{int32(from), int32(len(e.moves))}, site})
	}
	if e.faults < 0 {
		e.faults = len(e.moves)
	}
}

// measure finds the effect of every enabled move.
func (e *explorer) measure() {
	e.effects, e.writes, e.values = e.effects[:0], e.writes[:0], e.values[:0]
	for i := range e.moves {
		e.sys.Apply(e.c, e.moves[i:i+1], &e.buf)
		from := len(e.writes)
		e.cut = e.cut || e.buf.Overflow
		for i, w := range e.buf.Written {
			if slices.Contains(e.buf.Written[:i], w) {
				continue // a word written twice has one effect, what it holds in the end
			}
			e.writes = append(e.writes, w)
			e.values = append(e.values, e.c[w])
		}
		e.buf.Undo(e.c)
		if e.buf.Overflow {
			e.writes, e.values = e.writes[:from], e.values[:from]
			e.effects = append(e.effects, span{-1, -1})
			continue
		}
		e.effects = append(e.effects, span{int32(from), int32(len(e.writes))})
	}
}

// combine lets the daemon make steps of the moves. A move that overflowed a link takes part in none.
func (e *explorer) combine() {
	e.steps, e.picks = e.steps[:0], e.picks[:0]
	if e.daemon == Central {
		for i := range e.faults {
			e.single(i)
		}
	} else {
		e.current = e.current[:0]
		e.extend(0)
	}
	for i := e.faults; i < len(e.moves); i++ {
		e.single(i)
	}
}

func (e *explorer) single(i int) {
	if e.effects[i].from < 0 {
		return
	}
	e.picks = append(e.picks, int32(i))
	e.steps = append(e.steps, span{int32(len(e.picks) - 1), int32(len(e.picks))})
}

// extend decides for the sites from number g on whether they take part, and with which move.
func (e *explorer) extend(g int) {
	if g == len(e.groups) {
		if len(e.current) > 0 {
			from := int32(len(e.picks))
			e.picks = append(e.picks, e.current...)
			e.steps = append(e.steps, span{from, int32(len(e.picks))})
		}
		return
	}
	if e.daemon != Synchronous {
		e.extend(g + 1)
		if e.daemon == LocallyCentral && e.hasNeighbour(e.groups[g].process) {
			return
		}
	}
	for i := e.groups[g].from; i < e.groups[g].to; i++ {
		e.current = append(e.current, i)
		e.extend(g + 1)
		e.current = e.current[:len(e.current)-1]
	}
}

// hasNeighbour tells whether a neighbour of p is part of the current step.
func (e *explorer) hasNeighbour(p int) bool {
	neighbours := e.sys.Graph().Neighbours(p)
	for _, i := range e.current {
		if slices.Contains(neighbours, e.moves[i].At) {
			return true
		}
	}
	return false
}

// expand loads a configuration and finds the ids of its successors.
func (e *explorer) expand(sp space, id uint64) {
	sp.load(id, e.c)
	e.look()
	e.measure()
	e.combine()
	sp.prepare(e)
	e.to = e.to[:0]
	for s := range e.steps {
		e.to = append(e.to, sp.identify(e, id, s))
	}
}

// compose makes e.next the configuration after step number s.
func (e *explorer) compose(s int) {
	copy(e.next, e.c)
	for _, pick := range e.picks[e.steps[s].from:e.steps[s].to] {
		for w := e.effects[pick].from; w < e.effects[pick].to; w++ {
			e.next[e.writes[w]] = e.values[w]
		}
	}
}

// step lists the moves of step number s.
func (e *explorer) step(s int) []model.Move {
	var step []model.Move
	for _, pick := range e.picks[e.steps[s].from:e.steps[s].to] {
		step = append(step, e.moves[pick])
	}
	return step
}

// isFault tells whether step number s is the adversary's.
func (e *explorer) isFault(s int) bool { return int(e.picks[e.steps[s].from]) >= e.faults }

// owes tells whether some fairness class is owed a move in e.c: if none is, a run may end here.
func (e *explorer) owes() bool {
	for _, m := range e.moves {
		if e.sys.Class(e.c, m) != model.NoClass {
			return true
		}
	}
	return false
}

// countSteps is the number of steps that combine would make, without making them where that can be avoided.
func (e *explorer) countSteps() uint64 {
	switch e.daemon {
	case Central:
		return uint64(len(e.moves))
	case Distributed, Synchronous:
		sets, skip := uint64(1), uint64(0)
		if e.daemon == Distributed {
			skip = 1 // a site may also stay out, but not all of them
		}
		for _, g := range e.groups {
			sets *= uint64(g.to-g.from) + skip
		}
		if e.daemon == Distributed || len(e.groups) == 0 {
			sets--
		}
		return sets + uint64(len(e.moves)-e.faults)
	case LocallyCentral:
	}
	e.measure()
	e.combine()
	return uint64(len(e.steps))
}
