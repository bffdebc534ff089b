// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"allot/allocator"
	"allot/daemon"
)

// call makes an HTTP/JSON call as a script would.
func call(t *testing.T, address, method string, body any) (int, string) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Post("http://"+address+"/"+method, "application/json", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

func TestNetwork(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	began := time.Now()
	n, err := daemon.StartNetwork(ctx, daemon.NetworkOptions{Nodes: 3, Listen: "127.0.0.1:0", Pools: []allocator.Pool{{Name: "demo", Units: 5, Most: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("three nodes and a pool after %v", time.Since(began))
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, d := range n.Nodes {
		code, text := call(t, d.Address(), "allot.v1.PoolService/ListPools", struct{}{})
		if code != http.StatusOK || !strings.Contains(text, `"demo"`) {
			t.Errorf("%s: %d %s", d.Address(), code, text)
		}
	}
	r, err := http.Get("http://" + n.Nodes[0].Address() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil || !strings.Contains(string(text), `allot_pool_units{pool="demo"} 5`) {
		t.Errorf("metrics: %v\n%s", err, text)
	}
}
