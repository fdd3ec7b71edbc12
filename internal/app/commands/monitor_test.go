package commands_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// TestMonitor checks the metrics of a whole server against what it has done.
// Proves decision 1 (no token needed), decision 5 (metrics).
func TestMonitor(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.Import(t, document(1), document(2), document(3))
	testenv.Send(t, s.Token, "PATCH", s.BaseURL+"/v2/orders/T-1/accept", "")
	upload(t, s.BaseURL, s.Token, "T-1", "a.pdf", "content")
	for range 3 { // made, admitted to the cache, found in it
		testenv.Send(t, s.Token, "GET", s.BaseURL+"/v2/orders", "")
	}
	scrape := wantMetrics(t, s, "after some requests",
		`database_up 1`, `storage_up 1`, `orders{state="registered"} 2`, `orders{state="in-processing"} 1`, `orders{state="canceled"} 0`,
		`schema_version [1-9]\d*`, `oldest_unanswered_order_age_seconds [1-9]\S*`, `webhooks{state="active"} 0`, `oldest_undelivered_event_age_seconds 0`, `marketplace_webhooks{state="failing"} 0`, `marketplace_oldest_undelivered_event_age_seconds 0`, `webhook_deliveries_total{result="timeout"} 0`, `webhook_requests_in_flight 0`, `uploads_in_progress 0`, `feed_waiters 0`, `rate_limited_total{limit="sign_ins"} 0`, `feed_lag_seconds 0`,
		`database_connections{use="idle"} \d+`, `database_connections_limit [1-9]\d*`, `response_cache_hits_total 1`, `response_cache_misses_total [1-9]\d*`,
		`response_cache_bytes [1-9]\d*`,
		`disk_free_bytes{folder="database"} [1-9]\S*`, `disk_size_bytes{folder="files"} [1-9]\S*`,
		`build_info{go_version="go\S*",version="\S+"} 1`,
		`job_failures_total{background_job="purge deleted files"} 0`, `job_interval_seconds{background_job="expire reservations"} 15`,
		`backup_last_success_timestamp_seconds 0`, `backup_failed 0`, `check_last_success_timestamp_seconds 0`, `check_failed 0`,
		`job_last_success_timestamp_seconds{background_job="delete idempotency records"} \S+`,
	)
	problems := testenv.Of(promlint.New(strings.NewReader(scrape + "\n")).Lint()).Must(t)
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

// TestNightlyMetrics checks that a server shows how commands beside it have ended.
func TestNightlyMetrics(t *testing.T) {
	t.Parallel()
	s := filled(t)
	path := filepath.Join(t.TempDir(), "b.tar")
	s.Run(t, "", "backup", path).WantText(t, 0, "backed up")
	s.Run(t, "", "check").WantText(t, 0, "no findings")
	testenv.NoError(t, os.Remove(invoiceFile(s.Folder, "T-1", "a.pdf")))
	s.Run(t, "", "check").WantText(t, 1, "1 finding")
	wantMetrics(t, s, "after a check with a finding",
		`backup_last_success_timestamp_seconds \d\.\d+e\+09`, `backup_failed 0`, `check_last_success_timestamp_seconds \d\.\d+e\+09`, `check_failed 1`)

	failed := filled(t)
	failed.Run(t, "", "backup", path).WantText(t, 1, "already exists")
	wantMetrics(t, failed, "after a backup that failed", `backup_last_success_timestamp_seconds 0`, `backup_failed 1`, `check_failed 0`)

	unable := filled(t)
	testenv.NoError(t, os.Rename(filepath.Join(unable.Data, "files", "invoices"), filepath.Join(unable.Data, "files", "moved")))
	testenv.NoError(t, os.WriteFile(filepath.Join(unable.Data, "files", "invoices"), nil, 0o600))
	unable.Run(t, "", "check").WantText(t, 2, "not a directory")
	wantMetrics(t, unable, "after a check without a storage", `check_last_success_timestamp_seconds 0`, `check_failed 1`)
}

// wantMetrics checks that the first scrape of a server has some series, given as expressions
// without the prefix of the names, and returns it.
func wantMetrics(t *testing.T, s *apptest.Server, when string, series ...string) (scrape string) {
	t.Helper()
	scrape = testenv.Send(t, "", "GET", s.Address("/metrics"), "").Body
	for _, want := range series {
		if !regexp.MustCompile(`(?m)^merchant_orders_` + want + `$`).MatchString(scrape) {
			t.Errorf("%s: no series %s", when, want)
		}
	}
	return scrape
}
