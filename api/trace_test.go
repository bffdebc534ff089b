// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"allot/api"
	"allot/api/apitest"
	allotv1 "allot/api/v1"
)

// TestTraces has a span for each call and each stream, and none when nobody wants them.
func TestTraces(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	s := apitest.Serve(t, apitest.New(apitest.Options{}), api.Options{Tracer: provider})
	post(t, s.Address, "PoolService/GetPool", `{"name":"x"}`)
	k, _ := upgrade(t, s.Address)
	k.say(open(), &allotv1.Operation{What: &allotv1.Operation_Close{Close: &allotv1.Goodbye{}}})
	k.events(2)
	names := func() (all []string) {
		for _, span := range spans.GetSpans() {
			all = append(all, span.Name)
		}
		slices.Sort(all)
		return all
	}
	want := []string{"allot.v1.PoolService/GetPool", "allot.v1.SessionService/Session"}
	eventually(t, "the spans", func() bool { return slices.Equal(names(), want) })
}

// lines is a log in memory.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(data)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// TestLog writes one line of JSON for each request, with what a person needs to find the caller.
func TestLog(t *testing.T) {
	log := &lines{}
	b := apitest.New(apitest.Options{})
	s := apitest.Serve(t, b, api.Options{Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	post(t, s.Address, "PoolService/CreatePool", `{"name":"p","units":1}`)
	post(t, s.Address, "PoolService/GetPool", `{"name":"<b>\u001b\n"}`)
	k, _ := upgrade(t, s.Address)
	if _, err := k.conn.Write([]byte("\x03abc")); err != nil {
		t.Fatal(err)
	}
	k.events(1)
	eventually(t, "the stream is logged", func() bool { return strings.Contains(log.text(), "(upgrade)") })
	found := map[string]bool{}
	for line := range strings.Lines(log.text()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		level, _ := entry["level"].(string)
		procedure, _ := entry["procedure"].(string)
		message, _ := entry["msg"].(string)
		found[strings.TrimSpace(level+" "+message+" "+procedure)] = true
	}
	for _, want := range []string{
		"INFO deed", "DEBUG request /allot.v1.PoolService/CreatePool", "DEBUG request /allot.v1.PoolService/GetPool",
		"WARN request /allot.v1.SessionService/Session (upgrade)",
	} {
		if !found[want] {
			t.Errorf("no line %q in\n%s", want, log.text())
		}
	}
}
