// Package metrics has the counters, histograms and gauges of the service in Prometheus'
// form. It knows neither requests nor the parts that it measures: they tell it what
// happened.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the counters and histograms of the service, for /metrics.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	uploads  *prometheus.CounterVec
	uploaded prometheus.Counter
	damaged  prometheus.Counter
	database *prometheus.HistogramVec
	errors   *prometheus.CounterVec
	signIns  *prometheus.CounterVec
	// uploading is the number of uploads in progress.
	uploading prometheus.Gauge
}

// New returns metrics that are all zero, and those of the Go runtime and of
// the process.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	factory := promauto.With(m.registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return factory.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return factory.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: buckets}, labels)
	}
	m.requests = counter("requests_total", "Requests by route, class, method and status.", "route", "class", "method", "status")
	m.seconds = histogram("request_seconds", "Time from the arrival of a request to the end of its response, by route and class.",
		[]float64{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10}, "route", "class")
	m.uploads = counter("uploads_total", "Invoice uploads by result: stored, refused, failed.", "result")
	m.uploaded = counter("uploaded_bytes_total", "Decoded bytes of the invoice files stored.").WithLabelValues()
	m.damaged = counter("damaged_files_total", "Downloads refused because the invoice file is missing or damaged.").WithLabelValues()
	m.database = histogram("database_seconds", "Duration of database operations.",
		prometheus.ExponentialBuckets(0.00001, 4, 10), "operation") // 10 us to 2.6 s
	m.errors = counter("errors_total", "Requests that failed, or whose response was not sent, by the kind of the error.", "kind")
	m.signIns = counter("identity_failures_total", "Sign-ins with the identity provider that failed, by the reason: unavailable, settings, refused, no_access.", "reason")
	m.uploading = factory.NewGauge(prometheus.GaugeOpts{Name: prefix + "uploads_in_progress", Help: "Upload requests in progress."})
	m.zero()
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// prefix begins the names of all metrics of the service.
const prefix = "merchant_orders_"

// zero creates the counters of all known label values, so that the first increment
// is one from 0 and not a new series, which a query of the increase does not see.
func (m *Metrics) zero() {
	for _, result := range []UploadResult{UploadStored, UploadRefused, UploadFailed} {
		m.uploads.WithLabelValues(string(result))
	}
	for _, reason := range []string{"unavailable", "settings", "refused", "no_access"} {
		m.signIns.WithLabelValues(reason)
	}
}

// KnowErrors does the same for kinds of errors.
func (m *Metrics) KnowErrors(kinds ...string) {
	for _, kind := range kinds {
		m.errors.WithLabelValues(kind)
	}
}

// IdentityFailure counts a sign-in with the identity provider that failed.
func (m *Metrics) IdentityFailure(reason string) { m.signIns.WithLabelValues(reason).Inc() }

// Handler serves the metrics in Prometheus' text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Database records how long a database operation took.
func (m *Metrics) Database(operation string, took time.Duration) {
	m.database.WithLabelValues(operation).Observe(took.Seconds())
}

// UploadResult is how an upload ended.
type UploadResult string

// The results of an upload.
const (
	UploadStored  UploadResult = "stored"
	UploadRefused UploadResult = "refused" // the request broke a rule
	UploadFailed  UploadResult = "failed"  // the service failed
)

// Upload counts an upload, and the decoded size in bytes of a stored file.
func (m *Metrics) Upload(result UploadResult, size int64) {
	m.uploads.WithLabelValues(string(result)).Inc()
	if result == UploadStored {
		m.uploaded.Add(float64(size))
	}
}

// DamagedFile counts a download that was refused because its file is missing or
// damaged.
func (m *Metrics) DamagedFile() { m.damaged.Inc() }

// Failed counts an error of a request by its kind, one of a bounded set.
func (m *Metrics) Failed(kind string) { m.errors.WithLabelValues(kind).Inc() }

// UploadBegins and UploadEnds count the upload requests in progress.
func (m *Metrics) UploadBegins() { m.uploading.Inc() }

// UploadEnds is called once after each UploadBegins.
func (m *Metrics) UploadEnds() { m.uploading.Dec() }

// Class says what the time of a request means. The promises of the service are about
// reads and writes.
type Class string

// The classes of requests.
const (
	Read       Class = "read"
	Write      Class = "write"
	Stream     Class = "stream"     // lasts as long as the client, a file or another server takes
	Monitoring Class = "monitoring" // probes, metrics, profiles
	Other      Class = "other"      // no route has the path or the method
)

// Request counts a request. route and method come from bounded sets.
func (m *Metrics) Request(route string, class Class, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, string(class), method, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route, string(class)).Observe(took.Seconds())
}
