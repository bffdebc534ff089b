// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux && cgo

package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"allot/bench/posixsem"
	"allot/slots/processes"
)

// BenchmarkProcesses takes and gives back a slot between processes, with nobody else there: allot's slots for several n and
// k, and what people use today. Compare the lines of one run with each other.
func BenchmarkProcesses(b *testing.B) {
	for _, c := range []struct{ n, k int }{{2, 1}, {4, 3}, {4, 2}, {16, 15}, {16, 14}, {8, 2}, {64, 2}, {64, 32}} {
		b.Run(fmt.Sprintf("allot/n=%d/k=%d", c.n, c.k), func(b *testing.B) {
			f, err := processes.Open(processes.Options{K: c.k, Seats: c.n, Folder: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			seat, err := f.Sit(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := seat.TryAcquire(); err != nil {
					b.Fatal(err)
				}
				if err := seat.Release(); err != nil {
					b.Fatal(err)
				}
			}
			if err := seat.Close(); err != nil {
				b.Fatal(err)
			}
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.Run("flock", func(b *testing.B) {
		file, err := os.Create(filepath.Join(b.TempDir(), "lock"))
		if err != nil {
			b.Fatal(err)
		}
		fd := int(file.Fd())
		for b.Loop() {
			if unix.Flock(fd, unix.LOCK_EX) != nil || unix.Flock(fd, unix.LOCK_UN) != nil {
				b.Fatal("flock failed")
			}
		}
	})
	b.Run("system-v-undo", func(b *testing.B) { benchmarkSystemV(b, 0x1000) })
	b.Run("system-v", func(b *testing.B) { benchmarkSystemV(b, 0) })
	b.Run("posix", func(b *testing.B) {
		s, err := posixsem.Open(fmt.Sprintf("/allot-bench-%d", os.Getpid()), 2)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		const batch = 1000
		done := 0
		for b.Loop() {
			if done++; done%batch == 0 {
				if err := s.Pairs(batch); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

type sembuf struct {
	number uint16
	op     int16
	flags  int16
}

func benchmarkSystemV(b *testing.B, flags int16) {
	id, _, errno := unix.Syscall(unix.SYS_SEMGET, 0, 1, 0o600|unix.IPC_CREAT)
	if errno != 0 {
		b.Fatal(errno)
	}
	defer func() { _, _, _ = unix.Syscall(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID) }()
	op := func(by int16) {
		ops := sembuf{0, by, flags}
		if errno := semop(id, &ops); errno != 0 {
			b.Fatal(errno)
		}
	}
	ops := sembuf{0, 2, 0}
	if errno := semop(id, &ops); errno != 0 {
		b.Fatal(errno)
	}
	for b.Loop() {
		op(-1)
		op(1)
	}
}
