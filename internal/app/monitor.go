package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"syscall"
	"time"

	"merchantorders/internal/store"
	"merchantorders/internal/web"
	"merchantorders/internal/web/respcache"
)

// How often scrapes read, and for how long at most.
const (
	checkInterval  = 5 * time.Second
	checkTimeout   = 2 * time.Second
	surveyInterval = 15 * time.Second
	surveyTimeout  = 30 * time.Second
	// scrapePatience is how long a scrape waits for both reads, which run at the same
	// time. Prometheus waits for 10 seconds by default.
	scrapePatience = 3 * time.Second
)

// monitor reads the state of a server for the metrics.
type monitor struct {
	backend *backend
	cache   *respcache.Cache
	now     func() time.Time
	log     *slog.Logger
	folders map[string]string // to be watched for free space, by what is in them

	checks  sharedRead[checks]
	surveys sharedRead[*store.Survey]
	stopped context.Context // of all reads
	stop    context.CancelFunc
}

// checks is what a scrape finds out about the database, the storage and the disks.
type checks struct {
	database, storage bool
	disks             []web.Disk
}

// startMonitor adds the state of the server to the metrics. stop ends running reads.
func (s *server) startMonitor() *monitor {
	m := &monitor{backend: s.backend, cache: s.cache, now: s.now, log: s.log, folders: s.folders()}
	m.stopped, m.stop = context.WithCancel(context.Background())
	m.checks = sharedRead[checks]{
		read: m.check, interval: checkInterval, timeout: checkTimeout, patience: scrapePatience, now: s.now, stopped: m.stopped,
	}
	m.surveys = sharedRead[*store.Survey]{
		read: m.survey, interval: surveyInterval, timeout: surveyTimeout, patience: scrapePatience, now: s.now, stopped: m.stopped,
	}
	s.metrics.Watch(m.state)
	return m
}

// folders returns the folders of the server by what is in them.
func (s *server) folders() map[string]string {
	folders := map[string]string{"files": s.settings.FilesPath()}
	if _, remote := s.settings.PostgresURL(); !remote {
		folders["database"] = filepath.Dir(s.settings.DatabasePath())
	}
	return folders
}

// close ends running reads and waits for them: they use the database.
func (m *monitor) close() {
	m.stop()
	m.checks.wait()
	m.surveys.wait()
}

// state returns the state of the server now.
func (m *monitor) state() web.State {
	surveyed := make(chan *store.Survey, 1)
	go func() {
		survey, _ := m.surveys.get() // an older one, if it takes long
		surveyed <- survey
	}()
	checked, current := m.checks.get()
	if !current {
		checked = checks{} // a disk that hangs is not usable
	}
	state := web.State{
		Version:  version(),
		Database: checked.database, Storage: checked.storage, Disks: checked.disks,
		Jobs: m.backend.jobs.all(), Survey: newSurvey(<-surveyed, m.now()),
	}
	pool := m.backend.db.Pool()
	state.Pool = web.ConnectionPool{InUse: pool.InUse, Idle: pool.Idle, Max: pool.Max, Waits: pool.Waits}
	state.FeedWaiters, state.FeedLag = m.backend.orders.Waiting()
	uses := m.cache.Uses()
	state.CacheHits, state.CacheMisses, state.CacheBytes = uses.Hits, uses.Misses, uses.Bytes
	state.PageIndexMerchants, state.PageIndexBuckets = m.backend.db.PageIndexes()
	return state
}

// check checks the database, the storage and the disks.
func (m *monitor) check(ctx context.Context) checks {
	storage := make(chan error, 1)
	go func() { storage <- m.backend.files.Check(ctx) }()
	found := checks{database: m.backend.db.Ping(ctx) == nil, storage: <-storage == nil}
	for name, folder := range m.folders {
		if disk, err := diskSpace(folder); err == nil {
			disk.Folder = name
			found.disks = append(found.disks, disk)
		}
	}
	return found
}

// diskSpace returns the space of the file system of a folder. Free is what a process
// without special rights can use.
func diskSpace(folder string) (web.Disk, error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(folder, &stat); err != nil {
		return web.Disk{}, err
	}
	block := uint64(stat.Bsize)
	return web.Disk{Free: stat.Bavail * block, Size: stat.Blocks * block}, nil
}

// survey reads a survey; nil if it fails.
func (m *monitor) survey(ctx context.Context) *store.Survey {
	read, err := m.backend.db.Survey(ctx)
	if err != nil {
		if m.stopped.Err() == nil {
			m.log.Warn("cannot count the orders for the metrics", "error", err)
		}
		return nil
	}
	return &read
}

// newSurvey returns a survey for the metrics; nil for nil.
func newSurvey(read *store.Survey, now time.Time) *web.Survey {
	if read == nil {
		return nil
	}
	survey := &web.Survey{SchemaVersion: read.SchemaVersion, Orders: make(map[string]int64, len(read.Orders))}
	for state, count := range read.Orders {
		survey.Orders[state.String()] = count
	}
	if !read.OldestNew.IsZero() {
		survey.OldestUnanswered = max(0, now.Sub(read.OldestNew))
	}
	return survey
}
