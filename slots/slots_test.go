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
	for range s.k {
		slot, ok := s.TryAcquire()
		if !ok {
			t.Fatalf("only %d of %d slots came home", len(held), s.k)
		}
		held = append(held, slot)
	}
	if _, ok := s.TryAcquire(); ok {
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
		if s.memory.names[i].Load() != 0 {
			t.Errorf("number %d is still held", i+s.memory.bits)
		}
	}
	if lane := s.memory.lane.Load(); lane != 0 {
		t.Errorf("the lane was left at %b", lane)
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

// TestJoin compares joining and leaving the lane with the machine's own first and last access, on the same memory.
func TestJoin(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	open := 0
	for range 20000 {
		k := 1 + chance.IntN(60)
		s, err := NewWith(Options{K: k, Seats: k + 1 + chance.IntN(5)})
		if err != nil {
			t.Fatal(err)
		}
		m := s.machine
		var lane uint64
		for name := range k {
			if chance.IntN(3) > 0 || chance.IntN(4) == 0 && name < m.Bits {
				lane += m.Share(uint64(name))
			}
		}
		if chance.IntN(4) == 0 {
			lane += m.OneSlow() * uint64(1+chance.IntN(m.Seats))
		}
		s.memory.lane.Store(lane)
		for i := range m.Inside(lane) - m.Inside(lane&(1<<m.Bits-1)) {
			s.memory.names[i].Store(1)
		}
		after, isOpen := m.Join(lane)
		name, ok := s.memory.join(1)
		if ok != isOpen || ok && s.memory.lane.Load() != after || !ok && s.memory.lane.Load() != lane {
			t.Fatalf("k=%d, lane %b: joined %v, the machine says %v; the lane is %b, the machine says %b", k, lane, ok, isOpen, s.memory.lane.Load(), after)
		}
		if !ok {
			continue
		}
		open++
		s.slot(name).Release()
		if s.memory.lane.Load() != lane {
			t.Fatalf("k=%d: after leaving, the lane is %b, it was %b", k, s.memory.lane.Load(), lane)
		}
	}
	if open < 2000 || open > 18000 {
		t.Errorf("the lane was open %d times of 20000: the test looks at one side only", open)
	}
}

// TestRelease compares leaving with the machine's accesses from inside, for names that are bits of the lane and others.
func TestRelease(t *testing.T) {
	for name := range 50 {
		var made [2]*Slots
		for i := range made {
			s, err := NewWith(Options{K: 50})
			if err != nil {
				t.Fatal(err)
			}
			for held := range 50 {
				s.memory.lane.Add(s.machine.Share(uint64(held)))
				if held >= s.memory.bits {
					s.memory.names[held-s.memory.bits].Store(1)
				}
			}
			made[i] = s
		}
		made[0].slot(name).Release()
		machine := made[1].machine
		for local := machine.Entered(name); !machine.IsOut(local); {
			local = machine.After(0, local, 0, made[1].memory.access(machine.Next(local)))
		}
		for i := range made[0].memory.names {
			if made[0].memory.names[i].Load() != made[1].memory.names[i].Load() {
				t.Errorf("after slot %d was released, name %d differs", name, i+made[0].memory.bits)
			}
		}
		if a, b := made[0].memory.lane.Load(), made[1].memory.lane.Load(); a != b {
			t.Errorf("after slot %d was released the lane is %b, the machine says %b", name, a, b)
		}
	}
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
