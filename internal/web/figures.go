package web

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// errPanic is answered in place of a panic.
var errPanic = errors.New("a handler panicked")

// Figures counts and times what the service does, for /metrics.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	uploads  *prometheus.CounterVec
	uploaded prometheus.Counter
	database *prometheus.HistogramVec

	// Looking a figure up by its labels costs several times what counting does,
	// so what was found is kept. There are as many as the figures have series.
	answered   sync.Map // answeredLabels -> answeredFigures
	operations sync.Map // operation -> prometheus.Observer
}

type requestLabels struct {
	route, method string
	status        int
}

type requestMetrics struct {
	count   prometheus.Counter
	seconds prometheus.Observer
}

// NewFigures returns figures that are all zero, with those of the Go runtime
// and the process beside them.
func NewMetrics() *Metrics {
	f := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "merchant_orders_requests_total",
			Help: "Requests answered, by route, method and status.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "merchant_orders_request_seconds",
			Help:    "Time from the arrival of a request to the end of its answer, by route.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 3, 11), // 0.1 ms to 6 s
		}, []string{"route"}),
		uploads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "merchant_orders_uploads_total",
			Help: "Invoice uploads, by result: stored, refused, failed.",
		}, []string{"result"}),
		uploaded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "merchant_orders_uploaded_bytes_total",
			Help: "Decoded bytes of the invoice files stored.",
		}),
		database: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "merchant_orders_database_seconds",
			Help:    "Time that the database took, by operation.",
			Buckets: prometheus.ExponentialBuckets(0.00001, 4, 10), // 10 us to 2.6 s
		}, []string{"operation"}),
	}
	f.registry.MustRegister(f.requests, f.seconds, f.uploads, f.uploaded, f.database,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return f
}

// Handler serves the figures in the form that Prometheus reads.
func (f *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(f.registry, promhttp.HandlerOpts{})
}

// Database notes how long an operation on the database took.
func (f *Metrics) Database(operation string, took time.Duration) {
	found, ok := f.operations.Load(operation)
	if !ok {
		found, _ = f.operations.LoadOrStore(operation, f.database.WithLabelValues(operation))
	}
	found.(prometheus.Observer).Observe(took.Seconds())
}

// UploadResult is what became of an upload.
type UploadResult string

// The results of an upload.
const (
	UploadStored  UploadResult = "stored"
	UploadRefused UploadResult = "refused" // by a rule: the client's fault
	UploadFailed  UploadResult = "failed"  // the service's fault
)

// Upload notes an upload and the decoded size, in bytes, of what was stored.
func (f *Metrics) Upload(result UploadResult, size int64) {
	f.uploads.WithLabelValues(string(result)).Inc()
	if result == UploadStored {
		f.uploaded.Add(float64(size))
	}
}

// observe notes a request. route and method are of those that the service knows.
func (f *Metrics) observe(route, method string, status int, took time.Duration) {
	labels := requestLabels{route, method, status}
	found, ok := f.answered.Load(labels)
	if !ok {
		found, _ = f.answered.LoadOrStore(labels, requestMetrics{
			count:   f.requests.WithLabelValues(labels.route, labels.method, strconv.Itoa(status)),
			seconds: f.seconds.WithLabelValues(route),
		})
	}
	figures := found.(requestMetrics)
	figures.count.Inc()
	figures.seconds.Observe(took.Seconds())
}
