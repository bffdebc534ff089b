// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"allot/slots/processes"
)

// TestMain lets the test binary be allot itself, for tests that need another process.
func TestMain(m *testing.M) {
	if args := os.Getenv("ALLOT_TEST_ARGS"); args != "" {
		os.Exit(run(context.Background(), strings.Split(args, " "), os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// other is allot in another process.
func other(folder, args string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+folder, "ALLOT_TEST_ARGS="+args)
	return cmd
}

// holder starts a command in a slot, and returns when it runs. Closing its input ends it.
func holder(t *testing.T, folder, args string) (*exec.Cmd, io.Closer) {
	t.Helper()
	cmd := other(folder, args+" -- sh -c echo${IFS}$ALLOT_SLOT;cat")
	// A pipe of our own, because Wait would close that of the command.
	read, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = read
	t.Cleanup(func() { _ = read.Close() })
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) == "" {
		t.Fatalf("the holder says %q: %v", line, err)
	}
	return cmd, in
}

func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	_ = cmd.Run() // the code says it
	return cmd.ProcessState.ExitCode()
}

func TestSlotsExitCodes(t *testing.T) {
	folder := t.TempDir()
	for args, want := range map[string]int{
		"slots -k 2 -- true":                       0,
		"slots -k 2 -- sh -c exit${IFS}7":          7,
		"slots -k 2 -- sh -c kill${IFS}-9${IFS}$$": 137,
		"slots -k 2 -- /nonexistent":               127,
		"slots -- true":                            exitUsage,
		"slots -k 0 -- true":                       exitUsage,
		"slots -k -1 -- true":                      exitUsage,
		"slots -k 2 --name a/b -- true":            exitUsage,
		"slots -k 2 --wait -1s -- true":            exitUsage,
		"slots -k 2":                               exitUsage,
	} {
		if got := exitCode(t, other(folder, args)); got != want {
			t.Errorf("allot %s: exit %d, want %d", args, got, want)
		}
	}
}

// TestSlotsFiles: a file that cannot be used is refused with the reason, and one that nobody uses is made anew, saying so.
func TestSlotsFiles(t *testing.T) {
	folder := t.TempDir()
	files := filepath.Join(folder, "allot", "slots")
	if err := os.MkdirAll(files, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := exitCode(t, other(folder, "slots -k 2 --name good -- true")); got != 0 {
		t.Fatalf("exit %d", got)
	}
	good, err := os.ReadFile(filepath.Join(files, "good"))
	if err != nil {
		t.Fatal(err)
	}
	boot := slices.Clone(good)
	boot[32] ^= 0xff
	version := slices.Clone(good)
	version[8] ^= 0xff
	for _, test := range []struct {
		name  string
		bytes []byte
		code  int
		says  string
	}{
		{"foreign", []byte("some text that somebody keeps here"), exitFile, "it is not a file of slots; use another --name, or remove it"},
		{"version", version, exitFile, "it was made by another version of allot"},
		{"short", good[:5000], 0, "it was truncated; nobody uses it, so it was made anew"},
		{"boot", boot, 0, "it is from before the machine was started again; nobody uses it, so it was made anew"},
	} {
		if err := os.WriteFile(filepath.Join(files, test.name), test.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := other(folder, "slots -k 2 --name "+test.name+" -- true")
		var says strings.Builder
		cmd.Stderr = &says
		if got := exitCode(t, cmd); got != test.code || !strings.Contains(says.String(), test.says) {
			t.Errorf("%s: exit %d, %s", test.name, got, &says)
		}
	}
	cmd := other(folder, "slots -k 3 --name good -- true")
	var says strings.Builder
	cmd.Stderr = &says
	if got := exitCode(t, cmd); got != 0 || !strings.Contains(says.String(), "it has 2 slots and 64 seats, not 3 and 64; nobody uses it") {
		t.Errorf("other numbers: exit %d, %s", got, &says)
	}
}

func TestSlotsHoldAndWait(t *testing.T) {
	folder := t.TempDir()
	first, firstIn := holder(t, folder, "slots -k 2")
	second, secondIn := holder(t, folder, "slots -k 2")
	if got := exitCode(t, other(folder, "slots -k 2 --nonblock -- true")); got != exitNotAcquired {
		t.Errorf("a third one that does not wait: exit %d", got)
	}
	if got := exitCode(t, other(folder, "slots -k 2 --wait 100ms -- true")); got != exitNotAcquired {
		t.Errorf("a third one that waits a moment: exit %d", got)
	}
	t.Setenv("XDG_RUNTIME_DIR", folder)
	code, out, errs := invoke(t, "ps", "--local", "--json")
	var list []processes.Listing
	if err := json.Unmarshal([]byte(out), &list); code != exitHeld || err != nil || len(list) != 1 || len(list[0].Taken) != 2 {
		t.Errorf("exit %d, %v: %s%s", code, err, out, errs)
	}
	if _, out, _ := invoke(t, "ps", "--local"); !strings.Contains(out, "2 of 2 slots held, 0 waiting") {
		t.Errorf("ps prints %s", out)
	}
	// Kill allot itself: the command goes on and keeps its slot.
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	if got := exitCode(t, other(folder, "slots -k 2 --nonblock -- true")); got != exitNotAcquired {
		t.Errorf("the command of a killed allot has lost its slot: exit %d", got)
	}
	if _, out, _ := invoke(t, "ps", "--local"); !strings.Contains(out, "a child goes on") {
		t.Errorf("ps prints %s", out)
	}
	if err := firstIn.Close(); err != nil {
		t.Fatal(err)
	}
	// The command has ended: a waiter finds out by itself.
	if got := exitCode(t, other(folder, "slots -k 2 --wait 10s -- true")); got != 0 {
		t.Errorf("after the command has ended: exit %d", got)
	}
	if err := secondIn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := second.Wait(); err != nil {
		t.Error(err)
	}
}
