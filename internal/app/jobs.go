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
	records []*metrics.Job
}

// add adds a job. An interval of 0 means that it runs once.
func (j *jobs) add(name string, interval time.Duration) *metrics.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	job := &metrics.Job{Name: name, Interval: interval, LastSuccess: j.now()}
	j.records = append(j.records, job)
	return job
}

// all returns copies of all records.
func (j *jobs) all() []metrics.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]metrics.Job, len(j.records))
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
func (j *jobs) once(ctx context.Context, job *metrics.Job, run func(context.Context) error) {
	err := run(ctx)
	if err != nil && ctx.Err() != nil {
		return
	}
	j.record(job, err)
	if err != nil {
		j.log.Warn("background job failed", "job", job.Name, "next_try_in", job.Interval.String(), "error", err)
	}
}

// record records the end of a run.
func (j *jobs) record(job *metrics.Job, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	job.LastRun = j.now()
	if err != nil {
		job.Failures++
		return
	}
	job.LastSuccess = job.LastRun
}
