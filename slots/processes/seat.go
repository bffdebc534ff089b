// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package processes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"allot/model"
)

// ErrFull is returned by TryAcquire when nobody else can come in now.
var ErrFull = errors.New("all slots are taken")

// errTruncated is what an access to a part of the file that is gone turns into.
var errTruncated = errors.New("the file was truncated while it was used")

// Seat is a place from which a process competes. It is kept for life, or until it is closed: taking it costs system
// calls, what follows costs memory accesses as long as nobody has to wait. One goroutine uses it at a time.
type Seat struct {
	file  *File
	lock  *os.File // the open file whose lock is the seat
	me    int
	local uint64
	buf   [8]model.Access
}

// Hold is one slot held by this process, with the seat that it was taken from.
type Hold struct {
	// Slot is a number of its own among the holders, 0 to K-1.
	Slot int
	seat *Seat
}

// How a waiter waits: counts in vain before it sleeps, and how long it sleeps before it looks for the dead.
const (
	spins     = 100
	nap       = 50 * time.Millisecond
	seatPause = 20 * time.Millisecond
)

// Acquire takes a seat and waits for a slot until the context ends.
func (f *File) Acquire(ctx context.Context) (*Hold, error) { return f.acquire(ctx, true) }

// TryAcquire takes a seat and a slot if there is one now, otherwise it returns ErrFull.
func (f *File) TryAcquire() (*Hold, error) { return f.acquire(context.Background(), false) }

func (f *File) acquire(ctx context.Context, mayWait bool) (*Hold, error) {
	seat, err := f.sit(ctx, mayWait)
	if err != nil {
		return nil, err
	}
	slot, err := seat.acquire(ctx, mayWait)
	if err != nil {
		return nil, errors.Join(err, seat.Close())
	}
	seat.touch()
	return &Hold{Slot: slot, seat: seat}, nil
}

// Release leaves and gives the seat back.
func (h *Hold) Release() error { return errors.Join(h.seat.Release(), h.seat.Close()) }

// File is the open file whose lock is the seat. A child that inherits it keeps the seat while it lives.
func (h *Hold) File() *os.File { return h.seat.lock }

// Sit takes a seat, and waits for one until the context ends if all are taken.
func (f *File) Sit(ctx context.Context) (*Seat, error) { return f.sit(ctx, true) }

func (f *File) sit(ctx context.Context, mayWait bool) (seat *Seat, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	lock, err := f.reopen()
	if err != nil {
		return nil, err
	}
	defer func() {
		f.catch(recover(), &err)
		if err != nil {
			seat, err = nil, errors.Join(err, lock.Close())
		}
	}()
	for {
		if seat, err = f.choose(lock); seat != nil || err != nil {
			return seat, err
		}
		if !mayWait {
			return nil, ErrFull
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(seatPause):
		}
	}
}

// choose takes a free seat, or none if there is none. Whoever is alone begins with clean memory: a process that is killed
// in the express lane leaves its count there, which closes the lane for good though it does no other harm.
func (f *File) choose(lock *os.File) (seat *Seat, err error) {
	fd := int(lock.Fd())
	if err := lockByte(fd, initLock, true); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlockByte(fd, initLock)) }()
	isAnybody, err := isLocked(fd, firstLock, MaxSeats)
	if err != nil {
		return nil, err
	}
	if !isAnybody {
		for i := range f.memory {
			atomic.StoreUint64(&f.memory[i], 0)
		}
	}
	first := os.Getpid() % f.Seats
	for i := range f.Seats {
		s := &Seat{file: f, lock: lock, me: (first + i) % f.Seats}
		err := lockByte(fd, firstLock+int64(s.me), false)
		if err == nil {
			s.introduce()
			s.settle()
			return s, nil
		}
		if !isTaken(err) {
			return nil, err
		}
	}
	return nil, nil
}

// catch turns a fault in the middle of an access, because somebody truncated the file, into an error.
func (f *File) catch(cause any, err *error) {
	if cause != nil {
		*err = fmt.Errorf("slots %s: %w (%v)", f.Path, errTruncated, cause)
	}
}

// Acquire waits for a slot until the context ends. It returns the number of the slot.
func (s *Seat) Acquire(ctx context.Context) (int, error) { return s.acquire(ctx, true) }

// TryAcquire takes a slot if there is one now, otherwise it returns ErrFull.
func (s *Seat) TryAcquire() (int, error) { return s.acquire(context.Background(), false) }

func (s *Seat) acquire(ctx context.Context, mayWait bool) (slot int, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { s.file.catch(recover(), &err) }()
	if err := s.enter(ctx, mayWait); err != nil {
		return 0, err
	}
	return s.file.machine.Name(s.local), nil
}

// Release leaves the slot. The seat is kept. It does nothing if no slot is held.
func (s *Seat) Release() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { s.file.catch(recover(), &err) }()
	if s.file.machine.IsInside(s.local) {
		s.leave()
	}
	return nil
}

// Close gives the seat back.
func (s *Seat) Close() error { return s.lock.Close() }

// introduce writes who has the seat, for people.
func (s *Seat) introduce() {
	r := &s.file.records[s.me]
	r.pid, r.start = uint64(os.Getpid()), startTime(os.Getpid())
	clear(r.command[:])
	copy(r.command[:commandBytes-1], strings.Join(os.Args, " "))
	s.touch()
}

// touch notes the time, for people; it is too slow for every acquisition of a seat that is kept.
func (s *Seat) touch() { s.file.records[s.me].since = uint64(time.Now().UnixNano()) }

// startTime tells a process from a later one with the same number: when it was started, in ticks since the machine was.
func startTime(pid int) uint64 {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name stands in brackets and may contain anything, so count from the last bracket.
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')'):]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return 0
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return 0
	}
	return start
}
