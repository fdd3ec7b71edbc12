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

// backend is the service without its doors: what every command works on.
type backend struct {
	db     *store.DB
	files  files
	orders *order.Service
	tokens *token.Registry
}

// files is a place for invoice files that has to be closed and tidied, and can be
// looked through.
type files interface {
	maintenance.Files
	// RemoveStagedFiles removes the drafts last written before a moment.
	RemoveStagedFiles(before time.Time) error
	Close() error
}

// open opens database and files where the settings say, and makes them where
// they are not. The data folder must be there. What cannot be opened is a
// fault of the setting that names it.
// observe gets the time of each operation on the database; nil: nobody does.
func (p *process) open(ctx context.Context, log *slog.Logger, observe func(string, time.Duration)) (*backend, error) {
	db, err := p.openDatabase(ctx, store.Options{Observe: observe, Now: p.now, Log: log})
	if err != nil {
		return nil, p.cannotOpen(ctx, "database", p.settings.Database, err)
	}
	files, err := p.openFiles(ctx)
	if err != nil {
		return nil, errors.Join(p.cannotOpen(ctx, "storage", p.settings.Storage, err), db.Close())
	}
	return &backend{
		db: db, files: files,
		orders: order.NewService(db, files, p.now, log),
		tokens: token.NewRegistry(db, p.now),
	}, nil
}

func (p *process) openDatabase(ctx context.Context, options store.Options) (*store.DB, error) {
	if address, ok := p.settings.PostgresURL(); ok {
		return store.OpenPostgres(ctx, address, options)
	}
	return store.OpenSQLite(ctx, p.settings.DatabasePath(), options)
}

func (p *process) openFiles(ctx context.Context) (files, error) {
	if bucket, ok := p.settings.Bucket(); ok {
		return s3.Open(ctx, s3.Bucket(bucket), p.settings.FilesPath())
	}
	disk, err := disk.Open(p.settings.FilesPath())
	if err != nil {
		return nil, err
	}
	// A folder that cannot be written to is a wrong one. One that is full is the
	// right one: files can be read there, and purged.
	if err := disk.Check(ctx); err != nil && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return nil, errors.Join(fmt.Errorf("%s: %w", p.settings.FilesPath(), err), disk.Close())
	}
	return disk, nil
}

// cannotOpen blames a setting, or the data folder where it has no value, for
// what could not be opened.
func (p *process) cannotOpen(ctx context.Context, flag, value string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if value == "" {
		flag = "data"
	}
	return &usageError{err: config.About(flag, oneLine(err.Error()))}
}

// close lets go of database and files. Nothing may be under way.
func (b *backend) close() error { return errors.Join(b.db.Close(), b.files.Close()) }

// makeFolder makes the data folder, for its owner only, where it is not there.
// It returns its full path if it was made: whoever mistyped its name should
// see that.
func (p *process) makeFolder() (string, error) {
	path, err := filepath.Abs(p.settings.Data)
	if err != nil {
		return "", err
	}
	// What is stored outlives a power cut only if the folders do that it is in.
	var parents []string
	for dir := path; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		parents = append(parents, filepath.Dir(dir))
	}
	if len(parents) == 0 {
		return "", nil
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", fmt.Errorf("make the data folder: %w", err)
	}
	for _, parent := range parents {
		if err := syncFolder(parent); err != nil {
			return "", fmt.Errorf("make the data folder: %w", err)
		}
	}
	return path, nil
}

// syncFolder makes what a folder has in it durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// with runs fn on the backend, for a command that is no server. What has to be
// logged goes to standard error in plain lines.
func (p *process) with(ctx context.Context, fn func(*backend) error) error {
	made, err := p.makeFolder()
	if err != nil {
		return err
	}
	level := p.settings.Level()
	if level == slog.LevelInfo {
		// A person reads it: what goes well is said by the command itself.
		level = slog.LevelWarn
	}
	log := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: level}))
	b, err := p.open(ctx, log, nil)
	if err != nil {
		return err
	}
	if made != "" {
		p.complain("made the data folder %s", made)
	}
	return errors.Join(fn(b), b.close())
}
