package tracing

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Handler wraps the handler of a server. Each request gets a span, below the one that
// its traceparent names, unless skip reports true. Finish must be called at the end of
// each request.
func (t *Tracing) Handler(next http.Handler, skip func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if skip(r) {
			next.ServeHTTP(w, r)
			return
		}
		ctx := t.propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.tracer.Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End() // also if the handler panics to abort the response
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Finish names the span of a request after its method and its route, which is a
// pattern, and adds the status of the response.
func (t *Tracing) Finish(ctx context.Context, method, route string, status int) {
	span := trace.SpanFromContext(ctx)
	span.SetName(method + " " + route)
	span.SetAttributes(
		attribute.String("http.request.method", method),
		attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status),
	)
	if status == 0 || status >= http.StatusInternalServerError {
		fail(span, strconv.Itoa(status))
	}
}

// Transport wraps the transport of a client: requests carry the traceparent of the
// span for which they are sent.
func (t *Tracing) Transport(next http.RoundTripper) http.RoundTripper {
	return transport{next, t}
}

type transport struct {
	next http.RoundTripper
	t    *Tracing
}

// RoundTrip implements http.RoundTripper. The headers of S3 requests that are not
// signed may be added after the signature.
func (c transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if trace.SpanContextFromContext(r.Context()).IsValid() {
		r = r.Clone(r.Context())
		c.t.propagator.Inject(r.Context(), propagation.HeaderCarrier(r.Header))
	}
	return c.next.RoundTrip(r)
}

// LogHandler wraps the handler of a log: the lines of a request have its trace id.
func LogHandler(next slog.Handler) slog.Handler { return logHandler{next} }

type logHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h logHandler) Handle(ctx context.Context, record slog.Record) error {
	if span := trace.SpanContextFromContext(ctx); span.IsValid() {
		record = record.Clone()
		record.AddAttrs(slog.String("trace_id", span.TraceID().String()))
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }
