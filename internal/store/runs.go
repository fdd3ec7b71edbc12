package store

import (
	"context"
	"strings"
	"time"

	"merchantorders/internal/store/sqldb"
)

// NightlyJob is a command that runs every night, beside the servers.
type NightlyJob string

// The nightly jobs.
const (
	NightlyBackup NightlyJob = "backup"
	NightlyCheck  NightlyJob = "check"
)

// The rows of counters that remember the runs of a job: the time of the last success, in Unix
// seconds, and 1 if the last run has failed. Backups of PostgreSQL write them too: see
// deploy/kubernetes/nightly.
const (
	runSuccess = "_success"
	runFailed  = "_failed"
)

// RunRows selects those rows. They are about one installation, so a copy of it has its own.
const RunRows = `name IN ('backup_success', 'backup_failed', 'check_success', 'check_failed')`

// NightlyRun is what the database remembers of the runs of a job.
type NightlyRun struct {
	LastSuccess time.Time // zero: none
	Failed      bool      // the last one
}

// RecordRun remembers how a run of a job has ended.
func (db *DB) RecordRun(ctx context.Context, job NightlyJob, at time.Time, succeeded bool) error {
	return db.inTx(ctx, "record_run", func(t *tx) error {
		if err := setCounter(ctx, t, string(job)+runFailed, flag(!succeeded)); err != nil || !succeeded {
			return err
		}
		return setCounter(ctx, t, string(job)+runSuccess, at.Unix())
	})
}

// setCounter writes a row of counters that counts nothing.
func setCounter(ctx context.Context, q sqldb.Querier, name string, n int64) error {
	_, err := q.Exec(ctx, `INSERT INTO counters (name, last) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET last = excluded.last`, name, n)
	return err
}

// readRuns returns the jobs that have run.
func readRuns(ctx context.Context, q sqldb.Querier) (map[NightlyJob]NightlyRun, error) {
	runs := make(map[NightlyJob]NightlyRun)
	err := sqldb.Each(ctx, q, `SELECT name, last FROM counters WHERE `+RunRows, nil, func(rows sqldb.Rows) error {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return err
		}
		word, isSuccess := strings.CutSuffix(name, runSuccess)
		job := NightlyJob(strings.TrimSuffix(word, runFailed))
		run := runs[job]
		if isSuccess {
			run.LastSuccess = time.Unix(n, 0).UTC()
		} else {
			run.Failed = n != 0
		}
		runs[job] = run
		return nil
	})
	return runs, err
}
