// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package processes_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"allot/slots/processes"
)

func open(t *testing.T, folder string, k, seats int) *processes.File {
	t.Helper()
	f, err := processes.Open(processes.Options{K: k, Seats: seats, Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestAtMostK(t *testing.T) {
	f := open(t, t.TempDir(), 2, 5)
	var holds []*processes.Hold
	slots := map[int]bool{}
	for range 2 {
		h, err := f.TryAcquire()
		if err != nil {
			t.Fatal(err)
		}
		slots[h.Slot] = true
		holds = append(holds, h)
	}
	if !slots[0] || !slots[1] {
		t.Errorf("slots %v", slots)
	}
	if _, err := f.TryAcquire(); !errors.Is(err, processes.ErrFull) {
		t.Errorf("a third one: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := f.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a third one that waits: %v", err)
	}
	if err := holds[0].Release(); err != nil {
		t.Fatal(err)
	}
	h, err := f.TryAcquire()
	if err != nil || h.Slot != holds[0].Slot {
		t.Fatalf("after a release: %v, %v", h, err)
	}
}

// TestHammer lets many goroutines, each with a seat of its own like a process, fight for two slots.
func TestHammer(t *testing.T) {
	folder := t.TempDir()
	var inside, most, served atomic.Int64
	done := make(chan error)
	const workers, rounds = 12, 200
	for range workers {
		go func() {
			f, err := processes.Open(processes.Options{K: 2, Seats: 8, Folder: folder})
			if err != nil {
				done <- err
				return
			}
			for range rounds {
				h, err := f.Acquire(context.Background())
				if err != nil {
					done <- err
					return
				}
				now := inside.Add(1)
				for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
				}
				served.Add(1)
				inside.Add(-1)
				if err := h.Release(); err != nil {
					done <- err
					return
				}
			}
			done <- f.Close()
		}()
	}
	for range workers {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if most.Load() > 2 || served.Load() != workers*rounds {
		t.Errorf("%d inside at once, %d served", most.Load(), served.Load())
	}
}

// helper is this test binary as another process that takes a slot, says so, and sits there.
func helper(t *testing.T, folder string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=TestHelperProcess")
	cmd.Env = append(os.Environ(), "SLOTS_HELPER="+folder)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	var word string
	if _, err := fmt.Fscan(out, &word); err != nil || word != "inside" {
		t.Fatalf("the helper says %q: %v", word, err)
	}
	return cmd
}

// TestHelperProcess is not a test: it is what the other process runs.
func TestHelperProcess(t *testing.T) {
	folder := os.Getenv("SLOTS_HELPER")
	if folder == "" {
		return
	}
	f, err := processes.Open(processes.Options{K: 1, Seats: 4, Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Acquire(context.Background()); err != nil {
		t.Fatal(err)
	}
	fmt.Println("inside")
	select {}
}

// TestKilledHolderIsRecovered: kill -9 of the holder lets a waiter in, promptly.
func TestKilledHolderIsRecovered(t *testing.T) {
	folder := t.TempDir()
	f := open(t, folder, 1, 4)
	for range 3 {
		cmd := helper(t, folder)
		if _, err := f.TryAcquire(); !errors.Is(err, processes.ErrFull) {
			t.Fatalf("with the helper inside: %v", err)
		}
		list, err := processes.List(folder)
		if err != nil || len(list) != 1 || len(list[0].Taken) != 1 || list[0].Taken[0].PID != cmd.Process.Pid || !list[0].Taken[0].IsInside {
			t.Fatalf("%+v, %v", list, err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		h, err := f.Acquire(ctx)
		cancel()
		if err != nil {
			t.Fatalf("after kill -9: %v", err)
		}
		if err := h.Release(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(path string) error
		says string
	}{
		{"foreign", func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("hello", 2000)), 0o600) }, "not a file of slots"},
		{"short", func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }, "not a file of slots"},
		{"version", func(path string) error {
			return os.WriteFile(path, append([]byte("allslots\x09\x00\x00\x00"), make([]byte, 8000)...), 0o600)
		}, "another version"},
		{"link", func(path string) error { return os.Symlink("/etc/passwd", path) }, "symbolic link"},
		{"folder", func(path string) error { return os.Mkdir(path, 0o700) }, "directory"},
	} {
		folder := t.TempDir()
		if err := test.make(filepath.Join(folder, "default")); err != nil {
			t.Fatal(err)
		}
		if _, err := processes.Open(processes.Options{K: 1, Folder: folder}); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	for _, o := range []processes.Options{{}, {K: -1}, {K: 5, Seats: 5}, {K: 1, Seats: 5000}, {K: 1, Name: "../x"}, {K: 1, Name: ".x"}, {K: 1, Name: strings.Repeat("x", 200)}} {
		o.Folder = t.TempDir()
		if _, err := processes.Open(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// TestOtherNumbers: a file in use with other numbers is refused; when nobody uses it any more it is made anew.
func TestOtherNumbers(t *testing.T) {
	folder := t.TempDir()
	f, err := processes.Open(processes.Options{K: 1, Seats: 4, Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	h, err := f.Acquire(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	other := processes.Options{K: 2, Seats: 4, Folder: folder}
	if _, err := processes.Open(other); !errors.Is(err, processes.ErrInUse) {
		t.Errorf("other numbers while somebody is inside: %v", err)
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := processes.Open(other); !errors.Is(err, processes.ErrInUse) {
		t.Errorf("other numbers while somebody has it open: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	g := open(t, folder, 2, 4)
	if h, err = g.TryAcquire(); err != nil {
		t.Fatal(err)
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
}

// TestTruncatedWhileUsed: an error, not a crash.
func TestTruncatedWhileUsed(t *testing.T) {
	folder := t.TempDir()
	f := open(t, folder, 1, 4)
	if err := os.Truncate(f.Path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.TryAcquire(); err == nil || !strings.Contains(err.Error(), "truncated") {
		t.Errorf("%v", err)
	}
}

func TestPrivateByDefault(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "allot", "slots")
	f := open(t, folder, 1, 4)
	for path, want := range map[string]os.FileMode{f.Path: 0o600, folder: os.ModeDir | 0o700} {
		st, err := os.Stat(path)
		if err != nil || st.Mode() != want {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	}
}
