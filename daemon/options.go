// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"allot/api/access"
	"allot/node/natsbus"
)

// Options of a node. The zero value, with a name, is a node alone that listens on loopback and forgets everything when it ends.
type Options struct {
	// Node is the name of this node, unique in its network. Empty means the name of the machine.
	Node string `toml:"node"`
	// Network is the name of the network. Empty means "allot".
	Network string `toml:"network"`
	// Listen is the address of the API. Empty means 127.0.0.1:4710. Another than a loopback address needs tls and tokens or
	// client certificates.
	Listen string `toml:"listen"`
	// Advertise is the address of the API as clients reach it, if it is not Listen.
	Advertise string `toml:"advertise"`
	// Dir keeps the control plane. Empty means a temporary folder.
	Dir string `toml:"dir"`
	// Reign is how long the root may act without the control plane. Empty means 8 seconds, which is about what the
	// control plane needs at most to choose a leader after a crash.
	Reign Duration `toml:"reign"`

	Cluster Cluster `toml:"cluster"`
	NATS    NATS    `toml:"nats"`
	TLS     TLS     `toml:"tls"`
	// Tokens and Rules say who may do what.
	Tokens []Token `toml:"tokens"`
	Rules  []Rule  `toml:"rules"`
	Log    Log     `toml:"log"`
	// Audit is a file to which evictions and changes of pools are appended, one JSON object a line. Empty means the log.
	Audit string `toml:"audit"`
	// Trace is the address of an OpenTelemetry collector (OTLP over HTTP), such as http://127.0.0.1:4318. Empty means none.
	Trace string `toml:"trace"`

	// TestHooks lets anybody who reaches the API damage the node's memory, to see it heal. Never in production.
	TestHooks bool `toml:"test_hooks"`

	server *natsbus.Server // shared by the nodes of one process
	logger *slog.Logger
}

// Cluster is how nodes on several machines find each other.
type Cluster struct {
	// Listen is the address for other nodes. Empty means that this node is alone.
	Listen string `toml:"listen"`
	// Advertise is the address as other nodes reach it, if it is not Listen.
	Advertise string `toml:"advertise"`
	// Join lists the cluster addresses of the other nodes; that of this node may be among them.
	Join []string `toml:"join"`
	// Founders is how many nodes a new network begins with. 0 means this one and those in Join.
	Founders int `toml:"founders"`
	// Secret is a password that nodes show each other. SecretFile is a file that holds it.
	Secret     string `toml:"secret"`
	SecretFile string `toml:"secret_file"`
	TLS        Files  `toml:"tls"`
}

// NATS is an existing NATS to be used instead of the embedded one.
type NATS struct {
	URL          string `toml:"url"`
	User         string `toml:"user"`
	Password     string `toml:"password"`
	PasswordFile string `toml:"password_file"` // a file that holds it
	Token        string `toml:"token"`
	TokenFile    string `toml:"token_file"` // a file that holds it
	Creds        string `toml:"creds"`      // a file with a JWT and a seed, as made by nsc
	TLS          Files  `toml:"tls"`
}

// Files names files in PEM format.
type Files struct {
	Cert string `toml:"cert"`
	Key  string `toml:"key"`
	CA   string `toml:"ca"`
}

// TLS is for clients.
type TLS struct {
	Cert string `toml:"cert"`
	Key  string `toml:"key"`
	// ClientCA is the authority whose client certificates count.
	ClientCA string `toml:"client_ca"`
	// CA is the authority of the nodes' certificates: a node that carries a session to another one believes it. Empty means
	// the system's list.
	CA string `toml:"ca"`
}

// Token makes its bearer known under a name.
type Token struct {
	Name string `toml:"name"`
	Hash string `toml:"hash"`
}

// Rule allows some actions.
type Rule struct {
	Who   []string `toml:"who"`
	Pools []string `toml:"pools"`
	May   []string `toml:"may"`
}

// Log says what is logged and how.
type Log struct {
	Level  string `toml:"level"`  // debug, info, warn or error
	Format string `toml:"format"` // text or json
}

// Duration is a time such as "10s" in a file.
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is no duration; write 10s or 1m30s", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes a duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// OptionError is an option that makes no sense, or that is not safe.
type OptionError struct {
	Key, Value string
	Allowed    string // what would be allowed
}

func (e *OptionError) Error() string { return fmt.Sprintf("%s = %q: %s", e.Key, e.Value, e.Allowed) }

// maxOptions bounds an options file.
const maxOptions = 1 << 20

// ReadOptions reads a TOML file. Unknown keys are refused, so that a slip of the pen is not a silent default.
func ReadOptions(path string) (Options, error) {
	var o Options
	f, err := os.Open(path)
	if err != nil {
		return o, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxOptions+1))
	if err != nil {
		return o, err
	}
	if len(data) > maxOptions {
		return o, fmt.Errorf("%s: an options file has at most %d bytes", path, maxOptions)
	}
	return o, parseOptions(path, data, &o)
}

func parseOptions(path string, data []byte, o *Options) error {
	d := toml.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	err := d.Decode(o)
	var unknown *toml.StrictMissingError
	var bad *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		first := unknown.Errors[0]
		row, _ := first.Position()
		return fmt.Errorf("%s line %d: there is no key %q; see docs/operations.md for all of them", path, row, strings.Join(first.Key(), "."))
	case errors.As(err, &bad):
		row, column := bad.Position()
		key := ""
		if k := bad.Key(); len(k) > 0 {
			key = strings.Join(k, ".") + ": "
		}
		return fmt.Errorf("%s line %d column %d: %s%s", path, row, column, key, strings.TrimPrefix(bad.Error(), "toml: "))
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// DefaultListen is the address of the API unless another one is given.
const DefaultListen = "127.0.0.1:4710"

func (o *Options) validate() error {
	if o.Node == "" {
		name, err := os.Hostname()
		if err != nil {
			return &OptionError{"node", "", "the machine has no name either; give one"}
		}
		o.Node, _, _ = strings.Cut(name, ".")
	}
	if o.Network == "" {
		o.Network = "allot"
	}
	if o.Listen == "" {
		o.Listen = DefaultListen
	}
	if o.Reign == 0 {
		o.Reign = Duration(8 * time.Second)
	}
	if r := time.Duration(o.Reign); r < 100*time.Millisecond || r > time.Minute {
		return &OptionError{"reign", r.String(), "it must be 100ms to 1m"}
	}
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return &OptionError{"listen", o.Listen, "it must be HOST:PORT, such as " + DefaultListen}
	}
	if (o.TLS.Cert == "") != (o.TLS.Key == "") {
		return &OptionError{"tls", o.TLS.Cert + o.TLS.Key, "cert and key go together"}
	}
	if !isLoopback(host) {
		switch {
		case o.TLS.Cert == "":
			return &OptionError{"listen", o.Listen, "an address that other machines reach needs tls.cert and tls.key; use 127.0.0.1 without them"}
		case len(o.Tokens) == 0 && o.TLS.ClientCA == "":
			return &OptionError{"listen", o.Listen, "an address that other machines reach needs tokens or tls.client_ca, or anybody could take everything"}
		case o.Advertise == "" && isEverywhere(host):
			return &OptionError{"advertise", "", "with listen = \"" + o.Listen + "\" it must say the HOST:PORT by which clients reach this node"}
		}
	}
	if o.NATS.URL != "" && o.Cluster.Listen != "" {
		return &OptionError{"nats.url", o.NATS.URL, "a node uses an existing NATS, or is part of a cluster of its own; leave out the one or the other"}
	}
	switch o.Log.Level {
	case "", "debug", "info", "warn", "error":
	default:
		return &OptionError{"log.level", o.Log.Level, "it must be debug, info, warn or error"}
	}
	switch o.Log.Format {
	case "", "text", "json":
	default:
		return &OptionError{"log.format", o.Log.Format, "it must be text or json"}
	}
	return o.readSecrets()
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// isEverywhere tells an address that stands for all addresses of the machine.
func isEverywhere(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

func (o *Options) keeper() (*access.Keeper, error) {
	a := access.Options{Certificates: o.TLS.ClientCA != ""}
	for _, t := range o.Tokens {
		a.Tokens = append(a.Tokens, access.Token(t))
	}
	for _, r := range o.Rules {
		a.Rules = append(a.Rules, access.Rule(r))
	}
	return access.New(a)
}

func (o *Options) bus() natsbus.Options {
	b := natsbus.Options{Node: o.Node, Network: o.Network, Log: o.logger, Server: o.server}
	if o.NATS.URL != "" {
		b.URL = o.NATS.URL
		b.Access = natsbus.Access{User: o.NATS.User, Password: o.NATS.Password, Token: o.NATS.Token, CredsFile: o.NATS.Creds, TLS: natsbus.TLS(o.NATS.TLS)}
		return b
	}
	if b.Server == nil {
		b.Embed = natsbus.ServerOptions{Dir: o.Dir, Cluster: o.Cluster.Listen, Advertise: o.Cluster.Advertise, Join: o.Cluster.Join,
			Founders: o.Cluster.Founders, Secret: o.Cluster.Secret, TLS: natsbus.TLS(o.Cluster.TLS), Log: o.logger}
	}
	return b
}

// newLogger makes the logger that the options ask for.
func (o *Options) newLogger(w io.Writer) *slog.Logger {
	level := slog.LevelInfo
	_ = level.UnmarshalText([]byte(o.Log.Level)) // validate has looked at it; empty leaves info
	h := &slog.HandlerOptions{Level: level}
	if o.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, h))
	}
	return slog.New(slog.NewTextHandler(w, h))
}
