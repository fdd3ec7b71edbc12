package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"merchantorders/internal/config"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/filestore/s3"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/token"
)

// backend is the database, the storage and the services on top of them.
type backend struct {
	db     *store.DB
	files  files
	orders *order.Service
	tokens *token.Registry
}

// files is a storage of invoice files.
type files interface {
	maintenance.Files
	// RemoveStagedFiles removes the staged files last written before a time.
	RemoveStagedFiles(before time.Time) error
	Close() error
}

// open opens the database and the storage of the settings, and creates them if
// they do not exist. The data folder must exist. If one cannot be opened, the
// error is a usageError of its setting. observe receives the duration of each
// database operation; it may be nil.
func (p *process) open(ctx context.Context, log *slog.Logger, observe func(string, time.Duration)) (*backend, error) {
	db, err := p.openDatabase(ctx, store.Options{Observe: observe, Now: p.now})
	if err != nil {
		return nil, err
	}
	files, err := p.openFiles(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &backend{
		db: db, files: files,
		orders: order.NewService(db, files, p.now, log),
		tokens: token.NewRegistry(db, p.now),
	}, nil
}

// openDatabase opens the database of the settings. The error is as in open.
func (p *process) openDatabase(ctx context.Context, options store.Options) (*store.DB, error) {
	open, address := store.OpenSQLite, p.settings.DatabasePath()
	if url, ok := p.settings.PostgresURL(); ok {
		open, address = store.OpenPostgres, url
	}
	db, err := open(ctx, address, options)
	if err != nil {
		return nil, p.cannotOpen(ctx, "database", p.settings.Database, err)
	}
	return db, nil
}

// openFiles opens the storage of the settings. The error is as in open.
func (p *process) openFiles(ctx context.Context) (files, error) {
	files, err := p.openStorage(ctx)
	if err != nil {
		return nil, p.cannotOpen(ctx, "storage", p.settings.Storage, err)
	}
	return files, nil
}

func (p *process) openStorage(ctx context.Context) (files, error) {
	if bucket, ok := p.settings.Bucket(); ok {
		return s3.Open(ctx, s3.Bucket(bucket), p.settings.FilesPath())
	}
	files, err := disk.Open(p.settings.FilesPath())
	if err != nil {
		return nil, err
	}
	// A folder that is not writable is a wrong setting. A full disk is not: files
	// can be read and purged.
	if err := files.Check(ctx); err != nil && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return nil, errors.Join(fmt.Errorf("%s: %w", p.settings.FilesPath(), err), files.Close())
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
func (b *backend) close() error { return errors.Join(b.db.Close(), b.files.Close()) }

// createDataFolder creates the data folder, accessible to its owner only, if it
// does not exist. It returns the full path of a new folder, so that the user
// notices a mistyped name, and "" if the folder exists.
func (p *process) createDataFolder() (string, error) {
	path, err := filepath.Abs(p.settings.Data)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err := disk.MkdirAll(path); err != nil {
		return "", fmt.Errorf("create the data folder: %w", err)
	}
	return path, nil
}

// log returns the log of a command but serve: text on standard error.
func (p *process) log(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: level}))
}

// withBackend runs fn on the backend, for every command but serve.
func (p *process) withBackend(ctx context.Context, fn func(*backend) error) error {
	created, err := p.createDataFolder()
	if err != nil {
		return err
	}
	level := p.settings.Level()
	if level == slog.LevelInfo {
		// The command reports success itself.
		level = slog.LevelWarn
	}
	log := p.log(level)
	b, err := p.open(ctx, log, nil)
	if err != nil {
		return err
	}
	if created != "" {
		p.printError("created the data folder %s", created)
	}
	return errors.Join(fn(b), b.close())
}
