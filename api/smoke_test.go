// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"allot/api"
	"allot/api/apitest"
	allotv1 "allot/api/v1"
	"allot/api/v1/allotv1connect"
)

// post sends a JSON body, as a script would.
func post(t *testing.T, address, call, body string) (int, string) {
	t.Helper()
	response, err := http.Post("http://"+address+"/allot.v1."+call, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(bytes.ReplaceAll(content, []byte(" "), nil))
}

// h2c is a client that speaks HTTP/2 in plain text, as gRPC needs it.
func h2c(t *testing.T) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestPoolsInJSON(t *testing.T) {
	s := apitest.Serve(t, apitest.New(apitest.Options{}), api.Options{})
	code, body := post(t, s.Address, "PoolService/CreatePool", `{"name":"gpus","units":8,"most":3}`)
	if want := `{"pool":{"name":"gpus","units":8,"most":3,"lease":"20s","revision":"1"}}`; code != 200 || body != want {
		t.Errorf("%d %s, want %s", code, body, want)
	}
	code, body = post(t, s.Address, "PoolService/CreatePool", `{"name":"gpus","units":8}`)
	if code != 409 || !strings.Contains(body, "REASON_POOL_EXISTS") {
		t.Errorf("%d %s", code, body)
	}
}

func TestStream(t *testing.T) {
	for name, options := range map[string][]connect.ClientOption{"connect": nil, "grpc": {connect.WithGRPC()}, "json": {connect.WithProtoJSON()}} {
		t.Run(name, func(t *testing.T) {
			s := apitest.Serve(t, apitest.New(apitest.Options{}), api.Options{})
			client := h2c(t)
			pools := allotv1connect.NewPoolServiceClient(client, "http://"+s.Address, options...)
			sessions := allotv1connect.NewSessionServiceClient(client, "http://"+s.Address, options...)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if _, err := pools.CreatePool(ctx, &allotv1.CreatePoolRequest{Name: "gpus", Units: 3}); err != nil {
				t.Fatal(err)
			}
			stream, err := sessions.Session(ctx)
			if err != nil {
				t.Fatal(err)
			}
			err = stream.Send(&allotv1.SessionRequest{Operations: []*allotv1.Operation{
				{What: &allotv1.Operation_Open{Open: &allotv1.Open{Owner: "me"}}},
				{What: &allotv1.Operation_Acquire{Acquire: &allotv1.Ask{Id: "1", Pool: "gpus", Units: 2}}},
				{What: &allotv1.Operation_Release{Release: &allotv1.Return{Id: "1"}}},
				{What: &allotv1.Operation_Acquire{Acquire: &allotv1.Ask{Id: "2", Pool: "gpus", Units: 3}}},
				{What: &allotv1.Operation_Close{Close: &allotv1.Goodbye{}}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			var events []*allotv1.Event
			for {
				m, err := stream.Receive()
				if err != nil {
					if !strings.Contains(err.Error(), "EOF") {
						t.Fatal(err)
					}
					break
				}
				events = append(events, m.GetEvents()...)
			}
			if len(events) != 4 || events[1].GetGranted().GetFence() != 1 || events[2].GetReleased() != "1" || len(events[3].GetGranted().GetUnits()) != 3 {
				t.Errorf("the events are %v", events)
			}
		})
	}
}
