// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package natsbus

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Server is a NATS server inside this process. Open starts one for each bus; StartServer starts one that several buses
// share, which makes a network of several nodes in one process ready at once.
type Server struct {
	o    ServerOptions
	nats *server.Server
	home *home
	logs *serverLog
	gate *gate // nil for a server alone

	mu    sync.Mutex
	local map[string]int // names of the nodes that use it, and how many buses of each

	closing sync.Once
	err     error
}

// StartServer starts a server and waits until it accepts connections. It does not wait for other servers: Bus.Ready does.
func StartServer(ctx context.Context, o ServerOptions) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("embedded NATS server: %w", err)
	}
	h, err := openHome(o)
	if err != nil {
		return nil, fmt.Errorf("embedded NATS server: %w", err)
	}
	s := &Server{o: o, home: h, logs: newServerLog(o.Log), local: map[string]int{}}
	if err := s.start(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("embedded NATS server: %w", err)
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	opts, err := s.o.server(s.home.dir)
	if err != nil {
		return err
	}
	if !s.isAlone() {
		s.gate = newGate(s)
		opts.CustomClientAuthentication = s.gate
	}
	n, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	s.nats = n
	n.SetLoggerV2(s.logs, false, false, false)
	go n.Start()

	for end := time.Now().Add(s.o.StartTimeout); ; {
		if n.ReadyForConnections(30 * time.Millisecond) {
			return nil
		}
		select {
		case <-s.logs.fatal:
			return fmt.Errorf("could not start: %s", s.logs.lastProblem())
		case <-ctx.Done():
			return fmt.Errorf("not ready: %w", context.Cause(ctx))
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("not ready after %s: %s", s.o.StartTimeout, s.logs.lastProblem())
		}
	}
}

// Close stops the server at once: buses that use it are cut off. Acknowledged writes are on the disk already.
func (s *Server) Close() error {
	s.closing.Do(func() {
		if s.nats != nil {
			s.nats.Shutdown()
			s.nats.WaitForShutdown()
		}
		s.err = s.home.close()
	})
	return s.err
}

// Name of the server.
func (s *Server) Name() string { return s.o.Name }

// isAlone tells whether the server is no part of a cluster.
func (s *Server) isAlone() bool { return s.o.Cluster == "" }

// connection says how a bus connects.
func (s *Server) connection() []nats.Option {
	options := []nats.Option{nats.InProcessServer(s.nats)}
	switch {
	case s.gate != nil:
		options = append(options, nats.Token(s.gate.node))
	case s.o.Listen != "" && s.o.Access.Token != "":
		options = append(options, nats.Token(s.o.Access.Token))
	case s.o.Listen != "" && s.o.Access.Password != "":
		options = append(options, nats.UserInfo(s.o.Access.User, s.o.Access.Password))
	}
	return options
}

// enter and leave keep the list of nodes that use the server.
func (s *Server) enter(node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.local[node]++
}

func (s *Server) leave(node string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.local[node]--; s.local[node] == 0 {
		delete(s.local, node)
	}
}

// peers lists the nodes of this process and the servers that are connected, without one node.
func (s *Server) peers(without string) []string {
	var names []string
	s.mu.Lock()
	for n := range s.local {
		names = append(names, n)
	}
	s.mu.Unlock()
	if !s.isAlone() {
		if routes, err := s.nats.Routez(nil); err == nil {
			for _, r := range routes.Routes {
				names = append(names, r.RemoteName)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return slices.DeleteFunc(names, func(n string) bool { return n == without || n == "" })
}

// server translates the options.
func (o *ServerOptions) server(dir string) (*server.Options, error) {
	so := &server.Options{
		ServerName: o.Name,
		DontListen: o.Listen == "",
		NoSigs:     true,
		MaxPayload: MaxFrame + envelopeOverhead,
		// A reader that falls behind is cut off; one that only pauses must not make the senders pause with it.
		MaxPending:          2 * maxQueued,
		NoFastProducerStall: true,

		JetStream:              true,
		DisableJetStreamBanner: true,
		StoreDir:               dir,
		JetStreamMaxMemory:     256 << 20,
		JetStreamMaxStore:      8 * maxBucket,
		// Every write is on the disk before it is acknowledged. Without it NATS syncs once in two minutes.
		SyncAlways:   true,
		SyncInterval: 2 * time.Minute,
	}
	switch {
	case o.Listen != "":
		if err := o.listen(so); err != nil {
			return nil, err
		}
	case o.Cluster != "":
		// A NATS server that listens to no clients does not connect to others either. So it listens on some port of loopback,
		// where the gate lets nobody in.
		so.DontListen, so.Host, so.Port = false, "127.0.0.1", server.RANDOM_PORT
	}
	if o.Cluster != "" {
		if err := o.cluster(so); err != nil {
			return nil, err
		}
	}
	return so, nil
}

func (o *ServerOptions) listen(so *server.Options) error {
	host, port, err := splitAddress(o.Listen)
	if err != nil {
		return err
	}
	so.Host, so.Port = host, port
	so.Username, so.Password, so.Authorization = o.Access.User, o.Access.Password, o.Access.Token
	if o.Access.TLS.Cert != "" {
		c, err := o.Access.TLS.server()
		if err != nil {
			return err
		}
		so.TLSConfig, so.TLS, so.TLSVerify = c, true, o.Access.TLS.CA != ""
	}
	return nil
}

func (o *ServerOptions) cluster(so *server.Options) error {
	host, port, err := splitAddress(o.Cluster)
	if err != nil {
		return err
	}
	so.Cluster = server.ClusterOpts{
		Name:      o.ClusterName,
		Host:      host,
		Port:      port,
		Advertise: o.Advertise,
		// One connection carries all frames, so that they stay in order; the store has another.
		PoolSize: 1,
		// A route that is cut is given up within seconds: the kernel alone would go on for minutes, and then wait for
		// minutes before it tries again.
		PingInterval: 2 * time.Second,
		MaxPingsOut:  2,
		// Servers that one did not list are tried again, too.
		ConnectRetries: 1 << 20,
	}
	if o.Secret != "" {
		so.Cluster.Username, so.Cluster.Password = "allot", o.Secret
	}
	if o.TLS.Cert != "" {
		if so.Cluster.TLSConfig, err = o.TLS.both(); err != nil {
			return err
		}
	}
	so.Routes = o.routes(port)
	return nil
}

// routes lists the others, and then this server itself so often that the list is as long as there are founders: NATS takes
// the length for the size of a new cluster, and does not connect to itself.
func (o *ServerOptions) routes(port int) []*url.URL {
	var user *url.Userinfo
	if o.Secret != "" {
		user = url.UserPassword("allot", o.Secret)
	}
	route := func(address string) *url.URL { return &url.URL{Scheme: "nats-route", User: user, Host: address} }
	var all []*url.URL
	var known []string
	for _, j := range o.Join {
		if o.isSelf(j) || slices.Contains(known, j) {
			continue
		}
		known = append(known, j)
		all = append(all, route(j))
	}
	self := route(net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	for ok := true; ok; ok = len(all) < o.Founders {
		all = append(all, self)
	}
	return all
}

// founders is how many servers a new cluster starts with.
func (o *ServerOptions) founders() int {
	if o.Cluster == "" {
		return 1
	}
	_, port, err := splitAddress(o.Cluster)
	if err != nil {
		return 1
	}
	return max(2, len(o.routes(port)))
}

// isSelf tells whether an address is this server's own.
func (o *ServerOptions) isSelf(address string) bool {
	if address == o.Cluster || address == o.Advertise {
		return true
	}
	_, own, _ := splitAddress(o.Cluster)
	listen, _, _ := net.SplitHostPort(o.Cluster)
	host, port, err := splitAddress(address)
	if err != nil || port != own {
		return false
	}
	// On a particular address, another address of this machine may be another server. On all addresses it is this one.
	if ip := net.ParseIP(listen); listen != "" && (ip == nil || !ip.IsUnspecified()) {
		return false
	}
	mine, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	ips := []net.IP{net.ParseIP(host)}
	if ips[0] == nil {
		if ips, err = net.LookupIP(host); err != nil {
			return false
		}
	}
	for _, a := range mine {
		if n, ok := a.(*net.IPNet); ok && slices.ContainsFunc(ips, n.IP.Equal) {
			return true
		}
	}
	return false
}
