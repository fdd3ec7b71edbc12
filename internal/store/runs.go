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

// backupIn begins the name of a row that remembers a folder in which backups are made, with the
// time when the newest one began.
const backupIn = "backup_in "

// folderLifetime is how long a folder is remembered after the newest backup.
const folderLifetime = 90 * 24 * time.Hour

// runRows selects the rows about runs, and folderRows those about folders.
const (
	runRows    = `name IN ('backup_success', 'backup_failed', 'check_success', 'check_failed')`
	folderRows = `name LIKE '` + backupIn + `%'`
)

// RunRows selects both. They are about one installation, so a copy of it has its own.
const RunRows = `(` + runRows + ` OR ` + folderRows + `)`

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

// RecordBackupFolder remembers that a backup begins in a folder: it is left there if it is killed.
func (db *DB) RecordBackupFolder(ctx context.Context, folder string, at time.Time) error {
	return db.inTx(ctx, "record_run", func(t *tx) error {
		_, err := t.Exec(ctx, `DELETE FROM counters WHERE `+folderRows+` AND last < $1`, at.Add(-folderLifetime).Unix())
		if err != nil {
			return err
		}
		return setCounter(ctx, t, backupIn+folder, at.Unix())
	})
}

// BackupFolders returns the folders in which backups were made.
func (db *DB) BackupFolders(ctx context.Context) ([]string, error) {
	folders, err := sqldb.Column[string](ctx, db.sql, `SELECT name FROM counters WHERE `+folderRows)
	for i, name := range folders {
		folders[i] = strings.TrimPrefix(name, backupIn)
	}
	return folders, db.wrap(err)
}

// setCounter writes a row of counters that counts nothing.
func setCounter(ctx context.Context, q sqldb.Querier, name string, n int64) error {
	_, err := q.Exec(ctx, `INSERT INTO counters (name, last) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET last = excluded.last`, name, n)
	return err
}

// Runs returns the jobs that have run.
func (db *DB) Runs(ctx context.Context) (map[NightlyJob]NightlyRun, error) {
	runs, err := readRuns(ctx, db.sql)
	return runs, db.wrap(err)
}

// readRuns returns the jobs that have run.
func readRuns(ctx context.Context, q sqldb.Querier) (map[NightlyJob]NightlyRun, error) {
	runs := make(map[NightlyJob]NightlyRun)
	err := q.Query(ctx, `SELECT name, last FROM counters WHERE `+runRows, nil, func(rows sqldb.Rows) error {
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
