// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"allot/allocator"
	"allot/api"
	"allot/api/apitest"
	allotv1 "allot/api/v1"
)

// talk is an upgraded connection, by hand.
type talk struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func upgrade(t *testing.T, address string, headers ...string) (*talk, *http.Response) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	headers = append(headers, "Host: x", "Connection: Upgrade", "Upgrade: allot.v1")
	if _, err := fmt.Fprintf(conn, "GET /allot.v1.SessionService/Session HTTP/1.1\r\n%s\r\n\r\n", strings.Join(headers, "\r\n")); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &talk{t, conn, in}, response
}

func (k *talk) say(ops ...*allotv1.Operation) {
	k.t.Helper()
	if _, err := protodelim.MarshalTo(k.conn, &allotv1.SessionRequest{Operations: ops}); err != nil {
		k.t.Fatal(err)
	}
}

// events reads until there are n of them, or the end.
func (k *talk) events(n int) []*allotv1.Event {
	k.t.Helper()
	var all []*allotv1.Event
	for len(all) < n {
		m := &allotv1.SessionResponse{}
		if err := protodelim.UnmarshalFrom(k.in, m); err != nil {
			if !errors.Is(err, io.EOF) {
				k.t.Errorf("the stream ended with %v", err)
			}
			break
		}
		all = append(all, m.GetEvents()...)
	}
	return all
}

func open() *allotv1.Operation {
	return &allotv1.Operation{What: &allotv1.Operation_Open{Open: &allotv1.Open{Owner: "me"}}}
}

func ask(id string, units int32) *allotv1.Operation {
	return &allotv1.Operation{What: &allotv1.Operation_Acquire{Acquire: &allotv1.Ask{Id: id, Pool: "p", Units: units}}}
}

func onePool(t *testing.T) (*apitest.Backend, *apitest.Server) {
	t.Helper()
	b := apitest.New(apitest.Options{})
	if _, err := b.CreatePool(background(t), allocator.Pool{Name: "p", Units: 5, Most: 3}); err != nil {
		t.Fatal(err)
	}
	return b, apitest.Serve(t, b, api.Options{})
}

// TestWire has a conversation over an upgraded connection, with several operations in a message.
func TestWire(t *testing.T) {
	b, s := onePool(t)
	k, response := upgrade(t, s.Address)
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(response.Status)
	}
	k.say(open(), ask("1", 3), ask("2", 3), ask("3", 9),
		&allotv1.Operation{What: &allotv1.Operation_Where{Where: &allotv1.Where{Id: "2", Pool: "p"}}},
		&allotv1.Operation{What: &allotv1.Operation_KeepAlive{KeepAlive: &allotv1.Beat{Number: 7}}})
	var names []string
	for _, e := range k.events(5) {
		names = append(names, strings.TrimPrefix(fmt.Sprintf("%T", e.GetWhat()), "*allotv1.Event_"))
	}
	got := strings.Join(names, " ")
	if got != "Opened Granted Refused Alive Place" && got != "Opened Granted Refused Place Alive" {
		t.Errorf("the events are %s", got)
	}
	k.say(&allotv1.Operation{What: &allotv1.Operation_Release{Release: &allotv1.Return{Id: "1", Quiet: true}}})
	if e := k.events(1); e[0].GetGranted().GetId() != "2" {
		t.Errorf("then %v", e)
	}
	k.say(&allotv1.Operation{What: &allotv1.Operation_Close{Close: &allotv1.Goodbye{}}})
	if e := k.events(1); len(e) != 0 {
		t.Errorf("after the end: %v", e)
	}
	eventually(t, "the session is over", func() bool { return b.Sessions() == 0 })
}

// TestEagerWire sends its first words together with the request to upgrade, as a client may that is sure of the answer.
func TestEagerWire(t *testing.T) {
	_, s := onePool(t)
	conn, err := net.Dial("tcp", s.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	var all bytes.Buffer
	all.WriteString("GET /allot.v1.SessionService/Session HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: allot.v1\r\n\r\n")
	for _, ops := range [][]*allotv1.Operation{{open()}, {ask("1", 2)}} {
		if _, err := protodelim.MarshalTo(&all, &allotv1.SessionRequest{Operations: ops}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Write(all.Bytes()); err != nil {
		t.Fatal(err)
	}
	k := &talk{t, conn, bufio.NewReader(conn)}
	if _, err := http.ReadResponse(k.in, nil); err != nil {
		t.Fatal(err)
	}
	if e := k.events(2); e[1].GetGranted().GetId() != "1" {
		t.Errorf("the events are %v", e)
	}
}

// TestBadWire sends what no client should: the stream ends with a reason, and the node goes on.
func TestBadWire(t *testing.T) {
	b, s := onePool(t)
	frame := func(body string) string { return string(binary.AppendUvarint(nil, uint64(len(body)))) + body }
	good, err := proto.Marshal(&allotv1.SessionRequest{Operations: []*allotv1.Operation{open(), ask("1", 1)}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		bytes  string
		reason allotv1.Reason
		want   string
	}{
		"garbage":                  {frame("\xff\xff\xff"), allotv1.Reason_REASON_PROTOCOL, "cannot be decoded"},
		"truncated message":        {frame(string(good))[:len(good)-2], allotv1.Reason_REASON_PROTOCOL, "inside a message"},
		"truncated length":         {"\xff", allotv1.Reason_REASON_PROTOCOL, "inside the length"},
		"a length without end":     {strings.Repeat("\xff", 11), allotv1.Reason_REASON_PROTOCOL, "makes no sense"},
		"an oversized message":     {string(binary.AppendUvarint(nil, 1<<40)), allotv1.Reason_REASON_PROTOCOL, "at most 65536"},
		"an unknown operation":     {frame("\x0a\x03\xf8\x07\x01"), allotv1.Reason_REASON_PROTOCOL, "begins with open or resume"},
		"not open":                 {frame("\x0a\x02\x32\x00"), allotv1.Reason_REASON_PROTOCOL, "begins with open or resume"},
		"open twice":               {frame("\x0a\x02\x0a\x00\x0a\x02\x0a\x00"), allotv1.Reason_REASON_PROTOCOL, "already"},
		"resume without a session": {frame("\x0a\x02\x12\x00"), allotv1.Reason_REASON_UNKNOWN_SESSION, "no such session"},
	} {
		k, _ := upgrade(t, s.Address)
		if _, err := k.conn.Write([]byte(c.bytes)); err != nil {
			t.Fatal(err)
		}
		if err := k.conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		events := k.events(10)
		if len(events) == 0 {
			t.Errorf("%s: no reason was given", name)
			continue
		}
		p := events[len(events)-1].GetFailed()
		if p.GetReason() != c.reason || !strings.Contains(p.GetText(), c.want) {
			t.Errorf("%s: %v, want %s %q", name, events, c.reason, c.want)
		}
	}
	if p, _ := b.Pool("p"); p.Free != 5 {
		t.Errorf("%d units are free", p.Free)
	}
	k, _ := upgrade(t, s.Address)
	k.say(open(), ask("1", 1))
	if e := k.events(2); e[1].GetGranted().GetId() != "1" {
		t.Errorf("afterwards: %v", e)
	}
}

// TestSecondStream resumes a session while the first stream still stands: the first one ends, and does not take the session with
// it.
func TestSecondStream(t *testing.T) {
	b, s := onePool(t)
	first, _ := upgrade(t, s.Address)
	first.say(open(), ask("1", 2))
	id := first.events(2)[0].GetOpened().GetSession()
	second, _ := upgrade(t, s.Address)
	second.say(&allotv1.Operation{What: &allotv1.Operation_Resume{Resume: &allotv1.Resume{Session: id}}})
	e := second.events(2)
	if e[0].GetOpened().GetSession() != id || e[1].GetGranted().GetId() != "1" {
		t.Errorf("resumed: %v", e)
	}
	if e := first.events(1); !strings.Contains(e[0].GetFailed().GetText(), "another stream") {
		t.Errorf("the first stream: %v", e)
	}
	second.say(&allotv1.Operation{What: &allotv1.Operation_Release{Release: &allotv1.Return{Id: "1"}}})
	if e := second.events(1); e[0].GetReleased() != "1" {
		t.Errorf("released: %v", e)
	}
	if b.Sessions() != 1 {
		t.Errorf("%d sessions", b.Sessions())
	}
}

// TestNoRelay refuses to carry a stream to where it cannot, or should not, go.
func TestNoRelay(t *testing.T) {
	b, s := onePool(t)
	b.SetMembers(allocator.Member{Name: "memory", Address: s.Address}, allocator.Member{Name: "gone", Address: "127.0.0.1:1"})
	for _, c := range []struct {
		node   string
		header []string
		want   allotv1.Reason
	}{
		{"memory", nil, allotv1.Reason_REASON_UNKNOWN_SESSION},
		{"gone", nil, allotv1.Reason_REASON_UNAVAILABLE},
		{"stranger", nil, allotv1.Reason_REASON_UNAVAILABLE},
		{"gone", []string{"Allot-Relayed: 1"}, allotv1.Reason_REASON_UNKNOWN_SESSION},
	} {
		k, _ := upgrade(t, s.Address, c.header...)
		k.say(&allotv1.Operation{What: &allotv1.Operation_Resume{Resume: &allotv1.Resume{Session: "s9", Node: c.node}}})
		if e := k.events(1); len(e) != 1 || e[0].GetFailed().GetReason() != c.want {
			t.Errorf("resumed at %s: %v, want %s", c.node, e, c.want)
		}
	}
}

// TestSlowReader does not read what it is told: it is no longer listened to either, and others do not notice.
func TestSlowReader(t *testing.T) {
	b, s := onePool(t)
	k, _ := upgrade(t, s.Address)
	k.say(open())
	beat := &allotv1.Operation{What: &allotv1.Operation_KeepAlive{KeepAlive: &allotv1.Beat{Number: 1 << 60}}}
	many := make([]*allotv1.Operation, 1000)
	for i := range many {
		many[i] = beat
	}
	isHeldBack := false
	for range 10_000 {
		if err := k.conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := protodelim.MarshalTo(k.conn, &allotv1.SessionRequest{Operations: many}); err != nil {
			isHeldBack = true
			break
		}
	}
	if !isHeldBack {
		t.Error("the node took in everything")
	}
	other, _ := upgrade(t, s.Address)
	other.say(open(), ask("1", 2))
	if e := other.events(2); e[1].GetGranted().GetId() != "1" {
		t.Errorf("another client: %v", e)
	}
	if p, err := b.Pool("p"); err != nil || p.Free != 3 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestLimits refuses more streams and watches than are allowed.
func TestLimits(t *testing.T) {
	b := apitest.New(apitest.Options{})
	s := apitest.Serve(t, b, api.Options{MaxStreams: 1, MaxWatches: 1})
	first, _ := upgrade(t, s.Address)
	first.say(open())
	first.events(1)
	second, _ := upgrade(t, s.Address)
	if e := second.events(1); e[0].GetFailed().GetReason() != allotv1.Reason_REASON_LIMIT {
		t.Errorf("the second stream: %v", e)
	}
	if code, body := post(t, s.Address, "SessionService/OpenSession", `{}`); code != 429 || !strings.Contains(body, "REASON_LIMIT") {
		t.Errorf("a session for unary calls: %d %s", code, body)
	}
	c := newServices(t, s.Address)
	ctx := background(t)
	one, err := c.Watch(ctx, &allotv1.WatchRequest{})
	if err != nil || !one.Receive() {
		t.Fatal(err)
	}
	two, err := c.Watch(ctx, &allotv1.WatchRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if two.Receive() || reasonOf(two.Err()) != allotv1.Reason_REASON_LIMIT {
		t.Errorf("the second watch: %v", two.Err())
	}
	_, _ = one.Close(), two.Close()
	if _, err := api.NewHandler(b, api.Options{MaxStreams: -1}); err == nil || !strings.Contains(err.Error(), "MaxStreams -1") {
		t.Errorf("a bad option: %v", err)
	}
}

// TestGoingDown tells the clients.
func TestGoingDown(t *testing.T) {
	b, s := onePool(t)
	k, _ := upgrade(t, s.Address)
	k.say(open(), ask("1", 2))
	k.events(2)
	s.Handler.Close()
	if e := k.events(1); e[0].GetFailed().GetReason() != allotv1.Reason_REASON_UNAVAILABLE {
		t.Errorf("the last word: %v", e)
	}
	if p, _ := b.Pool("p"); p.Held != 2 || b.Sessions() != 1 {
		t.Errorf("the session did not live on: %+v", p)
	}
	if code, _ := post(t, s.Address, "SessionService/OpenSession", `{}`); code != 503 {
		t.Errorf("a call afterwards: %d", code)
	}
}
