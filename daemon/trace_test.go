// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"allot"
	"allot/daemon"
)

// TestTrace: a call of the API arrives as a span at an OpenTelemetry collector.
func TestTrace(t *testing.T) {
	slog.SetLogLoggerLevel(slog.LevelError)
	spans := make(chan string, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && r.URL.Path == "/v1/traces" {
			spans <- string(body)
		}
	}))
	defer collector.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	d, err := daemon.New(daemon.Options{Node: "a", Listen: "127.0.0.1:0", Trace: collector.URL, Log: daemon.Log{Level: "error"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(ctx); err != nil {
		t.Fatal(err)
	}
	c, err := allot.Dial(ctx, d.Address())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := d.Stop(ctx); err != nil { // which sends what has not been sent yet
		t.Fatal(err)
	}
	select {
	case s := <-spans:
		if !strings.Contains(s, "GetStatus") || !strings.Contains(s, "allot") {
			t.Errorf("the spans do not speak of the call: %q", s)
		}
	case <-ctx.Done():
		t.Error("no span arrived")
	}
}
