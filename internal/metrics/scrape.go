package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Scrape takes metrics of the state of the service at the moment of a scrape. Their names have
// no prefix, and their labels are pairs of a name and a value.
type Scrape chan<- prometheus.Metric

// Watch adds the metrics of the state of the service. read is called by each scrape
// and must not wait for requests. Watch is called at most once.
func (m *Metrics) Watch(read func(Scrape)) { m.registry.MustRegister(watcher(read)) }

// watcher is the prometheus.Collector of Watch.
type watcher func(Scrape)

// Describe implements prometheus.Collector. Collect tells the descriptions.
func (watcher) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (read watcher) Collect(ch chan<- prometheus.Metric) { read(ch) }

// Gauge sends a value.
func (s Scrape) Gauge(name, help string, value float64, labels ...string) {
	s.send(prometheus.GaugeValue, name, help, value, labels)
}

// Flag sends 1 or 0.
func (s Scrape) Flag(name, help string, yes bool) {
	value := 0.0
	if yes {
		value = 1
	}
	s.Gauge(name, help, value)
}

// Time sends a time in Unix seconds; 0 for the zero time.
func (s Scrape) Time(name, help string, at time.Time, labels ...string) {
	value := 0.0
	if !at.IsZero() {
		value = float64(at.Unix())
	}
	s.Gauge(name, help, value, labels...)
}

// Counter sends a value that only grows.
func (s Scrape) Counter(name, help string, value uint64, labels ...string) {
	s.send(prometheus.CounterValue, name, help, float64(value), labels)
}

func (s Scrape) send(kind prometheus.ValueType, name, help string, value float64, labels []string) {
	var names, values []string
	for i := 0; i < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, labels[i+1])
	}
	s <- prometheus.MustNewConstMetric(prometheus.NewDesc(prefix+name, help, names, nil), kind, value, values...)
}
