// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"allot/allocator"
	"allot/api"
	"allot/api/access"
	"allot/api/apitest"
)

// small is a network of one node in memory with one pool, "gpus", of 3 units.
func small(t *testing.T, o api.Options) (*apitest.Backend, string) {
	t.Helper()
	b := apitest.New(apitest.Options{})
	if _, err := b.CreatePool(context.Background(), allocator.Pool{Name: "gpus", Units: 3, Most: 2}); err != nil {
		t.Fatal(err)
	}
	return b, apitest.Serve(t, b, o).Address
}

// say runs allot with a network.
func say(t *testing.T, address string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("ALLOT_ADDRESS", address)
	var out, err bytes.Buffer
	code = run(context.Background(), args, &out, &err)
	return code, out.String(), err.String()
}

// running starts "allot run" in another process, and returns when its command has printed a line.
func running(t *testing.T, address, args, script string) (*exec.Cmd, string, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	// Blanks part the arguments in ALLOT_TEST_ARGS, so the script comes in by another way.
	cmd.Env = append(os.Environ(), "ALLOT_ADDRESS="+address, "SCRIPT="+script, "ALLOT_TEST_ARGS=run "+args+" -- sh -c eval${IFS}\"$SCRIPT\"")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the command says %q, %v: %s", line, err, stderr.String())
	}
	return cmd, strings.TrimSpace(line), &stderr
}

func TestRunEnvironment(t *testing.T) {
	_, address := small(t, api.Options{})
	cmd, line, _ := running(t, address, "gpus:2", `echo $ALLOT_POOL $ALLOT_UNITS $ALLOT_FENCE $ALLOT_GRANT; exit 7`)
	if line != "gpus 0,1 1 memory/s1/1" {
		t.Errorf("the environment is %q", line)
	}
	if got := endOf(t, cmd); got != 7 {
		t.Errorf("exit %d, want 7", got)
	}
}

// endOf waits for the end of a process, with a deadline.
func endOf(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	late := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait() // the code is what counts
	return cmd.ProcessState.ExitCode()
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	for !is() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("it never happened: %s", what)
		}
	}
}

func TestRunPassesSignals(t *testing.T) {
	b, address := small(t, api.Options{})
	cmd, _, _ := running(t, address, "gpus", `trap "exit 9" USR1; echo ready; while :; do sleep 0.01; done`)
	if err := cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if got := endOf(t, cmd); got != 9 {
		t.Errorf("exit %d, want 9", got)
	}
	cmd, _, _ = running(t, address, "gpus", `echo ready; exec sleep 100`)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := endOf(t, cmd); got != 128+15 {
		t.Errorf("exit %d, want 143", got)
	}
	if p, _ := b.Pool("gpus"); p.Held != 0 {
		t.Errorf("%d units are still held", p.Held)
	}
}

// TestRunLoses stops a command that is told, and kills one that does not listen.
func TestRunLoses(t *testing.T) {
	b, address := small(t, api.Options{})
	cmd, _, stderr := running(t, address, "gpus", `trap "exit 9" TERM; echo ready; while :; do sleep 0.01; done`)
	b.LoseAll(allocator.ErrLeaseLost)
	if got := endOf(t, cmd); got != exitLost || !strings.Contains(stderr.String(), "the lease ran out") {
		t.Errorf("exit %d, want %d: %s", got, exitLost, stderr)
	}
	cmd, _, stderr = running(t, address, "gpus --kill-after 50ms", `trap "" TERM; echo ready; while :; do sleep 0.01; done`)
	b.LoseAll(allocator.ErrEvicted)
	if got := endOf(t, cmd); got != exitLost || !strings.Contains(stderr.String(), "killing it") {
		t.Errorf("exit %d, want %d: %s", got, exitLost, stderr)
	}
}

// TestRunKilled kills allot itself: the command goes with it, and the units come back when the session has ended.
func TestRunKilled(t *testing.T) {
	b, address := small(t, api.Options{})
	cmd, pid, _ := running(t, address, "gpus --ttl 1s", `echo $$; exec sleep 1000`)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "the command is gone", func() bool {
		status, err := os.ReadFile("/proc/" + pid + "/status")
		return err != nil || strings.Contains(string(status), "zombie")
	})
	eventually(t, "the units are back", func() bool { p, _ := b.Pool("gpus"); return p.Held == 0 })
}

func TestRunExitCodes(t *testing.T) {
	b, address := small(t, api.Options{})
	for _, c := range []struct {
		args string
		want int
		text string
	}{
		{"run gpus -- true", 0, ""},
		{"run gpus:2 -- false", 1, ""},
		{"run gpus -- no-such-command", 127, "not found"},
		{"run gpus -- /dev/null", 126, "denied"},
		{"run", exitUsage, "allot run gpus:2 -- ./train.sh"},
		{"run gpus true", exitUsage, "allot run gpus:2 -- ./train.sh"},
		{"run gpus --", exitUsage, "allot run gpus:2 -- ./train.sh"},
		{"run gpus:0 -- true", exitUsage, "at least 1"},
		{"run gpus:-1 -- true", exitUsage, "at least 1"},
		{"run gpus:x -- true", exitUsage, "at least 1"},
		{"run :1 -- true", exitUsage, "which pool"},
		{"run gpus:3 -- true", exitUsage, "1 to 2"},
		{"run nothing -- true", exitUsage, "no such pool"},
		{"run a/b -- true", exitUsage, "letters"},
		{"run gpus --wait -1s -- true", exitUsage, "negative"},
		{"run gpus --wait 1s --nonblock -- true", exitUsage, "one or the other"},
		{"run gpus --ttl 1ms -- true", exitUsage, "1s to 1h"},
		{"run gpus --address nowhere -- true", exitUsage, "host:port"},
		{"run gpus --address 127.0.0.1:1 -- true", exitUnreachable, "no node can be reached"},
		{"run gpus --ca /nowhere -- true", exitFile, "--ca"},
		{"run gpus --cert x -- true", exitUsage, "--key"},
	} {
		code, _, stderr := say(t, address, strings.Split(c.args, " ")...)
		if code != c.want || !strings.Contains(stderr, c.text) {
			t.Errorf("allot %s: exit %d, want %d and %q: %s", c.args, code, c.want, c.text, stderr)
		}
	}
	cmd, _, _ := running(t, address, "gpus:2", `echo ready; exec sleep 100`)
	if code, _, stderr := say(t, address, "run", "gpus:2", "--nonblock", "--", "true"); code != exitNotAcquired {
		t.Errorf("--nonblock: exit %d: %s", code, stderr)
	}
	if code, _, stderr := say(t, address, "run", "gpus:2", "--wait", "20ms", "--", "true"); code != exitNotAcquired {
		t.Errorf("--wait: exit %d: %s", code, stderr)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	endOf(t, cmd)
	if p, _ := b.Pool("gpus"); p.Held != 0 || p.Waiting != 0 {
		t.Errorf("afterwards: %+v", p)
	}
}

func TestPoolVerbs(t *testing.T) {
	_, address := small(t, api.Options{})
	for _, c := range []struct {
		args string
		want int
		text string
	}{
		{"pool create db --size 4 --most 2 --lease 20s", 0, "db: 4 units, at most 2 each, lease 20s"},
		{"pool create db --size 4", exitUsage, "exists already"},
		{"pool create x --size -4", exitUsage, "1 to 65536"},
		{"pool create x", exitUsage, "--size"},
		{"pool create <b> --size 1", exitUsage, "letters"},
		{"pool create", exitUsage, "accepts 1 arg"},
		{"pool set db --size 6", 0, "db: 6 units"},
		{"pool set db", exitUsage, "--size or --most"},
		{"pool set nothing --size 1", exitUsage, "no such pool"},
		{"pool list", 0, "gpus  3     2     3"},
		{"pool show db", 0, "db    6     2"},
		{"pool show nothing", exitUsage, "no such pool"},
		{"pool delete db", 0, ""},
		{"pool delete db", exitUsage, "no such pool"},
		{"status", 0, "node memory: ready"},
		{"ps", 0, "nobody holds anything"},
		{"ps --waiting", 0, "nobody waits"},
		{"ps --who --waiting", exitUsage, "one or the other"},
		{"ps nothing", exitUsage, "no such pool"},
		{"release x", exitUsage, "node/session/request"},
		{"evict a/b/c", exitUsage, "no such grant"},
		{"status --timeout 0s", exitUsage, "more than 0"},
	} {
		code, stdout, stderr := say(t, address, strings.Split(c.args, " ")...)
		if code != c.want || !strings.Contains(stdout+stderr, c.text) {
			t.Errorf("allot %s: exit %d, want %d and %q: %s%s", c.args, code, c.want, c.text, stdout, stderr)
		}
	}
}

func TestPSAndEvict(t *testing.T) {
	_, address := small(t, api.Options{})
	cmd, grant, stderr := running(t, address, "gpus:2 --owner me --reason <b>because\x1b[31m", `echo $ALLOT_GRANT; exec sleep 100`)
	code, out, _ := say(t, address, "ps")
	if code != 0 || !strings.Contains(out, grant) || !strings.Contains(out, "<b>because?[31m") || strings.Contains(out, "\x1b") {
		t.Errorf("ps: %d %q", code, out)
	}
	code, out, _ = say(t, address, "ps", "gpus", "--json")
	var answer struct {
		Holders []struct {
			ID, Pool, Owner string
			Units           []int
		}
		Waiters []any
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != 0 {
		t.Fatalf("ps --json: %d %v %s", code, err, out)
	}
	if len(answer.Holders) != 1 || answer.Holders[0].ID != grant || answer.Holders[0].Owner != "me" || len(answer.Holders[0].Units) != 2 || answer.Waiters == nil {
		t.Errorf("ps --json: %+v", answer)
	}
	for _, verb := range []string{"status", "pool list", "pool show gpus"} {
		code, out, stderr := say(t, address, append(strings.Split(verb, " "), "--json")...)
		if code != 0 || !json.Valid([]byte(out)) {
			t.Errorf("%s --json: %d %s%s", verb, code, out, stderr)
		}
	}
	if code, _, problem := say(t, address, "evict", grant, "--reason", "a test"); code != 0 {
		t.Errorf("evict: %d %s", code, problem)
	}
	if got := endOf(t, cmd); got != exitLost || !strings.Contains(stderr.String(), "evicted") {
		t.Errorf("the evicted one: exit %d: %s", got, stderr)
	}
	cmd, grant, _ = running(t, address, "gpus", `echo $ALLOT_GRANT; exec sleep 100`)
	if code, _, problem := say(t, address, "release", grant); code != 0 {
		t.Errorf("release: %d %s", code, problem)
	}
	if got := endOf(t, cmd); got != exitLost {
		t.Errorf("the released one: exit %d", got)
	}
}

func TestTokens(t *testing.T) {
	keeper, err := access.New(access.Options{Tokens: []access.Token{{Name: "me", Hash: access.Hash("secret")}}})
	if err != nil {
		t.Fatal(err)
	}
	_, address := small(t, api.Options{Access: keeper})
	for token, want := range map[string]int{"": exitUsage, "wrong": exitUsage, "secret": 0} {
		t.Setenv("ALLOT_TOKEN", token)
		if code, _, stderr := say(t, address, "run", "gpus", "--", "true"); code != want {
			t.Errorf("the token %q: exit %d: %s", token, code, stderr)
		}
	}
}
