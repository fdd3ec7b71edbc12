package metrics

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Snapshot is the state of the parts of the service at one moment, for the metrics.
type Snapshot struct {
	Version           string // of the program
	Database, Storage bool   // whether they can be used
	Disks             []Disk
	Jobs              []Job
	Pool              ConnectionPool
	DatabaseLog       int64     // bytes of the write-ahead log of SQLite
	Survey            *Survey   // nil: not known
	CertificateEnd    time.Time // zero: no TLS

	RateLimited map[string]uint64 // requests refused with 429, by the name of the limit

	CanceledByDeadline uint64 // orders, by this instance
	DeadlineWarnings   uint64 // events, by this instance

	LogDropped uint64 // lines of the log that nobody has read

	RetentionAnnounced int64 // orders that --retain will delete when it begins

	FeedWaiters int           // requests that wait for events
	FeedLag     time.Duration // see order.Service.Waiting
	ClockOffset time.Duration // of the database, ahead of that of this machine

	Deliveries       map[string]uint64 // of webhooks by this server, by their result
	WebhooksInFlight int               // requests to webhooks
	Mails            map[string]uint64 // e-mails by this server, by their result

	LostSpans uint64 // of traces

	CacheHits, CacheMisses uint64 // of the response cache
	CacheBytes             int
}

// Survey is what only the database tells.
type Survey struct {
	SchemaVersion int64
	Orders        map[string]int64 // by the name of the state
	// OldestUnanswered is the age of the oldest order that its merchant has neither
	// accepted nor rejected; 0 if there is none.
	OldestUnanswered time.Duration
	Webhooks         map[string]int64 // by the name of the state
	// OldestUndelivered is the age of the oldest event that an active or failing webhook has yet to
	// acknowledge; 0 if there is none.
	OldestUndelivered time.Duration
	// MarketWebhooks and OldestMarketUndelivered are about the webhooks of the marketplace alone.
	MarketWebhooks          map[string]int64
	OldestMarketUndelivered time.Duration
	// OldestHeld is the age of the oldest event that the feed of all merchants holds back; 0 if
	// there is none.
	OldestHeld time.Duration
	// LateWebhooks are the active and failing webhooks whose oldest such event is older
	// than an hour.
	LateWebhooks int64
	Overdue      int64 // registered orders past their deadline
	// Merchants are those that are not suspended; LateMerchants are those of them with an
	// unanswered order that is older than a day.
	Merchants, LateMerchants int64
	// Backup and Check are the nightly jobs; Backup is nil where another program makes backups
	// and tells nothing of them.
	Backup *NightlyRun
	Check  NightlyRun
}

// NightlyRun is what is known of the runs of a nightly job.
type NightlyRun struct {
	LastSuccess time.Time // zero: none
	Failed      bool      // the last one
}

// Disk is the file system of a folder.
type Disk struct {
	Folder     string // what is in it: database or files
	Free, Size uint64 // bytes
}

// Job is a background job.
type Job struct {
	Name     string
	Interval time.Duration // 0: it runs once
	LastRun  time.Time     // the end of the last run; zero: none
	// LastSuccess is the end of the last run without an error, or the start of the
	// server if there was none.
	LastSuccess time.Time
	Failures    uint64
}

// ConnectionPool is the pool of database connections.
type ConnectionPool struct {
	InUse, Idle, Max int
	Waits            uint64 // how often a statement has waited for a connection
}

// Watch adds the metrics of the state of the service. read is called by each scrape
// and must not wait for requests. Watch is called at most once.
func (m *Metrics) Watch(read func() Snapshot) {
	m.registry.MustRegister(snapshotCollector{read})
}

// snapshotCollector is the prometheus.Collector of a Snapshot.
type snapshotCollector struct{ read func() Snapshot }

// Describe implements prometheus.Collector. Collect tells the descriptions.
func (snapshotCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c snapshotCollector) Collect(ch chan<- prometheus.Metric) {
	s, to := c.read(), metricSender(ch)
	to.gauge("build_info", "The version of the program; always 1.", 1, "version", s.Version, "go_version", runtime.Version())
	to.gauge("database_up", "Whether the database can be used: 1 or 0.", oneIf(s.Database))
	to.gauge("storage_up", "Whether invoice files can be stored: 1 or 0.", oneIf(s.Storage))
	to.gauge("certificate_not_after_timestamp_seconds", "When the TLS certificate expires; 0 without TLS.", unixOrZero(s.CertificateEnd))
	to.gauge("feed_waiters", "Requests that wait for events.", float64(s.FeedWaiters))
	to.gauge("feed_lag_seconds", "Longest time for which a commit of another instance may have gone unnoticed by waiting requests; 0 if none waits.", s.FeedLag.Seconds())
	to.gauge("database_clock_offset_seconds", "How far the clock of the database is ahead of that of this machine; from 1 second on, the clock of the database is used.", s.ClockOffset.Seconds())
	for use, n := range map[string]int{"in_use": s.Pool.InUse, "idle": s.Pool.Idle} {
		to.gauge("database_connections", "Connections to the database by use: in_use, idle.", float64(n), "use", use)
	}
	to.gauge("database_connections_limit", "Most connections to the database at a time.", float64(s.Pool.Max))
	to.counter("database_connection_waits_total", "How often a statement has waited for a connection to the database.", s.Pool.Waits)
	to.gauge("database_log_bytes", "Size of the write-ahead log of SQLite; 0 on PostgreSQL.", float64(s.DatabaseLog))
	to.counter("orders_canceled_by_deadline_total", "Orders that this instance has canceled because of their deadline.", s.CanceledByDeadline)
	to.counter("deadline_warnings_total", "Events order.deadline_near that this instance has written.", s.DeadlineWarnings)
	to.counter("log_lines_dropped_total", "Lines of the log that were dropped because nobody read them.", s.LogDropped)
	to.gauge("retention_announced_orders", "Orders that a new or shorter --retain will delete when its notice of a day ends; 0: none is announced.", float64(s.RetentionAnnounced))
	to.counter("response_cache_hits_total", "Lookups in the response cache that found a valid entry.", s.CacheHits)
	to.counter("response_cache_misses_total", "Lookups in the response cache that found no valid entry.", s.CacheMisses)
	to.gauge("response_cache_bytes", "Size of the response cache.", float64(s.CacheBytes))
	for limit, refused := range s.RateLimited {
		to.counter("rate_limited_total", "Requests refused with 429, by the limit.", refused, "limit", limit)
	}
	to.gauge("webhook_requests_in_flight", "Requests to webhooks that wait for a response.", float64(s.WebhooksInFlight))
	for result, n := range s.Deliveries {
		to.counter("webhook_deliveries_total", "Deliveries to webhooks, by their result.", n, "result", result)
	}
	to.counter("lost_spans_total", "Spans of traces that could not be sent.", s.LostSpans)
	for result, n := range s.Mails {
		reason := ""
		if result != "sent" && result != "refused" {
			result, reason = "failed", result
		}
		to.counter("mails_total", "E-mails to merchants, by their result (sent; refused by the address; failed), and why those failed.", n, "result", result, "reason", reason)
	}
	for _, disk := range s.Disks {
		to.gauge("disk_free_bytes", "Free space of the file system of a folder.", float64(disk.Free), "folder", disk.Folder)
		to.gauge("disk_size_bytes", "Size of the file system of a folder.", float64(disk.Size), "folder", disk.Folder)
	}
	for _, job := range s.Jobs {
		to.job(job)
	}
	if s.Survey != nil {
		to.survey(s.Survey)
	}
}

// metricSender sends metrics to a scrape.
type metricSender chan<- prometheus.Metric

// gauge sends a value with pairs of a label's name and value.
func (to metricSender) gauge(name, help string, value float64, labels ...string) {
	to.send(prometheus.GaugeValue, name, help, value, labels)
}

func (to metricSender) counter(name, help string, value uint64, labels ...string) {
	to.send(prometheus.CounterValue, name, help, float64(value), labels)
}

func (to metricSender) send(kind prometheus.ValueType, name, help string, value float64, labels []string) {
	var names, values []string
	for i := 0; i < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, labels[i+1])
	}
	to <- prometheus.MustNewConstMetric(prometheus.NewDesc("merchant_orders_"+name, help, names, nil), kind, value, values...)
}

// job sends the metrics of a background job. One that runs once has no interval, so
// that nobody misses its next run. The label is not job: Prometheus gives every series a label
// of that name itself.
func (to metricSender) job(job Job) {
	if !job.LastRun.IsZero() {
		to.gauge("job_last_run_timestamp_seconds", "End of the last run of a background job.", float64(job.LastRun.Unix()), "background_job", job.Name)
	}
	if job.Interval > 0 {
		to.gauge("job_interval_seconds", "Interval of a background job.", job.Interval.Seconds(), "background_job", job.Name)
		to.gauge("job_last_success_timestamp_seconds", "End of the last run of a background job without an error, or the start of the server.", float64(job.LastSuccess.Unix()), "background_job", job.Name)
	}
	to.counter("job_failures_total", "Failed runs of a background job.", job.Failures, "background_job", job.Name)
}

func (to metricSender) survey(s *Survey) {
	to.gauge("schema_version", "Version of the schema of the database.", float64(s.SchemaVersion))
	to.gauge("oldest_unanswered_order_age_seconds", "Age of the oldest order that its merchant has neither accepted nor rejected; 0 if there is none.", s.OldestUnanswered.Seconds())
	to.gauge("merchants", "Merchants that are not suspended.", float64(s.Merchants))
	to.gauge("late_merchants", "Merchants, not suspended, that have not answered an order for more than a day.", float64(s.LateMerchants))
	to.gauge("overdue_orders", "Orders that their merchant has neither accepted nor rejected before their deadline; at most 1000.", float64(s.Overdue))
	for state, count := range s.Orders {
		to.gauge("orders", "Orders by state.", float64(count), "state", state)
	}
	to.gauge("oldest_held_event_age_seconds", "Age of the oldest event that the feed of all merchants holds back because a transaction is in progress; 0 if there is none.", s.OldestHeld.Seconds())
	to.gauge("oldest_undelivered_event_age_seconds", "Age of the oldest event that an active or failing webhook has yet to acknowledge; 0 if there is none.", s.OldestUndelivered.Seconds())
	to.gauge("late_webhooks", "Active and failing webhooks that have yet to acknowledge an event that is older than an hour.", float64(s.LateWebhooks))
	for state, count := range s.Webhooks {
		to.gauge("webhooks", "Webhooks by state.", float64(count), "state", state)
	}
	to.gauge("marketplace_oldest_undelivered_event_age_seconds", "Age of the oldest event that an active or failing webhook of the marketplace has yet to acknowledge; 0 if there is none.", s.OldestMarketUndelivered.Seconds())
	for state, count := range s.MarketWebhooks {
		to.gauge("marketplace_webhooks", "Webhooks of the marketplace by state.", float64(count), "state", state)
	}
	if s.Backup != nil {
		to.gauge("backup_last_success_timestamp_seconds", "End of the last backup that succeeded; 0 if there was none.", unixOrZero(s.Backup.LastSuccess))
		to.gauge("backup_failed", "Whether the last backup has failed: 1 or 0.", oneIf(s.Backup.Failed))
	}
	to.gauge("check_last_success_timestamp_seconds", "End of the last check of the whole installation that found nothing; 0 if there was none.", unixOrZero(s.Check.LastSuccess))
	to.gauge("check_failed", "Whether the last check has failed or found something: 1 or 0.", oneIf(s.Check.Failed))
}

// unixOrZero returns a time in Unix seconds; 0 for the zero time.
func unixOrZero(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.Unix())
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
