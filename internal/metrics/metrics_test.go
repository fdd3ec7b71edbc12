package metrics_test

import (
	"testing"
	"time"

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

// TestWatch checks the metrics of a state, which may change between two scrapes.
func TestWatch(t *testing.T) {
	t.Parallel()
	up, end := true, time.Unix(2e6, 0)
	m := metrics.New()
	m.Watch(func(to metrics.Scrape) {
		to.Flag("database_up", "Whether.", up)
		to.Time("certificate_not_after_timestamp_seconds", "When.", end)
		to.Gauge("webhooks", "How many.", 1.5, "state", "active", "kind", "single")
		to.Counter("refused_total", "How often.", 3, "limit", "rate")
	})
	for _, line := range []string{
		`database_up 1`, `certificate_not_after_timestamp_seconds 2e+06`, `webhooks{kind="single",state="active"} 1.5`, `refused_total{limit="rate"} 3`,
	} {
		metricstest.Want(t, m, "merchant_orders_"+line)
	}
	testenv.Equal(t, "types", 1, len(metricstest.Series(t, m, "# TYPE merchant_orders_refused_total counter")))
	up, end = false, time.Time{}
	metricstest.Want(t, m, "merchant_orders_database_up 0")
	metricstest.Want(t, m, "merchant_orders_certificate_not_after_timestamp_seconds 0")
}
