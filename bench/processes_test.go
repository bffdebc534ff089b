// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux && cgo

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"allot/bench/posixsem"
	"allot/slots/processes"
)

// locker is something that processes share; pairs takes and gives it back so many times.
type locker struct {
	name  string
	pairs func(turns int) error
}

// BenchmarkProcesses takes and gives back a slot between processes, with nobody else there: allot's slots for several n and
// k, the seat kept, and what people use today. Each line is one run of all of them, in pieces that take turns; it gives the
// median time of each, and how many times faster slots is.
func BenchmarkProcesses(b *testing.B) {
	others := []locker{flockLocker(b), systemVLocker(b, "system-v-undo", 0x1000), systemVLocker(b, "system-v", 0), posixLocker(b)}
	for _, c := range []struct{ n, k int }{{2, 1}, {3, 1}, {4, 3}, {4, 2}, {8, 7}, {8, 6}, {8, 2}, {16, 15}, {16, 14}, {64, 63}, {64, 62}, {64, 2}, {64, 32}} {
		b.Run(fmt.Sprintf("n=%d/k=%d", c.n, c.k), func(b *testing.B) {
			lockers := append([]locker{slotsLocker(b, c.n, c.k)}, others...)
			times := make([][]float64, len(lockers))
			turns := max(1, b.N/pieces)
			for range pieces {
				for i, l := range lockers {
					start := time.Now()
					if err := l.pairs(turns); err != nil {
						b.Fatal(err)
					}
					times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/float64(turns))
				}
			}
			for i := range times {
				slices.Sort(times[i])
				b.ReportMetric(times[i][pieces/2], "ns/"+lockers[i].name)
				if i > 0 {
					b.ReportMetric(times[i][pieces/2]/times[0][pieces/2], "times-"+lockers[i].name)
				}
			}
			b.ReportMetric(0, "ns/op") // it would be the sum of all
		})
	}
}

func slotsLocker(b *testing.B, n, k int) locker {
	f, err := processes.Open(processes.Options{K: k, Seats: n, Folder: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	seat, err := f.Sit(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(seat.Close(), f.Close()); err != nil {
			b.Error(err)
		}
	})
	return locker{"slots", func(turns int) error {
		for range turns {
			if _, err := seat.TryAcquire(); err != nil {
				return err
			}
			if err := seat.Release(); err != nil {
				return err
			}
		}
		return nil
	}}
}

func flockLocker(b *testing.B) locker {
	file, err := os.Create(filepath.Join(b.TempDir(), "lock"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = file.Close() })
	fd := int(file.Fd())
	return locker{"flock", func(turns int) error {
		for range turns {
			if err := errors.Join(unix.Flock(fd, unix.LOCK_EX), unix.Flock(fd, unix.LOCK_UN)); err != nil {
				return err
			}
		}
		return nil
	}}
}

func posixLocker(b *testing.B) locker {
	s, err := posixsem.Open(fmt.Sprintf("/allot-bench-%d", os.Getpid()), 2)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return locker{"posix", s.Pairs}
}

func systemVLocker(b *testing.B, name string, flags int16) locker {
	id, _, errno := unix.Syscall(unix.SYS_SEMGET, 0, 1, 0o600|unix.IPC_CREAT)
	if errno != 0 {
		b.Fatal(errno)
	}
	b.Cleanup(func() { _, _, _ = unix.Syscall(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID) })
	if errno := semop(id, &sembuf{0, 2, 0}); errno != 0 {
		b.Fatal(errno)
	}
	return locker{name, func(turns int) error {
		take, give := sembuf{0, -1, flags}, sembuf{0, 1, flags}
		for range turns {
			if errno := semop(id, &take); errno != 0 {
				return errno
			}
			if errno := semop(id, &give); errno != 0 {
				return errno
			}
		}
		return nil
	}}
}

type sembuf struct {
	number uint16
	op     int16
	flags  int16
}
