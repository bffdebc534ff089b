// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package band_test

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"testing"

	"allot/model"
)

// timed runs an instance in time units: every message takes a delay, local work takes none (section 3.3 of the paper). It
// takes the same steps as checker and simulator do; only the order comes from the delays.
type timed struct {
	t      testing.TB
	inst   *model.Instance
	sys    *model.Network
	c      model.Configuration
	buf    model.Buffer
	n      int
	delay  func() float64
	chance *rand.Rand

	now      float64
	events   events
	last     []float64 // by link: when its last message arrives
	length   []int     // by link
	messages int
	handled  []int // by process: messages received
}

// event is the arrival of a link's first message, or something that a process is asked, if link is -1.
type event struct {
	at            float64
	tie           uint64
	link, process int
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].tie < e[j].tie
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// unit is the paper's time: every message takes one.
func unit(*rand.Rand) func() float64 { return func() float64 { return 1 } }

// heavy is a delay with mean 1 and a heavy tail: Pareto's with exponent 1.5. It is rounded, so that a last bit in which two
// machines differ cannot change the order of events.
func heavy(chance *rand.Rand) func() float64 {
	return func() float64 { return math.Round(1024*math.Pow(1-chance.Float64(), -1/1.5)/3) / 1024 }
}

func newTimed(t testing.TB, q question, seed uint64, delay func(*rand.Rand) func() float64) *timed {
	t.Helper()
	inst := q.make(t)
	live := inst.System.(*model.Network).Live()
	inst = inst.With(live)
	chance := rand.New(rand.NewPCG(seed, 3))
	g := live.Graph()
	return &timed{t: t, inst: inst, sys: live, c: live.Clean(), n: g.Len(), delay: delay(chance), chance: chance,
		last: make([]float64, g.Links()), length: make([]int, g.Links()), handled: make([]int, g.Len())}
}

// ask lets a process be asked to enter or leave, whichever it can, at a time.
func (r *timed) ask(p int, at float64) {
	heap.Push(&r.events, event{at: at, tie: r.chance.Uint64(), link: -1, process: p})
}

// step lets the next thing happen. It tells what it was and to which process it happened, or that there is none.
func (r *timed) step() (e event, ok bool) {
	if len(r.events) == 0 {
		return e, false
	}
	e = heap.Pop(&r.events).(event)
	r.now = e.at
	move := model.Move{Kind: model.Act, At: int32(e.process)}
	if e.link >= 0 {
		_, e.process = r.sys.Graph().Ends(e.link)
		move = model.Move{Kind: model.Deliver, At: int32(e.link)}
		r.length[e.link]--
		r.handled[e.process]++
	}
	r.sys.Apply(r.c, []model.Move{move}, &r.buf)
	r.messages += r.buf.Sent
	for _, site := range r.buf.Touched {
		link := int(site) - r.n
		if link < 0 {
			continue
		}
		for now := r.sys.Length(r.c, link); r.length[link] < now; r.length[link]++ {
			r.last[link] = math.Max(r.last[link], r.now+r.delay())
			heap.Push(&r.events, event{at: r.last[link], tie: r.chance.Uint64(), link: link})
		}
	}
	return e, true
}

// isWaiting tells whether a process has not got what it was asked for.
func (r *timed) isWaiting(p int) bool {
	v := r.inst.View(r.c)
	return r.inst.Phase(&v, p) == model.Waiting
}

// isInside tells whether a process is inside.
func (r *timed) isInside(p int) bool { return r.sys.Variables(r.c, p)[0].Value == "true" }

// settle lets everything happen that is on its way.
func (r *timed) settle() {
	for {
		if _, ok := r.step(); !ok {
			return
		}
	}
}

// alone measures one process that is asked to change sides twice, with nobody else asking: messages of both, and the time
// waited for each.
func (r *timed) alone(p int) (messages int, first, second float64) {
	before := r.messages
	first = r.change(p)
	second = r.change(p)
	return r.messages - before, first, second
}

// change asks a process and measures how long it takes; then it lets the rest happen.
func (r *timed) change(p int) float64 {
	begin := r.now
	r.ask(p, begin)
	r.step()
	for r.isWaiting(p) {
		if _, ok := r.step(); !ok {
			r.t.Fatalf("process %d waits for ever", p)
		}
	}
	took := r.now - begin
	r.settle()
	return took
}

// crowded is what was measured with everybody asking.
type crowded struct {
	changes           int
	messages          float64 // for each pair of changes
	mean, longest     float64 // waiting
	busiest, busyMean float64 // messages handled for each pair, by the busiest process and by the mean
}

// crowd lets everybody be asked again as soon as it has got what it asked for, until so many changes are complete.
func (r *timed) crowd(changes int) crowded {
	begin := make([]float64, r.n) // when it was asked for what it has not got yet, or -1
	for p := range r.n {
		begin[p] = -1
		r.ask(p, r.chance.Float64())
	}
	var out crowded
	for out.changes < changes {
		e, ok := r.step()
		if !ok {
			r.t.Fatal("everybody waits for ever")
		}
		p := e.process
		if e.link < 0 {
			begin[p] = r.now
		}
		if begin[p] < 0 || r.isWaiting(p) {
			continue
		}
		out.changes++
		out.mean += r.now - begin[p]
		out.longest = math.Max(out.longest, r.now-begin[p])
		begin[p] = -1
		r.ask(p, r.now+r.chance.Float64())
	}
	pairs := float64(out.changes) / 2
	out.mean /= float64(out.changes)
	out.messages = float64(r.messages) / pairs
	for _, h := range r.handled {
		out.busiest = math.Max(out.busiest, float64(h)/pairs)
		out.busyMean += float64(h) / pairs / float64(r.n)
	}
	return out
}
