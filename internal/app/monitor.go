package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"merchantorders/internal/metrics"
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
	server  *server
	disks   sharedRead[[]metrics.Disk] // its own, because a disk may hang
	survey  sharedRead[*store.Survey]
	stopped context.Context
	stop    context.CancelFunc
}

// startMonitor adds the state of the server to the metrics.
func (s *server) startMonitor() *monitor {
	stopped, stop := context.WithCancel(context.Background())
	m := &monitor{
		server: s, stopped: stopped, stop: stop,
	}
	m.disks = sharedRead[[]metrics.Disk]{
		read: m.readDisks, interval: disksInterval, timeout: disksTimeout, patience: scrapePatience, now: s.Now, stopped: stopped,
	}
	m.survey = sharedRead[*store.Survey]{
		read:     func(ctx context.Context) (*store.Survey, error) { return readSurvey(ctx, s.DB, s.Now(), s.log) },
		interval: surveyInterval, rest: surveyRest, timeout: surveyTimeout, patience: scrapePatience, now: s.Now, stopped: stopped,
	}
	s.metrics.Watch(m.snapshot)
	return m
}

// close ends running reads and waits for the survey. A read of the disks may hang.
func (m *monitor) close() {
	m.stop()
	m.survey.wait()
}

// snapshot returns the state of the server now.
func (m *monitor) snapshot() metrics.Snapshot {
	var databaseErr, storageErr error
	var disks []metrics.Disk
	var survey *store.Survey
	var reads sync.WaitGroup
	reads.Go(func() {
		ctx, cancel := context.WithTimeout(m.stopped, scrapePatience)
		defer cancel()
		databaseErr, storageErr = m.server.health.Check(ctx)
	})
	reads.Go(func() {
		if read, current := m.disks.get(); current {
			disks = read
		}
	})
	reads.Go(func() { survey, _ = m.survey.get() }) // an older one, if it takes long
	reads.Wait()
	snapshot := metrics.Snapshot{
		Version:  Version(),
		Database: databaseErr == nil, Storage: storageErr == nil, Disks: disks,
		Jobs: m.server.jobs.all(), Survey: newSurvey(survey, m.server.Now(), m.server.Settings.Embedded() == nil),
	}
	snapshot.CertificateEnd = m.server.certificate.End()
	pool := m.server.DB.Pool()
	snapshot.Pool = metrics.ConnectionPool{InUse: pool.InUse, Idle: pool.Idle, Max: pool.Max, Waits: pool.Waits}
	snapshot.DatabaseLog = m.server.DB.LogSize()
	snapshot.RateLimited = m.server.limits.Refused()
	snapshot.FeedWaiters, snapshot.FeedLag = m.server.Orders.Waiting()
	snapshot.Deliveries, snapshot.WebhooksInFlight = m.server.Webhooks.Stats()
	snapshot.LostSpans = m.server.Tracing.Lost()
	snapshot.Mails = m.server.Digests.Counts()
	snapshot.CanceledByDeadline = m.server.Orders.CanceledByDeadline()
	snapshot.LogDropped = m.server.lines.dropped.Load()
	snapshot.RetentionAnnounced = m.server.retaining.Load()
	snapshot.DeadlineWarnings = m.server.Orders.DeadlineWarnings()
	snapshot.ClockOffset = time.Duration(m.server.clock.offset.Load())
	uses := m.server.cache.Uses()
	snapshot.CacheHits, snapshot.CacheMisses, snapshot.CacheBytes = uses.Hits, uses.Misses, uses.Bytes
	return snapshot
}

// readDisks reads the free space of the folders.
func (m *monitor) readDisks(context.Context) (disks []metrics.Disk, err error) {
	for name, folder := range m.server.Settings.Folders() {
		if disk, err := diskSpace(folder); err == nil {
			disk.Folder = name
			disks = append(disks, disk)
		}
	}
	return disks, nil
}

// diskSpace returns the space of the file system of a folder. Free is what a process
// without special rights can use.
func diskSpace(folder string) (metrics.Disk, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(folder, &stat); err != nil {
		return metrics.Disk{}, err
	}
	block := uint64(stat.Bsize)
	return metrics.Disk{Free: stat.Bavail * block, Size: stat.Blocks * block}, nil
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

// newSurvey returns a survey for the metrics; nil for nil. backups says whether the command
// backup makes those of the installation.
func newSurvey(read *store.Survey, now time.Time, backups bool) *metrics.Survey {
	if read == nil {
		return nil
	}
	age := func(at time.Time) time.Duration {
		if at.IsZero() {
			return 0
		}
		return max(0, now.Sub(at))
	}
	survey := &metrics.Survey{
		SchemaVersion: read.SchemaVersion, Overdue: read.Overdue, Merchants: read.Merchants,
		LateMerchants: read.LateMerchants, LateWebhooks: read.LateWebhooks,
		OldestUnanswered: age(read.OldestNew), OldestUndelivered: age(read.OldestUndelivered),
		OldestMarketUndelivered: age(read.OldestMarketUndelivered), OldestHeld: age(read.OldestHeld),
		Orders: make(map[string]int64), Webhooks: make(map[string]int64), MarketWebhooks: make(map[string]int64),
		Check: metrics.NightlyRun(read.Runs[store.NightlyCheck]),
	}
	for state, count := range read.Orders {
		survey.Orders[state.String()] = count
	}
	for state, count := range read.Webhooks {
		survey.Webhooks[state.String()], survey.MarketWebhooks[state.String()] = count, read.MarketWebhooks[state]
	}
	if run, ok := read.Runs[store.NightlyBackup]; ok || backups {
		survey.Backup = new(metrics.NightlyRun(run))
	}
	return survey
}
