package commands_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/testenv"
	"merchantorders/internal/tracing/tracingtest"
)

// traced sends a request below a span of its client, and returns the response.
func traced(t *testing.T, method, url, token, trace, body string) {
	t.Helper()
	testenv.Send(t, token, method, url, body, "Traceparent", "00-"+trace+"-00f067aa0ba902b7-01",
		"Baggage", "userId=baggage-secret", "User-Agent", "agent-secret").WantStatus(t, 200)
}

// spanTree returns the spans of a trace as lines, each indented below its parent.
func spanTree(spans []tracingtest.Span, trace string) []string {
	var lines []string
	var add func(parent, indent string)
	add = func(parent, indent string) {
		for _, span := range spans {
			if span.Trace == trace && span.Parent == parent {
				lines = append(lines, indent+span.Name)
				add(span.ID, indent+"  ")
			}
		}
	}
	add("00f067aa0ba902b7", "")
	return lines
}

// TestTracing checks the spans of a server with a bucket: their tree from the client's
// span to the statements, the request to the bucket, the log, and that no data is in
// them.
func TestTracing(t *testing.T) {
	t.Parallel()
	collector, bucket := tracingtest.Start(t), startBucket(t)
	local := apptest.Folder{Data: filepath.Join(t.TempDir(), "data")}
	token := local.Merchant(t, apptest.MerchantID)
	local.Import(t, document(1))
	s := apptest.Folder{
		Data: local.Data, Settings: []string{"--storage", "s3://files?region=eu-central-1&endpoint=" + bucket.url},
		Environ: append(collector.Environ(), "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=storage-secret"),
	}.Serve(t)
	const list, change, store = "a0000000000000000000000000000001", "a0000000000000000000000000000002", "a0000000000000000000000000000003"
	traced(t, "GET", s.BaseURL+"/v2/orders?createdAtFrom=2026-01-01&states=registered", token, list, "")
	traced(t, "PATCH", s.BaseURL+"/v2/orders/T-1/accept", token, change, "")
	traced(t, "POST", s.BaseURL+"/v2/orders/T-1/invoices", token, store, `{"filename":"name-secret.pdf","contentBase64":"eA=="}`)
	testenv.Send(t, "", "GET", s.BaseURL+"/healthz", "")
	testenv.Send(t, "", "GET", s.Address("/metrics"), "")
	s.Stop(t)

	spans := collector.Spans()
	for trace, want := range map[string][]string{
		list:   {"GET /v2/orders", "  orders list", "    SELECT orders"},
		change: {"PATCH /v2/orders/{orderReference}/accept", "  orders change", "    transaction", "      SELECT orders", "      UPDATE orders"},
		store:  {"POST /v2/orders/{orderReference}/invoices", "  orders token", "    SELECT tokens", "  storage stage", "  storage commit", "  orders change", "      INSERT invoices"},
	} {
		got := spanTree(spans, trace)
		missing := slices.DeleteFunc(want, func(line string) bool { return slices.Contains(got, line) })
		if len(missing) > 0 {
			t.Errorf("no spans %q in:\n%s", missing, strings.Join(got, "\n"))
		}
		testenv.Contains(t, "log", s.Log(), `"trace_id":"`+trace+`"`)
	}
	checkSpans(t, spans, token)
	put := slices.IndexFunc(spans, func(span tracingtest.Span) bool { return span.Name == "storage commit" })
	if want := "00-" + store + "-" + spans[put].ID + "-01"; put < 0 || !slices.Contains(bucket.traces(), want) {
		t.Errorf("no request to the bucket has the traceparent %s: %q", want, bucket.traces())
	}
}

// checkSpans checks what is true of every span.
func checkSpans(t *testing.T, spans []tracingtest.Span, token string) {
	t.Helper()
	for _, span := range spans {
		if !strings.HasPrefix(span.Trace, "a00000000") || span.Failed {
			t.Errorf("unexpected span %s", span.Text)
		}
		if span.Resource["service.name"] != "merchant-orders" || span.Resource["service.version"] == "" {
			t.Errorf("resource %v", span.Resource)
		}
		testenv.Lacks(t, "span", span.Text, token, "secret", "T-1", "buyer", "2026-01", "127.0.0.1", "createdAtFrom")
		switch span.Name {
		case "GET /v2/orders":
			want := map[string]string{"http.request.method": "GET", "http.route": "/v2/orders", "http.response.status_code": "int_value:200"}
			testenv.Equal(t, "attributes", want, span.Attributes)
		case "SELECT orders":
			if span.Attributes["db.system.name"] != "sqlite" || !strings.HasPrefix(span.Attributes["db.query.text"], "SELECT ") {
				t.Errorf("attributes %v", span.Attributes)
			}
		}
	}
}

// bucketServer records who asks a server of buckets.
type bucketServer struct {
	url string
	mu  sync.Mutex
	got []string // traceparent of each request
}

func startBucket(t *testing.T) *bucketServer {
	b, memory := &bucketServer{}, new(s3test.Memory)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.got = append(b.got, r.Header.Get("Traceparent"))
		memory.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

func (b *bucketServer) traces() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.got)
}

// TestTracingSettings checks that wrong settings are reported before anything is done.
func TestTracingSettings(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Environ = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=localhost:4318"}
	got := f.Run(t, "", "serve", "--listen=127.0.0.1:0")
	want := "merchant-orders: OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL such as http://127.0.0.1:4318\n"
	got.WantErr(t, 2, want)
}
