// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/otelconnect"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"allot/allocator"
	"allot/api/access"
	"allot/api/v1/allotv1connect"
)

// Options of a handler. The zero value serves everybody.
type Options struct {
	// Access says who may do what. Nil allows everybody everything, which is for loopback alone.
	Access *access.Keeper
	// Audit is told of evictions and changes of pools. Nil means that they are only logged.
	Audit Audit
	// Log gets a line for each request: failures of the node as errors, refused callers as warnings, changes as
	// information and everything else for debugging. Nil means none.
	Log *slog.Logger
	// Registry gets the metrics of the API and is served at /metrics. Nil means a new one.
	Registry *prometheus.Registry
	// Tracer gets a span for each call. Nil means none.
	Tracer trace.TracerProvider
	// Peers says how to reach the API of other nodes, for streams of sessions that live there. Nil means without TLS.
	Peers *tls.Config
	// MaxMessage is the greatest size of a message from a client in bytes; greater ones are refused. 0 means 64 KiB.
	MaxMessage int
	// BodyTimeout is how long a caller may take to send the body of a call. 0 means 10 seconds.
	BodyTimeout time.Duration
	// MaxStreams is how many sessions, over streams and for unary calls, may be attached at once; more are refused. 0 means
	// 65,536, as many as a node allows.
	MaxStreams int
	// MaxWatches is how many watches may be open at once. 0 means 256.
	MaxWatches int
}

func (o *Options) validate() error {
	if o.MaxMessage == 0 {
		o.MaxMessage = 64 << 10
	}
	if o.BodyTimeout == 0 {
		o.BodyTimeout = 10 * time.Second
	}
	if o.MaxStreams == 0 {
		o.MaxStreams = allocator.MaxSessions
	}
	if o.MaxWatches == 0 {
		o.MaxWatches = 256
	}
	for key, value := range map[string]int{"MaxMessage": o.MaxMessage, "MaxStreams": o.MaxStreams, "MaxWatches": o.MaxWatches} {
		if value < 1 {
			return fmt.Errorf("%s %d: it must be at least 1", key, value)
		}
	}
	if o.Access == nil {
		open, err := access.New(access.Options{})
		if err != nil {
			return err
		}
		o.Access = open
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Registry == nil {
		o.Registry = prometheus.NewRegistry()
	}
	return nil
}

// Handler serves the API of a node.
type Handler struct {
	backend Backend
	options Options
	log     *slog.Logger
	metrics *metrics
	tracer  trace.Tracer // for streams over upgraded connections; the interceptor does the rest
	mux     *http.ServeMux
	errors  *connect.ErrorWriter

	mu       sync.Mutex
	isClosed bool
	streams  map[*conversation]struct{}
	attached map[string]*conversation // by session
	scripts  map[string]*script       // sessions for unary calls, by id
	watches  int
	done     chan struct{} // closed by Close
	running  sync.WaitGroup
}

// NewHandler makes a handler. The caller ends it with Close.
func NewHandler(b Backend, o Options) (*Handler, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	h := &Handler{
		backend: b, options: o, log: o.Log, mux: http.NewServeMux(),
		streams: map[*conversation]struct{}{}, attached: map[string]*conversation{}, scripts: map[string]*script{}, done: make(chan struct{}),
	}
	var err error
	if h.metrics, err = newMetrics(o.Registry); err != nil {
		return nil, err
	}
	h.tracer = noop.NewTracerProvider().Tracer("")
	interceptors := []connect.Interceptor{&observer{h}}
	if o.Tracer != nil {
		h.tracer = o.Tracer.Tracer("allot/api")
		tracing, err := otelconnect.NewInterceptor(otelconnect.WithTracerProvider(o.Tracer), otelconnect.WithoutMetrics(), otelconnect.WithoutTraceEvents(), otelconnect.WithoutServerPeerAttributes())
		if err != nil {
			return nil, err
		}
		interceptors = append(interceptors, tracing)
	}
	options := []connect.HandlerOption{
		connect.WithInterceptors(interceptors...),
		connect.WithReadMaxBytes(o.MaxMessage),
		connect.WithRecover(h.recovered),
	}
	h.errors = connect.NewErrorWriter(options...)
	h.mux.Handle(allotv1connect.NewPoolServiceHandler(h, options...))
	h.mux.Handle(allotv1connect.NewSessionServiceHandler(h, options...))
	h.mux.Handle(allotv1connect.NewObserveServiceHandler(h, options...))
	h.mux.Handle("GET /metrics", promhttp.HandlerFor(o.Registry, promhttp.HandlerOpts{}))
	return h, nil
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/healthz":
		h.serveHealth(w)
		return
	case "/readyz":
		h.serveReady(w)
		return
	}
	principal, err := h.options.Access.Authenticate(r)
	if err != nil {
		h.refuse(w, r, err)
		return
	}
	who := caller{
		principal: principal, peer: r.RemoteAddr, control: http.NewResponseController(w),
		authorization: r.Header.Get("Authorization"), isRelayed: r.Header.Get(relayHeader) != "",
	}
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, who))
	if isUpgrade(r) {
		h.serveUpgrade(w, r)
		return
	}
	if r.URL.Path != allotv1connect.SessionServiceSessionProcedure && r.Body != nil && r.Body != http.NoBody {
		// The body of a call is short and comes at once. A stream's goes on for as long as the stream.
		r.Body = newPromptBody(r.Body, who.control, h.options.BodyTimeout)
	}
	h.mux.ServeHTTP(w, r)
}

// refuse answers somebody who is not known, in the protocol that was spoken if it is one of ours.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	h.log.Warn("refused", "path", r.URL.Path, "peer", r.RemoteAddr, "why", err)
	if h.errors.IsSupported(r) {
		// It fails when the caller has gone.
		_ = h.errors.Write(w, r, failure(err))
		return
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	http.Error(w, err.Error(), http.StatusUnauthorized)
}

func (h *Handler) serveHealth(w http.ResponseWriter) {
	writeText(w, http.StatusOK, "ok\n")
}

func (h *Handler) serveReady(w http.ResponseWriter) {
	n := h.backend.Network()
	if !n.Ready {
		writeText(w, http.StatusServiceUnavailable, "not ready: "+allocator.ErrUnavailable.Error()+"\n")
		return
	}
	writeText(w, http.StatusOK, "ready\n")
}

func writeText(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	// It fails when the caller has gone.
	_, _ = w.Write([]byte(text))
}

// Close ends every stream, after telling its client that the node goes down. Sessions live on for their TTL. It returns when
// all streams have ended. Calls that come later are refused.
func (h *Handler) Close() {
	h.mu.Lock()
	if !h.isClosed {
		h.isClosed = true
		close(h.done)
	}
	streams, scripts := h.streams, h.scripts
	h.scripts = map[string]*script{}
	for c := range streams {
		c.box.fail(fmt.Errorf("%w: it is going down", allocator.ErrUnavailable))
	}
	h.mu.Unlock()
	for _, s := range scripts {
		s.detach()
	}
	h.running.Wait()
}

// enter counts a stream in.
func (h *Handler) enter(c *conversation) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.isClosed:
		return fmt.Errorf("%w: it is going down", allocator.ErrUnavailable)
	case len(h.streams)+len(h.scripts) >= h.options.MaxStreams:
		return fmt.Errorf("%w: %d sessions are attached", allocator.ErrLimit, h.options.MaxStreams)
	}
	h.streams[c] = struct{}{}
	h.running.Add(1)
	return nil
}

func (h *Handler) leave(c *conversation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, c)
	h.running.Done()
}

// attach makes a stream the one of its session. An earlier stream of the same session ends: it may be waiting for a client
// that is connected anew since. Only its own principal can do that to it.
func (h *Handler) attach(id string, c *conversation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.attached[id]
	if old != nil && old.caller.principal != c.caller.principal {
		return
	}
	h.attached[id] = c
	if old != nil && old != c {
		old.box.fail(errProtocol("the session was resumed on another stream"))
	}
}

// detach tells whether a stream was still the one of its session, and is it no more.
func (h *Handler) detach(id string, c *conversation) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.attached[id] != c {
		return false
	}
	delete(h.attached, id)
	return true
}

// caller is who speaks to us.
type caller struct {
	principal string
	peer      string
	control   *http.ResponseController
	// For carrying its stream to another node.
	authorization string
	isRelayed     bool // it was carried here
}

type callerKey struct{}

func callerOf(ctx context.Context) caller {
	who, _ := ctx.Value(callerKey{}).(caller)
	return who
}

// allow asks the rules.
func (h *Handler) allow(who caller, what access.Action, pool string) error {
	return h.options.Access.Allow(who.principal, what, pool)
}

func (h *Handler) recovered(_ context.Context, spec connect.Spec, _ http.Header, p any) error {
	h.log.Error("panic in a call", "procedure", spec.Procedure, "panic", p, "stack", stack())
	return failure(errInternal)
}

func stack() string { return string(debug.Stack()) }
