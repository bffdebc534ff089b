// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package processes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	algorithm "allot/protocol/slots"
)

// Options of a file of slots.
type Options struct {
	// Name of the file, without its folder: letters, digits, dot, dash and underscore. Empty means "default".
	Name string
	// K processes may be inside at once.
	K int
	// Seats is how many processes can hold or wait at a time; more wait for a seat first. 0 means DefaultSeats.
	Seats int
	// Folder of the file. Empty means Folder().
	Folder string
}

// Limits of a file of slots.
const (
	DefaultSeats = 64
	MaxSeats     = 1024
	maxName      = 100
)

// ErrInUse is returned when a file is used by processes that were told other numbers of slots or seats.
var ErrInUse = errors.New("it is in use with other numbers")

// FileError is returned by Open when the file or its folder cannot be used as it is.
type FileError struct {
	Path string
	Err  error
}

// Error names the file.
func (e *FileError) Error() string { return fmt.Sprintf("slots %s: %v", e.Path, e.Err) }

// Unwrap is what is wrong with it.
func (e *FileError) Unwrap() error { return e.Err }

// The layout of the file. Everything that several processes write is atomic and aligned.
const (
	magic        = 0x73746f6c736c6c61 // "allslots", little end first
	version      = 1
	headerBytes  = 4096
	recordBytes  = 256
	commandBytes = recordBytes - 32
	firstLock    = 1 << 40 // lock bytes stand far behind the end, where nothing is stored
	initLock     = 1 << 41
	usersLock    = 1<<41 + 1 // shared by everybody who has the file mapped
)

// header stands at the beginning of the file.
type header struct {
	magic          uint64
	version, ready uint32
	n, k           uint32
	bell, _        uint32 // the futex: changed whenever sleepers have to look again
	boot           [16]byte
	waiting        [MaxSeats / 64]uint64 // by seat: its owner sleeps or is about to
}

// record says who has a seat. It is for people; the lock says whether the owner lives.
type record struct {
	pid, start, since, _ uint64
	command              [commandBytes]byte
}

// File is an open file of slots.
type File struct {
	Path  string
	K     int
	Seats int
	// Note says why a file that was there was made anew, if it was. It is empty if there was none, or a good one.
	Note    string
	file    *os.File
	data    []byte
	header  *header
	memory  []uint64
	names   []uint64 // of the memory: who has which name
	lane    *uint64  // of the memory
	top     uint64   // the level of those in the lane
	records []record
	// sleepers is the part of the header that is used.
	sleepers []uint64
	machine  *algorithm.Machine
}

// Folder is where files of slots are by default: below the user's runtime folder, which goes away with the last login,
// or a folder of the user's own below the temporary one.
func Folder() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "allot", "slots")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("allot-%d", os.Getuid()), "slots")
}

func (o Options) validate() (Options, error) {
	if o.Name == "" {
		o.Name = "default"
	}
	if o.Seats == 0 {
		o.Seats = max(DefaultSeats, o.K+1)
	}
	if o.Folder == "" {
		o.Folder = Folder()
	}
	isOdd := strings.ContainsFunc(o.Name, func(r rune) bool {
		isPlain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
		return !isPlain
	})
	switch {
	case isOdd || len(o.Name) > maxName || o.Name[0] == '.':
		return o, fmt.Errorf("name %.40q: use up to %d letters, digits, dots, dashes and underscores, and no dot at the beginning", o.Name, maxName)
	case o.K < 1 || o.K >= MaxSeats:
		return o, fmt.Errorf("%d slots: it must be 1 to %d", o.K, MaxSeats-1)
	case o.Seats <= o.K || o.Seats > MaxSeats:
		return o, fmt.Errorf("%d seats for %d slots: it must be more than the slots and at most %d", o.Seats, o.K, MaxSeats)
	}
	return o, nil
}

// machineFor is the algorithm that a file is used with: EXCL where it has few rounds, otherwise the tournament. Both have
// the express lane, names, and waiters that may give up.
func machineFor(n, k int) (*algorithm.Machine, error) {
	kind := algorithm.EXCL
	if n > 2*k+1 {
		kind = algorithm.GTEX
	}
	return algorithm.New(algorithm.Config{Algorithm: kind, N: n, K: k, Express: true, Names: true, Cancel: true})
}

// Open opens the file of slots, and makes it if there is none.
func Open(o Options) (*File, error) {
	o, err := o.validate()
	if err != nil {
		return nil, err
	}
	if err := makeFolder(o.Folder); err != nil {
		return nil, err
	}
	f := &File{Path: filepath.Join(o.Folder, o.Name), K: o.K, Seats: o.Seats}
	if f.machine, err = machineFor(o.Seats, o.K); err != nil {
		return nil, err
	}
	if err := f.open(); err != nil {
		return nil, &FileError{f.Path, err}
	}
	return f, nil
}

// makeFolder makes the folder for this user alone, and refuses one that somebody else could have put there.
func makeFolder(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return &FileError{path, err}
	}
	for dir := path; strings.Contains(dir, "allot"); dir = filepath.Dir(dir) {
		var st unix.Stat_t
		if err := unix.Lstat(dir, &st); err != nil {
			return &FileError{dir, err}
		}
		if int(st.Uid) != os.Getuid() || st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return &FileError{dir, errors.New("it is not a folder of this user; remove it, or set XDG_RUNTIME_DIR to one that is")}
		}
	}
	return nil
}

func (f *File) size() int {
	return headerBytes + 8*((len(f.machine.Registers())+7)/8*8) + recordBytes*f.Seats
}

// open opens, checks and maps the file. All of it happens under a lock, so that two processes do not both make it.
func (f *File) open() (err error) {
	fd, err := unix.Open(f.Path, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return explain(err)
	}
	f.file = os.NewFile(uintptr(fd), f.Path)
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	switch {
	case int(st.Uid) != os.Getuid():
		return fmt.Errorf("it belongs to user %d; use another --name", st.Uid)
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return errors.New("it is not a plain file")
	}
	if err := lockByte(fd, initLock, true); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlockByte(fd, initLock)) }()
	return f.prepare(fd)
}

func explain(err error) error {
	if errors.Is(err, unix.ELOOP) {
		return errors.New("it is a symbolic link, which is not followed")
	}
	return err
}

// prepare makes a new file, takes over one that nobody uses, or refuses.
func (f *File) prepare(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	boot, err := bootID()
	if err != nil {
		return err
	}
	if st.Size > 0 {
		why, err := f.judge(fd, st.Size, boot)
		if err != nil {
			return err
		}
		if why == nil {
			return f.mapFile(fd)
		}
		if isUsed, err := isInUse(fd); err != nil || isUsed {
			var numbers *numbersError
			if errors.As(why, &numbers) {
				why = fmt.Errorf("%w: %w; use another --name, or wait until nobody uses it", ErrInUse, why)
			}
			return errors.Join(err, why)
		}
		if err := unix.Ftruncate(fd, 0); err != nil {
			return err
		}
		f.Note = why.Error()
	}
	if err := unix.Ftruncate(fd, int64(f.size())); err != nil {
		return err
	}
	if err := f.mapFile(fd); err != nil {
		return err
	}
	h := f.header
	h.magic, h.version, h.n, h.k, h.boot = magic, version, uint32(f.Seats), uint32(f.K), boot
	atomic.StoreUint32(&h.ready, 1)
	return nil
}

// judge tells why a file cannot be used as it is: the first result if it may be made anew once nobody uses it, the second
// if it must be left alone.
func (f *File) judge(fd int, size int64, boot [16]byte) (renew, refuse error) {
	buf := make([]byte, unsafe.Sizeof(header{}))
	n, err := unix.Pread(fd, buf, 0)
	if err != nil {
		return nil, err
	}
	h := (*header)(unsafe.Pointer(&buf[0]))
	switch {
	case n < 16 || h.magic != magic:
		return nil, errors.New("it is not a file of slots; use another --name, or remove it")
	case h.version != version:
		return nil, fmt.Errorf("it was made by another version of allot (format %d, this one writes %d); remove it when nobody uses it", h.version, version)
	case n < len(buf) || h.ready == 0:
		return errors.New("it was not finished"), nil
	case h.boot != boot:
		return errors.New("it is from before the machine was started again"), nil
	case int(h.k) != f.K || int(h.n) != f.Seats:
		return &numbersError{slots: h.k, seats: h.n, file: f}, nil
	case size != int64(f.size()):
		return fmt.Errorf("it has %d bytes instead of %d; it was truncated", size, f.size()), nil
	}
	return nil, nil
}

// numbersError is about a file with other numbers than asked for.
type numbersError struct {
	slots, seats uint32
	file         *File
}

func (e *numbersError) Error() string {
	return fmt.Sprintf("it has %d slots and %d seats, not %d and %d", e.slots, e.seats, e.file.K, e.file.Seats)
}

func (f *File) mapFile(fd int) error {
	data, err := unix.Mmap(fd, 0, f.size(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map it: %w", err)
	}
	if err := shareByte(fd, usersLock); err != nil {
		return errors.Join(err, unix.Munmap(data))
	}
	registers := len(f.machine.Registers())
	f.data = data
	f.header = (*header)(unsafe.Pointer(&data[0]))
	f.memory = unsafe.Slice((*uint64)(unsafe.Pointer(&data[headerBytes])), registers)
	f.share()
	f.records = unsafe.Slice((*record)(unsafe.Pointer(&data[len(data)-recordBytes*f.Seats])), f.Seats)
	return nil
}

// share finds the parts of the memory that the lane is made of.
func (f *File) share() {
	f.names = f.memory[f.Seats+f.machine.Turns():][:f.K]
	f.lane, f.top = &f.memory[f.machine.Lane()], f.machine.Top()
	f.sleepers = f.header.waiting[:(f.Seats+63)/64]
}

// Close lets go of the file. A Hold on it must have been released.
func (f *File) Close() error {
	var err error
	if f.data != nil {
		err = unix.Munmap(f.data)
		f.data = nil
	}
	return errors.Join(err, f.file.Close())
}

// bootID tells one start of the machine from another.
func bootID() (id [16]byte, err error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return id, err
	}
	hex := strings.ReplaceAll(strings.TrimSpace(string(text)), "-", "")
	if _, err := fmt.Sscanf(hex, "%32x", new([]byte)); err == nil && len(hex) == 32 {
		for i := range id {
			if _, err := fmt.Sscanf(hex[2*i:2*i+2], "%02x", &id[i]); err != nil {
				return id, err
			}
		}
	}
	return id, nil
}
