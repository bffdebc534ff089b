// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"allot/node"
)

// certificate writes a certificate for loopback with its key. It is its own authority.
func certificate(t *testing.T) TLS {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "allot"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IsCA:                  true,
		BasicConstraintsValid: true,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cert := write("cert.pem", "CERTIFICATE", der)
	return TLS{Cert: cert, Key: write("key.pem", "PRIVATE KEY", private), CA: cert}
}

// TestRefused tries options that make no sense or are not safe. Each is refused with the reason.
func TestRefused(t *testing.T) {
	some := TLS{Cert: "c", Key: "k", CA: "a"}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "Node"},
		{Options{Node: "a b"}, "Node"},
		{Options{Node: "n", Network: "a.b"}, "Network"},
		{Options{Node: "n", Replicas: 6}, "Replicas"},
		{Options{Node: "n", Timeout: -1}, "Timeout"},
		{Options{Node: "n", URL: "nonsense"}, "URL"},
		{Options{Node: "n", URL: "nats://example.org:4222", Access: Access{Token: "t"}}, "in the clear"},
		{Options{Node: "n", URL: "nats://u:p@example.org:4222"}, "in the clear"},
		{Options{Node: "n", URL: "nats://127.0.0.1:1", Access: Access{Token: "t", Password: "p"}}, "at most one"},
		{Options{Node: "n", URL: "nats://127.0.0.1:1", Access: Access{TLS: TLS{Cert: "c"}}}, "together"},
		{Options{Node: "n", URL: "nats://127.0.0.1:1", Server: &Server{}}, "not both"},
		{Options{Node: "n", Embed: ServerOptions{Listen: "127.0.0.1"}}, "host:port"},
		{Options{Node: "n", Embed: ServerOptions{Listen: "127.0.0.1:99999"}}, "between 1 and 65535"},
		{Options{Node: "n", Embed: ServerOptions{Listen: ":4222"}}, "loopback"},
		{Options{Node: "n", Embed: ServerOptions{Listen: "0.0.0.0:4222", Access: Access{Token: "t"}}}, "loopback"},
		{Options{Node: "n", Embed: ServerOptions{Listen: "0.0.0.0:4222", Access: Access{TLS: some}}}, "loopback"},
		{Options{Node: "n", Embed: ServerOptions{Listen: "127.0.0.1:4222", Access: Access{User: "u"}}}, "together"},
		{Options{Node: "n", Embed: ServerOptions{Join: []string{"127.0.0.1:1"}}}, "Cluster address of its own"},
		{Options{Node: "n", Embed: ServerOptions{Cluster: "127.0.0.1:1", Join: []string{"127.0.0.1:2"}}}, "Dir"},
		{Options{Node: "n", Embed: ServerOptions{Cluster: "127.0.0.1:1", Dir: "d"}}, "at least one other"},
		{Options{Node: "n", Embed: ServerOptions{Cluster: "127.0.0.1:1", Dir: "d", Join: []string{"x"}}}, "host:port"},
		{Options{Node: "n", Embed: ServerOptions{Cluster: "127.0.0.1:1", Dir: "d", Join: []string{"a:1"}, Founders: 1}}, "Founders"},
		{Options{Node: "n", Embed: ServerOptions{Cluster: "127.0.0.1:1", Dir: "d", Join: []string{"a:1"}, TLS: TLS{CA: "a"}}}, "together"},
		{Options{Node: "n", Embed: ServerOptions{Cluster: "0.0.0.0:1", Dir: "d", Join: []string{"a:1"}}}, "loopback"},
		{Options{Node: "n", Embed: ServerOptions{Cluster: "0.0.0.0:1", Dir: "d", Join: []string{"a:1"}, Secret: "s"}}, "loopback"},
		{Options{Node: "n", Embed: ServerOptions{Cluster: "10.0.0.1:1", Dir: "d", Join: []string{"a:1"}, TLS: some}}, "loopback"},
	} {
		b, err := Open(ctxFor(t), c.o)
		var refused *OptionError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
		if b != nil {
			_ = b.Close()
		}
	}
}

// TestBusyPort makes sure that a server that cannot listen says why.
func TestBusyPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	busy := l.Addr().String()
	for name, o := range map[string]ServerOptions{
		"clients": {Listen: busy},
		"servers": {Cluster: busy, Join: []string{"127.0.0.1:1"}, Dir: t.TempDir()},
	} {
		if _, err := StartServer(ctxFor(t), o); err == nil || !strings.Contains(err.Error(), "address already in use") {
			t.Errorf("the port for %s is busy: %v", name, err)
		}
	}
}

// TestExisting uses a server of another process, as far as the bus can tell, with every kind of credentials.
func TestExisting(t *testing.T) {
	crypt := certificate(t)
	for name, c := range map[string]struct{ server, good, bad Access }{
		"nothing":  {},
		"token":    {Access{Token: "t"}, Access{Token: "t"}, Access{Token: "x"}},
		"password": {Access{User: "u", Password: "p"}, Access{User: "u", Password: "p"}, Access{User: "u", Password: "x"}},
		"certificates": {
			Access{Token: "t", TLS: crypt},
			Access{Token: "t", TLS: crypt},
			Access{Token: "t", TLS: TLS{CA: crypt.CA}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			address := freePorts(t, 1)[0]
			s, err := StartServer(ctxFor(t), ServerOptions{Listen: address, Access: c.server, Log: testLog()})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			one := openAlone(t, Options{Node: "n1", URL: "nats://" + address, Access: c.good})
			two := openAlone(t, Options{Node: "n2", Server: s})
			elsewhere := openAlone(t, Options{Node: "n1", Server: s, Network: "other"})
			if _, err := one.Store().Create(ctxFor(t), "a", nil); err != nil {
				t.Fatal(err)
			}
			if _, err := two.Store().Get(ctxFor(t), "a"); err != nil {
				t.Error(err)
			}
			if _, err := elsewhere.Store().Get(ctxFor(t), "a"); !errors.Is(err, node.ErrNotFound) {
				t.Errorf("in another network: %v", err)
			}
			inOrder(t, []*Bus{one, two}, 100)
			if one.Peers() != nil {
				t.Error("a client of an existing NATS claims to know the others")
			}
			if c.server == c.bad {
				return
			}
			if b, err := Open(ctxFor(t), Options{Node: "n3", URL: "nats://" + address, Access: c.bad}); err == nil {
				_ = b.Close()
				t.Error("bad credentials were taken")
			}
		})
	}
	if _, err := Open(ctxFor(t), Options{Node: "n1", URL: "nats://" + freePorts(t, 1)[0]}); err == nil {
		t.Error("a bus on a NATS that is not there")
	}
}

// TestExistingRestarts stops the server that a node uses, and starts it again.
func TestExistingRestarts(t *testing.T) {
	o := ServerOptions{Listen: freePorts(t, 1)[0], Dir: t.TempDir(), Log: testLog()}
	s, err := StartServer(ctxFor(t), o)
	if err != nil {
		t.Fatal(err)
	}
	b := openAlone(t, Options{Node: "n1", URL: "nats://" + o.Listen, Timeout: 200 * time.Millisecond})
	if err := b.Ready(ctxFor(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Store().Create(ctxFor(t), "a", []byte("1")); err != nil {
		t.Fatal(err)
	}
	w := watch(ctxFor(t), b.Store(), "")
	eventually(t, "the watch begins", func() bool { return w.text() == "a=1 present" })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Store().Get(ctxFor(t), "a"); !errors.Is(err, node.ErrUnavailable) {
		t.Errorf("without a server: %v", err)
	}
	if err := b.Send("n2", []byte("lost")); err != nil {
		t.Error(err)
	}
	if s, err = StartServer(ctxFor(t), o); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	e, err := get(ctxFor(t), b, "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Store().Update(ctxFor(t), "a", []byte("2"), e.Revision); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch goes on", func() bool { return w.text() == "a=1 present a=2" })
	if m := b.Metrics(); m.Disconnects == 0 {
		t.Errorf("%+v", m)
	}
}

// TestSecureCluster has servers show each other certificates and a secret.
func TestSecureCluster(t *testing.T) {
	t.Parallel()
	crypt := certificate(t)
	ports := freePorts(t, 3)
	start := func(i int, secret string, c TLS) *Bus {
		return openAlone(t, Options{Node: "s" + string(rune('0'+i)), Timeout: time.Second, Embed: ServerOptions{
			Dir: t.TempDir(), Cluster: ports[i], Join: ports[:2], Secret: secret, TLS: c,
		}})
	}
	one, two := start(0, "secret", crypt), start(1, "secret", crypt)
	for _, b := range []*Bus{one, two} {
		if err := b.Ready(ctxFor(t)); err != nil {
			t.Fatal(err)
		}
	}
	inOrder(t, []*Bus{one, two}, 100)
	// One that does not know the secret, or is not known, stays outside.
	stranger := start(2, "guess", crypt)
	unknown := openAlone(t, Options{Node: "s3", Timeout: time.Second, Embed: ServerOptions{
		Dir: t.TempDir(), Cluster: freePorts(t, 1)[0], Join: ports[:2], Secret: "secret", TLS: certificate(t),
	}})
	for _, b := range []*Bus{stranger, unknown} {
		if _, err := b.Store().Get(ctxFor(t), "a"); !errors.Is(err, node.ErrUnavailable) {
			t.Errorf("%s: %v", b.Self(), err)
		}
		if got := b.Peers(); len(got) != 0 {
			t.Errorf("%s is connected to %v", b.Self(), got)
		}
	}
}

// TestGate makes sure that the port which a server of a cluster needs on loopback lets nobody in.
func TestGate(t *testing.T) {
	c := newCluster(t, 2, 2)
	s := c.buses[0].server
	address := s.nats.Addr().String()
	for name, a := range map[string]Access{
		"nothing":  {},
		"token":    {Token: "guess"},
		"password": {User: "system", Password: "guess"},
	} {
		if b, err := Open(ctxFor(t), Options{Node: "x", URL: "nats://" + address, Access: a}); err == nil {
			_ = b.Close()
			t.Errorf("with %s a stranger came in", name)
		}
	}
	o := ServerOptions{Listen: "127.0.0.1:1", Access: Access{Token: "t"}}
	if g := newGate(&Server{o: o}); g.node == g.system || len(g.node) < 20 {
		t.Errorf("%+v", g)
	}
}
