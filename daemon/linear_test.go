// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"allot"
	"allot/daemon"
)

// deed is an operation of the API: acquiring units, or giving units back.
type deed struct {
	isRelease bool
	want      int
	units     []int // released
}

// outcome of acquiring: the units and their fences, or none if it was refused.
type outcome struct {
	units  []int
	fences []uint64
}

// pool is the sequential model: which units are held, and the last fence of each.
type pool struct {
	held   [poolUnits]bool
	fences [poolUnits]uint64
}

const poolUnits = 4

// sequential is what a pool would be if everything happened one after the other.
var sequential = porcupine.Model{
	Init: func() any { return pool{} },
	Step: func(state, input, output any) (bool, any) {
		p, d := state.(pool), input.(deed)
		if d.isRelease {
			for _, u := range d.units {
				if !p.held[u] {
					return false, p
				}
				p.held[u] = false
			}
			return true, p
		}
		o := output.(outcome)
		if o.units == nil {
			// Trying may fail although units are free: they may be at another node that does not answer in time.
			return true, p
		}
		if len(o.units) != d.want {
			return false, p
		}
		for i, u := range o.units {
			if p.held[u] || o.fences[i] <= p.fences[u] {
				return false, p
			}
			p.held[u], p.fences[u] = true, o.fences[i]
		}
		return true, p
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
}

// TestLinearizable puts the history of many clients at three nodes to Porcupine.
func TestLinearizable(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	n, err := daemon.StartNetwork(ctx, daemon.NetworkOptions{Nodes: 3, Listen: "127.0.0.1:0", Pools: []daemon.Pool{{Name: "p", Units: poolUnits}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	var mu sync.Mutex
	var history []porcupine.Operation
	began := time.Now()
	record := func(client int, in deed, out outcome, call time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		history = append(history, porcupine.Operation{ClientId: client, Input: in, Call: int64(call), Output: out, Return: int64(time.Since(began))})
	}
	var wg sync.WaitGroup
	for i := range 6 {
		c, err := allot.Dial(ctx, n.Nodes[i%3].Address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		wg.Go(func() {
			for range 40 {
				d := deed{want: 1 + rng.IntN(poolUnits)}
				var options []allot.AcquireOption
				if rng.IntN(4) == 0 {
					options = append(options, allot.WithWait(0))
				}
				call := time.Since(began)
				g, err := c.Acquire(ctx, "p", d.want, options...)
				if errors.Is(err, allot.ErrUnknownPool) {
					continue // this node has not heard of it yet
				}
				if errors.Is(err, allot.ErrNotNow) {
					record(i, d, outcome{}, call)
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				record(i, d, outcome{g.Units, g.Fences}, call)
				call = time.Since(began)
				if err := g.Release(ctx); err != nil {
					t.Error(err)
					return
				}
				record(i, deed{isRelease: true, units: g.Units}, outcome{}, call)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	granted := slices.ContainsFunc(history, func(o porcupine.Operation) bool { return o.Output.(outcome).units != nil })
	if !granted {
		t.Fatal("nothing was ever granted")
	}
	switch porcupine.CheckOperationsTimeout(sequential, history, 30*time.Second) {
	case porcupine.Ok:
		t.Logf("%d operations are linearizable", len(history))
	case porcupine.Illegal:
		t.Error("the history is not linearizable")
	case porcupine.Unknown:
		t.Error("Porcupine did not come to an end in 30 seconds")
	}
	// The model can say no: the same history with one unit given twice.
	for i := range history {
		if o := history[i].Output.(outcome); len(o.units) == 1 {
			twin := history[i]
			twin.ClientId = 99
			if porcupine.CheckOperations(sequential, append(slices.Clone(history), twin)) {
				t.Error("a grant that was given twice went unnoticed")
			}
			return
		}
	}
}
