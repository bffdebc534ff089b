// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/durationpb"

	"allot/allocator"
	"allot/api"
	"allot/api/apitest"
	allotv1 "allot/api/v1"
	"allot/api/v1/allotv1connect"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

func background(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits for a condition, with a deadline.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !is() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("it never happened: %s", what)
		}
	}
}

// services of one node, in one of the protocols.
type services struct {
	allotv1connect.PoolServiceClient
	allotv1connect.SessionServiceClient
	allotv1connect.ObserveServiceClient
}

func newServices(t *testing.T, address string, options ...connect.ClientOption) services {
	client := h2c(t)
	return services{
		allotv1connect.NewPoolServiceClient(client, "http://"+address, options...),
		allotv1connect.NewSessionServiceClient(client, "http://"+address, options...),
		allotv1connect.NewObserveServiceClient(client, "http://"+address, options...),
	}
}

var protocols = map[string][]connect.ClientOption{
	"connect": nil, "grpc": {connect.WithGRPC()}, "grpc-web": {connect.WithGRPCWeb()}, "json": {connect.WithProtoJSON()},
}

// reasonOf is the machine-readable part of an error.
func reasonOf(err error) allotv1.Reason {
	var failed *connect.Error
	if errors.As(err, &failed) {
		for _, d := range failed.Details() {
			if value, err := d.Value(); err == nil {
				if p, ok := value.(*allotv1.Problem); ok {
					return p.GetReason()
				}
			}
		}
	}
	return allotv1.Reason_REASON_UNSPECIFIED
}

// TestEveryCall goes through the life of a pool with unary calls, in every protocol.
func TestEveryCall(t *testing.T) {
	for name, options := range protocols {
		t.Run(name, func(t *testing.T) {
			b := apitest.New(apitest.Options{})
			s := newServices(t, apitest.Serve(t, b, api.Options{}).Address, options...)
			ctx := background(t)
			ok := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			_, err := s.CreatePool(ctx, &allotv1.CreatePoolRequest{Name: "gpus", Units: 4, Most: 3, Lease: durationpb.New(20 * time.Second)})
			ok(err)
			got, err := s.GetPool(ctx, &allotv1.GetPoolRequest{Name: "gpus"})
			ok(err)
			if p := got.GetPool(); p.GetUnits() != 4 || p.GetMost() != 3 || p.GetLease().AsDuration() != 20*time.Second || p.GetStatus().GetFree() != 4 {
				t.Errorf("the pool is %v", p)
			}
			resized, err := s.ResizePool(ctx, &allotv1.ResizePoolRequest{Name: "gpus", Units: 5})
			ok(err)
			if p := resized.GetPool(); p.GetUnits() != 5 || p.GetMost() != 3 {
				t.Errorf("the pool is %v", p)
			}
			list, err := s.ListPools(ctx, &allotv1.ListPoolsRequest{})
			ok(err)
			if len(list.GetPools()) != 1 {
				t.Errorf("the pools are %v", list)
			}

			opened, err := s.OpenSession(ctx, &allotv1.OpenSessionRequest{Owner: "a\tscript\x1b[31m"})
			ok(err)
			id := opened.GetSession()
			granted, err := s.Acquire(ctx, &allotv1.AcquireRequest{Session: id, Id: "r1", Pool: "gpus", Units: 3, Reason: "<b>why</b>"})
			ok(err)
			again, err := s.Acquire(ctx, &allotv1.AcquireRequest{Session: id, Id: "r1", Pool: "gpus", Units: 3})
			ok(err)
			if a, b := granted.GetGrant(), again.GetGrant(); len(a.GetUnits()) != 3 || len(a.GetFences()) != 3 || a.String() != b.String() {
				t.Errorf("granted %v and again %v", a, b)
			}
			_, err = s.Acquire(ctx, &allotv1.AcquireRequest{Session: id, Id: "r2", Pool: "gpus", Units: 3, Wait: durationpb.New(-1)})
			if connect.CodeOf(err) != connect.CodeDeadlineExceeded || reasonOf(err) != allotv1.Reason_REASON_NOT_NOW {
				t.Errorf("not to wait: %v", err)
			}
			_, err = s.Acquire(ctx, &allotv1.AcquireRequest{Session: id, Id: "r3", Pool: "gpus", Units: 3, Wait: durationpb.New(time.Millisecond)})
			if reasonOf(err) != allotv1.Reason_REASON_NOT_NOW {
				t.Errorf("to wait a little: %v", err)
			}
			alive, err := s.KeepAlive(ctx, &allotv1.KeepAliveRequest{Session: id})
			ok(err)
			if alive.GetGoodFor().AsDuration() != 5*time.Second || len(alive.GetLost()) != 0 {
				t.Errorf("alive: %v", alive)
			}

			holders, err := s.ListHolders(ctx, &allotv1.ListHoldersRequest{Pool: "gpus"})
			ok(err)
			if len(holders.GetHolders()) != 1 || holders.GetHolders()[0].GetOwner() != "a script?[31m" || holders.GetHolders()[0].GetReason() != "<b>why</b>" {
				t.Fatalf("the holders are %v", holders)
			}
			waiting := make(chan error, 1)
			go func() {
				_, err := s.Acquire(ctx, &allotv1.AcquireRequest{Session: id, Id: "r4", Pool: "gpus", Units: 3})
				waiting <- err
			}()
			var waiters *allotv1.ListWaitersResponse
			eventually(t, "a waiter is listed", func() bool {
				waiters, err = s.ListWaiters(ctx, &allotv1.ListWaitersRequest{})
				return err == nil && len(waiters.GetWaiters()) == 1
			})
			if w := waiters.GetWaiters()[0]; w.GetPlace() != 1 || w.GetRequest() != "r4" {
				t.Errorf("the waiter is %v", w)
			}
			_, err = s.Evict(ctx, &allotv1.EvictRequest{Id: holders.GetHolders()[0].GetId(), Reason: "for a test"})
			ok(err)
			ok(<-waiting)
			alive, err = s.KeepAlive(ctx, &allotv1.KeepAliveRequest{Session: id})
			ok(err)
			if len(alive.GetLost()) != 1 || alive.GetLost()[0].GetId() != "r1" || alive.GetLost()[0].GetProblem().GetReason() != allotv1.Reason_REASON_EVICTED {
				t.Errorf("the losses are %v", alive)
			}
			_, err = s.Release(ctx, &allotv1.ReleaseRequest{Session: id, Id: "r1"})
			if reasonOf(err) != allotv1.Reason_REASON_UNKNOWN_GRANT || connect.CodeOf(err) != connect.CodeNotFound {
				t.Errorf("released after a loss: %v", err)
			}
			_, err = s.Release(ctx, &allotv1.ReleaseRequest{Session: id, Id: "r4"})
			ok(err)
			_, err = s.Acquire(ctx, &allotv1.AcquireRequest{Session: id, Id: "r5", Pool: "gpus", Units: 1})
			ok(err)
			_, err = s.ReleaseGrant(ctx, &allotv1.ReleaseGrantRequest{Id: "memory/" + id + "/r5"})
			ok(err)
			_, err = s.CloseSession(ctx, &allotv1.CloseSessionRequest{Session: id})
			ok(err)
			_, err = s.KeepAlive(ctx, &allotv1.KeepAliveRequest{Session: id})
			if reasonOf(err) != allotv1.Reason_REASON_UNKNOWN_SESSION {
				t.Errorf("after the end: %v", err)
			}
			status, err := s.GetStatus(ctx, &allotv1.GetStatusRequest{})
			ok(err)
			if !status.GetStatus().GetReady() || status.GetStatus().GetNode() != "memory" {
				t.Errorf("the status is %v", status)
			}

			watch, err := s.Watch(ctx, &allotv1.WatchRequest{Every: durationpb.New(250 * time.Millisecond)})
			ok(err)
			if !watch.Receive() || len(watch.Msg().GetPools()) != 1 {
				t.Fatalf("the watch says %v, %v", watch.Msg(), watch.Err())
			}
			_, err = s.DeletePool(ctx, &allotv1.DeletePoolRequest{Name: "gpus"})
			ok(err)
			if !watch.Receive() || len(watch.Msg().GetPools()) != 0 {
				t.Errorf("the watch says %v, %v", watch.Msg(), watch.Err())
			}
			_ = watch.Close()
		})
	}
}

// TestCallerLeaves takes the request of a caller back that no longer waits.
func TestCallerLeaves(t *testing.T) {
	b := apitest.New(apitest.Options{})
	s := newServices(t, apitest.Serve(t, b, api.Options{}).Address)
	ctx := background(t)
	if _, err := b.CreatePool(ctx, allocator.Pool{Name: "p", Units: 1, Most: 1}); err != nil {
		t.Fatal(err)
	}
	opened, err := s.OpenSession(ctx, &allotv1.OpenSessionRequest{Ttl: durationpb.New(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	id := opened.GetSession()
	if _, err := s.Acquire(ctx, &allotv1.AcquireRequest{Session: id, Id: "a", Pool: "p", Units: 1}); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := s.Acquire(short, &allotv1.AcquireRequest{Session: id, Id: "b", Pool: "p", Units: 1})
		done <- err
	}()
	// It waits for longer than the TTL, and is kept alive by that.
	eventually(t, "keepalives", func() bool { return b.Beats() >= 5 })
	if p, _ := b.Pool("p"); p.Waiting != 1 {
		t.Errorf("%d wait", p.Waiting)
	}
	cancel()
	if err := <-done; connect.CodeOf(err) != connect.CodeCanceled {
		t.Error(err)
	}
	eventually(t, "nobody waits", func() bool { p, _ := b.Pool("p"); return p.Waiting == 0 })
	// A script that is gone is forgotten.
	eventually(t, "the session has ended", func() bool { return b.Sessions() == 0 })
	if _, err := s.Release(ctx, &allotv1.ReleaseRequest{Session: id, Id: "a"}); reasonOf(err) != allotv1.Reason_REASON_UNKNOWN_SESSION {
		t.Error(err)
	}
}

// TestBadInput sends what makes no sense as JSON: each is a clear error, and nothing is lost by it.
func TestBadInput(t *testing.T) {
	b := apitest.New(apitest.Options{})
	server := apitest.Serve(t, b, api.Options{})
	if _, err := b.CreatePool(background(t), allocator.Pool{Name: "p", Units: 5, Most: 3}); err != nil {
		t.Fatal(err)
	}
	_, body := post(t, server.Address, "SessionService/OpenSession", `{}`)
	var opened struct{ Session string }
	if err := json.Unmarshal([]byte(body), &opened); err != nil {
		t.Fatal(err)
	}
	ask := func(rest string) string { return `{"session":"` + opened.Session + `",` + rest + `}` }
	long := strings.Repeat("x", 129)
	for _, c := range []struct {
		call, body string
		code       int
		want       string
	}{
		{"PoolService/CreatePool", `{"name":"q","units":0}`, 400, `"field":"units"`},
		{"PoolService/CreatePool", `{"name":"q","units":-3}`, 400, `"allowed":"1to65536"`},
		{"PoolService/CreatePool", `{"name":"q","units":70000}`, 400, "REASON_BAD_VALUE"},
		{"PoolService/CreatePool", `{"name":"q","units":99999999999}`, 400, "int32"},
		{"PoolService/CreatePool", `{"name":"q","units":2,"most":3}`, 400, `"field":"most"`},
		{"PoolService/CreatePool", `{"name":"q","units":2,"most":-1}`, 400, `"field":"most"`},
		{"PoolService/CreatePool", `{"name":"q","units":2,"lease":"0.5s"}`, 400, `"field":"lease"`},
		{"PoolService/CreatePool", `{"name":"q","units":2,"lease":"soon"}`, 400, "Duration"},
		{"PoolService/CreatePool", `{"name":"","units":2}`, 400, `"field":"pool"`},
		{"PoolService/CreatePool", `{"name":"a/b","units":2}`, 400, `"field":"pool"`},
		{"PoolService/CreatePool", `{"name":"<script>","units":2}`, 400, `"field":"pool"`},
		{"PoolService/CreatePool", `{"name":"a\u001b[31m","units":2}`, 400, `a?[31m`},
		{"PoolService/CreatePool", `{"name":"` + long + `","units":2}`, 400, `"field":"pool"`},
		{"PoolService/CreatePool", `{"name":"-a","units":2}`, 400, `"field":"pool"`},
		{"PoolService/CreatePool", `{"name":"q","units":2`, 400, "invalid_argument"},
		{"PoolService/CreatePool", `[]`, 400, "invalid_argument"},
		{"PoolService/CreatePool", `{"name":"` + strings.Repeat("x", 70<<10) + `"}`, 429, "65536"},
		{"PoolService/CreatePool", `{"name":"p","units":2}`, 409, "REASON_POOL_EXISTS"},
		{"PoolService/GetPool", `{"name":"nothing"}`, 404, "REASON_UNKNOWN_POOL"},
		{"PoolService/ResizePool", `{"name":"nothing","units":2}`, 404, "REASON_UNKNOWN_POOL"},
		{"PoolService/ResizePool", `{"name":"p","units":-2}`, 400, `"field":"units"`},
		{"PoolService/ResizePool", `{"name":"p","units":2,"most":3}`, 400, `"field":"most"`},
		{"PoolService/DeletePool", `{"name":"nothing"}`, 404, "REASON_UNKNOWN_POOL"},
		{"PoolService/NoSuchCall", `{}`, 404, ""},
		{"SessionService/OpenSession", `{"owner":"` + long + `"}`, 400, `"field":"owner"`},
		{"SessionService/OpenSession", `{"ttl":"-1s"}`, 400, `"field":"ttl"`},
		{"SessionService/OpenSession", `{"ttl":"7200s"}`, 400, `"field":"ttl"`},
		{"SessionService/Acquire", `{"session":"nothing","id":"1","pool":"p","units":1}`, 404, "REASON_UNKNOWN_SESSION"},
		{"SessionService/Acquire", ask(`"id":"1","pool":"p","units":0`), 400, `"field":"units"`},
		{"SessionService/Acquire", ask(`"id":"1","pool":"p","units":-1`), 400, `"field":"units"`},
		{"SessionService/Acquire", ask(`"id":"1","pool":"p","units":4`), 400, `"allowed":"1to3"`},
		{"SessionService/Acquire", ask(`"id":"1","pool":"q","units":1`), 404, "REASON_UNKNOWN_POOL"},
		{"SessionService/Acquire", ask(`"id":"","pool":"p","units":1`), 400, `"field":"id"`},
		{"SessionService/Acquire", ask(`"id":"a/b","pool":"p","units":1`), 400, `"field":"id"`},
		{"SessionService/Acquire", ask(`"id":"é","pool":"p","units":1`), 400, `"field":"id"`},
		{"SessionService/Acquire", ask(`"id":"1","pool":"p","units":1,"reason":"` + strings.Repeat("x", 513) + `"`), 400, `"field":"reason"`},
		{"SessionService/Acquire", ask(`"id":"1","pool":"p","units":1,"wait":"9999999s"`), 400, `"field":"wait"`},
		{"SessionService/Release", ask(`"id":"1"`), 404, "REASON_UNKNOWN_GRANT"},
		{"ObserveService/ListHolders", `{"pool":"nothing"}`, 404, "REASON_UNKNOWN_POOL"},
		{"ObserveService/ListWaiters", `{"pool":"a b"}`, 400, `"field":"pool"`},
		{"ObserveService/Evict", `{"id":"x"}`, 400, `"field":"id"`},
		{"ObserveService/Evict", `{"id":"a/b/c"}`, 404, "REASON_UNKNOWN_GRANT"},
		{"ObserveService/ReleaseGrant", `{"id":"a/b/c"}`, 404, "REASON_UNKNOWN_GRANT"},
	} {
		code, body := post(t, server.Address, c.call, c.body)
		if code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s %.80s: %d %.300s, want %d and %q", c.call, c.body, code, body, c.code, c.want)
		}
		if strings.ContainsAny(body, "\x1b\x00") {
			t.Errorf("%s %.80s: the answer has control characters: %q", c.call, c.body, body)
		}
	}
	if p, err := b.Pool("p"); err != nil || p.Free != 5 || p.Waiting != 0 || len(b.Pools()) != 1 {
		t.Errorf("afterwards the pool is %+v, %v", p, err)
	}
	if code, body := post(t, server.Address, "SessionService/Acquire", ask(`"id":"1","pool":"p","units":1`)); code != 200 {
		t.Errorf("afterwards: %d %s", code, body)
	}
}

// TestFailure keeps what went wrong inside from callers.
func TestFailure(t *testing.T) {
	b := apitest.New(apitest.Options{})
	server := apitest.Serve(t, b, api.Options{})
	b.Break(errors.New("the password of the database is 1234"))
	code, body := post(t, server.Address, "PoolService/CreatePool", `{"name":"q","units":1}`)
	if code != 500 || strings.Contains(body, "1234") || !strings.Contains(body, "REASON_INTERNAL") {
		t.Errorf("%d %s", code, body)
	}
	b.Break(allocator.ErrUnavailable)
	code, body = post(t, server.Address, "SessionService/OpenSession", `{}`)
	if code != 503 || !strings.Contains(body, "REASON_UNAVAILABLE") {
		t.Errorf("%d %s", code, body)
	}
}

func get(t *testing.T, address string) (int, string) {
	t.Helper()
	response, err := http.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var text strings.Builder
	if err := response.Write(&text); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, text.String()
}

func TestHealth(t *testing.T) {
	b := apitest.New(apitest.Options{})
	s := apitest.Serve(t, b, api.Options{})
	if code, _ := get(t, s.Address+"/healthz"); code != 200 {
		t.Errorf("healthz: %d", code)
	}
	if code, _ := get(t, s.Address+"/readyz"); code != 200 {
		t.Errorf("readyz: %d", code)
	}
	b.SetReady(false)
	if code, text := get(t, s.Address+"/readyz"); code != 503 || !strings.Contains(text, "not part of a working network") {
		t.Errorf("readyz: %d %s", code, text)
	}
	post(t, s.Address, "PoolService/GetPool", `{"name":"x"}`)
	if code, text := get(t, s.Address+"/metrics"); code != 200 || !strings.Contains(text, `allot_api_requests_total{code="not_found",procedure="/allot.v1.PoolService/GetPool"} 1`) {
		t.Errorf("metrics: %d %s", code, text)
	}
	// Calls that change nothing may be GET.
	if code, text := get(t, s.Address+"/allot.v1.ObserveService/GetStatus?encoding=json&message=%7B%7D"); code != 200 || !strings.Contains(text, "memory") {
		t.Errorf("GET: %d %s", code, text)
	}
}
