package app

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"syscall"
	"time"

	"merchantorders/internal/metrics"
	httpserver "merchantorders/internal/server"
	"merchantorders/internal/store"
)

// How often scrapes read, and for how long at most.
const (
	disksInterval  = 5 * time.Second
	disksTimeout   = 2 * time.Second
	surveyInterval = 15 * time.Second
	surveyTimeout  = 30 * time.Second
	// surveyRest bounds the load of surveys: at most 1 % of the time.
	surveyRest = 100
	// scrapePatience is how long a scrape waits for its reads, which run at the same
	// time. Prometheus waits for 10 seconds by default.
	scrapePatience = 3 * time.Second
)

// monitor reads the state of a server for the metrics.
type monitor struct {
	*server
	disks   httpserver.Shared[[]folderSpace] // its own, because a disk may hang
	survey  httpserver.Shared[*store.Survey]
	stopped context.Context
	stop    context.CancelFunc
}

// startMonitor adds the state of the server to the metrics.
func (s *server) startMonitor() *monitor {
	stopped, stop := context.WithCancel(context.Background())
	m := &monitor{server: s, stopped: stopped, stop: stop}
	m.disks = httpserver.Shared[[]folderSpace]{
		Read: m.readDisks, Interval: disksInterval, Timeout: disksTimeout, Now: s.Now, Stopped: stopped,
	}
	m.survey = httpserver.Shared[*store.Survey]{
		Read:     func(ctx context.Context) (*store.Survey, error) { return readSurvey(ctx, s.DB, s.Now(), s.log) },
		Interval: surveyInterval, Rest: surveyRest, Timeout: surveyTimeout, Now: s.Now, Stopped: stopped,
	}
	s.metrics.Watch(m.send)
	return m
}

// close ends running reads and waits for the survey. A read of the disks may hang.
func (m *monitor) close() {
	m.stop()
	m.survey.Wait()
}

// send sends the state of the server to a scrape.
func (m *monitor) send(to metrics.Scrape) {
	var databaseErr, storageErr error
	var disks []folderSpace
	var survey *store.Survey
	ctx, cancel := context.WithTimeout(m.stopped, scrapePatience)
	defer cancel()
	var reads sync.WaitGroup
	reads.Go(func() { databaseErr, storageErr = m.health.Check(ctx) })
	reads.Go(func() {
		if read, err := m.disks.Get(ctx); err == nil {
			disks = read
		}
	})
	reads.Go(func() { survey, _ = m.survey.Get(ctx) }) // an older one, if it takes long
	reads.Wait()
	to.Gauge("build_info", "The version of the program; always 1.", 1, "version", Version(), "go_version", runtime.Version())
	to.Flag("database_up", "Whether the database can be used: 1 or 0.", databaseErr == nil)
	to.Flag("storage_up", "Whether invoice files can be stored: 1 or 0.", storageErr == nil)
	for _, disk := range disks {
		to.Gauge("disk_free_bytes", "Free space of the file system of a folder.", float64(disk.free), "folder", disk.folder)
		to.Gauge("disk_size_bytes", "Size of the file system of a folder.", float64(disk.size), "folder", disk.folder)
	}
	m.sendResources(to)
	m.sendWork(to)
	for _, job := range m.jobs.all() {
		job.send(to)
	}
	if survey != nil { // otherwise it is not known yet
		sendSurvey(to, survey, m.Now(), m.Settings.Embedded() == nil)
	}
}

// sendResources sends what this server uses.
func (m *monitor) sendResources(to metrics.Scrape) {
	to.Time("certificate_not_after_timestamp_seconds", "When the TLS certificate expires; 0 without TLS.", m.certificate.End())
	to.Gauge("database_clock_offset_seconds", "How far the clock of the database is ahead of that of this machine; from 1 second on, the clock of the database is used.", time.Duration(m.clock.offset.Load()).Seconds())
	pool := m.DB.Pool()
	for use, n := range map[string]int{"in_use": pool.InUse, "idle": pool.Idle} {
		to.Gauge("database_connections", "Connections to the database by use: in_use, idle.", float64(n), "use", use)
	}
	to.Gauge("database_connections_limit", "Most connections to the database at a time.", float64(pool.Max))
	to.Counter("database_connection_waits_total", "How often a statement has waited for a connection to the database.", pool.Waits)
	to.Gauge("database_log_bytes", "Size of the write-ahead log of SQLite; 0 on PostgreSQL.", float64(m.DB.LogSize()))
	cache := m.cache.Uses()
	to.Counter("response_cache_hits_total", "Lookups in the response cache that found a valid entry.", cache.Hits)
	to.Counter("response_cache_misses_total", "Lookups in the response cache that found no valid entry.", cache.Misses)
	to.Gauge("response_cache_bytes", "Size of the response cache.", float64(cache.Bytes))
	to.Counter("log_lines_dropped_total", "Lines of the log that were dropped because nobody read them.", m.lines.dropped.Load())
	to.Counter("lost_spans_total", "Spans of traces that could not be sent.", m.Tracing.Lost())
}

// sendWork sends what this server does and has done.
func (m *monitor) sendWork(to metrics.Scrape) {
	waiters, lag := m.Orders.Waiting()
	to.Gauge("feed_waiters", "Requests that wait for events.", float64(waiters))
	to.Gauge("feed_lag_seconds", "Longest time for which a commit of another instance may have gone unnoticed by waiting requests; 0 if none waits.", lag.Seconds())
	to.Counter("orders_canceled_by_deadline_total", "Orders that this instance has canceled because of their deadline.", m.Orders.CanceledByDeadline())
	to.Counter("deadline_warnings_total", "Events order.deadline_near that this instance has written.", m.Orders.DeadlineWarnings())
	to.Gauge("retention_announced_orders", "Orders that a new or shorter --retain will delete when its notice of a day ends; 0: none is announced.", float64(m.retaining.Load()))
	for limit, refused := range m.limits.Refused() {
		to.Counter("rate_limited_total", "Requests refused with 429, by the limit.", refused, "limit", limit)
	}
	deliveries, inFlight := m.Webhooks.Stats()
	to.Gauge("webhook_requests_in_flight", "Requests to webhooks that wait for a response.", float64(inFlight))
	for result, n := range deliveries {
		to.Counter("webhook_deliveries_total", "Deliveries to webhooks, by their result.", n, "result", result)
	}
	for result, n := range m.Digests.Counts() {
		reason := ""
		if result != "sent" && result != "refused" {
			result, reason = "failed", result
		}
		to.Counter("mails_total", "E-mails to merchants, by their result (sent; refused by the address; failed), and why those failed.", n, "result", result, "reason", reason)
	}
}

// folderSpace is the file system of a folder.
type folderSpace struct {
	folder     string // what is in it: database or files
	free, size uint64 // bytes; free is what a process without special rights can use
}

// readDisks reads the free space of the folders.
func (m *monitor) readDisks(context.Context) (disks []folderSpace, err error) {
	for name, folder := range m.Settings.Folders() {
		var stat syscall.Statfs_t
		if err := syscall.Statfs(folder, &stat); err == nil {
			block := uint64(stat.Bsize)
			disks = append(disks, folderSpace{folder: name, free: stat.Bavail * block, size: stat.Blocks * block})
		}
	}
	return disks, nil
}

// readSurvey reads a survey. It logs its error.
func readSurvey(ctx context.Context, db *store.DB, now time.Time, log *slog.Logger) (*store.Survey, error) {
	read, err := db.Survey(ctx, now)
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			log.Warn("cannot count the orders for the metrics", "error", err)
		}
		return nil, err
	}
	return &read, nil
}

// sendSurvey sends what only the database tells. backups says whether the command backup makes
// those of the installation.
func sendSurvey(to metrics.Scrape, s *store.Survey, now time.Time, backups bool) {
	age := func(name, help string, at time.Time) {
		seconds := 0.0
		if !at.IsZero() {
			seconds = max(0, now.Sub(at)).Seconds()
		}
		to.Gauge(name, help, seconds)
	}
	to.Gauge("schema_version", "Version of the schema of the database.", float64(s.SchemaVersion))
	age("oldest_unanswered_order_age_seconds", "Age of the oldest order that its merchant has neither accepted nor rejected; 0 if there is none.", s.OldestNew)
	to.Gauge("merchants", "Merchants that are not suspended.", float64(s.Merchants))
	to.Gauge("late_merchants", "Merchants, not suspended, that have not answered an order for more than a day.", float64(s.LateMerchants))
	to.Gauge("overdue_orders", "Orders that their merchant has neither accepted nor rejected before their deadline; at most 1000.", float64(s.Overdue))
	for state, count := range s.Orders {
		to.Gauge("orders", "Orders by state.", float64(count), "state", state.String())
	}
	age("oldest_held_event_age_seconds", "Age of the oldest event that the feed of all merchants holds back because a transaction is in progress; 0 if there is none.", s.OldestHeld)
	age("oldest_undelivered_event_age_seconds", "Age of the oldest event that an active or failing webhook has yet to acknowledge; 0 if there is none.", s.OldestUndelivered)
	to.Gauge("late_webhooks", "Active and failing webhooks that have yet to acknowledge an event that is older than an hour.", float64(s.LateWebhooks))
	for state, count := range s.Webhooks {
		to.Gauge("webhooks", "Webhooks by state.", float64(count), "state", state.String())
		to.Gauge("marketplace_webhooks", "Webhooks of the marketplace by state.", float64(s.MarketWebhooks[state]), "state", state.String())
	}
	age("marketplace_oldest_undelivered_event_age_seconds", "Age of the oldest event that an active or failing webhook of the marketplace has yet to acknowledge; 0 if there is none.", s.OldestMarketUndelivered)
	if backup, ok := s.Runs[store.NightlyBackup]; ok || backups { // otherwise another program makes them
		to.Time("backup_last_success_timestamp_seconds", "End of the last backup that succeeded; 0 if there was none.", backup.LastSuccess)
		to.Flag("backup_failed", "Whether the last backup has failed: 1 or 0.", backup.Failed)
	}
	check := s.Runs[store.NightlyCheck]
	to.Time("check_last_success_timestamp_seconds", "End of the last check of the whole installation that found nothing; 0 if there was none.", check.LastSuccess)
	to.Flag("check_failed", "Whether the last check has failed or found something: 1 or 0.", check.Failed)
}
