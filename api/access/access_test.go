// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "abc", true}, {"a*", "abc", true}, {"a*", "ba", false},
		{"*c", "abc", true}, {"*c", "abcd", false}, {"a*c", "ac", true}, {"a*c", "abcc", true}, {"a*b*c", "a-b-b-c", true},
		{"a*b*c", "acb", false}, {"**", "x", true}, {"gpu-?", "gpu-1", false}, {"[a]", "a", false}, {"gpus", "GPUS", false},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("matches(%q, %q) = %t", c.pattern, c.name, got)
		}
	}
}

// FuzzMatches compares with the standard library, whose star does not cross slashes.
func FuzzMatches(f *testing.F) {
	f.Add("a*b*c", "aXbYc")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if strings.ContainsAny(pattern, `?[]\/`) || strings.Contains(name, "/") {
			t.Skip()
		}
		want, err := path.Match(pattern, name)
		if got := matches(pattern, name); err == nil && got != want {
			t.Errorf("matches(%q, %q) = %t, path.Match says %t", pattern, name, got, want)
		}
	})
}

func TestRules(t *testing.T) {
	k, err := New(Options{
		Tokens: []Token{{Name: "ci", Hash: Hash("t1")}, {Name: "ops", Hash: Hash("t2")}},
		Rules: []Rule{
			{Who: []string{"ci"}, Pools: []string{"gpu-*"}, May: []string{"see", "take"}},
			{Who: []string{"*"}, Pools: []string{"*"}, May: []string{"see"}},
			{Who: []string{"ops"}, Pools: []string{"*"}, May: []string{"see", "take", "manage", "evict"}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		who  string
		what Action
		pool string
		want bool
	}{
		{"ci", Take, "gpu-1", true}, {"ci", Take, "db", false}, {"ci", See, "db", true}, {"ci", Manage, "gpu-1", false},
		{"ci", Evict, "gpu-1", false}, {"ops", Evict, "db", true}, {"", Take, "gpu-1", false},
	} {
		err := k.Allow(c.who, c.what, c.pool)
		if (err == nil) != c.want {
			t.Errorf("Allow(%q, %s, %q) = %v", c.who, c.what, c.pool, err)
		}
		var forbidden *ForbiddenError
		if err != nil && (!errors.As(err, &forbidden) || !strings.Contains(err.Error(), c.pool)) {
			t.Errorf("the refusal is %v", err)
		}
	}
}

func TestAuthenticate(t *testing.T) {
	token := NewToken()
	k, err := New(Options{Tokens: []Token{{Name: "ci", Hash: Hash(token)}}, Certificates: true})
	if err != nil {
		t.Fatal(err)
	}
	chain := func(c *x509.Certificate) *tls.ConnectionState {
		return &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{c}}}
	}
	for _, c := range []struct {
		header string
		tls    *tls.ConnectionState
		want   string
		why    string
	}{
		{header: "Bearer " + token, want: "ci"},
		{header: "bearer " + token, want: "ci"},
		{header: "Bearer x", why: "not known"},
		{header: "Bearer " + token + " ", why: "not known"},
		{header: "Bearer", why: "broken"},
		{header: "Bearer ", why: "broken"},
		{header: "Basic " + token, why: "broken"},
		{why: "a token or a client certificate is needed"},
		{tls: &tls.ConnectionState{}, why: "needed"},
		{tls: chain(&x509.Certificate{Subject: pkix.Name{CommonName: "worker"}}), want: "worker"},
		{tls: chain(&x509.Certificate{DNSNames: []string{"a.example"}}), want: "a.example"},
		{tls: chain(&x509.Certificate{URIs: []*url.URL{{Scheme: "spiffe", Host: "x"}}}), want: "spiffe://x"},
		{tls: chain(&x509.Certificate{}), why: "no name"},
		{header: "Bearer x", tls: chain(&x509.Certificate{Subject: pkix.Name{CommonName: "worker"}}), why: "not known"},
	} {
		r := &http.Request{Header: http.Header{}, TLS: c.tls}
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}
		got, err := k.Authenticate(r)
		var unknown *UnknownError
		switch {
		case c.why == "" && (err != nil || got != c.want):
			t.Errorf("%q: %q, %v, want %q", c.header, got, err, c.want)
		case c.why != "" && (!errors.As(err, &unknown) || !strings.Contains(err.Error(), c.why)):
			t.Errorf("%q: %q, %v, want why %q", c.header, got, err, c.why)
		}
	}
}

func TestOptions(t *testing.T) {
	good := Token{Name: "a", Hash: Hash("a")}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, ""},
		{Options{Tokens: []Token{good}}, ""},
		{Options{Tokens: []Token{{Name: "a", Hash: "secret"}}}, "sha256:"},
		{Options{Tokens: []Token{{Hash: Hash("a")}}}, "must not be empty"},
		{Options{Tokens: []Token{good, {Name: "b", Hash: Hash("a")}}}, "same token"},
		{Options{Tokens: []Token{good}, Rules: []Rule{{Who: []string{"a"}, Pools: []string{"*"}, May: []string{"fly"}}}}, "[see take manage evict]"},
		{Options{Tokens: []Token{good}, Rules: []Rule{{Who: []string{"a"}, May: []string{"see"}}}}, "needs who, pools and may"},
		{Options{Rules: []Rule{{Who: []string{"a"}, Pools: []string{"*"}, May: []string{"see"}}}}, "tokens or certificates"},
	} {
		_, err := New(c.o)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("New(%+v): %v, want %q", c.o, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error repeats what may be a token: %v", err)
		}
	}
}
