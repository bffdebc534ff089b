// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"allot"
)

// workerOptions are what a process of clients is told through its environment.
type workerOptions struct {
	Name      string
	Addresses []string
	Socket    string
	Pool      string
	Clients   int
	Most      int
	Seed      uint64
	Hold      time.Duration // on average
}

const workerVariable = "ALLOT_SOAK_WORKER"

// TestMain runs the tests or, in a process that a test has started, the clients.
func TestMain(m *testing.M) {
	if text := os.Getenv(workerVariable); text != "" {
		var o workerOptions
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			panic(err)
		}
		work(o)
		return
	}
	os.Exit(m.Run())
}

// work runs clients until the process is killed.
func work(o workerOptions) {
	var wg sync.WaitGroup
	for i := range o.Clients {
		wg.Go(func() {
			w := &worker{o: o, name: fmt.Sprintf("%s.%d", o.Name, i), rng: rand.New(rand.NewPCG(o.Seed, uint64(i)))}
			for {
				if err := w.run(); err != nil {
					fmt.Fprintln(os.Stderr, w.name, err)
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	wg.Wait()
}

type worker struct {
	o    workerOptions
	name string
	rng  *rand.Rand
	conn net.Conn
	in   *bufio.Scanner
}

func (w *worker) run() error {
	conn, err := net.Dial("unix", w.o.Socket)
	if err != nil {
		os.Exit(0) // the test is over
	}
	defer func() { _ = conn.Close() }()
	w.conn, w.in = conn, bufio.NewScanner(conn)
	ctx := context.Background()
	c, err := allot.Options{Addresses: w.o.Addresses, Owner: w.name, TTL: 2 * time.Second}.Dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		g, err := c.Acquire(ctx, w.o.Pool, 1+w.rng.IntN(w.o.Most))
		if err != nil {
			if errors.Is(err, allot.ErrUnknownPool) {
				time.Sleep(50 * time.Millisecond)
				continue
			}
			return err
		}
		if err := w.use(g); err != nil {
			return err
		}
		_ = g.Release(ctx) // it may have been lost
	}
}

func (w *worker) use(g *allot.Grant) error {
	m := word{Do: "begin", Who: w.name, Units: g.Units, Fences: g.Fences, Good: g.GoodFor()}
	ok, err := w.tell(m)
	if err != nil || !ok {
		return err
	}
	hold := time.Duration(w.rng.ExpFloat64() * float64(w.o.Hold))
	end := time.After(hold)
	renew := time.NewTicker(50 * time.Millisecond)
	defer renew.Stop()
	for isOver := false; !isOver; {
		select {
		case <-g.Lost():
			isOver = true
		case <-end:
			isOver = true
		case <-renew.C:
			m.Do, m.Good = "good", g.GoodFor()
			if g.Err() != nil {
				isOver = true
				break
			}
			if _, err := w.tell(m); err != nil {
				return err
			}
		}
	}
	m.Do = "end"
	_, err = w.tell(m)
	return err
}

func (w *worker) tell(m word) (bool, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return false, err
	}
	if _, err := w.conn.Write(append(data, '\n')); err != nil {
		return false, err
	}
	if !w.in.Scan() {
		return false, errors.New("the store has gone")
	}
	return w.in.Text() == "true", nil
}
