// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"unicode/utf8"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"allot/allocator"
	"allot/api/access"
	allotv1 "allot/api/v1"
)

// TestProblems makes sure that each error has one code and one reason, wrapped or not.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		err    error
		reason allotv1.Reason
		code   connect.Code
	}{
		{&allocator.ValueError{Field: "units", Value: "0", Allowed: "1 to 3"}, allotv1.Reason_REASON_BAD_VALUE, connect.CodeInvalidArgument},
		{&access.UnknownError{Why: "x"}, allotv1.Reason_REASON_UNAUTHENTICATED, connect.CodeUnauthenticated},
		{&access.ForbiddenError{Who: "x"}, allotv1.Reason_REASON_FORBIDDEN, connect.CodePermissionDenied},
		{errProtocol("x"), allotv1.Reason_REASON_PROTOCOL, connect.CodeInvalidArgument},
		{errors.New("anything else"), allotv1.Reason_REASON_INTERNAL, connect.CodeInternal},
	} {
		if p, code := problemOf(fmt.Errorf("wrapped: %w", c.err)); p.GetReason() != c.reason || code != c.code {
			t.Errorf("%v: %s, %s", c.err, p.GetReason(), code)
		}
	}
	seen := map[allotv1.Reason]error{}
	for _, k := range kinds {
		if p, code := problemOf(fmt.Errorf("wrapped: %w", k.err)); p.GetReason() != k.reason || code != k.code {
			t.Errorf("%v: %s, %s", k.err, p.GetReason(), code)
		}
		if other := seen[k.reason]; other != nil && !errors.Is(k.err, context.Canceled) && !errors.Is(k.err, context.DeadlineExceeded) {
			t.Errorf("%v and %v have the same reason", k.err, other)
		}
		seen[k.reason] = k.err
	}
}

// TestFullOutbox gives up on a client that does not read, once.
func TestFullOutbox(t *testing.T) {
	gaveUp := 0
	o := newOutbox(func() {}, func() { gaveUp++ })
	o.opened(&allotv1.Opened{Session: "s"})
	for i := range maxPending {
		o.Granted(allocator.Grant{ID: "1", Pool: "p", Units: []allocator.Unit{{Number: 1, Fence: 2}}, Fence: 2})
		if gaveUp > 0 {
			break
		}
		if i == maxPending-1 {
			t.Fatal("it never gave up")
		}
	}
	o.Lost("1", allocator.ErrEvicted)
	o.fail(allocator.ErrUnavailable)
	if message, last := o.take(); gaveUp != 1 || len(message) > maxPending || !last || !errors.Is(o.why, allocator.ErrLimit) {
		t.Errorf("gave up %d times, %d bytes, %t, %v", gaveUp, len(message), last, o.why)
	}
}

// FuzzReadMessage feeds the reader of the wire anything: it never takes more than it may, and never gives more than it took.
func FuzzReadMessage(f *testing.F) {
	f.Add([]byte("\x03abc"), 10)
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), 10)
	f.Fuzz(func(t *testing.T, data []byte, most int) {
		if most < 0 || most > 1<<16 {
			t.Skip()
		}
		in := bufio.NewReader(bytes.NewReader(data))
		for {
			body, err := readMessage(in, nil, most)
			if err != nil {
				var protocol errProtocol
				if !errors.Is(err, io.EOF) && !errors.As(err, &protocol) {
					t.Fatalf("an error of another kind: %v", err)
				}
				return
			}
			if len(body) > most || !bytes.Contains(data, body) {
				t.Fatalf("%d bytes, %q", len(body), body)
			}
		}
	})
}

// FuzzRequest decodes an Ask from anything and looks at it: what passes is within the limits.
func FuzzRequest(f *testing.F) {
	seed, err := proto.Marshal(&allotv1.Ask{Id: "1", Pool: "p", Units: 3, Reason: "why"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		ask := &allotv1.Ask{}
		if proto.Unmarshal(data, ask) != nil {
			return
		}
		r, err := newRequest(ask)
		if err != nil {
			if p, code := problemOf(err); p.GetReason() != allotv1.Reason_REASON_BAD_VALUE || code != connect.CodeInvalidArgument {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if len(r.ID) < 1 || len(r.ID) > allocator.MaxName || r.Units < 1 || len(r.Reason) > allocator.MaxReason || r.Wait > maxWait {
			t.Fatalf("let in: %+v", r)
		}
	})
}

// FuzzPrintable gives one line of valid text without control characters, however long.
func FuzzPrintable(f *testing.F) {
	f.Add("a\nb\x1b[31m\xff", 5)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < 4 || most > 1<<12 {
			t.Skip()
		}
		got := printable(text, most)
		if len(got) > most || !utf8.ValidString(got) {
			t.Fatalf("printable(%q, %d) = %q", text, most, got)
		}
		for _, r := range got {
			if r < ' ' || r == 0x7f {
				t.Fatalf("printable(%q, %d) = %q", text, most, got)
			}
		}
	})
}
