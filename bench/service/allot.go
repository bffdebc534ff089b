// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"allot"
)

var peers = []peer{
	{name: "allot, one node", start: startAllot(1)},
	{name: "allot, three nodes", start: startAllot(3)},
	{name: "Redis semaphore (Lua, publish)", start: startRedis},
	{name: "etcd mutex", note: "one unit", start: startEtcd},
	{name: "NATS key-value lock", note: "one unit", start: startNATS},
}

// builtAllot builds the program once.
var builtAllot = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "allot-bench-bin")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "allot")
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "allot").Output()
	if err != nil {
		return "", fmt.Errorf("run this in its own folder: %w", err)
	}
	out, err := exec.Command("go", "-C", strings.TrimSpace(string(root)), "build", "-o", path, "./cmd/allot").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func freeAddresses(n int) ([]string, error) {
	var list []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		list = append(list, l.Addr().String())
	}
	return list, nil
}

// spawn starts a server. The caller stops it.
func spawn(dir, name string, args ...string) (stop func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_ = log.Close()
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}, nil
}

func startAllot(n int) func(context.Context, string, workload) (running, error) {
	return func(ctx context.Context, dir string, w workload) (running, error) {
		path, err := builtAllot()
		if err != nil {
			return running{}, err
		}
		at, err := freeAddresses(2 * n)
		if err != nil {
			return running{}, err
		}
		var stops []func()
		stop := func() {
			for _, s := range stops {
				s()
			}
		}
		for i := range n {
			name := fmt.Sprintf("n%d", i)
			args := []string{path, "node", "--name", name, "--listen", at[i], "--dir", filepath.Join(dir, name)}
			if n > 1 {
				args = append(args, "--cluster", at[n+i], "--join", strings.Join(at[n:], ","))
			}
			s, err := spawn(dir, name, args...)
			if err != nil {
				stop()
				return running{}, err
			}
			stops = append(stops, s)
		}
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		c, err := waitAllot(ctx, at[:n])
		if err != nil {
			stop()
			return running{}, err
		}
		defer c.Close()
		if _, err := c.CreatePool(ctx, allot.Pool{Name: "p", Units: w.Units, Most: w.Want}); err != nil {
			stop()
			return running{}, err
		}
		connect := func(ctx context.Context, i int) (client, error) {
			for {
				c, err := allot.Dial(ctx, at[i%n])
				if err != nil {
					return nil, err
				}
				if _, err := c.GetPool(ctx, "p"); err == nil {
					return &allotClient{c: c, want: w.Want}, nil
				}
				c.Close()
				time.Sleep(10 * time.Millisecond)
			}
		}
		return running{connect: connect, stop: stop}, nil
	}
}

// waitAllot waits until all nodes are members.
func waitAllot(ctx context.Context, at []string) (*allot.Client, error) {
	for {
		c, err := allot.Dial(ctx, at[0])
		if err == nil {
			s, err := c.Status(ctx)
			if err == nil && len(s.Members) == len(at) {
				return c, nil
			}
			c.Close()
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the nodes do not find each other: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

type allotClient struct {
	c    *allot.Client
	want int
	g    *allot.Grant
}

func (c *allotClient) take(ctx context.Context) (err error) {
	c.g, err = c.c.Acquire(ctx, "p", c.want)
	return err
}

func (c *allotClient) give(ctx context.Context) error {
	c.g.LetGo()
	return nil
}

func (c *allotClient) close() { c.c.Close() }
