// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"

	allotv1 "allot/api/v1"
)

// metrics of the API.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  *prometheus.GaugeVec
	grants   prometheus.Counter
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "allot_api_requests_total", Help: "Calls and streams that have ended, by procedure and code.",
		}, []string{"procedure", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "allot_api_request_seconds", Help: "How long unary calls took, in seconds; an Acquire waits in it.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 10),
		}, []string{"procedure"}),
		streams: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "allot_api_streams", Help: "Sessions over streams that are attached now, by what carries them.",
		}, []string{"transport"}),
		grants: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "allot_api_grants_total", Help: "Grants told to clients of this node, repetitions after a broken stream included.",
		}),
	}
	var err error
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.streams, m.grants} {
		err = errors.Join(err, r.Register(c))
	}
	return m, err
}

// observer sees every call: it makes errors presentable, counts, and logs.
type observer struct{ h *Handler }

func (o *observer) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		start := time.Now()
		response, err := next(ctx, request)
		took := time.Since(start)
		procedure := request.Spec().Procedure
		o.h.metrics.seconds.WithLabelValues(procedure).Observe(took.Seconds())
		o.h.ended(ctx, procedure, took, err)
		return response, failure(err)
	}
}

func (o *observer) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

func (o *observer) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		start := time.Now()
		err := next(ctx, conn)
		o.h.ended(ctx, conn.Spec().Procedure, time.Since(start), err)
		return failure(err)
	}
}

// ended counts and logs a call or a stream of Connect.
func (h *Handler) ended(ctx context.Context, procedure string, took time.Duration, err error) {
	code := "ok"
	if err != nil {
		code = connect.CodeOf(failure(err)).String()
	}
	h.metrics.requests.WithLabelValues(procedure, code).Inc()
	h.logEnd(ctx, callerOf(ctx), procedure, took, code, err)
}

// logStream counts and logs a stream that was an upgraded connection.
func (h *Handler) logStream(r *http.Request, who caller, transport string, took time.Duration, err error) {
	code := "ok"
	if err != nil {
		code = connect.CodeOf(failure(err)).String()
	}
	h.metrics.requests.WithLabelValues(r.URL.Path, code).Inc()
	h.logEnd(r.Context(), who, r.URL.Path+" ("+transport+")", took, code, err)
}

func (h *Handler) logEnd(ctx context.Context, who caller, procedure string, took time.Duration, code string, err error) {
	level := slog.LevelDebug
	problem := &allotv1.Problem{}
	if err != nil {
		problem, _ = problemOf(err)
	}
	switch reason := problem.GetReason(); {
	case reason == allotv1.Reason_REASON_INTERNAL && !isGone(err):
		level = slog.LevelError
	case reason == allotv1.Reason_REASON_FORBIDDEN, reason == allotv1.Reason_REASON_PROTOCOL:
		level = slog.LevelWarn
	}
	h.log.LogAttrs(ctx, level, "request", slog.String("procedure", procedure), slog.String("principal", who.principal),
		slog.String("peer", who.peer), slog.Duration("took", took), slog.String("code", code), slog.Any("error", err))
}

// isGone tells the errors of a connection whose other end has gone, which are nobody's fault, from others.
func isGone(err error) bool {
	var network net.Error
	var done *connect.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &network) || errors.As(err, &done)
}

// logged writes down an error of the node, whose text the caller will not see.
func (h *Handler) logged(err error) error {
	if p, _ := problemOf(err); p.GetReason() == allotv1.Reason_REASON_INTERNAL {
		h.log.Error("an operation failed", "error", err)
	}
	return err
}
