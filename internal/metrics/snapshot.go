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

// descriptions are the metrics of a Snapshot, by their names without prefix.
var descriptions = make(map[string]*prometheus.Desc)

// describe adds a metric to descriptions.
func describe(name, help string, labels ...string) *prometheus.Desc {
	desc := prometheus.NewDesc("merchant_orders_"+name, help, labels, nil)
	descriptions[name] = desc
	return desc
}

// The label of a background job is not job: Prometheus gives every series a label of
// that name itself.
var (
	descBuild       = describe("build_info", "The version of the program; always 1.", "version", "go_version")
	descDatabaseUp  = describe("database_up", "Whether the database can be read: 1 or 0.")
	descStorageUp   = describe("storage_up", "Whether invoice files can be stored: 1 or 0.")
	descSchema      = describe("schema_version", "Version of the schema of the database.")
	descOrders      = describe("orders", "Orders by state.", "state")
	descUnanswered  = describe("oldest_unanswered_order_age_seconds", "Age of the oldest order that its merchant has neither accepted nor rejected; 0 if there is none.")
	descMerchants   = describe("merchants", "Merchants that are not suspended.")
	descLate        = describe("late_merchants", "Merchants, not suspended, that have not answered an order for more than a day.")
	descOverdue     = describe("overdue_orders", "Orders that their merchant has neither accepted nor rejected before their deadline; at most 1000.")
	descCertificate = describe("certificate_not_after_timestamp_seconds", "When the TLS certificate expires; 0 without TLS.")
	descCanceled    = describe("orders_canceled_by_deadline_total", "Orders that this instance has canceled because of their deadline.")
	descWarnings    = describe("deadline_warnings_total", "Events order.deadline_near that this instance has written.")
	descLogDropped  = describe("log_lines_dropped_total", "Lines of the log that were dropped because nobody read them.")
	descRetention   = describe("retention_announced_orders", "Orders that a new or shorter --retain will delete when its notice of a day ends; 0: none is announced.")
	descLimited     = describe("rate_limited_total", "Requests refused with 429, by the limit.", "limit")
	descWaiters     = describe("feed_waiters", "Requests that wait for events.")
	descLag         = describe("feed_lag_seconds", "Longest time for which a commit of another instance may have gone unnoticed by waiting requests; 0 if none waits.")
	descDeliveries  = describe("webhook_deliveries_total", "Deliveries to webhooks, by their result.", "result")
	descSpans       = describe("lost_spans_total", "Spans of traces that could not be sent.")
	descMails       = describe("mails_total", "E-mails to merchants, by their result (sent; refused by the address; failed), and why those failed.", "result", "reason")
	descInFlight    = describe("webhook_requests_in_flight", "Requests to webhooks that wait for a response.")
	descWebhooks    = describe("webhooks", "Webhooks by state.", "state")
	descHeld        = describe("oldest_held_event_age_seconds", "Age of the oldest event that the feed of all merchants holds back because a transaction is in progress; 0 if there is none.")
	descClock       = describe("database_clock_offset_seconds", "How far the clock of the database is ahead of that of this machine; from 1 second on, the clock of the database is used.")
	descUndelivered = describe("oldest_undelivered_event_age_seconds", "Age of the oldest event that an active or failing webhook has yet to acknowledge; 0 if there is none.")
	descMarketHooks = describe("marketplace_webhooks", "Webhooks of the marketplace by state.", "state")
	descMarketAge   = describe("marketplace_oldest_undelivered_event_age_seconds", "Age of the oldest event that an active or failing webhook of the marketplace has yet to acknowledge; 0 if there is none.")
	descBackup      = describe("backup_last_success_timestamp_seconds", "End of the last backup that succeeded; 0 if there was none.")
	descBackupFails = describe("backup_failed", "Whether the last backup has failed: 1 or 0.")
	descCheck       = describe("check_last_success_timestamp_seconds", "End of the last check of the whole installation that found nothing; 0 if there was none.")
	descCheckFails  = describe("check_failed", "Whether the last check has failed or found something: 1 or 0.")
	descLateHooks   = describe("late_webhooks", "Active and failing webhooks that have yet to acknowledge an event that is older than an hour.")
	descRun         = describe("job_last_run_timestamp_seconds", "End of the last run of a background job.", "background_job")
	descSuccess     = describe("job_last_success_timestamp_seconds", "End of the last run of a background job without an error, or the start of the server.", "background_job")
	descFailures    = describe("job_failures_total", "Failed runs of a background job.", "background_job")
	descInterval    = describe("job_interval_seconds", "Interval of a background job.", "background_job")
	descConnections = describe("database_connections", "Connections to the database by use: in_use, idle.", "use")
	descPoolSize    = describe("database_connections_limit", "Most connections to the database at a time.")
	descLog         = describe("database_log_bytes", "Size of the write-ahead log of SQLite; 0 on PostgreSQL.")
	descWaits       = describe("database_connection_waits_total", "How often a statement has waited for a connection to the database.")
	descHits        = describe("response_cache_hits_total", "Lookups in the response cache that found a valid entry.")
	descMisses      = describe("response_cache_misses_total", "Lookups in the response cache that found no valid entry.")
	descCacheBytes  = describe("response_cache_bytes", "Size of the response cache.")
	descDiskFree    = describe("disk_free_bytes", "Free space of the file system of a folder.", "folder")
	descDiskSize    = describe("disk_size_bytes", "Size of the file system of a folder.", "folder")
)

// Watch adds the metrics of the state of the service. read is called by each scrape
// and must not wait for requests. Watch is called at most once.
func (m *Metrics) Watch(read func() Snapshot) {
	m.registry.MustRegister(snapshotCollector{read})
}

// snapshotCollector is the prometheus.Collector of a Snapshot.
type snapshotCollector struct{ read func() Snapshot }

// Describe implements prometheus.Collector.
func (snapshotCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range descriptions {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (c snapshotCollector) Collect(ch chan<- prometheus.Metric) {
	s, to := c.read(), metricSender(ch)
	to.gauge(descBuild, 1, s.Version, runtime.Version())
	to.gauge(descDatabaseUp, oneIf(s.Database))
	to.gauge(descStorageUp, oneIf(s.Storage))
	to.gauge(descCertificate, unixOrZero(s.CertificateEnd))
	to.gauge(descWaiters, float64(s.FeedWaiters))
	to.gauge(descLag, s.FeedLag.Seconds())
	to.gauge(descClock, s.ClockOffset.Seconds())
	to.gauge(descConnections, float64(s.Pool.InUse), "in_use")
	to.gauge(descConnections, float64(s.Pool.Idle), "idle")
	to.gauge(descPoolSize, float64(s.Pool.Max))
	to.counter(descWaits, s.Pool.Waits)
	to.gauge(descLog, float64(s.DatabaseLog))
	to.counter(descCanceled, s.CanceledByDeadline)
	to.counter(descWarnings, s.DeadlineWarnings)
	to.counter(descLogDropped, s.LogDropped)
	to.gauge(descRetention, float64(s.RetentionAnnounced))
	to.counter(descHits, s.CacheHits)
	to.counter(descMisses, s.CacheMisses)
	to.gauge(descCacheBytes, float64(s.CacheBytes))
	for limit, refused := range s.RateLimited {
		to.counter(descLimited, refused, limit)
	}
	to.gauge(descInFlight, float64(s.WebhooksInFlight))
	for result, n := range s.Deliveries {
		to.counter(descDeliveries, n, result)
	}
	to.counter(descSpans, s.LostSpans)
	for result, n := range s.Mails {
		reason := ""
		if result != "sent" && result != "refused" {
			result, reason = "failed", result
		}
		to.counter(descMails, n, result, reason)
	}
	for _, disk := range s.Disks {
		to.gauge(descDiskFree, float64(disk.Free), disk.Folder)
		to.gauge(descDiskSize, float64(disk.Size), disk.Folder)
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

func (to metricSender) gauge(desc *prometheus.Desc, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

func (to metricSender) counter(desc *prometheus.Desc, value uint64, labels ...string) {
	to <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), labels...)
}

// job sends the metrics of a background job. One that runs once has no interval, so
// that nobody misses its next run.
func (to metricSender) job(job Job) {
	if !job.LastRun.IsZero() {
		to.gauge(descRun, float64(job.LastRun.Unix()), job.Name)
	}
	if job.Interval > 0 {
		to.gauge(descInterval, job.Interval.Seconds(), job.Name)
		to.gauge(descSuccess, float64(job.LastSuccess.Unix()), job.Name)
	}
	to.counter(descFailures, job.Failures, job.Name)
}

func (to metricSender) survey(s *Survey) {
	to.gauge(descSchema, float64(s.SchemaVersion))
	to.gauge(descUnanswered, s.OldestUnanswered.Seconds())
	to.gauge(descMerchants, float64(s.Merchants))
	to.gauge(descLate, float64(s.LateMerchants))
	to.gauge(descOverdue, float64(s.Overdue))
	for state, count := range s.Orders {
		to.gauge(descOrders, float64(count), state)
	}
	to.gauge(descHeld, s.OldestHeld.Seconds())
	to.gauge(descUndelivered, s.OldestUndelivered.Seconds())
	to.gauge(descLateHooks, float64(s.LateWebhooks))
	for state, count := range s.Webhooks {
		to.gauge(descWebhooks, float64(count), state)
	}
	to.gauge(descMarketAge, s.OldestMarketUndelivered.Seconds())
	for state, count := range s.MarketWebhooks {
		to.gauge(descMarketHooks, float64(count), state)
	}
	if s.Backup != nil {
		to.gauge(descBackup, unixOrZero(s.Backup.LastSuccess))
		to.gauge(descBackupFails, oneIf(s.Backup.Failed))
	}
	to.gauge(descCheck, unixOrZero(s.Check.LastSuccess))
	to.gauge(descCheckFails, oneIf(s.Check.Failed))
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
