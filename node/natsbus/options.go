// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Limits of what a stranger can make a bus carry or keep.
const (
	MaxName  = 64      // bytes in the name of a node or a network
	MaxKey   = 512     // bytes in a key of the store
	MaxValue = 1 << 19 // bytes in a value of the store
	MaxFrame = 4 << 20 // bytes in a frame; less where an existing NATS allows less

	maxQueued = 64 << 20 // bytes of frames that wait for the handler, and as many that wait to be sent
	maxBucket = 1 << 28  // bytes of the store
)

const (
	defaultNetwork = "allot"
	defaultTimeout = 5 * time.Second
	maxReplicas    = 5
)

// Options say what a Bus is. Only Node has to be given: then the node is alone, with a store in a temporary folder.
type Options struct {
	// Node names this node among all others: a letter or digit, then letters, digits, '.', '_' and '-', at most MaxName in
	// all. Two nodes of one name take each other's frames.
	Node string
	// Network is the network that the node belongs to, in the same letters but without '.'. Several networks can share one
	// NATS without seeing each other. Empty means "allot".
	Network string

	// URL is the address of an existing NATS with JetStream, such as "nats://host:4222"; several are separated by commas. It
	// must keep its own promises: without "sync_interval: always" in its configuration, a power cut loses acknowledged writes.
	// Empty means that a server is embedded.
	URL    string
	Access Access // for URL
	// Server is an embedded server that several nodes of one process share. The bus does not close it.
	Server *Server
	// Embed describes the server that Open starts if neither URL nor Server are given. Its Name is the node's, its
	// ClusterName the network's, unless they are set.
	Embed ServerOptions

	// Replicas is how many nodes keep a copy of the store, 1 to 5. 0 means as many as there are nodes, up to 5, growing when
	// nodes join: an even number above 2 is rounded down, because a fourth copy survives no more than three do. With an
	// existing NATS, 0 means 3, or 1 if it is no cluster.
	Replicas int
	// Timeout is how long an operation of the store tries before it returns node.ErrUnavailable. 0 means 5 seconds. When the
	// server that leads the store dies, the others need 4 to 10 seconds to choose another.
	Timeout time.Duration
	// Log is told what happens to the connection and the server. nil means silence.
	Log *slog.Logger
}

// Access says who we are to an existing NATS. At most one of Password, Token and CredsFile is given.
type Access struct {
	User, Password string
	Token          string
	CredsFile      string // a file with a JWT and a seed, as made by nsc
	TLS            TLS    // CA alone, or with a client certificate
}

// TLS names files in PEM format.
type TLS struct {
	Cert, Key string
	CA        string // whom to trust; empty means the system's list
}

// ServerOptions say what an embedded server is. The zero value is a server that listens nowhere and keeps its store in a
// temporary folder.
type ServerOptions struct {
	// Name is the server's name, unique among the servers of a cluster and the same after a restart: it is how the others
	// know whose vote and whose copy of the store it is. Empty means "allot", which is enough for a server alone.
	Name string
	// Dir is where the store is kept. Empty means a temporary folder that is removed at the end: such a server must be alone.
	Dir string
	// Listen is the address for NATS clients of other processes, such as "127.0.0.1:4222". Empty means none.
	Listen string
	// Access is what clients at Listen have to present: User and Password, or Token, with TLS.Cert and TLS.Key. It is needed
	// unless Listen is a loopback address.
	Access Access

	// Cluster is the address where other servers connect, such as "127.0.0.1:6222". Empty means that the server is alone.
	Cluster string
	// Advertise is the address that the others are told to connect to, if it is not Cluster.
	Advertise string
	// Join lists the Cluster addresses of the other servers. It may name this server too. At the first start of a new network
	// each of its servers lists all of them; a server that comes later lists any that are there.
	Join []string
	// ClusterName is the same for all of them. Empty means "allot".
	ClusterName string
	// Founders is how many servers a new network starts with; all of them must be there once before the store works. 0 means
	// this one and those in Join. It is ignored once the server has been part of a network.
	Founders int
	// Secret is a password that servers show each other. It and TLS are needed unless Cluster is a loopback address.
	Secret string
	// TLS is for the connections between servers. Both sides show a certificate, and CA must be given.
	TLS TLS

	// StartTimeout is how long the server may take to start. 0 means 10 seconds.
	StartTimeout time.Duration
	// Log is told what the server says. nil means silence.
	Log *slog.Logger
}

// OptionError is an option with a value that makes no sense, or that is not safe.
type OptionError struct {
	Option string
	Value  string
	Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("%s %q: %s", e.Option, e.Value, e.Reason)
}

const nameRule = "a name begins with a letter or digit, goes on with letters, digits, '.', '_' and '-', and has at most 64 bytes"

func (o *Options) validate() error {
	if !isName(o.Node) {
		return &OptionError{"Node", o.Node, nameRule}
	}
	if o.Network == "" {
		o.Network = defaultNetwork
	}
	if !isName(o.Network) || strings.Contains(o.Network, ".") {
		return &OptionError{"Network", o.Network, nameRule + "; that of a network has no '.'"}
	}
	if o.URL != "" && o.Server != nil {
		return &OptionError{"URL", o.URL, "a bus uses an existing NATS or an embedded server, not both"}
	}
	if o.Replicas < 0 || o.Replicas > maxReplicas {
		return &OptionError{"Replicas", strconv.Itoa(o.Replicas), "between 1 and 5, or 0 for as many as there are nodes"}
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Timeout < 0 {
		return &OptionError{"Timeout", o.Timeout.String(), "not less than 0"}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.URL != "" {
		return o.Access.validate(o.URL)
	}
	return nil
}

// validate refuses credentials that would cross a network in the clear.
func (a *Access) validate(addresses string) error {
	ways := 0
	for _, given := range []bool{a.Password != "", a.Token != "", a.CredsFile != ""} {
		if given {
			ways++
		}
	}
	if ways > 1 {
		return &OptionError{"Access", a.User, "at most one of Password, Token and CredsFile"}
	}
	if (a.TLS.Cert == "") != (a.TLS.Key == "") {
		return &OptionError{"Access.TLS.Cert", a.TLS.Cert, "a certificate and its key are given together"}
	}
	for address := range strings.SplitSeq(addresses, ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || u.Host == "" {
			// The address may hold a password, so it is not repeated.
			return &OptionError{"URL", "", "an address such as nats://host:4222 was expected"}
		}
		secure := a.TLS.CA != "" || a.TLS.Cert != "" || u.Scheme == "tls" || u.Scheme == "wss"
		if !isLoopback(u.Hostname()) && !secure && (ways > 0 || u.User != nil) && a.CredsFile == "" {
			return &OptionError{"URL", u.Redacted(), "a password or token would cross the network in the clear: use tls:// or give Access.TLS"}
		}
	}
	return nil
}

func (o *ServerOptions) validate() error {
	if o.Name == "" {
		o.Name = defaultNetwork
	}
	if !isName(o.Name) {
		return &OptionError{"Name", o.Name, nameRule}
	}
	if o.ClusterName == "" {
		o.ClusterName = defaultNetwork
	}
	if !isName(o.ClusterName) {
		return &OptionError{"ClusterName", o.ClusterName, nameRule}
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return errors.Join(o.validateListen(), o.validateCluster())
}

func (o *ServerOptions) validateListen() error {
	if o.Listen == "" {
		return nil
	}
	host, _, err := splitAddress(o.Listen)
	if err != nil {
		return &OptionError{"Listen", o.Listen, err.Error()}
	}
	if o.Access.CredsFile != "" {
		return &OptionError{"Access.CredsFile", o.Access.CredsFile, "an embedded server knows a user with a password, or a token"}
	}
	if (o.Access.User == "") != (o.Access.Password == "") {
		return &OptionError{"Access.User", o.Access.User, "a user and a password are given together"}
	}
	hasTLS := o.Access.TLS.Cert != "" && o.Access.TLS.Key != ""
	if !isLoopback(host) && (!hasTLS || (o.Access.Password == "" && o.Access.Token == "")) {
		return &OptionError{"Listen", o.Listen,
			"whoever reaches this address could read and write everything: it needs Access with TLS and a password or token, or a loopback address"}
	}
	return nil
}

func (o *ServerOptions) validateCluster() error {
	if o.Cluster == "" {
		if len(o.Join) > 0 {
			return &OptionError{"Join", strings.Join(o.Join, ","), "a server that joins others needs a Cluster address of its own for them to connect to"}
		}
		return nil
	}
	host, _, err := splitAddress(o.Cluster)
	if err != nil {
		return &OptionError{"Cluster", o.Cluster, err.Error()}
	}
	hasTLS := o.TLS.Cert != "" && o.TLS.Key != "" && o.TLS.CA != ""
	if o.TLS != (TLS{}) && !hasTLS {
		return &OptionError{"TLS.Cert", o.TLS.Cert, "servers show each other certificates: Cert, Key and CA are given together"}
	}
	if !isLoopback(host) && (!hasTLS || o.Secret == "") {
		return &OptionError{"Cluster", o.Cluster,
			"whoever reaches this address could become a node: it needs TLS (Cert, Key, CA) and a Secret, or a loopback address"}
	}
	if o.Dir == "" {
		return &OptionError{"Dir", "", "a server in a cluster must find its vote and its copy of the store again after a restart"}
	}
	for _, j := range append([]string{o.Advertise}, o.Join...) {
		if j == "" {
			continue
		}
		if _, _, err := splitAddress(j); err != nil {
			return &OptionError{"Join", j, err.Error()}
		}
	}
	if len(o.Join) == 0 {
		return &OptionError{"Join", "", "a server with a Cluster address needs to know at least one other; leave Cluster out for a server alone"}
	}
	if o.Founders < 0 || o.Founders == 1 || o.Founders > 1000 {
		return &OptionError{"Founders", strconv.Itoa(o.Founders), "between 2 and 1000, or 0 for this server and those in Join"}
	}
	return nil
}

// splitAddress takes "host:port" apart.
func splitAddress(address string) (host string, port int, err error) {
	h, p, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, errors.New("an address is written host:port")
	}
	n, err := strconv.ParseUint(p, 10, 16)
	if err != nil || n == 0 {
		return "", 0, errors.New("a port is a number between 1 and 65535")
	}
	return h, int(n), nil
}

// isLoopback tells whether only this machine can reach a host. An empty host means every interface.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// isName tells whether a name can be that of a node or a network.
func isName(name string) bool {
	if name == "" || len(name) > MaxName || !isAlphanumeric(name[0]) {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !isAlphanumeric(c) && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
