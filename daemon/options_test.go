// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"allot/api/access"
	"allot/daemon"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBadOptions: a bad value names the key as its user wrote it, and what is allowed.
func TestBadOptions(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	token := daemon.Token{Name: "x", Hash: access.Hash("x")}
	for _, c := range []struct {
		name string
		o    daemon.Options
		key  string
	}{
		{"open to all", daemon.Options{Listen: "0.0.0.0:0"}, "listen"},
		{"no credentials", daemon.Options{Listen: "0.0.0.0:0", TLS: daemon.TLS{Cert: "c", Key: "k"}}, "listen"},
		{"no address for clients", daemon.Options{Listen: "0.0.0.0:0", TLS: daemon.TLS{Cert: "c", Key: "k"}, Tokens: []daemon.Token{token}}, "advertise"},
		{"short reign", daemon.Options{Reign: 1}, "reign"},
		{"two fabrics", daemon.Options{NATS: daemon.NATS{URL: "nats://127.0.0.1:1"}, Cluster: daemon.Cluster{Listen: "127.0.0.1:1"}}, "nats.url"},
		{"two secrets", daemon.Options{Cluster: daemon.Cluster{Secret: "s", SecretFile: "f"}}, "cluster.secret_file"},
		{"no such file", daemon.Options{Cluster: daemon.Cluster{SecretFile: "/nonexistent"}}, "cluster.secret_file"},
		{"empty file", daemon.Options{NATS: daemon.NATS{TokenFile: write(t, "token", " \n")}}, "nats.token_file"},
		{"two lines", daemon.Options{NATS: daemon.NATS{PasswordFile: write(t, "password", "a\nb\n")}}, "nats.password_file"},
		{"cluster without a folder", daemon.Options{Cluster: daemon.Cluster{Listen: "127.0.0.1:1", Join: []string{"127.0.0.1:2"}}}, "dir"},
		{"cluster without others", daemon.Options{Dir: t.TempDir(), Cluster: daemon.Cluster{Listen: "127.0.0.1:1"}}, "cluster.join"},
		{"one founder", daemon.Options{Dir: t.TempDir(), Cluster: daemon.Cluster{Listen: "127.0.0.1:1", Join: []string{"127.0.0.1:2"}, Founders: 1}}, "cluster.founders"},
		{"cluster for all to join", daemon.Options{Dir: t.TempDir(), Cluster: daemon.Cluster{Listen: "0.0.0.0:1", Join: []string{"127.0.0.1:2"}}}, "cluster.listen"},
		{"odd name", daemon.Options{Node: "a b"}, "node"},
		{"odd network", daemon.Options{Node: "a", Network: "a.b"}, "network"},
		{"certificate that is not there", daemon.Options{Node: "a", TLS: daemon.TLS{Cert: "/nonexistent", Key: "/nonexistent"}}, "tls"},
		{"collector without a scheme", daemon.Options{Node: "a", Trace: "127.0.0.1:4318"}, "trace"},
	} {
		if c.o.Listen == "" {
			c.o.Listen = "127.0.0.1:0"
		}
		if c.o.Node == "" {
			c.o.Node = "a"
		}
		d, err := daemon.New(c.o)
		if err == nil {
			err = d.Start(ctx)
		}
		var option *daemon.OptionError
		if !errors.As(err, &option) || option.Key != c.key {
			t.Errorf("%s: %v; want an error about %s", c.name, err, c.key)
		}
	}
}

func start(t *testing.T, o daemon.Options) *daemon.Daemon {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	o.Log.Level = "error"
	d, err := daemon.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Kill() })
	if err := d.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestForgetAsked: who may not manage all pools cannot make a node forget another, a page in a browser cannot either, and a node
// alone says that there is nobody to forget. What was tried is on record, with its outcome.
func TestForgetAsked(t *testing.T) {
	audit := filepath.Join(t.TempDir(), "audit.jsonl")
	d := start(t, daemon.Options{Node: "a", Listen: "127.0.0.1:0", Audit: audit,
		Tokens: []daemon.Token{{Name: "boss", Hash: access.Hash("boss")}, {Name: "some", Hash: access.Hash("some")}},
		Rules: []daemon.Rule{{Who: []string{"boss"}, Pools: []string{"*"}, May: []string{"manage"}},
			{Who: []string{"some"}, Pools: []string{"g*"}, May: []string{"manage"}}}})
	for _, c := range []struct {
		token, kind, body string
		code              int
		text              string
	}{
		{"", "application/json", `{"node":"b"}`, http.StatusUnauthorized, "token"},
		{"some", "application/json", `{"node":"b"}`, http.StatusForbidden, "all pools"},
		{"boss", "text/plain", `{"node":"b"}`, http.StatusUnsupportedMediaType, "JSON"},
		{"boss", "application/json", `x`, http.StatusBadRequest, "NAME"},
		{"boss", "application/json", `{"node":"a"}`, http.StatusConflict, "stop it first"},
		{"boss", "application/json", `{"node":"b"}`, http.StatusConflict, "no embedded server"},
	} {
		r, err := http.NewRequest(http.MethodPost, "http://"+d.Address()+daemon.ForgetPath, bytes.NewReader([]byte(c.body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", c.kind)
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != c.code || !strings.Contains(string(text), c.text) {
			t.Errorf("%q as %q: %s %s", c.body, c.token, answer.Status, text)
		}
	}
	text, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n != 1 || !strings.Contains(string(text), `"What":"forget"`) || !strings.Contains(string(text), "no embedded server") {
		t.Errorf("the record has %d lines: %s", n, text)
	}
}
