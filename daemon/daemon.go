// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"allot/allocator"
	"allot/api"
	"allot/node/natsbus"
)

// Daemon is one node.
type Daemon struct {
	options  Options
	log      *slog.Logger
	bus      *natsbus.Bus
	alloc    *allocator.Allocator
	handler  *api.Handler
	server   *http.Server
	listener net.Listener
	audit    *auditFile
	trace    func(context.Context) error
	stop     context.CancelFunc
	running  sync.WaitGroup
	failed   chan error
}

// New checks the options. Nothing has started yet.
func New(o Options) (*Daemon, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.logger == nil {
		o.logger = o.newLogger(os.Stderr)
	}
	return &Daemon{options: o, log: o.logger.With("node", o.Node), failed: make(chan error, 1)}, nil
}

// maxConnections is how many clients may be connected to the API at the same time.
const maxConnections = 1 << 16

// interval is how often the allocator is told the time.
const interval = 5 * time.Millisecond

// Start starts the node. When it returns, the node serves, though it may not be a member of its network yet.
func (d *Daemon) Start(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			_ = d.Kill()
		}
	}()
	if d.listener, err = net.Listen("tcp", d.options.Listen); err != nil {
		return &OptionError{"listen", d.options.Listen, "the address cannot be used: " + err.Error()}
	}
	d.listener = api.Limit(d.listener, maxConnections)
	if d.bus, err = natsbus.Open(ctx, d.options.bus()); err != nil {
		return busError(err)
	}
	if d.options.Advertise == "" {
		d.options.Advertise = d.listener.Addr().String()
	}
	began := time.Now()
	d.alloc, err = allocator.New(allocator.Options{Fabric: d.bus, Life: newLife(), Address: d.options.Advertise,
		Reign: time.Duration(d.options.Reign), Now: func() time.Duration { return time.Since(began) }, Observe: d.observe})
	if err != nil {
		return err
	}
	if err := d.serve(); err != nil {
		return err
	}
	run, stop := context.WithCancel(context.Background())
	d.stop = stop
	if err := d.startAllocator(ctx, run); err != nil {
		return err
	}
	d.running.Go(func() { d.tick(run) })
	d.log.Info("serving", "address", d.Address(), "network", d.options.Network)
	return nil
}

// startAllocator waits for the control plane. A network in which a majority of the nodes is not up yet has none.
func (d *Daemon) startAllocator(ctx, run context.Context) error {
	done := make(chan error, 1)
	go func() { done <- d.alloc.Start(run) }()
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return fmt.Errorf("the control plane did not answer: %w", ctx.Err())
		case <-time.After(5 * time.Second):
			d.log.Warn("waiting for the control plane; a new network needs a majority of its nodes")
		}
	}
}

// newLife is a number that no earlier run had. The lower half is left for counting.
func newLife() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.BigEndian.Uint64(b[:]) &^ 0xffffffff
}

func (d *Daemon) serve() error {
	keeper, err := d.options.keeper()
	if err != nil {
		return err
	}
	if d.audit, err = openAudit(d.options.Audit, d.log); err != nil {
		return &OptionError{"audit", d.options.Audit, "the file cannot be opened: " + err.Error()}
	}
	tracer, stopTrace, err := newTracer(d.options)
	if err != nil {
		return &OptionError{"trace", d.options.Trace, err.Error()}
	}
	d.trace = stopTrace
	peers, err := d.options.peers()
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(&collector{d.alloc, d.bus})
	d.handler, err = api.NewHandler(backend{d.alloc}, api.Options{Access: keeper, Audit: d.audit, Log: d.log, Registry: registry, Tracer: tracer,
		Peers: peers})
	if err != nil {
		return err
	}
	h := d.withOperations(d.handler, keeper)
	if d.options.TestHooks {
		h = d.withHooks(h)
	}
	secure, err := d.tls()
	if err != nil {
		return err
	}
	d.server = api.NewServer(h, secure)
	d.server.ErrorLog = slog.NewLogLogger(d.log.Handler(), slog.LevelWarn)
	d.running.Go(func() {
		var err error
		if secure != nil {
			err = d.server.ServeTLS(d.listener, "", "")
		} else {
			err = d.server.Serve(d.listener)
		}
		if !errors.Is(err, http.ErrServerClosed) {
			d.failed <- err
		}
	})
	return nil
}

func (d *Daemon) tls() (*tls.Config, error) {
	o := d.options.TLS
	if o.Cert == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
	if err != nil {
		return nil, &OptionError{"tls", o.Cert, err.Error()}
	}
	c := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if o.ClientCA != "" {
		if c.ClientCAs, err = authority("tls.client_ca", o.ClientCA); err != nil {
			return nil, err
		}
		c.ClientAuth = tls.VerifyClientCertIfGiven
		if len(d.options.Tokens) == 0 {
			c.ClientAuth = tls.RequireAndVerifyClientCert
		}
	}
	return c, nil
}

func (d *Daemon) tick(ctx context.Context) {
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			d.alloc.Tick()
		}
	}
}

// Address of the API.
func (d *Daemon) Address() string { return d.listener.Addr().String() }

// Ready waits until the node is a member of its network.
func (d *Daemon) Ready(ctx context.Context) error {
	t := time.NewTicker(interval)
	defer t.Stop()
	for !d.alloc.Network().Ready {
		select {
		case <-ctx.Done():
			return fmt.Errorf("node %s is not a member of its network yet: %w", d.options.Node, ctx.Err())
		case <-t.C:
		}
	}
	return nil
}

// Stop gives everything back, leaves the network and ends the node.
func (d *Daemon) Stop(ctx context.Context) error {
	err := d.alloc.Leave(ctx)
	return errors.Join(err, d.Kill())
}

// Kill ends the node at once. The others notice when its lease has run out.
func (d *Daemon) Kill() error {
	var errs []error
	if d.stop != nil {
		d.stop()
	}
	if d.handler != nil {
		d.handler.Close()
	}
	if d.server != nil {
		errs = append(errs, d.server.Close())
	} else if d.listener != nil {
		errs = append(errs, d.listener.Close())
	}
	d.running.Wait()
	if d.bus != nil {
		errs = append(errs, d.bus.Close())
	}
	if d.audit != nil {
		errs = append(errs, d.audit.Close())
	}
	if d.trace != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		errs = append(errs, d.trace(ctx))
	}
	return errors.Join(errs...)
}

// leaveTime is how long a node that is told to end tries to leave in good order.
const leaveTime = 10 * time.Second

// Run runs the node until the context ends.
func (d *Daemon) Run(ctx context.Context) error {
	if err := d.Start(ctx); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		d.log.Info("leaving")
		stop, cancel := context.WithTimeout(context.Background(), leaveTime)
		defer cancel()
		return d.Stop(stop)
	case err := <-d.failed:
		return errors.Join(err, d.Kill())
	}
}

// backend gives the API the sessions of the allocator.
type backend struct{ *allocator.Allocator }

// Open begins a session.
func (b backend) Open(o allocator.SessionOptions, e allocator.Events) (api.Session, error) {
	s, err := b.Allocator.Open(o, e)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Resume goes on with a session.
func (b backend) Resume(id, principal string, e allocator.Events) (api.Session, error) {
	s, err := b.Allocator.Resume(id, principal, e)
	if err != nil {
		return nil, err
	}
	return s, nil
}
