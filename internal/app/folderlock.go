package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"merchantorders/internal/filelock"
	"merchantorders/internal/store/sqldb/sqlite"
)

// ServeLocks are the locks by which servers that share data detect each other. Each
// server holds them as shared locks.
type ServeLocks struct {
	folder   *fileLock // of the data folder
	database *fileLock // of the SQLite file; nil on PostgreSQL
}

// LockForServe acquires both locks. Both belong to real paths: other spellings of a
// path, and symbolic links, take the same locks.
func (o *Opener) LockForServe(ctx context.Context) (*ServeLocks, error) {
	var l ServeLocks
	if _, postgres := o.Settings.PostgresURL(); !postgres {
		path, err := sqlite.RealPath(o.Settings.DatabasePath())
		if err != nil {
			return nil, o.CannotOpen(ctx, "database", o.Settings.Database, err)
		}
		if l.database, err = lockFile(ctx, path+".serve.lock"); err != nil {
			return nil, err
		}
	}
	var err error
	if l.folder, err = lockFile(ctx, filepath.Join(o.Settings.Data, "serve.lock")); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return &l, nil
}

// AloneInFolder reports whether no other server uses the data folder, or the database.
func (l *ServeLocks) AloneInFolder() bool { return l.folder.alone }
func (l *ServeLocks) AloneInDatabase() bool {
	return l.database != nil && l.database.alone && l.folder.alone
}

// share lets other servers start.
func (l *ServeLocks) share(ctx context.Context) error {
	return l.each(func(lock *fileLock) error { return lock.share(ctx) })
}

// Release releases the locks.
func (l *ServeLocks) Release() error { return l.each((*fileLock).release) }

func (l *ServeLocks) each(fn func(*fileLock) error) error {
	var err error
	for _, lock := range []*fileLock{l.database, l.folder} {
		if lock != nil {
			err = errors.Join(err, fn(lock))
		}
	}
	return err
}

// fileLock is a lock on a file.
type fileLock struct {
	file *os.File
	// alone says that nobody else held the lock when it was acquired.
	alone bool
}

// lockFile acquires the lock of a file: exclusively if nobody else holds it, so
// that others wait until it is shared, and otherwise shared.
func lockFile(ctx context.Context, path string) (*fileLock, error) {
	lock := &fileLock{alone: true}
	var err error
	lock.file, err = filelock.Open(path, func(file *os.File) error {
		err := filelock.Set(file, syscall.LOCK_EX)
		if errors.Is(err, filelock.ErrLocked) {
			lock.alone = false
			err = filelock.Wait(ctx, file, syscall.LOCK_SH)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return lock, nil
}

// share converts the lock to a shared one. It waits for an exclusive owner.
func (l *fileLock) share(ctx context.Context) error {
	return filelock.Wait(ctx, l.file, syscall.LOCK_SH)
}

// release releases the lock.
func (l *fileLock) release() error { return l.file.Close() }
