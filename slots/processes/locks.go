// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package processes

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lockByte takes the write lock of one byte for the open file, waiting for it if asked to.
func lockByte(fd int, at int64, mayWait bool) error {
	op := unix.F_OFD_SETLK
	if mayWait {
		op = unix.F_OFD_SETLKW
	}
	for {
		err := unix.FcntlFlock(uintptr(fd), op, &unix.Flock_t{Type: unix.F_WRLCK, Start: at, Len: 1})
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func unlockByte(fd int, at int64) error {
	return unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK, Start: at, Len: 1})
}

func isTaken(err error) bool { return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) }

// isLocked tells whether some other open file has the lock of a byte.
func isLocked(fd int, at, length int64) (bool, error) {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: at, Len: length}
	err := unix.FcntlFlock(uintptr(fd), unix.F_OFD_GETLK, &lock)
	return lock.Type != unix.F_UNLCK, err
}

// shareByte takes the read lock of one byte, which many can have.
func shareByte(fd int, at int64) error {
	return unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_RDLCK, Start: at, Len: 1})
}

// isInUse tells whether somebody else has the file mapped, or a seat of it.
func isInUse(fd int) (bool, error) {
	isMapped, err := isLocked(fd, usersLock, 1)
	isTaken, seatErr := isLocked(fd, firstLock, MaxSeats)
	return isMapped || isTaken, errors.Join(err, seatErr)
}

// reopen opens the same file once more. Locks belong to what was opened, so each seat needs an open file of its own.
func (f *File) reopen() (*os.File, error) {
	file, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", f.file.Fd()), os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("slots %s: %w", f.Path, err)
	}
	return file, nil
}

// Taken is a seat that somebody has.
type Taken struct {
	Number   int       `json:"seat"`
	IsInside bool      `json:"inside"`
	PID      int       `json:"pid"`
	Since    time.Time `json:"since"`
	Command  string    `json:"command"`
	// IsAlone tells that the process that took the seat is gone and a child of it keeps it.
	IsAlone bool `json:"owner_gone,omitempty"`
}

// Listing is what is known of one file of slots.
type Listing struct {
	Name  string  `json:"name"`
	Path  string  `json:"path"`
	K     int     `json:"slots"`
	Seats int     `json:"seats"`
	Taken []Taken `json:"taken"`
	// Problem says why nothing is known.
	Problem string `json:"problem,omitempty"`
}

// List reads all files of slots of a folder without changing them. No folder means no files.
func List(folder string) ([]Listing, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Listing
	for _, e := range entries {
		l := Listing{Name: e.Name(), Path: filepath.Join(folder, e.Name()), Taken: []Taken{}}
		if err := l.read(); err != nil {
			l.Problem = err.Error()
		}
		list = append(list, l)
	}
	return list, nil
}

func (l *Listing) read() (err error) {
	file, err := os.OpenFile(l.Path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return explain(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buf := make([]byte, unsafe.Sizeof(header{}))
	if n, err := unix.Pread(int(file.Fd()), buf, 0); err != nil || n < len(buf) {
		return errors.Join(err, errors.New("it is not a file of slots"))
	}
	h := (*header)(unsafe.Pointer(&buf[0]))
	if h.magic != magic || h.version != version || h.n > MaxSeats || h.k < 1 || h.k >= h.n {
		return errors.New("it is not a file of slots of this version")
	}
	f := &File{Path: l.Path, K: int(h.k), Seats: int(h.n), file: file}
	l.K, l.Seats = f.K, f.Seats
	if f.machine, err = machineFor(f.Seats, f.K); err != nil {
		return err
	}
	st, err := file.Stat()
	if err != nil || st.Size() < int64(f.size()) {
		return errors.Join(err, errors.New("it was truncated"))
	}
	if err := f.mapFile(int(file.Fd())); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Munmap(f.data)) }()
	for i := range f.Seats {
		if isTaken, err := isLocked(int(file.Fd()), firstLock+int64(i), 1); err != nil || !isTaken {
			continue
		}
		r := &f.records[i]
		command, _, _ := bytes.Cut(r.command[:], []byte{0})
		l.Taken = append(l.Taken, Taken{Number: i, IsInside: f.hasName(i), PID: int(r.pid),
			Since: time.Unix(0, int64(r.since)), Command: string(command), IsAlone: startTime(int(r.pid)) != r.start})
	}
	return nil
}
