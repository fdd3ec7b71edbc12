package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"merchantorders/internal/web"
)

// jobs runs the background jobs of a server and records how they end.
type jobs struct {
	now func() time.Time
	log *slog.Logger

	mu      sync.Mutex
	records []*web.Job
}

// add adds a job. An interval of 0 means that it runs once.
func (j *jobs) add(name string, interval time.Duration) *web.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	job := &web.Job{Name: name, Interval: interval, LastSuccess: j.now()}
	j.records = append(j.records, job)
	return job
}

// all returns copies of all records.
func (j *jobs) all() []web.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]web.Job, len(j.records))
	for i, job := range j.records {
		all[i] = *job
	}
	return all
}

// repeat runs a job at its interval until ctx ends. It first waits for one interval.
func (j *jobs) repeat(ctx context.Context, job *web.Job, run func() error) {
	ticker := time.NewTicker(job.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		j.once(ctx, job, run)
	}
}

// once runs a job, records its end and logs its error. An error because ctx ended
// counts for nothing.
func (j *jobs) once(ctx context.Context, job *web.Job, run func() error) {
	err := run()
	if err != nil && ctx.Err() != nil {
		return
	}
	j.record(job, err)
	if err != nil {
		j.log.Warn("background job failed", "job", job.Name, "next_try_in", job.Interval.String(), "error", err)
	}
}

// record records the end of a run.
func (j *jobs) record(job *web.Job, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	job.LastRun = j.now()
	if err != nil {
		job.Failures++
		return
	}
	job.LastSuccess = job.LastRun
}
