// Copyright the allot authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"errors"
	"net/url"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// newTracer sends a span for every call of the API to a collector, if there is one.
func newTracer(o Options) (trace.TracerProvider, func(context.Context) error, error) {
	nothing := func(context.Context) error { return nil }
	if o.Trace == "" {
		return nil, nothing, nil
	}
	u, err := url.Parse(o.Trace)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, nothing, errors.New("it must be http://HOST:PORT or https://HOST:PORT of an OpenTelemetry collector")
	}
	exporter, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(u.JoinPath("v1", "traces").String()))
	if err != nil {
		return nil, nothing, err
	}
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "allot"), attribute.String("service.instance.id", o.Node))))
	return p, p.Shutdown, nil
}
