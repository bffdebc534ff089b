// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// server is the configuration of a server to which clients connect. They need a certificate of their own if there is a CA.
func (t TLS) server() (*tls.Config, error) {
	c, err := t.load()
	if err != nil {
		return nil, err
	}
	c.ClientCAs = c.RootCAs
	if t.CA != "" {
		c.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return c, nil
}

// both is the configuration of servers that connect to each other: each is a client too.
func (t TLS) both() (*tls.Config, error) {
	c, err := t.load()
	if err != nil {
		return nil, err
	}
	c.ClientCAs, c.ClientAuth = c.RootCAs, tls.RequireAndVerifyClientCert
	return c, nil
}

// client is the configuration of a client, or nil if nothing is given.
func (t TLS) client() (*tls.Config, error) {
	if t == (TLS{}) {
		return nil, nil
	}
	return t.load()
}

func (t TLS) load() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("certificate %s with key %s: %w", t.Cert, t.Key, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("certificates of authorities: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM format", t.CA)
		}
	}
	return c, nil
}
