// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import "allot/model"

// clocks drives the clocks of a network by simulated time. A clock of rate 1 ticks every so many steps. Rates are whole
// millionths and what a clock has run since its last tick is a whole number too, so that nothing is ever rounded and a
// drift of one in a million is a drift of one in a million however long the run.
type clocks struct {
	every int64 // millionths of a step between two ticks
	hands []hand
	due   *timers
}

// hand is one clock.
type hand struct {
	rate  int64 // millionths
	run   int64 // millionths of a step that it had run at the time since
	since int64
}

const rateOne = 1_000_000

// newClocks starts all clocks at rate 1, each somewhere between two ticks: clocks that tick in step are a special case
// that hides errors.
func newClocks(w *world, tickEvery int64, chance *Chance) *clocks {
	c := &clocks{every: tickEvery * rateOne, hands: make([]hand, w.sites-w.firstClock), due: newTimers(w.sites - w.firstClock)}
	for i := range c.hands {
		c.hands[i] = hand{rate: rateOne, run: int64(chance.Below(uint64(c.every)))}
		c.plan(i)
	}
	return c
}

// plan works out when a clock ticks next.
func (c *clocks) plan(i int) {
	h := c.hands[i]
	if h.rate == 0 {
		c.due.drop(int32(i))
		return
	}
	left := max(c.every-h.run, 0)
	c.due.set(int32(i), h.since+(left+h.rate-1)/h.rate)
}

// setRate changes the rate of a clock; what it has run so far it keeps.
func (c *clocks) setRate(i int, rate, now int64) {
	h := &c.hands[i]
	h.run += (now - h.since) * h.rate
	h.since, h.rate = now, rate
	c.plan(i)
}

// tick lets the clocks tick whose time has come.
func (r *runner) tickClocks() {
	c := r.clocks
	for r.stopped == "" {
		i, ok := c.due.due(r.now)
		if !ok {
			return
		}
		h := &c.hands[i]
		h.run += (r.now-h.since)*h.rate - c.every
		h.since = r.now
		c.plan(int(i))
		site := r.world.firstClock + int(i)
		if r.world.spots[site].count > 0 { // the clock of a crashed process stands still
			r.one[0] = model.Move{Kind: model.Tick, At: int32(r.world.sys.Site(site).Process)}
			r.take(r.one[:], byClock)
		}
	}
}
