// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allocator_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"allot/allocator"
)

// store is what a pool protects. It is told when somebody begins and ends to use a unit, and by when it would have ended on its
// own, and remembers everything that should not happen.
type store struct {
	mu    sync.Mutex
	users map[int]string
	fence map[int]uint64
	most  int
	wrong []string
	uses  int
}

func (s *store) begin(g allocator.Grant, who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uses++
	for _, u := range g.Units {
		if other := s.users[u.Number]; other != "" {
			s.wrong = append(s.wrong, fmt.Sprintf("%v: unit %d is used by %s and by %s", time.Now().Format("05.000"), u.Number, other, who))
		}
		if u.Fence <= s.fence[u.Number] {
			s.wrong = append(s.wrong, fmt.Sprintf("%v: unit %d has fence %d after %d", time.Now().Format("05.000"), u.Number, u.Fence, s.fence[u.Number]))
		}
		s.users[u.Number], s.fence[u.Number] = who, u.Fence
	}
	s.most = max(s.most, len(s.users))
}

func (s *store) end(g allocator.Grant, who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range g.Units {
		if s.users[u.Number] == who {
			delete(s.users, u.Number)
		}
	}
}

// worker takes units, uses them and gives them back, again and again. Like the client library it believes in a grant until the
// time for which it was told, counted from when it asked, has passed.
type worker struct {
	name    string
	m       *member
	st      *store
	rng     *rand.Rand
	most    int
	session *allocator.Session

	mu    sync.Mutex
	until time.Time
	event chan struct{}
	grant *allocator.Grant
	isBad bool // refused or lost
	done  int
}

func (w *worker) Granted(g allocator.Grant) { w.note(func() { w.grant = &g }) }
func (w *worker) Refused(string, error)     { w.note(func() { w.isBad = true }) }
func (w *worker) Lost(string, error)        { w.note(func() { w.isBad = true }) }

func (w *worker) note(do func()) {
	w.mu.Lock()
	do()
	w.mu.Unlock()
	select {
	case w.event <- struct{}{}:
	default:
	}
}

func (w *worker) keepAlive() bool {
	sent := time.Now()
	var good time.Duration
	// A node that is stopped answers nobody.
	if !w.m.paused.TryLock() {
		return true
	}
	good = w.session.KeepAlive()
	w.m.paused.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if good > 0 && sent.Add(good).After(w.until) {
		w.until = sent.Add(good)
	}
	return good > 0
}

// run works until the context ends, or its node or session does.
func (w *worker) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		if w.session == nil || !w.keepAlive() {
			s, err := w.m.Open(allocator.SessionOptions{Owner: w.name, TTL: 2 * time.Second}, w)
			if err != nil {
				return
			}
			w.session, w.until = s, time.Time{}
			w.keepAlive()
		}
		w.mu.Lock()
		w.grant, w.isBad = nil, false
		w.mu.Unlock()
		id := strconv.Itoa(n)
		units := 1 + w.rng.IntN(w.most)
		if err := w.session.Acquire(allocator.Request{ID: id, Pool: "p", Units: units}); err != nil {
			if !sleep(ctx, 100*time.Millisecond) {
				return
			}
			continue
		}
		g := w.await(ctx)
		if g == nil {
			_ = w.session.Cancel(id)
			_ = w.session.Release(id) // it may have been granted too late to be used
			if !sleep(ctx, 20*time.Millisecond) {
				return
			}
			continue
		}
		who := w.name + "/" + id
		w.st.begin(*g, who)
		w.use(ctx)
		w.st.end(*g, who)
		for !w.m.paused.TryLock() {
			if !sleep(ctx, 20*time.Millisecond) {
				return
			}
		}
		_ = w.session.Release(id)
		w.m.paused.Unlock()
		w.mu.Lock()
		w.done++
		w.mu.Unlock()
	}
}

// await waits for the grant. A grant that comes too late to be believed is not used.
func (w *worker) await(ctx context.Context) *allocator.Grant {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.event:
		case <-time.After(400 * time.Millisecond):
			w.keepAlive()
		}
		w.mu.Lock()
		g, isBad, until := w.grant, w.isBad, w.until
		w.mu.Unlock()
		switch {
		case isBad || g == nil && w.isOver(until):
			return nil
		case g != nil && time.Now().Before(until):
			return g
		case g != nil:
			return nil
		}
	}
}

func (w *worker) isOver(until time.Time) bool { return time.Now().After(until.Add(3 * time.Second)) }

// use uses the units for a while, or until they are lost.
func (w *worker) use(ctx context.Context) {
	end := time.Now().Add(time.Duration(w.rng.IntN(300)) * time.Millisecond)
	if w.rng.IntN(20) == 0 {
		end = end.Add(4 * time.Second)
	}
	for time.Now().Before(end) && ctx.Err() == nil {
		w.mu.Lock()
		until, isBad := w.until, w.isBad
		w.mu.Unlock()
		if isBad || !time.Now().Before(until) {
			return
		}
		next := min(time.Until(end), time.Until(until), 400*time.Millisecond)
		select {
		case <-ctx.Done():
			// Whoever is killed goes on using what it holds for as long as it may: nobody told it to stop.
			until := time.Until(until)
			if until > 0 {
				time.Sleep(until)
			}
			return
		case <-w.event:
		case <-time.After(next):
			w.keepAlive()
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// TestStorm lets nodes crash, come back, be cut off and be stopped while many clients take and give back. Whatever happens, no
// unit has two users and fences grow; when the storm is over, everybody is served.
func TestStorm(t *testing.T) {
	runs := 20
	if n, err := strconv.Atoi(os.Getenv("ALLOT_RUNS")); err == nil {
		runs = n
	}
	first := 0
	if n, err := strconv.Atoi(os.Getenv("ALLOT_FIRST")); err == nil {
		first = n
	}
	uses, faults := 0, map[string]int{}
	for seed := first; seed < first+runs; seed++ {
		synctest.Test(t, func(t *testing.T) {
			uses += storm(t, uint64(seed), faults)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d runs, %d uses, faults %v", runs, uses, faults)
	for _, kind := range []string{"crash", "restart", "cut", "heal", "stop", "go on"} {
		if faults[kind] == 0 {
			t.Errorf("no fault of kind %s happened", kind)
		}
	}
}

func storm(t *testing.T, seed uint64, faults map[string]int) int {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := newWorld()
	size := 2 + rng.IntN(3)
	names := []string{"a", "b", "c", "d"}[:size]
	members := map[string]*member{}
	stops := map[string]context.CancelFunc{}
	units := 1 + rng.IntN(4)
	most := 1 + rng.IntN(units)
	st := &store{users: map[int]string{}, fence: map[int]uint64{}}
	var wg sync.WaitGroup
	var workers []*worker
	begin := func(name string) {
		m := w.start(t, name)
		members[name] = m
		ctx, cancel := context.WithCancel(context.Background())
		stops[name] = cancel
		for i := range 3 {
			k := &worker{name: fmt.Sprintf("%s%d-%d", name, i, len(workers)), m: m, st: st, rng: rand.New(rand.NewPCG(seed, uint64(len(workers)+2))),
				most: most, event: make(chan struct{}, 1)}
			workers = append(workers, k)
			wg.Go(func() { k.run(ctx) })
		}
	}
	for _, name := range names {
		begin(name)
	}
	until(t, 20*time.Second, "all members", func() bool { return len(members[names[0]].Network().Members) == size })
	if _, err := members[names[0]].CreatePool(context.Background(), allocator.Pool{Name: "p", Units: units, Most: most, Lease: 3 * time.Second}); err != nil {
		t.Fatal(err)
	}
	stopped, down := map[string]bool{}, map[string]bool{}
	hit := func(kind string) { faults[kind]++ }
	for range 25 {
		time.Sleep(time.Duration(rng.IntN(4000)) * time.Millisecond)
		name := names[rng.IntN(size)]
		switch m := members[name]; {
		case down[name]:
			hit("restart")
			down[name] = false
			begin(name)
		case stopped[name]:
			hit("go on")
			stopped[name] = false
			m.paused.Unlock()
		case w.isCut(name):
			hit("heal")
			w.setCut(name, false)
		case rng.IntN(3) == 0:
			hit("crash")
			down[name] = true
			stops[name]()
			m.kill()
		case rng.IntN(2) == 0:
			hit("cut")
			w.setCut(name, true)
		default:
			hit("stop")
			stopped[name] = true
			m.paused.Lock()
		}
	}
	for _, name := range names {
		w.setCut(name, false)
		if stopped[name] {
			members[name].paused.Unlock()
		}
		if down[name] {
			begin(name)
		}
	}
	time.Sleep(30 * time.Second)
	before := make([]int, len(workers))
	for i, k := range workers {
		before[i] = k.count()
	}
	time.Sleep(60 * time.Second)
	for i, k := range workers {
		if k.m == members[k.m.fabric.name] && k.count() == before[i] {
			t.Errorf("seed %d: %s was not served in a minute after the storm", seed, k.name)
		}
	}
	p, err := members[names[0]].Pool("p")
	if err != nil || p.Units != units || p.Free+p.Held+p.InTransit != units {
		t.Errorf("seed %d: after the storm: %+v, %v", seed, p, err)
	}
	for _, name := range names {
		stops[name]()
	}
	wg.Wait()
	for _, name := range names {
		members[name].kill()
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	for i, what := range st.wrong {
		if i < 5 {
			t.Errorf("seed %d: %s", seed, what)
		}
	}
	if st.uses == 0 || st.most > units {
		t.Errorf("seed %d: %d uses, at most %d of %d units at once", seed, st.uses, st.most, units)
	}
	return st.uses
}

func (w *worker) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done
}

func (w *world) isCut(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cut[name]
}

func (w *world) setCut(name string, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut[name] = is
}
