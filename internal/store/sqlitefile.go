package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pressly/goose/v3"
)

const (
	// sqlitePageSize makes the file a third smaller than the default of 4096
	// at the same speed: an order is about 2.5 KB.
	sqlitePageSize = "8192"
	// lockPause is how often a process that starts looks whether another is
	// done with the schema.
	lockPause = 20 * time.Millisecond
)

// prepareSQLite makes the file and brings its schema up to date. A lock beside
// it keeps processes that start at the same moment from doing so together.
func prepareSQLite(ctx context.Context, path string) error {
	lock, err := lockFile(ctx, filepath.Clean(path)+".lock")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // and lets go of the lock
	if err := makeFile(path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", sqliteDSN(path, "immediate", sqliteSettings(busyTimeout)...))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	// The page size holds only if it is set before the file has a first page.
	if _, err := db.ExecContext(ctx, "PRAGMA page_size="+sqlitePageSize); err != nil {
		return err
	}
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		// No error: SQLite stays with what it had where shared memory is missing.
		return fmt.Errorf("the file system does not allow a write-ahead log (journal mode %s)", mode)
	}
	return migrate(ctx, db, goose.DialectSQLite3, "migration/sqlite")
}

// lockFile opens a file that nobody else has open by this function, and waits
// for that until ctx ends.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	pause := time.NewTicker(lockPause)
	defer pause.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, ctx.Err()), file.Close())
		}
	}
}

// makeFile makes the file, for its owner alone, if it is not there. One that is
// there is not even opened: closing it would let go of the locks that SQLite
// holds on it in this process, and another process could then take away the
// write-ahead log from under it.
func makeFile(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}
