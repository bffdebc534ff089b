// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"allot/api"
	"allot/api/apitest"
	allotv1 "allot/api/v1"
)

// TestSlowBody does not wait for a body that comes too slowly.
func TestSlowBody(t *testing.T) {
	s := apitest.Serve(t, apitest.New(apitest.Options{}), api.Options{BodyTimeout: 50 * time.Millisecond})
	conn, err := net.Dial("tcp", s.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprint(conn, "POST /allot.v1.PoolService/ListPools HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{")
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode == 200 {
		t.Errorf("%s %s, %v", response.Status, body, err)
	}
}

// TestLongCall waits for longer than a body may take, after a body that came in time.
func TestLongCall(t *testing.T) {
	b := apitest.New(apitest.Options{})
	s := apitest.Serve(t, b, api.Options{BodyTimeout: 50 * time.Millisecond})
	post(t, s.Address, "PoolService/CreatePool", `{"name":"p","units":1}`)
	c := newServices(t, s.Address)
	ctx := background(t)
	opened, err := c.OpenSession(ctx, &allotv1.OpenSessionRequest{})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(id, wait string) (int, string) {
		return post(t, s.Address, "SessionService/Acquire", `{"session":"`+opened.GetSession()+`","id":"`+id+`","pool":"p","units":1,"wait":"`+wait+`"}`)
	}
	if code, body := ask("1", "1s"); code != 200 {
		t.Fatal(code, body)
	}
	if code, body := ask("2", "0.3s"); code != 504 || !strings.Contains(body, "REASON_NOT_NOW") {
		t.Errorf("%d %s", code, body)
	}
	for name, options := range protocols {
		watch, err := newServices(t, s.Address, options...).Watch(ctx, &allotv1.WatchRequest{Every: durationpb.New(250 * time.Millisecond)})
		if err != nil || !watch.Receive() {
			t.Fatal(name, err)
		}
		post(t, s.Address, "PoolService/CreatePool", `{"name":"q-`+name+`","units":1}`)
		if !watch.Receive() || watch.Err() != nil {
			t.Errorf("%s: the watch ended with %v", name, watch.Err())
		}
		_ = watch.Close()
	}
}

// TestConnections hangs up on more connections than are allowed, and serves again when one is closed.
func TestConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := api.Limit(l, 1)
	defer func() { _ = limited.Close() }()
	accepted := make(chan net.Conn)
	go func() {
		defer close(accepted)
		for {
			conn, err := limited.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	dial()
	first := <-accepted
	if _, err := dial().Read(make([]byte, 1)); err == nil {
		t.Error("a second connection was served")
	}
	_, _ = first.Close(), first.Close()
	dial()
	second := <-accepted
	_ = second.Close()
}
