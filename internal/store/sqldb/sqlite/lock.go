package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"merchantorders/internal/store/sqldb"
)

// lockInterval is how often lockFile tries to take the lock.
const lockInterval = 20 * time.Millisecond

// lockFile creates a lock file and locks it exclusively. It waits until ctx
// ends. Closing the file releases the lock.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	ticker := time.NewTicker(lockInterval)
	defer ticker.Stop()
	for {
		file, err := tryLockFile(path, syscall.LOCK_EX)
		if !errors.Is(err, sqldb.ErrLocked) {
			return file, err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: %w", path, ctx.Err())
		}
	}
}

// tryLockFile creates a lock file and locks it, shared (LOCK_SH) or exclusively
// (LOCK_EX). It returns sqldb.ErrLocked if another process holds the lock.
func tryLockFile(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(file, how); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return file, nil
}

// flock locks a file, shared (LOCK_SH) or exclusively (LOCK_EX), or unlocks it
// (LOCK_UN). It returns sqldb.ErrLocked if another process holds the lock.
func flock(file *os.File, how int) error {
	for {
		err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return sqldb.ErrLocked
		}
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// LockForCopy implements sqldb.DB with a lock file beside the database.
func (db *DB) LockForCopy(ctx context.Context, shared bool) (io.Closer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	return tryLockFile(db.path+".copy.lock", how)
}
