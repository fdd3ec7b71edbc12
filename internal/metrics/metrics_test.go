package metrics_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"merchantorders/internal/metrics"
	"merchantorders/internal/metrics/metricstest"
	"merchantorders/internal/testenv"
)

func TestMetricValues(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	m.Upload(metrics.UploadStored, 1000)
	m.Upload(metrics.UploadStored, 234)
	m.Upload(metrics.UploadRefused, 4_000_001)
	m.Upload(metrics.UploadFailed, 77)
	m.Database("list", 3*time.Millisecond)
	metricstest.Want(t, m, `merchant_orders_uploads_total{result="stored"} 2`)
	metricstest.Want(t, m, `merchant_orders_uploads_total{result="refused"} 1`)
	metricstest.Want(t, m, `merchant_orders_uploads_total{result="failed"} 1`)
	metricstest.Want(t, m, `merchant_orders_uploaded_bytes_total 1234`)
	metricstest.Want(t, m, `merchant_orders_database_seconds_sum{operation="list"} 0.003`)
	metricstest.Want(t, m, `merchant_orders_database_seconds_count{operation="list"} 1`)
	testenv.Equal(t, "metrics of the runtime", 1, len(metricstest.Series(t, m, "go_goroutines ")))
}

// TestSnapshot checks the metrics of a state, and of one of which little is known.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	started := time.Unix(1_000_000, 0)
	state := metrics.Snapshot{
		Version: "v1.2.3", Database: true,
		Disks: []metrics.Disk{{Folder: "database", Free: 10, Size: 40}},
		Jobs: []metrics.Job{
			{Name: "purge", Interval: time.Hour, LastSuccess: started},
			{Name: "expire", Interval: 15 * time.Second, LastRun: started.Add(time.Minute), LastSuccess: started.Add(time.Second), Failures: 3},
			{Name: "check", LastRun: started.Add(time.Second), LastSuccess: started.Add(time.Second)},
		},
		Pool: metrics.ConnectionPool{InUse: 1, Idle: 3, Max: 8, Waits: 5}, DatabaseLog: 99,
		RateLimited: map[string]uint64{"rate": 3, "sign_ins": 0},
		FeedWaiters: 4, FeedLag: 1500 * time.Millisecond, ClockOffset: -2 * time.Second,
		CacheHits: 90, CacheMisses: 10, CacheBytes: 4096,
		Survey: &metrics.Survey{SchemaVersion: 4, Orders: map[string]int64{"registered": 12, "canceled": 0}, OldestUnanswered: time.Hour,
			Webhooks: map[string]int64{"active": 3, "failed": 1}, OldestUndelivered: time.Minute, OldestHeld: 3 * time.Second, LateWebhooks: 2},
		CertificateEnd: time.Unix(2e6, 0),
		Deliveries:     map[string]uint64{"acknowledged": 8}, WebhooksInFlight: 2,
	}
	m := metrics.New()
	m.Watch(func() metrics.Snapshot { return state })
	for _, line := range []string{
		`database_up 1`, `storage_up 0`, `schema_version 4`, `orders{state="registered"} 12`, `orders{state="canceled"} 0`,
		`oldest_unanswered_order_age_seconds 3600`, `webhooks{state="failed"} 1`, `oldest_undelivered_event_age_seconds 60`, `late_webhooks 2`, `oldest_held_event_age_seconds 3`, `database_clock_offset_seconds -2`,
		`webhook_deliveries_total{result="acknowledged"} 8`, `webhook_requests_in_flight 2`, `feed_waiters 4`, `rate_limited_total{limit="rate"} 3`, `rate_limited_total{limit="sign_ins"} 0`, `feed_lag_seconds 1.5`,
		`job_interval_seconds{background_job="purge"} 3600`, `job_last_success_timestamp_seconds{background_job="purge"} 1e+06`, `job_failures_total{background_job="purge"} 0`,
		`job_last_run_timestamp_seconds{background_job="expire"} 1.00006e+06`, `job_last_success_timestamp_seconds{background_job="expire"} 1.000001e+06`,
		`job_failures_total{background_job="expire"} 3`, `job_last_run_timestamp_seconds{background_job="check"} 1.000001e+06`,
		`database_connections{use="in_use"} 1`, `database_connections{use="idle"} 3`, `database_connections_limit 8`, `database_log_bytes 99`,
		`database_connection_waits_total 5`, `response_cache_hits_total 90`, `response_cache_misses_total 10`,
		`response_cache_bytes 4096`,
		`certificate_not_after_timestamp_seconds 2e+06`, `disk_free_bytes{folder="database"} 10`, `disk_size_bytes{folder="database"} 40`,
	} {
		metricstest.Want(t, m, "merchant_orders_"+line)
	}
	build := metricstest.Series(t, m, "merchant_orders_build_info")
	if len(build) != 1 || !strings.Contains(build[0], `version="v1.2.3"`) {
		t.Errorf("build %q", build)
	}
	for _, absent := range []string{`job_last_run_timestamp_seconds{background_job="purge"}`, `job_interval_seconds{background_job="check"}`, `job_last_success_timestamp_seconds{background_job="check"}`} {
		if found := metricstest.Series(t, m, "merchant_orders_"+absent); len(found) > 0 {
			t.Errorf("unexpected %q", found)
		}
	}
	state = metrics.Snapshot{}
	metricstest.Want(t, m, "merchant_orders_database_up 0")
	metricstest.Want(t, m, "merchant_orders_certificate_not_after_timestamp_seconds 0")
	for _, name := range []string{"orders{", "schema_version", "oldest_unanswered", "webhooks{", "oldest_undelivered", "disk_", "job_"} {
		if found := metricstest.Series(t, m, "merchant_orders_"+name); len(found) > 0 {
			t.Errorf("not known, but %q", found)
		}
	}
}

// TestMetricNames holds the names and the help of all metrics to Prometheus' rules.
func TestMetricNames(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	m.Watch(func() metrics.Snapshot {
		return metrics.Snapshot{
			Disks: []metrics.Disk{{Folder: "files"}}, Survey: &metrics.Survey{Orders: map[string]int64{"registered": 1}},
			Jobs: []metrics.Job{{Name: "purge", Interval: time.Hour, LastRun: time.Unix(1, 0)}},
		}
	})
	m.Database("list", time.Second)
	m.Request("/", metrics.Read, "GET", 200, time.Second)
	recorder := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorder, httptest.NewRequest("GET", "/metrics", nil))
	problems := testenv.Of(promlint.New(recorder.Body).Lint()).Must(t)
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}
