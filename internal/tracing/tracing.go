// Package tracing sends spans of requests to an OpenTelemetry collector: one for the
// request, and below it one for each operation of the store, each database statement
// and each call of the file storage; and one for each delivery to a webhook.
//
// It wraps the parts of the service at their interfaces, or is what they observe their
// operations with, so no other package knows of it. Nothing is wrapped unless tracing is on. A span holds no personal data: no
// path, query, header, argument of a statement, or text of an error.
package tracing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"merchantorders/internal/order"
)

const (
	// serviceName is the service.name of all spans, unless OTEL_SERVICE_NAME or
	// OTEL_RESOURCE_ATTRIBUTES sets another one.
	serviceName = "merchant-orders"
	// flushTimeout bounds the sending of the last spans at the end of a server.
	flushTimeout = 5 * time.Second
	// retryInterval is the time before a busy collector is asked again for the first time.
	retryInterval = time.Second
)

// Tracing sends spans.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	// propagator reads and writes traceparent and tracestate. Baggage is not passed on:
	// it may hold anything.
	propagator propagation.TraceContext
	lost       *atomic.Uint64
}

// Start begins to send spans to an endpoint, as the environment variables of
// OpenTelemetry say. It does not connect. version is that of the program. log gets the
// errors of sending.
func Start(ctx context.Context, endpoint, version string, log *slog.Logger) (*Tracing, error) {
	otel.SetLogger(logr.FromSlogHandler(log.Handler())) // what the library says of variables
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
		Enabled: true, InitialInterval: retryInterval, MaxInterval: 10 * retryInterval, MaxElapsedTime: 30 * retryInterval,
	}))
	if err != nil {
		return nil, fmt.Errorf("start tracing: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", serviceName), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	lost := new(atomic.Uint64)
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(loggingExporter{exporter, log, lost}), sdktrace.WithResource(about))
	return &Tracing{provider: provider, tracer: provider.Tracer("merchantorders"), lost: lost}, nil
}

// Lost returns how many spans could not be sent; 0 if tracing is off.
func (t *Tracing) Lost() uint64 {
	if t == nil {
		return 0
	}
	return t.lost.Load()
}

// Check sends a span, and returns why the collector did not take it.
func Check(ctx context.Context, endpoint string) error {
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	if err != nil {
		return fmt.Errorf("start tracing: %w", err)
	}
	var sent error
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(checkingExporter{exporter, &sent}))
	_, span := provider.Tracer("merchantorders").Start(ctx, "doctor", trace.WithNewRoot())
	span.End()
	return errors.Join(sent, provider.Shutdown(ctx))
}

// checkingExporter keeps the error of an exporter.
type checkingExporter struct {
	sdktrace.SpanExporter
	sent *error
}

// ExportSpans implements sdktrace.SpanExporter.
func (e checkingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		*e.sent = errors.New(words(err))
	}
	return nil
}

// words returns the beginning of an error, which may have a page of the collector.
func words(err error) string { return strings.ToValidUTF8(fmt.Sprintf("%.300s", err.Error()), "") }

// Stop sends the spans that were not sent yet. It gives up after 5 seconds.
func (t *Tracing) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}

// loggingExporter logs the errors of an exporter. The provider would pass them to a
// handler of the whole process.
type loggingExporter struct {
	sdktrace.SpanExporter
	log  *slog.Logger
	lost *atomic.Uint64
}

// ExportSpans implements sdktrace.SpanExporter.
func (e loggingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.lost.Add(uint64(len(spans)))
		e.log.Warn("cannot send spans; they are lost", "spans", len(spans), "error", words(err))
	}
	return nil
}

// start begins a span below that of the request. Outside of a request it begins none:
// background jobs would otherwise send a trace with each of their statements.
func (t *Tracing) start(ctx context.Context, name string, kind trace.SpanKind, attributes ...attribute.KeyValue) (context.Context, trace.Span) {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx, trace.SpanFromContext(ctx)
	}
	return t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
}

// spanNames has the operations whose spans have other names than their metric has.
var spanNames = map[string]string{
	"order": "get", "export_keys": "export", "audit": "audit log", "order_events": "events of an order", "add": "import",
}

// Operation begins the span of an operation of the store. It returns the context of the
// operation, and what ends the span with its error. It does nothing if tracing is off.
func (t *Tracing) Operation(ctx context.Context, name string) (context.Context, func(error)) {
	if t == nil {
		return ctx, func(error) {}
	}
	ctx, span := t.start(ctx, "orders "+cmp.Or(spanNames[name], name), trace.SpanKindInternal)
	return ctx, func(err error) { end(span, err) }
}

// end ends a span. An error marks it as failed unless it is a refusal, which is a
// result like others.
func end(span trace.Span, err error) {
	if err != nil && (errors.Is(err, order.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)) {
		fail(span, "unavailable")
	}
	span.End()
}

// endCall ends the span of a call of another system. Every error is a failure, except
// expected, which says that something does not exist, and that of a client that has
// disconnected.
func endCall(span trace.Span, err error, system string, expected error) {
	if err != nil && !errors.Is(err, expected) && !errors.Is(err, context.Canceled) {
		fail(span, system)
	}
	span.End()
}

// fail marks a span as failed. kind is a word, never the text of an error, which may
// hold data.
func fail(span trace.Span, kind string) {
	span.SetAttributes(attribute.String("error.type", kind))
	span.SetStatus(codes.Error, "")
}
