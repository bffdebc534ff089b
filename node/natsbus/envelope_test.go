// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestEnvelope(t *testing.T) {
	frames := [][]byte{[]byte("one"), {}, bytes.Repeat([]byte{7}, 300)}
	b := appendHeader(nil, "n-1.example", 42, 7)
	for _, f := range frames {
		b = appendFrame(b, f)
	}
	e, err := parseEnvelope(b)
	if err != nil || e.from != "n-1.example" || e.life != 42 || e.first != 7 || e.count != 3 {
		t.Fatalf("%+v, %v", e, err)
	}
	for _, want := range frames {
		var got []byte
		got, e.rest, _ = cutFrame(e.rest)
		if !bytes.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// Cut anywhere but between two frames, it is refused as a whole.
	between := []int{len(b) - 302, len(b) - 303} // before the last frame, and before the empty one
	for n := range len(b) {
		if _, err := parseEnvelope(b[:n]); (err == nil) != slices.Contains(between, n) {
			t.Errorf("cut after %d of %d bytes: %v", n, len(b), err)
		}
	}
}

// TestOddNames makes sure that a name of a stranger gets nowhere.
func TestOddNames(t *testing.T) {
	for _, name := range []string{"", ".", "-a", "a b", "a/b", "a\x00", "é", "a*", ">", strings.Repeat("a", MaxName+1)} {
		if isName(name) {
			t.Errorf("%q is a name", name)
		}
		if _, err := parseEnvelope(appendFrame(appendHeader(nil, name, 1, 1), []byte("x"))); err == nil {
			t.Errorf("an envelope from %q is taken", name)
		}
	}
	for _, name := range []string{"a", "7", "n1", "A.b_c-d", strings.Repeat("a", MaxName)} {
		if !isName(name) {
			t.Errorf("%q is no name", name)
		}
	}
}

// TestAccept follows one link through losses, repetitions and restarts of the sender.
func TestAccept(t *testing.T) {
	var s sender
	for i, c := range []struct{ life, first, count, skip, lost uint64 }{
		{life: 1, first: 5, count: 2, skip: 0, lost: 0}, // what was sent before we listened
		{life: 1, first: 7, count: 1},
		{life: 1, first: 7, count: 1, skip: 1}, // once more
		{life: 1, first: 6, count: 3, skip: 2}, // partly old
		{life: 1, first: 12, count: 1, lost: 3},
		{life: 1, first: 9, count: 3, skip: 3}, // what was thought lost comes late
		{life: 2, first: 1, count: 1},          // a restart
		{life: 1, first: 13, count: 1, skip: 1},
		{life: 2, first: 2, count: 1},
	} {
		if skip, lost := s.accept(c.life, c.first, c.count); skip != c.skip || lost != c.lost {
			t.Errorf("step %d: skipped %d, lost %d, want %d, %d", i, skip, lost, c.skip, c.lost)
		}
	}
}

func FuzzEnvelope(f *testing.F) {
	f.Add([]byte{})
	f.Add(appendFrame(appendHeader(nil, "n1", 1, 1), []byte("frame")))
	f.Add(appendFrame(appendFrame(appendHeader(nil, "n1", 9, 1<<63), nil), nil))
	f.Add(append(appendHeader(nil, "n1", 1, 1), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01))
	f.Fuzz(func(t *testing.T, message []byte) {
		e, err := parseEnvelope(message)
		if err != nil {
			return
		}
		if !isName(e.from) || e.count == 0 || e.first == 0 || e.first+e.count < e.first {
			t.Fatalf("%+v", e)
		}
		again := appendHeader(nil, e.from, e.life, e.first)
		rest, n := e.rest, uint64(0)
		for ; len(rest) > 0; n++ {
			var frame []byte
			var ok bool
			if frame, rest, ok = cutFrame(rest); !ok {
				t.Fatal("a checked envelope has a broken frame")
			}
			again = appendFrame(again, frame)
		}
		if n != e.count {
			t.Fatalf("%d frames, counted %d", n, e.count)
		}
		if len(again) > len(message) {
			t.Fatalf("written anew it has %d bytes, before %d", len(again), len(message))
		}
		var s sender
		if skip, lost := s.accept(e.life, e.first, e.count); skip != 0 || lost != 0 {
			t.Fatalf("the first envelope: skipped %d, lost %d", skip, lost)
		}
		if skip, _ := s.accept(e.life, e.first, e.count); skip != e.count {
			t.Fatalf("the same once more: skipped %d of %d", skip, e.count)
		}
	})
}

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"pools/gpus": "pools/gpus",
		"a.b":        "a=2Eb",
		"a b*>é=":    "a=20b=2A=3E=C3=A9=3D",
		"\x00\xff":   "=00=FF",
	} {
		if got := escape(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
	for _, odd := range []string{"=", "=2", "=2e", "=41", "=ZZ", "a.b", "=sync/n1", "a b"} {
		if text, ok := unescape(odd); ok {
			t.Errorf("%q is read as %q", odd, text)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("pools/gpus", "=2E")
	f.Add("\x00 .*>=", "=sync/n1")
	f.Fuzz(func(t *testing.T, text, written string) {
		if back, ok := unescape(escape(text)); !ok || back != text {
			t.Fatalf("%q became %q", text, back)
		}
		if back, ok := unescape(written); ok && escape(back) != written {
			t.Fatalf("%q was read as %q, which is written %q", written, back, escape(back))
		}
	})
}
