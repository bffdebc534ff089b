// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"container/heap"
	"math/rand/v2"
	"slices"

	"allot/model"
)

// The simulator of the laboratory counts steps and knows no durations. How much of the resources is in use is a question
// about durations, so this file runs the same machines on a clock: a message takes one unit of time on average, and a
// client uses what it has for ten.

// load is what the clients do: each claims again as soon as its last claim has ended.
type load struct {
	clients, resources int
	size               int // resources in each claim
	isHot              bool
	section            float64 // how long a claim is used
	seed               uint64
	grants             int // the run ends after so many
	// pick, if given, chooses instead.
	pick func(client int, chance *rand.Rand) set
}

// choose draws the resources of a claim. A hot load draws a fifth of the resources four times out of five.
func (l *load) choose(client int, chance *rand.Rand) set {
	if l.pick != nil {
		return l.pick(client, chance)
	}
	var s set
	for s.len() < l.size {
		r := chance.IntN(l.resources)
		if hot := l.resources / 5; l.isHot && hot > s.len() && chance.Float64() < 0.8 {
			r = chance.IntN(hot)
		}
		s = s.with(r)
	}
	return s
}

// measured is what a run came to. Times are in units of a message's mean delay.
type measured struct {
	throughput float64 // grants per unit of time
	inUse      float64 // resources in use on average
	p50, p99   float64 // waiting
	longest    float64
	longestOf  []float64 // by client
	messages   float64   // per grant
	fewest     int       // grants of the client that had the fewest
	grants     int
}

// world runs a machine on a clock.
type world[S, M any] struct {
	load
	machine model.Machine[S, M]
	graph   *model.Graph
	userOf  func(*S) *user
	arg     func(chance *rand.Rand, need set) uint64

	chance *rand.Rand
	states []S
	events events[M]
	now    float64
	serial uint64

	since    []float64
	begun    []float64
	waits    []float64
	longest  []float64 // by client
	used     float64
	count    []int
	grants   int
	messages int
	watch    func(m M) // called for every message that is sent
	after    func()    // called after every step
}

type happened[M any] struct {
	at      float64
	serial  uint64
	process int
	event   model.Event[M]
}

type events[M any] []happened[M]

func (h events[M]) Len() int { return len(h) }
func (h events[M]) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].serial < h[j].serial
}
func (h events[M]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *events[M]) Push(x any)   { *h = append(*h, x.(happened[M])) }
func (h *events[M]) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (w *world[S, M]) plan(after float64, p int, e model.Event[M]) {
	w.serial++
	heap.Push(&w.events, happened[M]{w.now + after, w.serial, p, e})
}

// run lets every client begin at a time of its own and goes on until there were enough grants.
func (w *world[S, M]) run() measured {
	w.chance = rand.New(rand.NewPCG(w.seed, 7))
	n := w.graph.Len()
	w.states = make([]S, n)
	w.longest = make([]float64, w.clients)
	w.since, w.begun, w.count = make([]float64, w.clients), make([]float64, w.clients), make([]int, w.clients)
	for p := range n {
		w.states[p] = w.machine.Clean(p)
		if p < w.clients {
			w.plan(w.chance.Float64()*w.section, p, w.input(p, doClaim))
			continue
		}
		for _, in := range w.machine.Inputs(p, &w.states[p], nil) {
			if !in.Environment { // a token that sets out
				w.plan(0, p, model.Event[M]{Kind: model.Given, Input: in})
			}
		}
	}
	for w.grants < w.load.grants && len(w.events) > 0 {
		h := heap.Pop(&w.events).(happened[M])
		w.now = h.at
		w.step(h.process, h.event)
		if w.after != nil {
			w.after()
		}
	}
	return w.sum()
}

func (w *world[S, M]) input(client, code int) model.Event[M] {
	in := model.Input{Code: code}
	if code == doClaim {
		in.Arg = w.arg(w.chance, w.choose(client, w.chance))
	}
	return model.Event[M]{Kind: model.Given, Input: in}
}

func (w *world[S, M]) step(p int, e model.Event[M]) {
	var before phase
	if p < w.clients {
		before = w.userOf(&w.states[p]).phase
	}
	var out model.Outbox[M]
	w.machine.Step(p, &w.states[p], e, &out)
	out.Each(func(channel int, m M) {
		w.messages++
		if w.watch != nil {
			w.watch(m)
		}
		link := w.graph.Link(p, channel)
		_, to := w.graph.Ends(link)
		w.plan(0.5+w.chance.Float64(), to, model.Event[M]{Kind: model.Received, Channel: w.graph.Channel(link), Message: m})
	})
	if p >= w.clients {
		return
	}
	u := w.userOf(&w.states[p])
	if u.phase == before {
		return
	}
	switch u.phase {
	case waiting:
		w.since[p] = w.now
	case using:
		w.grants++
		w.count[p]++
		w.begun[p] = w.now
		w.waits = append(w.waits, w.now-w.since[p])
		w.longest[p] = max(w.longest[p], w.now-w.since[p])
		w.plan(w.section, p, w.input(p, doRelease))
	case closing:
		w.used += (w.now - w.begun[p]) * float64(u.need.len())
	case idle:
		w.plan(0, p, w.input(p, doClaim))
	case gone:
	}
	if before == idle && u.phase == using { // it had everything at once
		w.since[p] = w.now
	}
}

func (w *world[S, M]) sum() measured {
	m := measured{throughput: float64(w.grants) / w.now, inUse: w.used / w.now, grants: w.grants, fewest: slices.Min(w.count)}
	m.messages = float64(w.messages) / float64(w.grants)
	m.p50, m.p99, m.longest = percentiles(w.waits)
	for c := range w.clients { // who still waits has waited too
		if w.userOf(&w.states[c]).phase == waiting {
			w.longest[c] = max(w.longest[c], w.now-w.since[c])
		}
	}
	m.longestOf = w.longest
	return m
}

func percentiles(waits []float64) (p50, p99, longest float64) {
	slices.Sort(waits)
	at := func(part float64) float64 { return waits[min(len(waits)-1, int(part*float64(len(waits))))] }
	return at(0.5), at(0.99), waits[len(waits)-1]
}

// ideal is a scheduler that sees everything and needs no messages. Greedy gives whatever fits, the longest wait first;
// otherwise nobody may overtake an earlier claim that wants one of the same resources.
func ideal(l load, isGreedy bool) measured {
	chance := rand.New(rand.NewPCG(l.seed, 7))
	type claimed struct {
		client int
		need   set
		since  float64
	}
	var queue []claimed
	var running events[claimed]
	var taken set
	var now, used float64
	var waits []float64
	count, longest := make([]int, l.clients), make([]float64, l.clients)
	for c := range l.clients {
		queue = append(queue, claimed{client: c, need: l.choose(c, chance)})
	}
	grants := 0
	for grants < l.grants {
		blocked := taken
		kept := queue[:0]
		for _, q := range queue {
			if q.need&blocked != 0 {
				if !isGreedy {
					blocked |= q.need
				}
				kept = append(kept, q)
				continue
			}
			grants++
			count[q.client]++
			waits = append(waits, now-q.since)
			longest[q.client] = max(longest[q.client], now-q.since)
			used += l.section * float64(q.need.len())
			taken |= q.need
			blocked |= q.need
			heap.Push(&running, happened[claimed]{at: now + l.section, serial: uint64(grants), event: model.Event[claimed]{Message: q}})
		}
		queue = kept
		next := heap.Pop(&running).(happened[claimed])
		now = next.at
		taken &^= next.event.Message.need
		c := next.event.Message.client
		queue = append(queue, claimed{c, l.choose(c, chance), now})
	}
	for _, q := range queue { // who still waits has waited too
		longest[q.client] = max(longest[q.client], now-q.since)
	}
	m := measured{throughput: float64(grants) / now, inUse: used / now, grants: grants, fewest: slices.Min(count), longestOf: longest}
	m.p50, m.p99, m.longest = percentiles(waits)
	return m
}
