// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"strings"

	"allot/node/natsbus"
)

// maxSecret bounds a file with a secret.
const maxSecret = 4096

// readSecrets reads the secrets that are kept in files of their own, where the options file need not be secret.
func (o *Options) readSecrets() error {
	for _, s := range []struct {
		key, path string
		into      *string
	}{
		{"cluster.secret", o.Cluster.SecretFile, &o.Cluster.Secret},
		{"nats.password", o.NATS.PasswordFile, &o.NATS.Password},
		{"nats.token", o.NATS.TokenFile, &o.NATS.Token},
	} {
		if s.path == "" {
			continue
		}
		if *s.into != "" {
			return &OptionError{s.key + "_file", s.path, "give it or " + s.key + ", not both"}
		}
		text, err := readSecret(s.path)
		if err != nil {
			return &OptionError{s.key + "_file", s.path, err.Error()}
		}
		*s.into = text
	}
	return nil
}

// readSecret reads a file of one line. White space around it does not count, so that an editor's line end does no harm.
func readSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(data))
	switch {
	case len(data) > maxSecret:
		return "", errors.New("it is too long for a secret")
	case text == "":
		return "", errors.New("the file is empty")
	case strings.ContainsAny(text, "\r\n"):
		return "", errors.New("the file must have one line")
	}
	return text, nil
}

// authority reads a file of certificates.
func authority(key, path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, &OptionError{key, path, err.Error()}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, &OptionError{key, path, "there is no certificate in it"}
	}
	return pool, nil
}

// peers says how this node reaches the API of the others: with TLS if it serves with TLS itself.
func (o *Options) peers() (*tls.Config, error) {
	if o.TLS.Cert == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.TLS.CA == "" {
		return c, nil
	}
	var err error
	c.RootCAs, err = authority("tls.ca", o.TLS.CA)
	return c, err
}

// busKeys are the keys of our options that stand behind those of the fabric.
var busKeys = map[string]string{
	"Node": "node", "Network": "network", "URL": "nats.url", "Dir": "dir", "Name": "node", "ClusterName": "network",
	"Cluster": "cluster.listen", "Join": "cluster.join", "Founders": "cluster.founders", "TLS.Cert": "cluster.tls",
	"Access.User": "nats.user", "Access.TLS.Cert": "nats.tls", "Access": "nats",
}

// busError gives an option that the fabric refused the name by which its user knows it.
func busError(err error) error {
	var option *natsbus.OptionError
	if !errors.As(err, &option) {
		return err
	}
	key := busKeys[option.Option]
	if key == "" {
		return err
	}
	return &OptionError{key, option.Value, option.Reason}
}
