package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// ServeLocks are the locks by which servers that share data detect each other. Each
// server holds them as shared locks.
type ServeLocks struct {
	folder   *fileLock // of the data folder
	database *fileLock // of the SQLite file; nil: it has none
}

// serveLock is the name of the lock file of the data folder.
const serveLock = "serve.lock"

// LockForServe acquires both locks. Both belong to real paths: other spellings of a
// path, and symbolic links, take the same locks.
func (o *Opener) LockForServe(ctx context.Context) (*ServeLocks, error) {
	var l ServeLocks
	engine, address := o.Engine()
	path, err := engine.LockFile(address)
	if err != nil {
		return nil, o.CannotOpen(ctx, "database", o.Settings.Database, err)
	}
	if path != "" {
		if l.database, err = lockFile(ctx, path); err != nil {
			return nil, o.CannotOpen(ctx, "database", o.Settings.Database, err)
		}
	}
	if l.folder, err = lockFile(ctx, filepath.Join(o.Settings.Data, serveLock)); err != nil {
		return nil, o.CannotOpen(ctx, "data", o.Settings.Data, errors.Join(err, l.Release()))
	}
	return &l, nil
}

// DatabaseServed reports whether a server uses the SQLite file of the settings, which may be
// missing, and what that server has found wrong with it.
func (o *Opener) DatabaseServed() (served bool, wrong string) {
	engine, address := o.Engine()
	path, err := engine.LockFile(address)
	if _, statErr := os.Stat(path); err != nil || statErr != nil {
		return false, ""
	}
	lock := flock.New(path)
	free, err := lock.TryLock()
	_ = lock.Unlock()
	text, _ := os.ReadFile(path)
	return err == nil && !free, string(text)
}

// noteWrong writes into the lock file what a server has found wrong with its SQLite file.
func (o *Opener) noteWrong(text string) error {
	engine, address := o.Engine()
	path, err := engine.LockFile(address)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// AloneInFolder reports whether no other server uses the data folder.
func (l *ServeLocks) AloneInFolder() bool { return l.folder.alone }

// AloneInDatabase reports whether no other server uses the data folder or the database.
func (l *ServeLocks) AloneInDatabase() bool {
	return l.database != nil && l.database.alone && l.folder.alone
}

// share lets other servers start.
func (l *ServeLocks) share(ctx context.Context) error {
	return l.each(func(lock *fileLock) error { return lock.share(ctx) })
}

// Release releases the locks.
func (l *ServeLocks) Release() error {
	return l.each(func(lock *fileLock) error { return lock.Unlock() })
}

func (l *ServeLocks) each(fn func(*fileLock) error) error {
	var err error
	for _, lock := range []*fileLock{l.database, l.folder} {
		if lock != nil {
			err = errors.Join(err, fn(lock))
		}
	}
	return err
}

// lockInterval is how often a server tries to get a lock.
const lockInterval = 20 * time.Millisecond

// fileLock is a lock on a file.
type fileLock struct {
	*flock.Flock
	// alone says that nobody else held the lock when it was acquired.
	alone bool
}

// lockFile acquires the lock of a file: exclusively if nobody else holds it, so
// that others wait until it is shared, and otherwise shared.
func lockFile(ctx context.Context, path string) (*fileLock, error) {
	lock := &fileLock{Flock: flock.New(path)}
	var err error
	if lock.alone, err = lock.TryLock(); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if lock.alone {
		return lock, nil
	}
	if err := lock.share(ctx); err != nil {
		return nil, err
	}
	return lock, nil
}

// share acquires the lock as a shared one, or converts it. It waits for an exclusive
// owner.
func (l *fileLock) share(ctx context.Context) error {
	if _, err := l.TryRLockContext(ctx, lockInterval); err != nil {
		return fmt.Errorf("lock %s: %w", l, err)
	}
	return nil
}
