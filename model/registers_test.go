// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"strings"
	"testing"

	"allot/model"
)

// act takes step number arg of a process and tells how it was described.
func act(t *testing.T, s model.System, c model.Configuration, p int32, arg uint64) string {
	t.Helper()
	m := model.Move{Kind: model.Act, At: p, Arg: arg}
	text := s.Describe(c, m)
	apply(t, s, c, m)
	return text
}

// TestAccessesAreAtomic follows two processes through every kind of access.
func TestAccessesAreAtomic(t *testing.T) {
	inst := newLedger(t, "path:2", model.Budget{})
	s := inst.System.(*model.Registers)
	c := s.Clean()
	for _, step := range []struct {
		p         int32
		arg       uint64
		text      string
		lock, sum uint64
	}{
		{0, 0, "process 0: begin", 0, 0},
		{1, 0, "process 1: begin", 0, 0},
		{1, 0, "process 1: try, swaps lock from 0 to 2, finds 0", 2, 0},
		{0, 0, "process 0: try, swaps lock from 0 to 1, finds 2", 2, 0}, // in vain
		{1, 0, "process 1: read, reads sum = 0", 2, 0},
		{1, 0, "process 1: add, writes sum := 1", 2, 1},
		{1, 0, "process 1: leave, writes lock := 0", 0, 1},
		{1, 1, "process 1: glance, reads sum = 1", 0, 1},
		{0, 0, "process 0: try, swaps lock from 0 to 1, finds 0", 1, 1},
		{0, 0, "process 0: read, reads sum = 1", 1, 1},
	} {
		if text := act(t, s, c, step.p, step.arg); text != step.text {
			t.Errorf("%s, want %s", text, step.text)
		}
		if s.Register(c, 0) != step.lock || s.Register(c, 1) != step.sum {
			t.Errorf("after %s the lock is %d and the sum %d", step.text, s.Register(c, 0), s.Register(c, 1))
		}
	}
	var shown []string
	for _, v := range s.Variables(c, 0) {
		shown = append(shown, v.Name+"="+v.Value)
	}
	if got := strings.Join(shown, " "); got != "pc=3 seen=1 lock=1 sum=1" {
		t.Error(got)
	}
	if v := inst.View(c); v.Sum(0) != 1 {
		t.Errorf("%d are inside", v.Sum(0))
	}
}

// bits is two processes that set bits of one register and take one away.
type bits struct {
	register *model.Field
	layout   model.Layout
}

func (b *bits) Registers() []*model.Field                     { return []*model.Field{b.register} }
func (b *bits) Initial(int) uint64                            { return 0 }
func (b *bits) Layout(int) model.Layout                       { return b.layout }
func (b *bits) Clean(int) uint64                              { return 0 }
func (b *bits) After(_ int, _ uint64, _ int, f uint64) uint64 { return f }
func (b *bits) Accesses(p int, _ uint64, steps []model.Access) []model.Access {
	bit := uint64(1) << p
	return append(steps, model.Access{Name: "set", Op: model.Or, Value: bit}, model.Access{Name: "add", Op: model.Add, Value: 4 - bit})
}

// TestOrAndAdd: bits are set and numbers added in one step, and the process is told what was there before.
func TestOrAndAdd(t *testing.T) {
	b := &bits{register: &model.Field{Name: "r", Size: 4}}
	b.layout = layoutOf(t, &model.Field{Name: "found", Size: 4})
	s, err := model.NewRegisters(graphOf(t, "path:2"), b, model.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Clean()
	for _, step := range []struct {
		p        int32
		arg      uint64
		text     string
		register uint64
		found    uint64
	}{
		{0, 0, "process 0: set, sets 1 in r, finds 0", 1, 0},
		{1, 0, "process 1: set, sets 2 in r, finds 1", 3, 1},
		{0, 0, "process 0: set, sets 1 in r, finds 3", 3, 3},
		{0, 1, "process 0: add, changes r from 3 to 2", 2, 3},
		{1, 1, "process 1: add, changes r from 2 to 0", 0, 2},
	} {
		if text := act(t, s, c, step.p, step.arg); text != step.text {
			t.Errorf("%s, want %s", text, step.text)
		}
		if s.Register(c, 0) != step.register || c[step.p] != step.found {
			t.Errorf("after %s the register holds %d, and %d was found", step.text, s.Register(c, 0), c[step.p])
		}
	}
}

// badStart is a ledger whose registers begin outside their domain.
type badStart struct{ *ledger }

func (badStart) Initial(int) uint64 { return 99 }

func TestNewRegistersRefuses(t *testing.T) {
	g := graphOf(t, "path:2")
	l := &ledger{lock: &model.Field{Name: "lock", Size: 3}, sum: &model.Field{Name: "sum"}}
	if _, err := model.NewRegisters(g, badStart{l}, model.Budget{}); err == nil || !strings.Contains(err.Error(), "register lock: its first value 99 is not among its 3 values") {
		t.Error(err)
	}
	if _, err := model.NewRegisters(g, l, model.Budget{}); err == nil || !strings.Contains(err.Error(), "register sum") {
		t.Errorf("a register without values: %v", err)
	}
}

// lost is a ledger in which some states that no run reaches ask for a register that there is none of.
type lost struct{ *ledger }

func (l lost) Accesses(p int, local uint64, steps []model.Access) []model.Access {
	if l.seen.Get(local) == 2 {
		return append(steps, model.Access{Name: "get lost", Op: model.Read, Register: 2})
	}
	return l.ledger.Accesses(p, local, steps)
}

func TestUnknownRegistersAreOutsideTheDomain(t *testing.T) {
	l := &ledger{
		pc: &model.Field{Name: "pc", Size: 5}, seen: &model.Field{Name: "seen", Size: 3},
		lock: &model.Field{Name: "lock", Size: 3}, sum: &model.Field{Name: "sum", Size: 3},
	}
	l.layout = layoutOf(t, l.pc, l.seen)
	s, err := model.NewRegisters(graphOf(t, "path:2"), lost{l}, model.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Clean()
	c[1] = l.seen.Set(0, 2)
	caught := func() (err error) {
		defer model.CatchDomain(&err)
		apply(t, s, c, model.Move{Kind: model.Act, At: 1})
		return nil
	}()
	if caught == nil || !strings.Contains(caught.Error(), "variable register holds value number 2, its last one is number 1") {
		t.Error(caught)
	}
}

// TestClassesOfEachModel: the environment's moves are owed by nobody, the others by whoever makes them.
func TestClassesOfEachModel(t *testing.T) {
	hops := newHops(t, graphOf(t, "path:2"), model.Budget{}).System
	ledger := newLedger(t, "path:2", model.Budget{}).System
	n := networkOf(newPeers(t, "path:2", 2, 0, model.Links{}, model.Budget{}))
	c := n.Clean()
	apply(t, n, c, model.Move{Kind: model.Act, At: 0})
	trying := ledger.Clean()
	act(t, ledger, trying, 1, 0)
	for _, test := range []struct {
		s    model.System
		c    model.Configuration
		m    model.Move
		want string // empty: nobody owes it
	}{
		{hops, hops.Clean(), model.Move{Kind: model.Act, At: 1, Arg: mend}, "process 1"},
		{hops, hops.Clean(), model.Move{Kind: model.Act, At: 1, Arg: forget}, ""},
		{hops, hops.Clean(), model.Move{Kind: model.Crash}, ""},
		{ledger, ledger.Clean(), model.Move{Kind: model.Act, At: 1}, ""},
		{ledger, trying, model.Move{Kind: model.Act, At: 1}, "process 1"},
		{ledger, trying, model.Move{Kind: model.Corrupt, At: 1}, ""},
		{n, c, model.Move{Kind: model.Act, At: 1}, "input 0 of process 1"},
		{n, c, model.Move{Kind: model.Act, At: 0, Arg: 1}, ""},
		{n, c, model.Move{Kind: model.Tick, At: 0}, "clock of process 0"},
		{n, c, model.Move{Kind: model.Deliver, At: 0}, "link 0→1"},
		{n, c, model.Move{Kind: model.Lose, At: 0}, ""},
	} {
		class := test.s.Class(test.c, test.m)
		if (class == model.NoClass) != (test.want == "") || class != model.NoClass && test.s.ClassName(class) != test.want {
			t.Errorf("%T, %v has class %d, want %q", test.s, test.m, class, test.want)
		}
	}
}
