// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"

	"allot/api/access"
	allotv1 "allot/api/v1"
	"allot/node/natsbus"
)

// selfSigned makes a certificate for loopback that is its own authority.
func selfSigned(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "node"}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "EC PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// begin says the first word on a stream to a node, and returns the first event of the answer.
func begin(t *testing.T, address, cert string, first *allotv1.Operation) *allotv1.Event {
	t.Helper()
	trust, err := authority("cert", cert)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: trust, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprint(conn, "GET /allot.v1.SessionService/Session HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: allot.v1\r\nAuthorization: Bearer secret\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	answer, err := http.ReadResponse(in, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v %v", answer, err)
	}
	_ = answer.Body.Close()
	if _, err := protodelim.MarshalTo(conn, &allotv1.SessionRequest{Operations: []*allotv1.Operation{first}}); err != nil {
		t.Fatal(err)
	}
	var response allotv1.SessionResponse
	if err := protodelim.UnmarshalFrom(in, &response); err != nil || len(response.GetEvents()) == 0 {
		t.Fatalf("%v %v", &response, err)
	}
	return response.GetEvents()[0]
}

// TestCarriedWithTLS: a node carries a session to the node where it lives with TLS, if it knows the authority of that.
func TestCarriedWithTLS(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cert, key := selfSigned(t)
	server, err := natsbus.StartServer(ctx, natsbus.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	start := func(name, ca string) *Daemon {
		d, err := New(Options{Node: name, Listen: "127.0.0.1:0", TLS: TLS{Cert: cert, Key: key, CA: ca}, Reign: Duration(time.Second),
			Tokens: []Token{{Name: "x", Hash: access.Hash("secret")}}, Log: Log{Level: "error"}, server: server})
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
	home, knows, doubts := start("home", cert), start("knows", cert), start("doubts", "")
	for _, d := range []*Daemon{knows, doubts} {
		for len(d.alloc.Network().Members) < 3 {
			if time.Sleep(interval); ctx.Err() != nil {
				t.Fatal("there are no three members")
			}
		}
	}
	open := begin(t, home.Address(), cert, &allotv1.Operation{What: &allotv1.Operation_Open{Open: &allotv1.Open{Owner: "test"}}})
	session := open.GetOpened().GetSession()
	if session == "" {
		t.Fatalf("open: %v", open)
	}
	resume := &allotv1.Operation{What: &allotv1.Operation_Resume{Resume: &allotv1.Resume{Session: session, Node: "home"}}}
	if e := begin(t, knows.Address(), cert, resume); e.GetOpened().GetSession() != session || e.GetOpened().GetNode() != "home" {
		t.Errorf("carried by a node that knows the authority: %v", e)
	}
	if e := begin(t, doubts.Address(), cert, resume); e.GetFailed() == nil {
		t.Errorf("carried by a node that does not know the authority: %v", e)
	}
}
