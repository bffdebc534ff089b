// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"allot/protocol/slots"
)

func Example() {
	conversions := New(2)
	a, _ := conversions.Acquire(context.Background())
	b, _ := conversions.Acquire(context.Background())
	_, ok := conversions.TryAcquire()
	fmt.Println("a third one:", ok)
	fmt.Println("numbers:", a.Number()+b.Number())
	b.Release()
	_, ok = conversions.TryAcquire()
	fmt.Println("after a release:", ok)
	// Output:
	// a third one: false
	// numbers: 1
	// after a release: true
}

// watch counts who is inside and who has which number.
type watch struct {
	t      *testing.T
	k      int64
	inside atomic.Int64
	most   atomic.Int64
	holder []atomic.Int64
}

func newWatch(t *testing.T, k int) *watch {
	return &watch{t: t, k: int64(k), holder: make([]atomic.Int64, k)}
}

func (w *watch) enter(slot Slot, named bool) {
	n := w.inside.Add(1)
	if n > w.k {
		w.t.Errorf("%d goroutines are inside, %d may be", n, w.k)
	}
	for most := w.most.Load(); n > most && !w.most.CompareAndSwap(most, n); most = w.most.Load() {
	}
	if named {
		if w.holder[slot.Number()].Add(1) != 1 {
			w.t.Errorf("two goroutines have the number %d", slot.Number())
		}
	}
}

func (w *watch) leave(slot Slot, named bool) {
	if named {
		w.holder[slot.Number()].Add(-1)
	}
	w.inside.Add(-1)
}

// hammer lets goroutines come and go, some of them impatient, and checks that nobody is inside too many, that everybody
// gets in, and that in the end every slot and seat is free again.
func hammer(t *testing.T, o Options, goroutines, turns int) {
	t.Helper()
	s, err := NewWith(o)
	if err != nil {
		t.Fatal(err)
	}
	w := newWatch(t, o.K)
	var wait sync.WaitGroup
	for g := range goroutines {
		wait.Go(func() {
			chance := rand.New(rand.NewPCG(uint64(g), 1))
			for range turns {
				visit(t, s, w, chance)
			}
		})
	}
	wait.Wait()
	checkEmpty(t, s)
	if o.K > 1 && goroutines > o.K && w.most.Load() < 1 {
		t.Error("nobody was ever inside")
	}
}

func visit(t *testing.T, s *Slots, w *watch, chance *rand.Rand) {
	var slot Slot
	ctx, cancel := context.Background(), func() {}
	switch chance.IntN(8) {
	case 0:
		var ok bool
		if slot, ok = s.TryAcquire(); !ok {
			return
		}
	case 1, 2:
		ctx, cancel = context.WithTimeout(ctx, time.Duration(chance.IntN(200))*time.Microsecond)
		fallthrough
	default:
		var err error
		slot, err = s.Acquire(ctx)
		cancel()
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Acquire: %v", err)
			}
			return
		}
	}
	named := chance.IntN(2) == 0
	w.enter(slot, named)
	if chance.IntN(4) == 0 {
		runtime.Gosched()
	}
	w.leave(slot, named)
	slot.Release()
}

// checkEmpty takes every slot and gives it back, and looks whether every seat is free and nobody sleeps.
func checkEmpty(t *testing.T, s *Slots) {
	t.Helper()
	var held []Slot
	for range min(s.k, len(s.seat)) {
		slot, ok := s.TryAcquire()
		if !ok {
			t.Fatalf("only %d of %d slots came home", len(held), s.k)
		}
		held = append(held, slot)
	}
	if _, ok := s.TryAcquire(); ok && len(s.seat) > s.k {
		t.Error("there is one slot too many")
	}
	for _, slot := range held {
		slot.Release()
	}
	for i := range s.seat {
		if s.memory.levels[i].Load() != 0 || s.seat[i].parked.Load() || len(s.seat[i].wake) != 0 {
			t.Errorf("seat %d was left at level %d, asleep %v, %d signals", i, s.memory.levels[i].Load(), s.seat[i].parked.Load(), len(s.seat[i].wake))
		}
	}
	for i := range s.memory.names {
		if holder := s.memory.names[i].Load(); holder != 0 {
			t.Errorf("number %d is still held by seat %d", i, holder-1)
		}
	}
	if lane := s.memory.lane.Load(); lane != 0 {
		t.Errorf("the express lane was left at %d", lane)
	}
	if n := s.memory.sleepers.Load(); n != 0 {
		t.Errorf("%d sleepers are counted", n)
	}
	if n := s.seats.waiting.Load(); n != 0 {
		t.Errorf("%d goroutines are counted in the queue", n)
	}
}

func TestHammer(t *testing.T) {
	goroutines, turns := 200, 20
	if os.Getenv("ALLOT_FULL") != "" {
		goroutines, turns = 3000, 20
	}
	for _, o := range []Options{
		{K: 1}, {K: 1, Seats: 2}, {K: 1, Seats: 8}, {K: 2}, {K: 2, Seats: 3}, {K: 2, Seats: 16}, {K: 3, Seats: 5},
		{K: 4, Seats: 64}, {K: 8, Seats: 9}, {K: 3, Seats: 2}, {K: 2, Seats: 6, Algorithm: slots.EXCL}, {K: 70},
	} {
		t.Run(fmt.Sprintf("k=%d,seats=%d%s", o.K, o.Seats, o.Algorithm), func(t *testing.T) { hammer(t, o, goroutines, turns) })
	}
}

// TestThousands: thousands of goroutines at once, each of which gets in.
func TestThousands(t *testing.T) {
	for _, o := range []Options{{K: 3}, {K: 2, Seats: 12}} {
		s, err := NewWith(o)
		if err != nil {
			t.Fatal(err)
		}
		w := newWatch(t, o.K)
		var wait sync.WaitGroup
		for range 4000 {
			wait.Go(func() {
				slot, err := s.Acquire(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				w.enter(slot, true)
				w.leave(slot, true)
				slot.Release()
			})
		}
		wait.Wait()
		checkEmpty(t, s)
	}
}

// TestHoldersThatStay: k-1 holders that never let go keep nobody else out.
func TestHoldersThatStay(t *testing.T) {
	const k = 4
	s, err := NewWith(Options{K: k, Seats: 10})
	if err != nil {
		t.Fatal(err)
	}
	for range k - 1 {
		if _, ok := s.TryAcquire(); !ok {
			t.Fatal("no slot for one that stays")
		}
	}
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			for range 20 {
				slot, err := s.Acquire(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				slot.Release()
			}
		})
	}
	wait.Wait()
}

// TestExpress compares the express lane and leaving it with the single accesses of the machine, on copies of one memory.
func TestExpress(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	open := 0
	for range 5000 {
		n := 1 + chance.IntN(20)
		o := Options{K: 1 + chance.IntN(n), Seats: n}
		me := chance.IntN(n)
		inside, slow := uint64(chance.IntN(o.K+1)), uint64(chance.IntN(8)/7)
		var made [2]*Slots
		for i := range made {
			s, err := NewWith(o)
			if err != nil {
				t.Fatal(err)
			}
			s.memory.lane.Store(inside + slow*uint64(n+1))
			made[i] = s
		}
		direct, machine := made[0], made[1]
		isOpen := direct.memory.express(&direct.seat[me])
		local := machine.machine.Out()
		for local != machine.machine.Won() && local != machine.machine.Enlist() {
			local = machine.step(&machine.seat[me], local)
		}
		if want := local == machine.machine.Won(); isOpen != want || !alike(direct, machine) {
			t.Fatalf("%+v, %d inside, %d slow: open %v, the machine says %v, and memory is alike: %v", o, inside, slow, isOpen, want, alike(direct, machine))
		}
		if !isOpen {
			continue
		}
		open++
		Slot{slots: direct, seat: &direct.seat[me], term: direct.seat[me].term}.Release()
		for !machine.machine.IsOut(local) {
			local = machine.step(&machine.seat[me], local)
		}
		if !alike(direct, machine) {
			t.Fatalf("%+v: after leaving, memory differs", o)
		}
	}
	if open < 500 || open > 4500 {
		t.Errorf("the lane was open %d times of 5000: the test looks at one side only", open)
	}
}

func alike(a, b *Slots) bool {
	for i := range a.memory.levels {
		if a.memory.levels[i].Load() != b.memory.levels[i].Load() {
			return false
		}
	}
	return a.memory.lane.Load() == b.memory.lane.Load()
}

// TestWaitersSleep: whoever waits costs no processor time.
func TestWaitersSleep(t *testing.T) {
	s, err := NewWith(Options{K: 1, Seats: 4})
	if err != nil {
		t.Fatal(err)
	}
	held, err := s.Acquire(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	for range 10 {
		wait.Go(func() {
			if _, err := s.Acquire(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("Acquire: %v", err)
			}
		})
	}
	for s.memory.sleepers.Load() < 3 || s.seats.waiting.Load() < 7 {
		runtime.Gosched()
	}
	cancel()
	wait.Wait()
	held.Release()
	checkEmpty(t, s)
}

func TestMisuse(t *testing.T) {
	mustPanic := func(what string, do func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s did not panic", what)
			}
		}()
		do()
	}
	s := New(1)
	slot, err := s.Acquire(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	slot.Release()
	mustPanic("releasing twice", slot.Release)
	mustPanic("releasing nothing", Slot{}.Release)
	mustPanic("the number of a released slot", func() { slot.Number() })
	mustPanic("no slots", func() { New(0) })
	if _, err := NewWith(Options{K: 1, Seats: MaxSeats + 1}); err == nil {
		t.Error("too many seats were accepted")
	}
	if _, err := NewWith(Options{K: 1, Algorithm: "other"}); err == nil {
		t.Error("an unknown algorithm was accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Acquire(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Acquire with an ended context: %v", err)
	}
	checkEmpty(t, s)
}
