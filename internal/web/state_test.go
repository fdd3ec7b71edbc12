package web_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// TestState checks the metrics of a state, and of one of which little is known.
func TestState(t *testing.T) {
	t.Parallel()
	started := time.Unix(1_000_000, 0)
	state := web.State{
		Version: "v1.2.3", Database: true,
		Disks: []web.Disk{{Folder: "database", Free: 10, Size: 40}},
		Jobs: []web.Job{
			{Name: "purge", Interval: time.Hour, LastSuccess: started},
			{Name: "expire", Interval: 15 * time.Second, LastRun: started.Add(time.Minute), LastSuccess: started.Add(time.Second), Failures: 3},
			{Name: "check", LastRun: started.Add(time.Second), LastSuccess: started.Add(time.Second)},
		},
		Pool:        web.ConnectionPool{InUse: 1, Idle: 3, Max: 8, Waits: 5},
		RateLimited: map[string]uint64{"rate": 3, "sign_ins": 0},
		FeedWaiters: 4, FeedLag: 1500 * time.Millisecond,
		CacheHits: 90, CacheMisses: 10, CacheBytes: 4096, PageIndexMerchants: 2, PageIndexBuckets: 700,
		Survey: &web.Survey{SchemaVersion: 4, Orders: map[string]int64{"registered": 12, "canceled": 0}, OldestUnanswered: time.Hour,
			Webhooks: map[string]int64{"active": 3, "failed": 1}, OldestUndelivered: time.Minute},
		Deliveries: map[string]uint64{"acknowledged": 8}, WebhooksInFlight: 2,
	}
	metrics := web.NewMetrics()
	metrics.Watch(func() web.State { return state })
	for _, line := range []string{
		`database_up 1`, `storage_up 0`, `schema_version 4`, `orders{state="registered"} 12`, `orders{state="canceled"} 0`,
		`oldest_unanswered_order_age_seconds 3600`, `webhooks{state="failed"} 1`, `oldest_undelivered_event_age_seconds 60`,
		`webhook_deliveries_total{result="acknowledged"} 8`, `webhook_requests_in_flight 2`, `feed_waiters 4`, `rate_limited_total{limit="rate"} 3`, `rate_limited_total{limit="sign_ins"} 0`, `feed_lag_seconds 1.5`,
		`job_interval_seconds{background_job="purge"} 3600`, `job_last_success_timestamp_seconds{background_job="purge"} 1e+06`, `job_failures_total{background_job="purge"} 0`,
		`job_last_run_timestamp_seconds{background_job="expire"} 1.00006e+06`, `job_last_success_timestamp_seconds{background_job="expire"} 1.000001e+06`,
		`job_failures_total{background_job="expire"} 3`, `job_last_run_timestamp_seconds{background_job="check"} 1.000001e+06`,
		`database_connections{use="in_use"} 1`, `database_connections{use="idle"} 3`, `database_connections_limit 8`,
		`database_connection_waits_total 5`, `response_cache_hits_total 90`, `response_cache_misses_total 10`,
		`response_cache_bytes 4096`, `page_index_merchants 2`, `page_index_buckets 700`,
		`disk_free_bytes{folder="database"} 10`, `disk_size_bytes{folder="database"} 40`,
	} {
		wantSeries(t, metrics, "merchant_orders_"+line)
	}
	build := series(t, metrics, "merchant_orders_build_info")
	if len(build) != 1 || !strings.Contains(build[0], `version="v1.2.3"`) {
		t.Errorf("build %q", build)
	}
	for _, absent := range []string{`job_last_run_timestamp_seconds{background_job="purge"}`, `job_interval_seconds{background_job="check"}`, `job_last_success_timestamp_seconds{background_job="check"}`} {
		if found := series(t, metrics, "merchant_orders_"+absent); len(found) > 0 {
			t.Errorf("unexpected %q", found)
		}
	}
	state = web.State{}
	wantSeries(t, metrics, "merchant_orders_database_up 0")
	for _, name := range []string{"orders{", "schema_version", "oldest_unanswered", "webhooks{", "oldest_undelivered", "disk_", "job_"} {
		if found := series(t, metrics, "merchant_orders_"+name); len(found) > 0 {
			t.Errorf("not known, but %q", found)
		}
	}
}

// TestMetricNames holds the names and the help of all metrics to Prometheus' rules.
func TestMetricNames(t *testing.T) {
	t.Parallel()
	metrics := web.NewMetrics()
	metrics.Watch(func() web.State {
		return web.State{
			Disks: []web.Disk{{Folder: "files"}}, Survey: &web.Survey{Orders: map[string]int64{"registered": 1}},
			Jobs: []web.Job{{Name: "purge", Interval: time.Hour, LastRun: time.Unix(1, 0)}},
		}
	})
	metrics.Database("list", time.Second)
	recorder := httptest.NewRecorder()
	web.Observe(http.NotFoundHandler(), form("x"), web.RequestLog{Logger: slog.New(slog.DiscardHandler)}, metrics, ticking()).
		ServeHTTP(recorder, httptest.NewRequest("GET", "/", nil))
	recorder = httptest.NewRecorder()
	metrics.Handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	problems, err := promlint.New(recorder.Body).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

// TestErrorKinds checks how failed requests are counted.
func TestErrorKinds(t *testing.T) {
	t.Parallel()
	kinds := map[string]error{
		"unavailable": fmt.Errorf("the database is %w", order.ErrUnavailable), "damaged_file": order.ErrInvoiceDamaged,
		"upload": fmt.Errorf("%w: %w", order.ErrUploadFailed, order.ErrUnavailable), "internal": errors.New("something else"),
	}
	var routes []web.Route
	for kind, err := range kinds {
		routes = append(routes, public("GET", "/"+kind, func(http.ResponseWriter, *http.Request) error { return err }))
	}
	routes = append(routes,
		public("GET", "/panic", func(http.ResponseWriter, *http.Request) error { panic("on purpose") }),
		public("GET", "/aborted", func(http.ResponseWriter, *http.Request) error { panic(http.ErrAbortHandler) }),
		public("GET", "/missing", func(http.ResponseWriter, *http.Request) error { return web.ErrRouteNotFound }))
	server := serve(t, tokens{}, web.RouteGroup{Errors: form("x"), Routes: routes})
	for _, route := range routes {
		server.ask(t, "GET "+route.Path())
	}
	server.stop()
	for _, kind := range []string{"unavailable", "damaged_file", "upload", "internal", "panic", "aborted"} {
		wantSeries(t, server.metrics, `merchant_orders_errors_total{kind="`+kind+`"} 1`)
	}
	for _, kind := range []string{"client_closed", "crowded", "storage", "timeout"} {
		wantSeries(t, server.metrics, `merchant_orders_errors_total{kind="`+kind+`"} 0`)
	}
}

// TestUploadsInProgress checks that an upload counts from its authentication to its
// response, and that other writes do not.
func TestUploadsInProgress(t *testing.T) {
	t.Parallel()
	metrics := web.NewMetrics()
	var during []string
	handle := func(*web.Request) (web.Write, error) {
		during = append(during, series(t, metrics, "merchant_orders_uploads_in_progress")...)
		return web.Write{}, order.ErrUnavailable
	}
	verifier := tokens{"all": {ID: 7, MerchantID: 355, Scopes: order.DefaultScopes}}
	router := web.NewRouter(web.RouterConfig{Authenticator: verifier, Metrics: metrics, Refuser: refuser{}}, web.RouteGroup{
		Errors: form("x"),
		Routes: []web.Route{
			web.UploadRoute("/upload", order.DefaultScopes, handle), web.WriteRoute("POST", "/write", order.DefaultScopes, handle),
		},
	})
	for _, path := range []string{"/upload", "/write"} {
		request := httptest.NewRequest("POST", path, nil)
		request.Header.Set("Authorization", "Bearer all")
		router.ServeHTTP(httptest.NewRecorder(), request)
	}
	if want := "[merchant_orders_uploads_in_progress 1 merchant_orders_uploads_in_progress 0]"; fmt.Sprint(during) != want {
		t.Errorf("during an upload and another write: %v", during)
	}
	wantSeries(t, metrics, "merchant_orders_uploads_in_progress 0")
}

// refuser is a Refuser without idempotency records.
type refuser struct{}

func (refuser) Idempotency(int64, string, [sha256.Size]byte) order.Idempotency {
	return order.Idempotency{}
}

func (refuser) Refuse(_ context.Context, _ int64, _ order.WriteOptions, refusal error) error {
	return refusal
}
