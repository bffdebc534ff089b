// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// pingPong measures how long a frame takes there and back, with one frame under way.
func pingPong(b *testing.B, one, two *Bus) {
	back := make(chan struct{}, 1)
	frame, hello := make([]byte, 100), []byte("hello")
	if err := one.Receive(func(_ string, got []byte) {
		if len(got) == len(frame) {
			back <- struct{}{}
		}
	}); err != nil {
		b.Fatal(err)
	}
	if err := two.Receive(func(from string, frame []byte) {
		if err := two.Send(from, frame); err != nil {
			b.Error(err)
		}
	}); err != nil {
		b.Fatal(err)
	}
	eventually(b, "the link works", func() bool {
		if err := one.Send(two.Self(), hello); err != nil {
			b.Fatal(err)
		}
		return one.Metrics().FramesIn > 0
	})
	b.ResetTimer()
	for range b.N {
		if err := one.Send(two.Self(), frame); err != nil {
			b.Fatal(err)
		}
		<-back
	}
}

func BenchmarkRoundTripShared(b *testing.B) {
	_, buses := shared(b, "n1", "n2")
	pingPong(b, buses[0], buses[1])
}

func BenchmarkRoundTripServers(b *testing.B) {
	c := newCluster(b, 2, 2)
	pingPong(b, c.buses[0], c.buses[1])
}

// BenchmarkStream sends as fast as it can from one server to another.
func BenchmarkStream(b *testing.B) {
	c := newCluster(b, 2, 2)
	var got atomic.Int64
	if err := c.buses[1].Receive(func(string, []byte) { got.Add(1) }); err != nil {
		b.Fatal(err)
	}
	frame := make([]byte, 100)
	eventually(b, "the link works", func() bool {
		if err := c.buses[0].Send("n1", frame); err != nil {
			b.Fatal(err)
		}
		return got.Load() > 0
	})
	b.SetBytes(int64(len(frame)))
	b.ResetTimer()
	start, messages := got.Load(), c.buses[0].Metrics().MessagesOut
	for range b.N {
		for c.buses[0].Send("n1", frame) != nil {
			runtime.Gosched() // too many wait
		}
	}
	eventually(b, "all arrive", func() bool { return got.Load() >= start+int64(b.N) })
	b.ReportMetric(float64(c.buses[0].Metrics().MessagesOut-messages)/float64(b.N), "messages/frame")
}

func BenchmarkUpdate(b *testing.B) {
	bus := openAlone(b, Options{Node: "n1"})
	r, err := bus.Store().Create(ctxFor(b), "a", nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if r, err = bus.Store().Update(ctxFor(b), "a", nil, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	bus := openAlone(b, Options{Node: "n1"})
	if _, err := bus.Store().Create(ctxFor(b), "a", nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := bus.Store().Get(ctxFor(b), "a"); err != nil {
			b.Fatal(err)
		}
	}
}
