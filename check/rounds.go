// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package check

// What the search for the worst case in rounds can hold.
const (
	maxRoundProcesses = 24
	maxRoundStates    = 1 << 25
)

// A round ends when every process that could act at its beginning has acted or can no longer act. So besides the
// configuration one must know who is still owed, which multiplies the number of states by up to 2^n.
type roundState struct {
	id   uint64
	owed uint32
}

// roundSearch finds, for each configuration and set of owed processes, the largest number of rounds to the legitimate
// set. It walks depth-first and condenses cycles: going round inside a round costs nothing, and a cycle in which a
// round ends has no bound.
type roundSearch struct {
	s       *search
	t       *stabilization
	e       *explorer
	order   map[roundState]uint32
	rounds  map[roundState]int32 // of complete components
	path    []roundEntry
	ahead   []roundEdge
	open    []roundState
	counter uint32
	failed  bool
}

type roundEntry struct {
	at      roundState
	ahead   int
	low     uint32
	best    int32
	endings bool // an edge of the component ends a round
}

type roundEdge struct {
	to   roundState
	ends int32 // 1 if the step ends a round
}

// findWorstRounds fills in the exact worst case in rounds; a round that is under way when the set is reached counts.
func (t *stabilization) findWorstRounds(s *search) {
	if s.workers[0].sys.Graph().Len() > maxRoundProcesses || s.isCut() {
		return
	}
	r := &roundSearch{s: s, t: t, e: s.workers[0], order: map[roundState]uint32{}, rounds: map[roundState]int32{}}
	worst := int32(0)
	for id := range s.sp.limit() {
		if !s.sp.has(id) || t.distance[id] == 1 {
			continue
		}
		r.e.expand(s.sp, id)
		start := roundState{id, r.enabled()}
		if !r.finish(start) {
			return
		}
		worst = max(worst, r.rounds[start])
	}
	rounds := int(worst)
	t.rounds = &rounds
}

// enabled is the set of processes that can act in the expanded configuration.
func (r *roundSearch) enabled() uint32 {
	var set uint32
	for _, g := range r.e.groups {
		set |= 1 << g.process
	}
	return set
}

func (r *roundSearch) finish(start roundState) bool {
	if _, done := r.rounds[start]; done {
		return true
	}
	r.enter(start)
	for len(r.path) > 0 {
		if r.failed || len(r.order) > maxRoundStates || r.counter%(1<<12) == 0 && r.s.interrupted() {
			return false
		}
		r.advance()
	}
	return !r.failed
}

func (r *roundSearch) enter(at roundState) {
	r.counter++
	r.order[at] = r.counter
	r.open = append(r.open, at)
	r.path = append(r.path, roundEntry{at: at, ahead: len(r.ahead), low: r.counter})
	e := r.e
	e.expand(r.s.sp, at.id)
	type successor struct {
		to    uint64
		moved uint32
	}
	next := make([]successor, len(e.to))
	for k, to := range e.to {
		next[k].to = to
		for _, pick := range e.picks[e.steps[k].from:e.steps[k].to] {
			next[k].moved |= 1 << e.moves[pick].At
		}
	}
	top := &r.path[len(r.path)-1]
	for _, n := range next {
		if r.t.distance[n.to] == 1 {
			top.best = max(top.best, 1)
			continue
		}
		r.s.sp.load(n.to, e.c)
		e.look()
		can := r.enabled()
		edge := roundEdge{to: roundState{n.to, at.owed &^ n.moved & can}}
		if edge.to.owed == 0 {
			edge.to.owed, edge.ends = can, 1
		}
		r.ahead = append(r.ahead, edge)
	}
}

func (r *roundSearch) advance() {
	top := &r.path[len(r.path)-1]
	if len(r.ahead) > top.ahead {
		edge := r.ahead[len(r.ahead)-1]
		if done, ok := r.rounds[edge.to]; ok {
			top.best = max(top.best, done+edge.ends)
		} else if order, ok := r.order[edge.to]; ok {
			top.low = min(top.low, order)
			top.endings = top.endings || edge.ends == 1
		} else {
			r.enter(edge.to)
			return
		}
		r.ahead = r.ahead[:len(r.ahead)-1]
		return
	}
	entry := *top
	r.path = r.path[:len(r.path)-1]
	if entry.low < r.order[entry.at] { // part of the component of the entry below
		below := &r.path[len(r.path)-1]
		below.low = min(below.low, entry.low)
		below.best = max(below.best, entry.best)
		below.endings = below.endings || entry.endings || r.ahead[len(r.ahead)-1].ends == 1
		r.ahead = r.ahead[:len(r.ahead)-1]
		return
	}
	if entry.endings {
		r.failed = true // rounds can go by for ever
		return
	}
	for {
		last := r.open[len(r.open)-1]
		r.open = r.open[:len(r.open)-1]
		r.rounds[last] = entry.best
		if last == entry.at {
			return
		}
	}
}
