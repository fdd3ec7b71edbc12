package app

import (
	"testing"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/metrics"
	"merchantorders/internal/metrics/metricstest"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
)

// TestSendState checks the metrics of background jobs and of a survey.
func TestSendState(t *testing.T) {
	t.Parallel()
	now, started := time.Unix(1_100_000, 0), time.Unix(1_000_000, 0)
	survey := &store.Survey{
		SchemaVersion: 4, Orders: map[order.State]int64{order.Registered: 12, order.Canceled: 0}, OldestNew: now.Add(-time.Hour), OldestHeld: now.Add(time.Second),
		Webhooks: map[delivery.State]int64{delivery.Failed: 3}, MarketWebhooks: map[delivery.State]int64{delivery.Failed: 1}, OldestUndelivered: now.Add(-time.Minute), LateWebhooks: 2,
		Runs: map[store.NightlyJob]store.NightlyRun{store.NightlyCheck: {LastSuccess: started, Failed: true}},
	}
	m := metrics.New()
	m.Watch(func(to metrics.Scrape) {
		for _, job := range []jobRecord{
			{name: "purge", interval: time.Hour, lastSuccess: started},
			{name: "expire", interval: 15 * time.Second, lastRun: started.Add(time.Minute), lastSuccess: started.Add(time.Second), failures: 3},
			{name: "check", lastRun: started.Add(time.Second), lastSuccess: started.Add(time.Second)},
		} {
			job.send(to)
		}
		sendSurvey(to, survey, now, false)
	})
	for _, line := range []string{
		`job_interval_seconds{background_job="purge"} 3600`, `job_last_success_timestamp_seconds{background_job="purge"} 1e+06`, `job_failures_total{background_job="purge"} 0`,
		`job_last_run_timestamp_seconds{background_job="expire"} 1.00006e+06`, `job_last_success_timestamp_seconds{background_job="expire"} 1.000001e+06`,
		`job_failures_total{background_job="expire"} 3`, `job_last_run_timestamp_seconds{background_job="check"} 1.000001e+06`,
		`schema_version 4`, `orders{state="registered"} 12`, `orders{state="canceled"} 0`, `oldest_unanswered_order_age_seconds 3600`, `oldest_held_event_age_seconds 0`,
		`webhooks{state="failed"} 3`, `marketplace_webhooks{state="failed"} 1`, `oldest_undelivered_event_age_seconds 60`,
		`marketplace_oldest_undelivered_event_age_seconds 0`, `late_webhooks 2`, `check_last_success_timestamp_seconds 1e+06`, `check_failed 1`,
	} {
		metricstest.Want(t, m, "merchant_orders_"+line)
	}
	for _, absent := range []string{
		`job_last_run_timestamp_seconds{background_job="purge"}`, `job_interval_seconds{background_job="check"}`, `job_last_success_timestamp_seconds{background_job="check"}`, `backup_`,
	} {
		if found := metricstest.Series(t, m, "merchant_orders_"+absent); len(found) > 0 {
			t.Errorf("unexpected %q", found)
		}
	}
}
