// Package tracingtest is a collector of OpenTelemetry for tests: it takes spans over
// HTTP as protobuf, as a real one does.
package tracingtest

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a span that was sent.
type Span struct {
	Name              string
	Trace, ID, Parent string // in hexadecimal; Parent is empty for a root
	Attributes        map[string]string
	Resource          map[string]string
	Failed            bool
	Text              string // everything in it
}

// Collector is a running collector.
type Collector struct {
	// Status returns the status of the next response; nil: 200. Spans of a request with
	// another status are not kept.
	Status func() int

	url   string
	mu    sync.Mutex
	spans []Span
}

// Start starts a collector until the test ends.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.Status != nil {
			if status := c.Status(); status != http.StatusOK {
				w.WriteHeader(status)
				return
			}
		}
		body, err := io.ReadAll(r.Body)
		var data tracepb.TracesData
		if err == nil {
			err = proto.Unmarshal(body, &data)
		}
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("the collector got %s %s, %v: %v", r.Method, r.URL, r.Header, err)
		}
		c.add(&data)
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

// Environ returns the environment variables that make a server send its spans.
func (c *Collector) Environ() []string { return []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.url} }

// Spans returns the spans that were sent so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

func (c *Collector) add(data *tracepb.TracesData) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range data.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.spans = append(c.spans, Span{
					Name:  span.GetName(),
					Trace: hex.EncodeToString(span.GetTraceId()), ID: hex.EncodeToString(span.GetSpanId()), Parent: hex.EncodeToString(span.GetParentSpanId()),
					Attributes: attributes(span.GetAttributes()), Resource: attributes(resource.GetResource().GetAttributes()),
					Failed: span.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR,
					Text:   span.String() + resource.GetResource().String(),
				})
			}
		}
	}
}

// attributes returns the values as text.
func attributes(list []*commonpb.KeyValue) map[string]string {
	values := make(map[string]string)
	for _, attribute := range list {
		value := attribute.GetValue()
		values[attribute.GetKey()] = value.GetStringValue()
		if _, number := value.GetValue().(*commonpb.AnyValue_IntValue); number {
			values[attribute.GetKey()] = value.String()
		}
	}
	return values
}
