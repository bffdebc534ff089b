// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"
)

// TestSoak does faults of all kinds in random order for as long as ALLOT_SOAK says, such as 1h. make soak runs it. Never more
// than one node of three is out at a time, so that after each fault everybody must be served again.
func TestSoak(t *testing.T) {
	text := os.Getenv("ALLOT_SOAK")
	if text == "" {
		t.Skip("it takes as long as ALLOT_SOAK says, such as ALLOT_SOAK=1h; make soak runs it")
	}
	length, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("ALLOT_SOAK=%s: %v", text, err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	c := newApart(t, 3, 5, 3)
	counts := map[string]int{}
	for end := time.Now().Add(length); time.Now().Before(end); {
		i := rng.IntN(3)
		p := c.nodes[i]
		outage := time.Duration(rng.Int64N(int64(2*lease + 2*reign)))
		kind := []string{"kill a node", "kill clients", "stop", "cut"}[rng.IntN(4)]
		counts[kind]++
		switch kind {
		case "kill a node":
			c.killNode(p)
			time.Sleep(outage)
			c.revive(p)
		case "kill clients":
			c.work[i].kill()
			time.Sleep(outage)
			c.work[i].start()
		case "stop":
			p.signal(syscall.SIGSTOP)
			time.Sleep(outage)
			p.signal(syscall.SIGCONT)
		case "cut":
			c.space.cut(i)
			time.Sleep(outage)
			c.space.heal(i)
		}
		c.served()
	}
	c.whole(c.nodes[0])
	c.store.judge(t, c.units)
	t.Logf("faults: %v", counts)
}
