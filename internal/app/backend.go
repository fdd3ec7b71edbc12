package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"merchantorders/internal/filestore"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/token"
)

// backend is the service without its doors: what every command works on.
type backend struct {
	db     *store.DB
	disk   *filestore.Disk
	orders *order.Service
	tokens *token.Registry
}

// open opens database and files in the data folder, which must be there, and
// makes them where they are not.
// observe gets the time of each operation on the database; nil: nobody does.
func (p *process) open(ctx context.Context, log *slog.Logger, observe func(string, time.Duration)) (*backend, error) {
	db, err := store.OpenSQLite(ctx, p.settings.DatabasePath(), store.Options{Observe: observe, Now: p.now, Log: log})
	if err != nil {
		return nil, err
	}
	disk, err := filestore.OpenDisk(p.settings.FilesPath())
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &backend{
		db: db, disk: disk,
		orders: order.NewService(db, disk, p.now, log),
		tokens: token.NewRegistry(db, p.now),
	}, nil
}

// close lets go of database and files. Nothing may be under way.
func (b *backend) close() error { return errors.Join(b.db.Close(), b.disk.Close()) }

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
	if made != "" {
		p.complain("made the data folder %s", made)
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
	return errors.Join(fn(b), b.close())
}
