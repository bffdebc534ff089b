// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestNothingIsLeft opens and closes networks, and counts goroutines and folders.
func TestNothingIsLeft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	before := runtime.NumGoroutine()
	rest := func(what string) {
		t.Helper()
		end := time.Now().Add(patience)
		for runtime.NumGoroutine() > before {
			if time.Now().After(end) {
				text := make([]byte, 1<<20)
				t.Fatalf("%s left %d goroutines behind:\n%s", what, runtime.NumGoroutine()-before, text[:runtime.Stack(text, true)])
			}
			time.Sleep(5 * time.Millisecond)
		}
	}

	s, buses := shared(t, "n1", "n2")
	inOrder(t, buses, 10)
	ctx, cancel := context.WithCancel(context.Background())
	w := watch(ctx, buses[0].Store(), "")
	eventually(t, "the watch begins", func() bool { return w.text() == "present" })
	for _, b := range buses {
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-w.end
	rest("a shared server")

	c := newCluster(t, 3, 3)
	c.ready()
	for i := range c.buses {
		c.stop(i)
	}
	rest("a cluster")

	// One that never found the others.
	c = newCluster(t, 2, 2)
	c.stop(0)
	c.stop(1)
	rest("a cluster that did not form")

	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	if _, err := StartServer(t.Context(), ServerOptions{Listen: busy.Addr().String()}); err == nil {
		t.Error("a server on a busy port")
	}
	rest("a server that did not start")
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if strings.HasPrefix(f.Name(), "allot-") {
			t.Errorf("the folder %s was left behind", f.Name())
		}
	}
}

// TestKilled kills a process in the middle of its writes, and reads everything that was acknowledged.
func TestKilled(t *testing.T) {
	const dirVariable = "ALLOT_TEST_KILLED_DIR"
	if dir := os.Getenv(dirVariable); dir != "" {
		writeUntilKilled(t, dir)
		return
	}
	dir := t.TempDir()
	last := -1
	for range 2 { // the second time on what the first left
		child := exec.CommandContext(ctxFor(t), os.Args[0], "-test.run=^TestKilled$")
		child.Env = append(os.Environ(), dirVariable+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		more := last + 100
		for lines := bufio.NewScanner(out); last < more && lines.Scan(); {
			if n, ok := strings.CutPrefix(lines.Text(), "wrote "); ok {
				if last, err = strconv.Atoi(n); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := child.Wait(); err == nil {
			t.Fatal("the child was not killed")
		}
		if last < more {
			t.Fatalf("the child wrote up to %d only", last)
		}
	}
	b := openAlone(t, Options{Node: "n1", Embed: ServerOptions{Dir: dir}})
	if err := b.Ready(ctxFor(t)); err != nil {
		t.Fatal(err)
	}
	for i := range last + 1 {
		if e, ok := b.store.replica.get(fmt.Sprint("key/", i)); !ok || string(e.Value) != strconv.Itoa(i) {
			t.Errorf("write %d of %d was lost: %+v", i, last, e)
		}
	}
}

// TestLeaderKilled kills the process of the server that leads the store of three. The others choose another, and it comes
// back with its folder.
func TestLeaderKilled(t *testing.T) {
	const variable = "ALLOT_TEST_LEADER"
	if text := os.Getenv(variable); text != "" {
		f := strings.Split(text, " ")
		c := &cluster{t: t, base: f[0], ports: f[1:], buses: make([]*Bus, 3)}
		c.start(2, c.ports)
		if err := c.buses[2].Ready(ctxFor(t)); err != nil {
			t.Fatal(err)
		}
		fmt.Println("ready")
		<-t.Context().Done() // never: it is killed
		return
	}
	t.Parallel()
	c := newCluster(t, 0, 3)
	c.start(0, c.ports)
	c.start(1, c.ports)
	start := func() *exec.Cmd {
		child := exec.Command(os.Args[0], "-test.run=^TestLeaderKilled$")
		child.Env = append(os.Environ(), variable+"="+c.base+" "+strings.Join(c.ports, " "))
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
		if lines := bufio.NewScanner(out); !lines.Scan() || lines.Text() != "ready" {
			t.Fatalf("the child says %q", lines.Text())
		}
		return child
	}
	child := start()
	c.ready()
	r, err := c.buses[0].Store().Create(ctxFor(t), "a", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	stream := c.buses[0].store.bucket.stream
	eventually(t, "the child leads", func() bool {
		s, err := c.buses[0].js.Stream(ctxFor(t), stream)
		if err != nil || s.CachedInfo().Cluster.Leader == "n2" {
			return err == nil
		}
		if s.CachedInfo().Cluster.Leader != "" {
			_, _ = c.buses[0].nc.Request("$JS.API.STREAM.LEADER.STEPDOWN."+stream, []byte(`{"placement":{"preferred":"n2"}}`), time.Second)
		}
		return false
	})
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	c.ready()
	t.Logf("the store works again after %s", time.Since(killed))
	if e, err := get(ctxFor(t), c.buses[1], "a"); err != nil || string(e.Value) != "1" || e.Revision != r {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err = c.buses[1].Store().Update(ctxFor(t), "a", []byte("2"), r); err != nil {
		t.Fatal(err)
	}
	start() // returns when the store works there
	eventually(t, "its copy is up to date", func() bool { _, n := c.copies(c.buses[0]); return n == 3 })
}

func writeUntilKilled(t *testing.T, dir string) {
	b := openAlone(t, Options{Node: "n1", Embed: ServerOptions{Dir: dir}})
	ctx := ctxFor(t)
	if err := b.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	for i := 0; ctx.Err() == nil; i++ {
		key := fmt.Sprint("key/", i)
		if _, ok := b.store.replica.get(key); ok {
			continue
		}
		if _, err := b.Store().Create(ctx, key, []byte(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
		fmt.Println("wrote", i)
	}
}
