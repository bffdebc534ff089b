// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// spaces are network namespaces, one for each node and a hub with a bridge between them. Each has its own loopback, so that the
// API of a node needs no credentials; the nodes reach each other over TLS.
type spaces struct {
	t     *testing.T
	hub   string
	names []string
}

func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s\nThis test makes network namespaces: it needs root and iproute2.", strings.Join(args, " "), err, out)
	}
}

func newSpaces(t *testing.T, n int) *spaces {
	t.Helper()
	s := &spaces{t: t, hub: fmt.Sprintf("allot%d-hub", os.Getpid())}
	t.Cleanup(s.remove)
	run(t, "ip", "netns", "add", s.hub)
	run(t, "ip", "-n", s.hub, "link", "add", "br0", "type", "bridge")
	run(t, "ip", "-n", s.hub, "link", "set", "br0", "up")
	for i := range n {
		name := fmt.Sprintf("allot%d-%d", os.Getpid(), i)
		s.names = append(s.names, name)
		run(t, "ip", "netns", "add", name)
		run(t, "ip", "-n", name, "link", "set", "lo", "up")
		run(t, "ip", "-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", s.port(i), "netns", s.hub)
		run(t, "ip", "-n", name, "addr", "add", s.address(i)+"/24", "dev", "eth0")
		run(t, "ip", "-n", name, "link", "set", "eth0", "up")
		run(t, "ip", "-n", s.hub, "link", "set", s.port(i), "master", "br0")
		run(t, "ip", "-n", s.hub, "link", "set", s.port(i), "up")
	}
	return s
}

func (s *spaces) port(i int) string    { return fmt.Sprintf("port%d", i) }
func (s *spaces) address(i int) string { return fmt.Sprintf("10.199.0.%d", i+1) }

func (s *spaces) remove() {
	for _, name := range append(s.names, s.hub) {
		_ = exec.Command("ip", "netns", "del", name).Run()
	}
}

// cut and heal take the cable of a node out and put it back.
func (s *spaces) cut(i int)  { run(s.t, "ip", "-n", s.hub, "link", "set", s.port(i), "down") }
func (s *spaces) heal(i int) { run(s.t, "ip", "-n", s.hub, "link", "set", s.port(i), "up") }

// client reaches the loopback of a node's namespace: a socket stays in the namespace in which it was made.
func (s *spaces) client(p *process) *http.Client {
	name := p.prefix[3]
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		type result struct {
			net.Conn
			error
		}
		done := make(chan result, 1)
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
			f, err := os.Open("/var/run/netns/" + name)
			if err == nil {
				defer func() { _ = f.Close() }()
				err = unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
			}
			if err != nil {
				done <- result{nil, err}
				return
			}
			c, err := (&net.Dialer{}).DialContext(ctx, network, address)
			done <- result{c, err}
		}()
		r := <-done
		return r.Conn, r.error
	}
	return &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
}

// certificates makes an authority and one certificate for all nodes.
func (s *spaces) certificates(dir string, n int) (cert, key, ca string) {
	t := s.t
	t.Helper()
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "node"}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	for i := range n {
		leaf.IPAddresses = append(leaf.IPAddresses, net.ParseIP(s.address(i)))
	}
	newKey := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	write := func(name, kind string, der []byte, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	caKey, leafKey := newKey(), newKey()
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, &caKey.PublicKey, caKey)
	ca = write("ca.pem", "CERTIFICATE", der, err)
	der, err = x509.CreateCertificate(rand.Reader, leaf, authority, &leafKey.PublicKey, caKey)
	cert = write("cert.pem", "CERTIFICATE", der, err)
	der, err = x509.MarshalECPrivateKey(leafKey)
	key = write("key.pem", "EC PRIVATE KEY", der, err)
	return cert, key, ca
}

// newApart starts a network of n nodes, each in a network namespace of its own.
func newApart(t *testing.T, n, units, most int) *cluster {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, dir: t.TempDir(), store: newStore(t), units: units, space: newSpaces(t, n)}
	cert, key, ca := c.space.certificates(c.dir, n)
	var join []string
	for i := range n {
		join = append(join, fmt.Sprintf("%q", c.space.address(i)+":6222"))
	}
	for i := range n {
		name := fmt.Sprintf("n%d", i)
		options := fmt.Sprintf(`node = %q
listen = "127.0.0.1:%d"
dir = %q
reign = %q
log.level = "warn"
[cluster]
listen = "%s:6222"
join = [%s]
secret = "not so secret"
tls = { cert = %q, key = %q, ca = %q }
`, name, 4710+i, filepath.Join(c.dir, name), reign, c.space.address(i), strings.Join(join, ", "), cert, key, ca)
		file := filepath.Join(c.dir, name+".toml")
		if err := os.WriteFile(file, []byte(options), 0o600); err != nil {
			t.Fatal(err)
		}
		c.nodes = append(c.nodes, &process{t: t, name: name, log: filepath.Join(c.dir, name+".log"), address: fmt.Sprintf("127.0.0.1:%d", 4710+i),
			prefix: []string{"ip", "netns", "exec", c.space.names[i]}, args: []string{path, "node", "--config", file}})
	}
	c.begin(most)
	return c
}

// TestPartition cuts off the root, then another node, each for longer than the lease, and puts them back.
func TestPartition(t *testing.T) {
	c := newApart(t, 3, 5, 3)
	for _, isRoot := range []bool{true, false} {
		victim := c.root()
		if !isRoot {
			victim = c.other(victim)
		}
		i := 0
		for c.nodes[i] != victim {
			i++
		}
		before := c.store.total()
		c.space.cut(i)
		time.Sleep(lease + 2*reign)
		c.servedExcept(victim)
		if m, err := c.call(victim, "ObserveService/GetStatus", struct{}{}); err != nil {
			t.Errorf("the node that was cut off does not answer its own clients: %v", err)
		} else {
			t.Logf("cut off: %v", m["status"])
		}
		c.space.heal(i)
		c.served()
		c.until(recovery, "it is a member again", func() bool { return c.members() == 3 })
		if c.store.total() == before {
			t.Error("nothing was used in the meantime")
		}
	}
	c.whole(c.nodes[0])
	c.store.judge(t, c.units)
}
