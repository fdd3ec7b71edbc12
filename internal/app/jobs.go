package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"merchantorders/internal/metrics"
)

// jobs runs the background jobs of a server and records how they end.
type jobs struct {
	now func() time.Time
	log *slog.Logger

	mu      sync.Mutex
	records []*jobRecord
}

// jobRecord is what is known of a background job.
type jobRecord struct {
	name     string
	interval time.Duration // 0: it runs once
	lastRun  time.Time     // the end of the last run; zero: none
	// lastSuccess is the end of the last run without an error, or the start of the
	// server if there was none.
	lastSuccess time.Time
	failures    uint64
}

// send sends the record to a scrape. A job that runs once has no interval, so that nobody misses
// its next run. The label is not job: Prometheus gives every series a label of that name itself.
func (j jobRecord) send(to metrics.Scrape) {
	const label = "background_job"
	if !j.lastRun.IsZero() {
		to.Time("job_last_run_timestamp_seconds", "End of the last run of a background job.", j.lastRun, label, j.name)
	}
	if j.interval > 0 {
		to.Gauge("job_interval_seconds", "Interval of a background job.", j.interval.Seconds(), label, j.name)
		to.Time("job_last_success_timestamp_seconds", "End of the last run of a background job without an error, or the start of the server.", j.lastSuccess, label, j.name)
	}
	to.Counter("job_failures_total", "Failed runs of a background job.", j.failures, label, j.name)
}

// add adds a job. An interval of 0 means that it runs once.
func (j *jobs) add(name string, interval time.Duration) *jobRecord {
	j.mu.Lock()
	defer j.mu.Unlock()
	job := &jobRecord{name: name, interval: interval, lastSuccess: j.now()}
	j.records = append(j.records, job)
	return job
}

// all returns copies of all records.
func (j *jobs) all() []jobRecord {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]jobRecord, len(j.records))
	for i, job := range j.records {
		all[i] = *job
	}
	return all
}

// jobGroup is running jobs that are stopped together. They outlive the server's context,
// so that they still do the work of the last requests.
type jobGroup struct {
	*jobs
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func (j *jobs) newGroup() *jobGroup {
	g := &jobGroup{jobs: j}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// stop stops the jobs and waits until they have ended.
func (g *jobGroup) stop() {
	g.cancel()
	g.running.Wait()
}

// every runs a job at its interval. It first waits for one interval, unless the job also
// runs at the start: some servers never run for an hour.
func (g *jobGroup) every(name string, interval time.Duration, atStart bool, run func(context.Context) error) {
	job := g.add(name, interval)
	g.running.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for ; ; atStart = true {
			if atStart {
				g.once(g.ctx, job, run)
			}
			select {
			case <-g.ctx.Done():
				return
			case <-ticker.C:
			}
		}
	})
}

// once runs a job, records its end and logs its error. An error because ctx ended
// counts for nothing.
func (j *jobs) once(ctx context.Context, job *jobRecord, run func(context.Context) error) {
	err := run(ctx)
	if err != nil && ctx.Err() != nil {
		return
	}
	j.record(job, err)
	if err != nil {
		j.log.Warn("background job failed", "job", job.name, "next_try_in", job.interval.String(), "error", err)
	}
}

// record records the end of a run.
func (j *jobs) record(job *jobRecord, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	job.lastRun = j.now()
	if err != nil {
		job.failures++
		return
	}
	job.lastSuccess = job.lastRun
}
