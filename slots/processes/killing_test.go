// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package processes_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"allot/slots/processes"
)

const (
	killSlots    = 3
	killSeats    = 10
	firstWitness = 1 << 42 // far behind the bytes that are seats
)

// TestVictimProcess is not a test: it is a process that goes in and out until it is killed or its input ends. While it is
// inside it holds one of k witness locks of the kernel; if none is free, more than k are inside.
func TestVictimProcess(t *testing.T) {
	folder := os.Getenv("SLOTS_VICTIM")
	if folder == "" {
		return
	}
	stop := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	f, err := processes.Open(processes.Options{K: killSlots, Seats: killSeats, Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	for served := 1; ; served++ {
		h, err := f.Acquire(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		at, err := testify(h.File())
		if err != nil {
			fmt.Println("violated")
			os.Exit(3)
		}
		// Being inside is the workload: only if holders overlap can there be too many, and kills happen inside too.
		time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
		if err := unix.FcntlFlock(h.File().Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK, Start: at, Len: 1}); err != nil {
			t.Fatal(err)
		}
		if err := h.Release(); err != nil {
			t.Fatal(err)
		}
		if served%100 == 0 {
			fmt.Println("served")
		}
		select {
		case <-stop:
			os.Exit(0)
		default:
		}
	}
}

// testify takes a witness lock. It is a lock of the open file that is the seat, so that the kernel drops both at once when the
// process is killed; two files would be closed one after the other, in an order that nobody promises.
func testify(witness *os.File) (int64, error) {
	for at := int64(firstWitness); at < firstWitness+killSlots; at++ {
		if unix.FcntlFlock(witness.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Start: at, Len: 1}) == nil {
			return at, nil
		}
	}
	return 0, errors.New("more than k are inside")
}

type victim struct {
	cmd   *exec.Cmd
	input io.Closer
}

// TestRandomKills kills processes that hold, wait and come and go, at random, for a few seconds (for a minute with
// ALLOT_FULL=1): never more than k inside, and no seat is lost.
func TestRandomKills(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "slots")
	chance := rand.New(rand.NewPCG(1, 2))
	lines := make(chan string, 1024)
	start := func() *victim {
		cmd := exec.Command(os.Args[0], "-test.run=TestVictimProcess")
		cmd.Env = append(os.Environ(), "SLOTS_VICTIM="+folder)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		go func() {
			for s := bufio.NewScanner(out); s.Scan(); {
				lines <- s.Text()
			}
		}()
		return &victim{cmd, in}
	}
	victims := make([]*victim, 12) // more than there are seats
	for i := range victims {
		victims[i] = start()
	}
	lasts := 4 * time.Second
	if os.Getenv("ALLOT_FULL") != "" {
		lasts = time.Minute
	}
	kills, served := 0, 0
	end, next := time.After(lasts), time.NewTicker(15*time.Millisecond)
	defer next.Stop()
	for isOver := false; !isOver; {
		select {
		case <-end:
			isOver = true
		case line := <-lines:
			if line == "violated" {
				t.Fatal("more than k were inside")
			}
			if line == "served" {
				served += 100
			}
		case <-next.C:
			i := chance.IntN(len(victims))
			if err := victims[i].cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = victims[i].cmd.Wait() // it was killed
			kills++
			victims[i] = start()
		}
	}
	for _, v := range victims {
		if err := v.input.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range victims {
		if err := v.cmd.Wait(); err != nil {
			t.Errorf("a process that was not killed ended badly: %v", err)
		}
	}
	if kills < 20 || served < 100 {
		t.Errorf("%d kills and %d served: that tested nothing", kills, served)
	}
	t.Logf("%d kills, at least %d served", kills, served)
	f := open(t, folder, killSlots, killSeats)
	for range killSlots {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_, err := f.Acquire(ctx)
		cancel()
		if err != nil {
			t.Fatalf("a slot is lost: %v", err)
		}
	}
	if _, err := f.TryAcquire(); !errors.Is(err, processes.ErrFull) {
		t.Errorf("one more than k: %v", err)
	}
	if list, err := processes.List(folder); err != nil || len(list) != 1 || len(list[0].Taken) != killSlots {
		t.Errorf("%+v, %v", list, err)
	}
}
