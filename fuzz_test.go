// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot

import (
	"bufio"
	"bytes"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/types/known/durationpb"

	allotv1 "allot/api/v1"
)

// FuzzNode has a node say anything: the client neither panics nor keeps a grant that nobody asked for.
func FuzzNode(f *testing.F) {
	var seed bytes.Buffer
	for _, e := range []*allotv1.Event{
		{What: &allotv1.Event_Granted{Granted: &allotv1.Grant{Id: "1", Pool: "p", Units: []uint32{0}, Fences: []uint64{1}, Fence: 1}}},
		{What: &allotv1.Event_Granted{Granted: &allotv1.Grant{Id: "9", Pool: "p"}}},
		{What: &allotv1.Event_Alive{Alive: &allotv1.Alive{Number: 1, GoodFor: durationpb.New(time.Second)}}},
		{What: &allotv1.Event_Refused{Refused: &allotv1.Bad{Id: "2"}}},
		{What: &allotv1.Event_Lost{Lost: &allotv1.Bad{Id: "1", Problem: &allotv1.Problem{Reason: allotv1.Reason_REASON_EVICTED}}}},
	} {
		if _, err := protodelim.MarshalTo(&seed, &allotv1.SessionResponse{Events: []*allotv1.Event{e}}); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(seed.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := newClient(Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.session = "s"
		first, second := &call{id: "1", done: make(chan struct{})}, &call{id: "2", done: make(chan struct{})}
		c.calls["1"], c.calls["2"] = first, second
		w := &wire{in: bufio.NewReader(bytes.NewReader(data))}
		for {
			m, err := w.receive()
			if err != nil {
				break
			}
			if c.handle(m.GetEvents()) != nil {
				break
			}
		}
		for id := range c.grants {
			if id != "1" && id != "2" {
				t.Fatalf("a grant %q that nobody asked for", id)
			}
		}
	})
}
