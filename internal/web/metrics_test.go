package web_test

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/web"
)

// series returns the lines of the metrics that begin with a name.
func series(t *testing.T, metrics *web.Metrics, name string) []string {
	t.Helper()
	recorder := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	var found []string
	for line := range strings.Lines(recorder.Body.String()) {
		if strings.HasPrefix(line, name) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// wantSeries checks that the metrics have a line.
func wantSeries(t *testing.T, metrics *web.Metrics, line string) {
	t.Helper()
	name, _, _ := strings.Cut(line, " ")
	found := series(t, metrics, name)
	if len(found) != 1 || found[0] != line {
		t.Errorf("metrics %q, want %q", found, line)
	}
}

// TestMetricsAreBounded checks that requests with invented paths and methods do not
// create new series.
func TestMetricsAreBounded(t *testing.T) {
	t.Parallel()
	server := serve(t, tokens{}, append(shop(), web.RouteGroup{Prefix: "/guarded", Errors: form("g"), Routes: guarded().Routes})...)
	for i := range 40 {
		for _, path := range []string{
			"/api/orders/%d", "/api/nothing/%d", "/made-up-%d", "/api//%d", "/v2/orders/%d/accept", "/guarded/read?token=%d",
		} {
			path = fmt.Sprintf(path, i)
			server.ask(t, fmt.Sprintf("METHOD%d %s", i, path))
			server.ask(t, "GET "+path)
		}
	}
	server.stop()
	lines := series(t, server.metrics, "merchant_orders_requests_total")
	allowed := regexp.MustCompile(`^merchant_orders_requests_total\{method="(GET|other)",` +
		`route="(/api/orders/\{id\}|/v2/orders/\{id\}/accept|/guarded/read|unmatched)",status="(200|401|404|405)"\} [0-9]+$`)
	for _, line := range lines {
		if !allowed.MatchString(line) {
			t.Errorf("unexpected series %s", line)
		}
	}
	if len(lines) != 8 {
		t.Errorf("%d series: %q", len(lines), lines)
	}
	wantSeries(t, server.metrics, `merchant_orders_requests_total{method="GET",route="unmatched",status="404"} 120`)
	wantSeries(t, server.metrics, `merchant_orders_requests_total{method="other",route="/api/orders/{id}",status="405"} 40`)
	wantSeries(t, server.metrics, `merchant_orders_request_seconds_count{route="/guarded/read"} 80`)
}

func TestMetricValues(t *testing.T) {
	t.Parallel()
	metrics := web.NewMetrics()
	metrics.Upload(web.UploadStored, 1000)
	metrics.Upload(web.UploadStored, 234)
	metrics.Upload(web.UploadRefused, 4_000_001)
	metrics.Upload(web.UploadFailed, 77)
	metrics.Database("list", 3*time.Millisecond)
	wantSeries(t, metrics, `merchant_orders_uploads_total{result="stored"} 2`)
	wantSeries(t, metrics, `merchant_orders_uploads_total{result="refused"} 1`)
	wantSeries(t, metrics, `merchant_orders_uploads_total{result="failed"} 1`)
	wantSeries(t, metrics, `merchant_orders_uploaded_bytes_total 1234`)
	wantSeries(t, metrics, `merchant_orders_database_seconds_sum{operation="list"} 0.003`)
	wantSeries(t, metrics, `merchant_orders_database_seconds_count{operation="list"} 1`)
	if len(series(t, metrics, "go_goroutines ")) != 1 {
		t.Error("the metrics of the runtime are missing")
	}
}

func TestRequestSeconds(t *testing.T) {
	t.Parallel()
	server := serve(t, tokens{}, shop()...)
	server.ask(t, "GET /healthz")
	server.stop()
	wantSeries(t, server.metrics, `merchant_orders_request_seconds_sum{route="/healthz"} 0.0015`)
}
