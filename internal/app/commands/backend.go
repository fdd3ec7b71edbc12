package commands

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"merchantorders/internal/app"
	"merchantorders/internal/store"
	"merchantorders/internal/store/migrations"
)

// existing are the options of commands that need an installation and do not change
// its schema.
var existing = migrations.Options{NoCreate: true, NoMigrate: true}

// current are the options of commands that also need every table and column that
// this program knows, and no other.
var current = migrations.Options{NoCreate: true, NoMigrate: true, NoNewer: true}

// SuspendBetweenTransactions lets the terminal stop the process between two transactions on an
// SQLite file only. The program calls it once.
func SuspendBetweenTransactions() { store.SuspendBetweenTransactions() }

// run runs a command.
func (p *process) run(ctx context.Context, chosen command) error {
	c, ok := chosen.(backendRunner)
	if !ok {
		return chosen.(runner).run(ctx, p)
	}
	_, files := chosen.(interface{ usesFiles() })
	return p.with(ctx, existing, files, func(b *app.Backend) error { return c.runOn(ctx, p, b) })
}

// withDatabase is with for commands that need the database alone.
func (p *process) withDatabase(ctx context.Context, schema migrations.Options, fn func(*app.Backend) error) error {
	return p.with(ctx, schema, false, fn)
}

// withBackend is with for commands that need the database and the storage.
func (p *process) withBackend(ctx context.Context, schema migrations.Options, fn func(*app.Backend) error) error {
	return p.with(ctx, schema, true, fn)
}

// with runs fn on the backend of the settings, for every command but serve. Where
// the schema may be created, so may the folder of invoice files.
func (p *process) with(ctx context.Context, schema migrations.Options, withFiles bool, fn func(*app.Backend) error) error {
	db, err := p.OpenDatabase(ctx, store.Options{Schema: schema})
	if err != nil {
		return err
	}
	var files app.Files
	if withFiles {
		if files, err = p.OpenFiles(ctx, !schema.NoCreate); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	level := p.Settings.Level()
	if level == slog.LevelInfo {
		// The command reports success itself.
		level = slog.LevelWarn
	}
	b := p.NewBackend(db, files, app.Deps{Log: p.log(level), Flags: p.flags})
	return errors.Join(fn(b), b.Close())
}

// nightly is withBackend for a nightly job: it records how it has ended, for the metrics of the
// servers. A job that was interrupted has no end.
func (p *process) nightly(ctx context.Context, schema migrations.Options, job store.NightlyJob, fn func(*app.Backend) error) error {
	err := p.withBackend(ctx, schema, fn)
	if ctx.Err() != nil {
		return err
	}
	recording, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	recordErr := p.withDatabase(recording, schema, func(b *app.Backend) error {
		return b.DB.RecordRun(recording, job, p.Now(), err == nil)
	})
	if recordErr != nil && err == nil { // otherwise the cause may be the same
		p.log(slog.LevelWarn).Warn("cannot record the success for the metrics", "job", job, "error", recordErr)
	}
	return err
}

// recordTimeout bounds how long a command waits to record how it has ended.
const recordTimeout = 10 * time.Second

// log returns the log of a command but serve: text on standard error.
func (p *process) log(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: level}))
}
