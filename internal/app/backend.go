package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
	"time"

	"merchantorders/internal/config"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/filestore/s3"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/token"
)

// backend is the database, the storage and the services on top of them.
type backend struct {
	db     *store.DB
	files  files
	orders *order.Service
	tokens *token.Registry
	// sessions are the sign-ins at the console.
	sessions *token.Sessions
	jobs     *jobs
}

// files is a storage of invoice files.
type files interface {
	maintenance.Files
	// RemoveStagedFiles removes the staged files last written before a time.
	RemoveStagedFiles(before time.Time) error
	Close() error
}

// newBackend returns a backend on a database and a storage, which may be nil.
func (p *process) newBackend(db *store.DB, files files, log *slog.Logger) *backend {
	tokens := token.NewRegistry(db, p.now)
	tokens.MaxLifetime = p.settings.TokenLifetime()
	var orders order.Store = db
	var invoices order.Files = files
	if p.tracing != nil {
		orders, invoices = p.tracing.Store(db), p.tracing.Files(files)
	}
	return &backend{
		db: db, files: files,
		orders: order.NewService(orders, invoices, p.now, log),
		tokens: tokens, sessions: token.NewSessions(db, tokens),
		jobs: &jobs{now: p.now, log: log},
	}
}

// openDatabase opens the database of the settings. If it cannot be opened, the
// error is a usageError of its setting.
func (p *process) openDatabase(ctx context.Context, options store.Options) (*store.DB, error) {
	if options.Schema.NoCreate {
		if err := p.expectInstallation(); err != nil {
			return nil, err
		}
	}
	open, address := store.OpenSQLite, p.settings.DatabasePath()
	if url, ok := p.settings.PostgresURL(); ok {
		open, address = store.OpenPostgres, url
	}
	options.Now = p.now
	db, err := open(ctx, address, options)
	if usage, ok := errors.AsType[usageError](err); ok {
		return nil, usage // of another setting
	}
	if errors.Is(err, migrations.ErrNoSchema) && p.notNew != "" {
		return nil, usageError{config.Invalid(p.databaseFlag(), p.notNew)}
	}
	if err != nil {
		return nil, p.cannotOpen(ctx, "database", p.settings.Database, err)
	}
	return db, nil
}

// openFiles opens the storage of the settings. The error is as in openDatabase.
// create says whether folders may be created.
func (p *process) openFiles(ctx context.Context, create bool) (files, error) {
	bucket, err := p.openBucket(ctx)
	if err != nil {
		return nil, err
	}
	return p.openStorage(ctx, bucket, create)
}

// openBucket opens and tests the bucket of the settings. It returns nil if the files
// are in a folder.
func (p *process) openBucket(ctx context.Context) (*s3.Store, error) {
	settings, ok := p.settings.Bucket()
	if !ok {
		return nil, nil
	}
	credentials, err := p.sources.S3Credentials()
	if err != nil {
		return nil, p.cannotOpen(ctx, "storage", p.settings.Storage, err)
	}
	bucket, err := s3.Open(ctx, s3.Bucket{
		Name: settings.Name, Region: settings.Region, Endpoint: settings.Endpoint, Credentials: s3.Credentials(credentials),
		Wrap: p.traceTransport(),
	})
	if err != nil {
		return nil, p.cannotOpen(ctx, "storage", p.settings.Storage, err)
	}
	return bucket, nil
}

// openStorage is openFiles with the result of openBucket.
func (p *process) openStorage(ctx context.Context, bucket *s3.Store, create bool) (files, error) {
	var opened files = bucket
	var err error
	switch {
	case bucket == nil:
		opened, err = p.openFolder(ctx, create)
	case create:
		err = bucket.OpenStaging(p.settings.FilesPath())
	}
	if err != nil {
		return nil, p.cannotOpen(ctx, "storage", p.settings.Storage, err)
	}
	return opened, nil
}

// openFolder opens the folder of invoice files.
func (p *process) openFolder(ctx context.Context, create bool) (files, error) {
	path := p.settings.FilesPath()
	if _, err := os.Stat(path); !create && p.settings.Storage != "" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s", path)
	}
	files, err := disk.Open(path)
	if err != nil {
		return nil, err
	}
	// A folder that is not writable is a wrong setting. A full disk is not: files
	// can be read and purged.
	if err := files.Check(ctx); err != nil && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), files.Close())
	}
	return files, nil
}

// cannotOpen returns the usageError of a setting, or of --data if the setting is
// empty.
func (p *process) cannotOpen(ctx context.Context, flag, value string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if value == "" {
		flag = "data"
	}
	return usageError{config.Invalid(p.flagPrefix+flag, oneLine(err.Error()))}
}

// installation returns what maintenance commands work on.
func (b *backend) installation() maintenance.Installation {
	return maintenance.Installation{DB: b.db.SQL(), Files: b.files}
}

// close closes the database and the storage. No operation may be running.
func (b *backend) close() error {
	err := b.db.Close()
	if b.files != nil {
		err = errors.Join(err, b.files.Close())
	}
	return err
}

// existing are the options of commands that need an installation and do not change
// its schema.
var existing = migrations.Options{NoCreate: true, NoMigrate: true}

// current are the options of commands that also need every table and column that
// this program knows, and no other.
var current = migrations.Options{NoCreate: true, NoMigrate: true, NoNewer: true}

// withDatabase is with for commands that need the database alone.
func (p *process) withDatabase(ctx context.Context, schema migrations.Options, fn func(*backend) error) error {
	return p.with(ctx, schema, false, fn)
}

// withBackend is with for commands that need the database and the storage.
func (p *process) withBackend(ctx context.Context, schema migrations.Options, fn func(*backend) error) error {
	return p.with(ctx, schema, true, fn)
}

// with runs fn on the backend of the settings, for every command but serve. Where
// the schema may be created, so may the folder of invoice files.
func (p *process) with(ctx context.Context, schema migrations.Options, withFiles bool, fn func(*backend) error) error {
	db, err := p.openDatabase(ctx, store.Options{Schema: schema})
	if err != nil {
		return err
	}
	var files files
	if withFiles {
		if files, err = p.openFiles(ctx, !schema.NoCreate); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	level := p.settings.Level()
	if level == slog.LevelInfo {
		// The command reports success itself.
		level = slog.LevelWarn
	}
	b := p.newBackend(db, files, p.log(level))
	return errors.Join(fn(b), b.close())
}

// log returns the log of a command but serve: text on standard error.
func (p *process) log(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: level}))
}
