package tracing

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
)

// Poster wraps what sends webhooks: each delivery has a span, which names the webhook
// and never its address. A delivery belongs to no request, so its span begins a trace
// of its own, unless it is a test that somebody requests. The receiver gets the
// traceparent.
func (t *Tracing) Poster(next webhook.Poster) webhook.Poster { return poster{next, t} }

type poster struct {
	next webhook.Poster
	t    *Tracing
}

// Post implements webhook.Poster.
func (p poster) Post(ctx context.Context, m webhook.Message) delivery.Result {
	ctx, span := p.t.tracer.Start(ctx, "webhook delivery", trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	if m.Header == nil {
		m.Header = make(http.Header)
	}
	p.t.propagator.Inject(ctx, propagation.HeaderCarrier(m.Header))
	result := p.next.Post(ctx, m)
	if result.Status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", result.Status))
	}
	if result.Error != "" {
		fail(span, result.Error)
	}
	return result
}
