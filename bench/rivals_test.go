// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux && cgo

package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"allot/slots/processes"
)

// rival is one of the processes of BenchmarkRivals: it takes and gives back what it is told to, so many times.
type rival struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	line *bufio.Scanner
}

// TestMain lets the test binary be such a process.
func TestMain(m *testing.M) {
	if what := os.Getenv("ALLOT_RIVAL"); what != "" {
		if err := beRival(strings.Fields(what)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// beRival makes turns, each time when a number of them is read.
func beRival(what []string) error {
	take, give, err := openRival(what)
	if err != nil {
		return err
	}
	work := map[string]func(){"empty": nothing, "1us": microsecond}[what[3]]
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); fmt.Println("done") {
		turns, err := strconv.Atoi(lines.Text())
		if err != nil {
			return err
		}
		for range turns {
			if err := take(); err != nil {
				return err
			}
			work()
			if err := give(); err != nil {
				return err
			}
		}
	}
	return nil
}

// openRival opens what processes compete for: its kind, where it is, and k.
func openRival(what []string) (take, give func() error, err error) {
	k, err := strconv.Atoi(what[2])
	if err != nil {
		return nil, nil, err
	}
	switch what[0] {
	case "slots":
		f, err := processes.Open(processes.Options{K: k, Folder: what[1]})
		if err != nil {
			return nil, nil, err
		}
		seat, err := f.Sit(context.Background())
		if err != nil {
			return nil, nil, err
		}
		return func() error { _, err := seat.Acquire(context.Background()); return err }, seat.Release, nil
	case "flock":
		file, err := os.OpenFile(filepath.Join(what[1], "lock"), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, nil, err
		}
		fd := int(file.Fd())
		return func() error { return unix.Flock(fd, unix.LOCK_EX) }, func() error { return unix.Flock(fd, unix.LOCK_UN) }, nil
	}
	id, err := strconv.Atoi(what[1])
	if err != nil {
		return nil, nil, err
	}
	op := func(by int16) func() error {
		return func() error {
			if errno := semop(uintptr(id), &sembuf{0, by, 0x1000}); errno != 0 {
				return errno
			}
			return nil
		}
	}
	return op(-1), op(1), nil
}

func newRival(b *testing.B, what string) *rival {
	cmd := exec.Command(os.Args[0], "-test.run=NONE")
	cmd.Env = append(os.Environ(), "ALLOT_RIVAL="+what)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	r := &rival{cmd, in, bufio.NewScanner(out)}
	r.await(b, "ready")
	return r
}

func (r *rival) await(b *testing.B, word string) {
	if !r.line.Scan() || r.line.Text() != word {
		b.Fatalf("a rival says %q instead of %q", r.line.Text(), word)
	}
}

// BenchmarkRivals lets several processes take and give back a slot all the time, and compares it with flock, which knows k = 1
// only, and with a System V semaphore with undo. POSIX semaphores are left out: whoever is killed here would spoil them.
func BenchmarkRivals(b *testing.B) {
	for _, k := range []int{1, 2} {
		for _, rivals := range []int{2, 8} {
			for _, work := range []string{"empty", "1us"} {
				b.Run(fmt.Sprintf("k=%d/processes=%d/%s", k, rivals, work), func(b *testing.B) { benchmarkRivals(b, k, rivals, work) })
			}
		}
	}
}

func benchmarkRivals(b *testing.B, k, rivals int, work string) {
	id, _, errno := unix.Syscall(unix.SYS_SEMGET, 0, 1, 0o600|unix.IPC_CREAT)
	if errno != 0 {
		b.Fatal(errno)
	}
	defer func() { _, _, _ = unix.Syscall(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID) }()
	if errno := semop(id, &sembuf{0, int16(k), 0}); errno != 0 {
		b.Fatal(errno)
	}
	folder := b.TempDir()
	names := []string{"slots", "system-v-undo", "flock"}
	places := []string{folder, strconv.Itoa(int(id)), folder}
	if k > 1 {
		names = names[:2]
	}
	groups := make([][]*rival, len(names))
	for i, name := range names {
		for range rivals {
			groups[i] = append(groups[i], newRival(b, fmt.Sprintf("%s %s %d %s", name, places[i], k, work)))
		}
	}
	times := make([][]float64, len(names))
	turns := max(1, b.N/pieces/rivals)
	for range pieces {
		for i, group := range groups {
			start := time.Now()
			for _, r := range group {
				if _, err := fmt.Fprintln(r.in, turns); err != nil {
					b.Fatal(err)
				}
			}
			for _, r := range group {
				r.await(b, "done")
			}
			times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/float64(turns*rivals))
		}
	}
	for _, r := range slices.Concat(groups...) {
		if err := r.in.Close(); err != nil {
			b.Error(err)
		}
		if err := r.cmd.Wait(); err != nil {
			b.Error(err)
		}
	}
	for i := range times {
		slices.Sort(times[i])
		b.ReportMetric(times[i][pieces/2], "ns/"+names[i])
		if i > 0 {
			b.ReportMetric(times[i][pieces/2]/times[0][pieces/2], "times-"+names[i])
		}
	}
	b.ReportMetric(0, "ns/op") // it would be the sum of all
}
