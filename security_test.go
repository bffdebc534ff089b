// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package allot_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"allot"
	"allot/allocator"
	"allot/api"
	"allot/api/access"
	"allot/api/apitest"
)

// records is an audit record in memory.
type records struct {
	mu    sync.Mutex
	deeds []api.Deed
}

func (r *records) Record(_ context.Context, d api.Deed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deeds = append(r.deeds, d)
}

func keeper(t *testing.T, o access.Options) *access.Keeper {
	t.Helper()
	k, err := access.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestRules(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		b := apitest.New(apitest.Options{})
		ctx := background(t)
		for _, name := range []string{"gpu-a", "gpu-b", "db"} {
			if _, err := b.CreatePool(ctx, allocator.Pool{Name: name, Units: 4, Most: 2}); err != nil {
				t.Fatal(err)
			}
		}
		audit := &records{}
		s := apitest.Serve(t, b, api.Options{Audit: audit, Access: keeper(t, access.Options{
			Tokens: []access.Token{{Name: "ci", Hash: access.Hash("t-ci")}, {Name: "eve", Hash: access.Hash("t-eve")}, {Name: "ops", Hash: access.Hash("t-ops")}},
			Rules: []access.Rule{
				{Who: []string{"ci", "eve"}, Pools: []string{"gpu-*"}, May: []string{"see", "take"}},
				{Who: []string{"ops"}, Pools: []string{"*"}, May: []string{"see", "manage", "evict"}},
			},
		})})
		for _, token := range []string{"", "wrong"} {
			_, err := allot.Options{Addresses: []string{s.Address}, Token: token, Streams: streams}.Dial(ctx)
			if !errors.Is(err, allot.ErrUnauthenticated) || !strings.Contains(err.Error(), "token") {
				t.Errorf("the token %q: %v", token, err)
			}
		}
		ci := dial(t, allot.Options{Addresses: []string{s.Address}, Token: "t-ci", Streams: streams})
		eve := dial(t, allot.Options{Addresses: []string{s.Address}, Token: "t-eve", Streams: streams})
		ops := dial(t, allot.Options{Addresses: []string{s.Address}, Token: "t-ops", Streams: streams})

		g, err := ci.Acquire(ctx, "gpu-a", 2)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ci.Acquire(ctx, "db", 1); !errors.Is(err, allot.ErrForbidden) || !strings.Contains(err.Error(), `no rule allows "ci" to take the pool "db"`) {
			t.Errorf("a pool that is not for everybody: %v", err)
		}
		if _, err := ops.Acquire(ctx, "gpu-a", 1); !errors.Is(err, allot.ErrForbidden) {
			t.Errorf("ops takes: %v", err)
		}
		pools, err := ci.ListPools(ctx)
		if err != nil || len(pools) != 2 {
			t.Errorf("ci sees %v, %v", pools, err)
		}
		if _, err := ci.GetPool(ctx, "db"); !errors.Is(err, allot.ErrForbidden) {
			t.Errorf("ci gets db: %v", err)
		}
		if _, err := ci.ResizePool(ctx, "gpu-a", 5, 0); !errors.Is(err, allot.ErrForbidden) {
			t.Errorf("ci resizes: %v", err)
		}
		holders, err := ops.Holders(ctx, "")
		if err != nil || len(holders) != 1 || holders[0].Principal != "ci" {
			t.Errorf("ops sees %v, %v", holders, err)
		}
		if err := ci.Evict(ctx, g.Name(), "x"); !errors.Is(err, allot.ErrForbidden) {
			t.Errorf("ci evicts: %v", err)
		}
		if err := eve.ReleaseGrant(ctx, g.Name()); !errors.Is(err, allot.ErrForbidden) {
			t.Errorf("eve releases what is ci's: %v", err)
		}
		if err := ci.ReleaseGrant(ctx, g.Name()); err != nil {
			t.Errorf("ci releases its own: %v", err)
		}
		<-g.Lost()
		if g, err = ci.Acquire(ctx, "gpu-a", 1); err != nil {
			t.Fatal(err)
		}
		if err := ops.Evict(ctx, g.Name(), "maintenance"); err != nil {
			t.Error(err)
		}
		if _, err := ops.ResizePool(ctx, "gpu-a", 5, 0); err != nil {
			t.Error(err)
		}
		if _, err := ops.ResizePool(ctx, "nothing", 5, 0); err == nil {
			t.Error("a pool that is not there was resized")
		}

		audit.mu.Lock()
		defer audit.mu.Unlock()
		var told []string
		for _, d := range audit.deeds {
			told = append(told, d.Who+" "+d.What+" "+d.Pool)
		}
		want := "ci release gpu-a, ops evict gpu-a, ops resize gpu-a, ops resize nothing"
		if got := strings.Join(told, ", "); got != want {
			t.Errorf("on record: %s, want %s", got, want)
		}
		if d := audit.deeds[1]; d.Reason != "maintenance" || d.Grant != g.Name() || d.Err != nil || d.Peer == "" {
			t.Errorf("the eviction: %+v", d)
		}
		if d := audit.deeds[3]; d.Err == nil {
			t.Errorf("the resize that failed: %+v", d)
		}
	})
}

// authority signs certificates for a test.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, pool: x509.NewCertPool()}
	own := a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	a.cert, a.key = own.Leaf, own.PrivateKey.(*ecdsa.PrivateKey)
	a.pool.AddCert(a.cert)
	return a
}

func (a *authority) sign(c *x509.Certificate) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c.SerialNumber = big.NewInt(time.Now().UnixNano())
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, parentKey := a.cert, a.key
	if parent == nil {
		parent, parentKey = c, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, parentKey)
	if err != nil {
		a.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}
}

// TestCertificates has clients known by their certificates, over TLS.
func TestCertificates(t *testing.T) {
	both(t, func(t *testing.T, streams bool) {
		ca, other := newAuthority(t), newAuthority(t)
		b := apitest.New(apitest.Options{})
		ctx := background(t)
		if _, err := b.CreatePool(ctx, allocator.Pool{Name: "gpus", Units: 4, Most: 2}); err != nil {
			t.Fatal(err)
		}
		handler, err := api.NewHandler(b, api.Options{Access: keeper(t, access.Options{
			Certificates: true,
			Rules:        []access.Rule{{Who: []string{"worker-*"}, Pools: []string{"*"}, May: []string{"see", "take"}}},
		})})
		if err != nil {
			t.Fatal(err)
		}
		server := api.NewServer(handler, &tls.Config{
			Certificates: []tls.Certificate{ca.sign(&x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}})},
			ClientAuth:   tls.VerifyClientCertIfGiven, ClientCAs: ca.pool,
		})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = server.ServeTLS(l, "", "")
		}()
		defer func() {
			handler.Close()
			_ = server.Close()
			<-done
		}()
		with := func(certs ...tls.Certificate) allot.Options {
			return allot.Options{Addresses: []string{l.Addr().String()}, TLS: &tls.Config{RootCAs: ca.pool, Certificates: certs}, Streams: streams}
		}
		client := ca.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "worker-1"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		c := dial(t, with(client))
		g, err := c.Acquire(ctx, "gpus", 2)
		if err != nil {
			t.Fatal(err)
		}
		if holders, err := c.Holders(ctx, ""); err != nil || len(holders) != 1 || holders[0].Principal != "worker-1" {
			t.Errorf("the holders are %v, %v", holders, err)
		}
		if err := g.Release(ctx); err != nil {
			t.Error(err)
		}
		c.Close()
		if _, err := with().Dial(ctx); !errors.Is(err, allot.ErrUnauthenticated) || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("without a certificate: %v", err)
		}
		stranger := other.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "worker-1"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
		if _, err := with(stranger).Dial(ctx); err == nil {
			t.Error("a certificate of another authority was let in")
		}
		wrong := with(client)
		wrong.TLS.RootCAs = other.pool
		if _, err := wrong.Dial(ctx); !errors.Is(err, allot.ErrUnreachable) || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("a node with a certificate of another authority: %v", err)
		}
		plain := allot.Options{Addresses: []string{"http://" + l.Addr().String()}}
		if _, err := plain.Dial(ctx); err == nil {
			t.Error("plain text was let in")
		}
	})
}
