// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"

	"allot/model"
)

// world is a configuration with everything that is kept up to date beside it at the cost of a step: which sites are
// enabled and with what, who owes a move, the sums of the gauges, the rounds, the phases of the processes. After a step
// only the sites that Apply touched are looked at again.
type world struct {
	inst *model.Instance
	sys  model.System
	view model.View
	c    model.Configuration
	buf  model.Buffer

	processes  int
	firstLink  int // sites from here on are links
	firstClock int // sites from here on are clocks
	sites      int // sites from here on belong to the adversary, whom a simulation does not ask
	clockOf    []int32

	spots   []spot
	enabled []int32 // the sites among which the daemon chooses, in no particular order
	owed    int     // sites, clocks aside, that owe a move
	ticking int     // clocks that owe a tick

	shares []int64 // by site and gauge: what the site contributes
	sums   []int64
	index  model.Index // or nil

	rounds rounds
	waits  *waits // nil where the algorithm has no phases
	now    int64  // the time of the configuration, for waits

	// Scratch memory.
	moves []model.Move
	one   [1]model.Move
	saved []int64
}

// spot is what is known of a site. It fits half a cache line, so that looking at a site again costs one miss.
type spot struct {
	first    model.Move // its first enabled move; mostly its only one, so that no guard is evaluated twice
	position int32      // in world.enabled, or -1
	count    uint16     // enabled moves, as far as 16 bits reach
	flags    uint8
	phase    model.Phase
}

const (
	isOwed    = 1 << iota // some enabled move is owed
	isOdd                 // see rounds
	isSeen                // scratch: already looked at in this step
	isBlocked             // a link that a script delays
)

// newWorld starts at a configuration. A live network has only the one that its Clean made.
func newWorld(inst *model.Instance, c model.Configuration) *world {
	sys := inst.System
	g := sys.Graph()
	w := &world{inst: inst, sys: sys, c: c, processes: g.Len(), sites: sys.Sites()}
	if w.sites > 0 && sys.Site(w.sites-1).IsAdversary() {
		w.sites--
	}
	w.firstLink, w.firstClock = w.processes, w.sites
	if _, ok := sys.(*model.Network); ok {
		w.firstClock = w.processes + g.Links()
	}
	if w.firstClock < w.sites {
		w.clockOf = make([]int32, w.processes)
		for p := range w.clockOf {
			w.clockOf[p] = -1
		}
		for site := w.firstClock; site < w.sites; site++ {
			w.clockOf[sys.Site(site).Process] = int32(site)
		}
	}
	w.spots = make([]spot, w.sites)
	for i := range w.spots {
		w.spots[i].position = -1
	}
	w.sums = make([]int64, len(inst.Gauges))
	w.shares = make([]int64, len(inst.Gauges)*w.sites)
	w.view = inst.View(c)
	w.view.Sums = w.sums
	if inst.NewIndex != nil {
		w.index = inst.NewIndex()
		w.view.Index = w.index
	}
	for site := range w.sites {
		w.refresh(int32(site))
	}
	w.rounds.close(w.owed)
	return w
}

// watchPhases begins to measure waiting.
func (w *world) watchPhases() {
	if w.inst.Phase == nil {
		return
	}
	w.waits = newWaits(w.processes)
	for p := range w.processes {
		w.spots[p].phase = w.inst.Phase(&w.view, p)
		w.waits.each[p].longest = -1
		w.waits.each[p].longestEntries = -1
	}
}

// apply takes a step. isChosen tells that the daemon chose it, rather than a script or a clock: only then have the sites
// moved in the sense of a round.
func (w *world) apply(step []model.Move, isChosen bool) {
	w.sys.Apply(w.c, step, &w.buf)
	if isChosen {
		for _, m := range step {
			w.rounds.moved(&w.spots[w.siteOf(m)])
		}
	}
	if len(step) == 1 {
		for _, site := range w.buf.Touched {
			w.refresh(site)
		}
	} else {
		w.refreshOnce()
	}
	if w.rounds.pending == 0 {
		w.rounds.close(w.owed)
	}
	if w.waits != nil {
		w.waits.before = w.waits.entries
	}
}

// refreshOnce is for steps of many moves, where neighbours touch the same sites.
func (w *world) refreshOnce() {
	for _, site := range w.buf.Touched {
		if s := &w.spots[site]; s.flags&isSeen == 0 {
			s.flags |= isSeen
			w.refresh(site)
		}
	}
	for _, site := range w.buf.Touched {
		w.spots[site].flags &^= isSeen
	}
}

// siteOf is the site whose move m is.
func (w *world) siteOf(m model.Move) int {
	switch {
	case m.Kind == model.Tick:
		return int(w.clockOf[m.At])
	case m.Kind.HasLink():
		return w.firstLink + int(m.At)
	}
	return int(m.At)
}

// owner is the process that acts when a site moves: of a link, the one that receives.
func (w *world) owner(site int32) int {
	if int(site) < w.firstLink {
		return int(site)
	}
	if int(site) < w.firstClock {
		_, to := w.sys.Graph().Ends(int(site) - w.firstLink)
		return to
	}
	return w.sys.Site(int(site)).Process
}

// refresh looks at a site again.
func (w *world) refresh(site int32) {
	s := &w.spots[site]
	moves := w.sys.Enabled(w.c, int(site), w.moves[:0])
	w.moves = moves
	s.count = uint16(min(len(moves), 1<<16-1))
	owes := false
	if len(moves) > 0 {
		s.first = moves[0]
		owes = w.owes(site, moves)
	}
	if int(site) < w.firstClock {
		if isIn := len(moves) > 0 && s.flags&isBlocked == 0; isIn != (s.position >= 0) {
			w.list(site, s, isIn)
		}
		if owes != (s.flags&isOwed != 0) {
			w.owed += w.rounds.turn(s, owes)
		}
	} else if owes != (s.flags&isOwed != 0) {
		s.flags ^= isOwed
		if owes {
			w.ticking++
		} else {
			w.ticking--
		}
	}
	w.refreshShares(int(site))
	if w.index != nil {
		w.index.Refresh(&w.view, int(site))
	}
	if w.waits != nil && int(site) < w.processes {
		if phase := w.inst.Phase(&w.view, int(site)); phase != s.phase {
			w.waits.turn(int(site), s.phase, phase, w.now)
			s.phase = phase
		}
	}
}

// refreshShares brings the sums of the gauges up to date.
func (w *world) refreshShares(site int) {
	shares := w.shares[site*len(w.sums):][:len(w.sums)]
	for g, share := range shares {
		w.sums[g] -= share
	}
	w.sharesOf(site, shares)
	for g, share := range shares {
		w.sums[g] += share
	}
}

// sharesOf writes what a site contributes to the gauges.
func (w *world) sharesOf(site int, shares []int64) {
	if w.inst.Shares != nil {
		w.inst.Shares(&w.view, site, shares)
		return
	}
	for g := range shares {
		shares[g] = w.inst.Gauges[g].Of(&w.view, site)
	}
}

// owes tells whether one of the moves is owed. A link lists its deliveries first, and these are.
func (w *world) owes(site int32, moves []model.Move) bool {
	if int(site) >= w.processes {
		return !moves[0].Kind.IsFault()
	}
	for _, m := range moves {
		if w.sys.Class(w.c, m) != model.NoClass {
			return true
		}
	}
	return false
}

// list puts a site into the list of the enabled ones or takes it out; the last one moves to the free place.
func (w *world) list(site int32, s *spot, isIn bool) {
	if isIn {
		s.position = int32(len(w.enabled))
		w.enabled = append(w.enabled, site)
		return
	}
	last := w.enabled[len(w.enabled)-1]
	w.enabled[s.position] = last
	w.spots[last].position = s.position
	w.enabled = w.enabled[:len(w.enabled)-1]
	s.position = -1
}

// atRest tells that nobody owes a move, so that the run may end here.
func (w *world) atRest() bool { return w.owed == 0 && w.ticking == 0 }

// check tells why a step from outside cannot be taken. It is the only door for steps that nobody here chose.
func (w *world) check(step []model.Move) error {
	if len(step) == 0 {
		return fmt.Errorf("a step has at least one move")
	}
	if len(step) > 1 && !w.sys.IsConcurrent() {
		return fmt.Errorf("a step of %d moves: in this model one thing happens at a time", len(step))
	}
	var err error
	marked := 0
	for _, m := range step {
		if err = w.sys.Check(w.c, m); err != nil {
			break
		}
		if len(step) == 1 {
			return nil
		}
		if m.Kind != model.Act {
			err = fmt.Errorf("%s: a fault is a step of its own", m.Kind)
			break
		}
		s := &w.spots[m.At]
		if s.flags&isSeen != 0 {
			err = fmt.Errorf("process %s moves twice in one step", w.sys.Graph().Name(int(m.At)))
			break
		}
		s.flags |= isSeen
		marked++
	}
	for _, m := range step[:marked] {
		w.spots[m.At].flags &^= isSeen
	}
	return err
}

// try is the value of a potential after a move, which is taken back. The system must be one that can be undone.
func (w *world) try(m model.Move, potential func(*model.View) int64) int64 {
	w.one[0] = m
	w.sys.Apply(w.c, w.one[:], &w.buf)
	w.saved = append(w.saved[:0], w.sums...)
	w.view.Index = nil // it is of the configuration before
	for _, site := range w.buf.Touched {
		if s := &w.spots[site]; s.flags&isSeen == 0 {
			s.flags |= isSeen
			for g := range w.sums {
				w.sums[g] += w.inst.Gauges[g].Of(&w.view, int(site)) - w.shares[int(site)*len(w.sums)+g]
			}
		}
	}
	value := potential(&w.view)
	w.view.Index = w.index
	w.buf.Undo(w.c)
	copy(w.sums, w.saved)
	for _, site := range w.buf.Touched {
		w.spots[site].flags &^= isSeen
	}
	return value
}
