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

// serveLocks are the locks by which servers that share data detect each other. Each
// server holds them as shared locks.
type serveLocks struct {
	folder   *fileLock // of the data folder
	database *fileLock // of the SQLite file; nil on PostgreSQL
}

// lockForServe acquires both locks. Both belong to real paths: other spellings of a
// path, and symbolic links, take the same locks.
func (p *process) lockForServe(ctx context.Context) (*serveLocks, error) {
	var l serveLocks
	if _, postgres := p.settings.PostgresURL(); !postgres {
		path, err := sqlite.RealPath(p.settings.DatabasePath())
		if err != nil {
			return nil, p.cannotOpen(ctx, "database", p.settings.Database, err)
		}
		if l.database, err = lockFile(ctx, path+".serve.lock"); err != nil {
			return nil, err
		}
	}
	var err error
	if l.folder, err = lockFile(ctx, filepath.Join(p.settings.Data, "serve.lock")); err != nil {
		return nil, errors.Join(err, l.release())
	}
	return &l, nil
}

// alone reports whether no other server uses the data folder, or the database.
func (l *serveLocks) aloneInFolder() bool { return l.folder.alone }
func (l *serveLocks) aloneInDatabase() bool {
	return l.database != nil && l.database.alone && l.folder.alone
}

// share lets other servers start.
func (l *serveLocks) share(ctx context.Context) error {
	return l.each(func(lock *fileLock) error { return lock.share(ctx) })
}

// release releases the locks.
func (l *serveLocks) release() error { return l.each((*fileLock).release) }

func (l *serveLocks) each(fn func(*fileLock) error) error {
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
