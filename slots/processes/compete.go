// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package processes

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"allot/model"
)

// settle tidies up what the last owner of the seat left behind.
func (s *Seat) settle() {
	for s.local = s.file.machine.Clean(s.me); !s.isSettled(); {
		s.step(0)
	}
	s.awake()
}

// isSettled tells that the arrival is over: the next step is to begin to try.
func (s *Seat) isSettled() bool {
	return s.file.machine.IsOut(s.local) && s.file.machine.Next(s.me, s.local).Environment
}

// express takes this process inside if nobody is slow and fewer than k are inside: what the machine does from Out on,
// without asking it at every access. A test compares the two, access by access in what is left behind. If the lane is
// closed the machine goes on at Enlist.
func (s *Seat) express() bool {
	f := s.file
	s.local = f.machine.Enlist()
	lane := atomic.LoadUint64(f.lane)
	if lane >= uint64(f.K) {
		return false
	}
	atomic.StoreUint64(&f.memory[s.me], f.top)
	if !atomic.CompareAndSwapUint64(f.lane, lane, lane+1) {
		return false
	}
	for name := 0; ; name = (name + 1) % len(f.names) {
		if atomic.CompareAndSwapUint64(&f.names[name], 0, uint64(s.me)+1) {
			s.local = f.machine.Entered(name)
			return true
		}
	}
}

// leave is what the machine does from inside until it is out.
func (s *Seat) leave() {
	f := s.file
	atomic.StoreUint64(&f.names[f.machine.Name(s.local)], 0)
	atomic.StoreUint64(&f.memory[s.me], 0)
	atomic.AddUint64(f.lane, ^uint64(0))
	s.local = f.machine.Out()
	f.ring()
}

// enter goes through the algorithm until this process is inside.
func (s *Seat) enter(ctx context.Context, mayWait bool) error {
	if s.express() {
		return nil
	}
	m := s.file.machine
	isAsleep := false
	defer func() {
		if isAsleep {
			s.awake()
		}
	}()
	for waited := 0; ; {
		bell := atomic.LoadUint32(&s.file.header.bell)
		for !m.IsInside(s.local) && !s.isTurnedAway(s.step(0)) {
		}
		if m.IsInside(s.local) {
			return nil
		}
		if !mayWait || ctx.Err() != nil {
			s.giveUp()
			if !mayWait {
				return ErrFull
			}
			return ctx.Err()
		}
		if waited++; waited < spins {
			continue
		}
		if !isAsleep {
			// Say so before the next count, so that whoever changes something after it rings.
			isAsleep = true
			atomic.OrUint64(&s.file.header.waiting[s.me/64], 1<<(s.me%64))
			continue
		}
		if !s.file.sleep(ctx, bell) {
			s.file.recover(s.me)
		}
	}
}

// isTurnedAway tells whether an access was the last of a count that found too many others and this process the last to
// come: it looked who was last, and stands before a new count.
func (s *Seat) isTurnedAway(a model.Access) bool {
	return a.Op == model.Read && a.Register >= s.file.Seats && s.file.machine.IsWaiting(s.local)
}

// giveUp withdraws; it is only possible while waiting, and harmless there.
func (s *Seat) giveUp() {
	for s.step(1); !s.file.machine.IsOut(s.local); {
		s.step(0)
	}
}

// awake says that this process does not sleep.
func (s *Seat) awake() {
	atomic.AndUint64(&s.file.header.waiting[s.me/64], ^(uint64(1) << (s.me % 64)))
}

// step makes one access, the same one that the checker schedules.
func (s *Seat) step(choice int) model.Access {
	m := s.file.machine
	a := m.Next(s.me, s.local)
	if choice > 0 {
		a = m.Accesses(s.me, s.local, s.buf[:0])[choice]
	}
	var found uint64
	if a.Op != model.Local {
		word := &s.file.memory[a.Register]
		switch a.Op {
		case model.Read:
			found = atomic.LoadUint64(word)
		case model.Write:
			atomic.StoreUint64(word, a.Value)
			if a.Register >= s.file.Seats || a.Value == 0 {
				s.file.ring()
			}
		case model.Swap:
			// What is found after a swap that failed may be the old value again; then it has to be tried again, because
			// finding the old value means that the swap was made.
			for found = a.Old; !atomic.CompareAndSwapUint64(word, a.Old, a.Value); {
				if found = atomic.LoadUint64(word); found != a.Old {
					break
				}
			}
		case model.Add:
			found = s.add(a)
		case model.Local, model.Or: // nobody sets bits here
		}
	}
	s.local = m.After(s.me, s.local, choice, found)
	return a
}

// add adds to a register modulo its size, in one step.
func (s *Seat) add(a model.Access) uint64 {
	word, size := &s.file.memory[a.Register], s.file.machine.Registers()[a.Register].Size
	for {
		found := atomic.LoadUint64(word)
		if atomic.CompareAndSwapUint64(word, found, (found+a.Value)%size) {
			return found
		}
	}
}

// ring wakes the sleepers, if there are any.
func (f *File) ring() {
	for i := range f.sleepers {
		if atomic.LoadUint64(&f.sleepers[i]) != 0 {
			atomic.AddUint32(&f.header.bell, 1)
			// Nothing can go wrong that a sleeper's next nap would not mend.
			_ = futex(&f.header.bell, futexWake, 1<<30, nil)
			return
		}
	}
}

// sleep waits until the bell is no longer what it was. It returns false if nothing happened for a while.
func (f *File) sleep(ctx context.Context, bell uint32) bool {
	wait := nap
	if deadline, ok := ctx.Deadline(); ok {
		wait = max(0, min(wait, time.Until(deadline)))
	}
	ts := unix.NsecToTimespec(wait.Nanoseconds())
	return !errors.Is(futex(&f.header.bell, futexWait, bell, &ts), unix.ETIMEDOUT)
}

// The operations of the futex system call, between processes.
const (
	futexWait = 0
	futexWake = 1
)

func futex(word *uint32, op int, value uint32, timeout *unix.Timespec) error {
	_, _, errno := unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), uintptr(op), uintptr(value), uintptr(unsafe.Pointer(timeout)), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// recover tidies up the seats whose owners are dead. It takes the seat of a dead process for a moment, so nobody else can
// have it, and does what a process does that begins again.
func (f *File) recover(me int) {
	var seat *os.File
	for i := range f.Seats {
		if i == me || !f.isMarked(i) {
			continue
		}
		if seat == nil {
			var err error
			if seat, err = f.reopen(); err != nil {
				return // it is tried again after the next nap
			}
		}
		if lockByte(int(seat.Fd()), firstLock+int64(i), false) != nil {
			continue
		}
		dead := &Seat{file: f, me: i}
		dead.settle()
		if unlockByte(int(seat.Fd()), firstLock+int64(i)) != nil {
			break
		}
	}
	if seat != nil {
		if err := seat.Close(); err != nil {
			return
		}
	}
}

// isMarked tells whether a seat has left anything in the memory.
func (f *File) isMarked(i int) bool { return atomic.LoadUint64(&f.memory[i]) != 0 || f.hasName(i) }

// hasName tells whether a seat is inside, or was when its owner died.
func (f *File) hasName(i int) bool {
	for n := range f.names {
		if atomic.LoadUint64(&f.names[n]) == uint64(i)+1 {
			return true
		}
	}
	return false
}
