package sqlite

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"merchantorders/internal/filelock"
	"merchantorders/internal/store/sqldb"
)

// lockFile creates a lock file and locks it exclusively. It waits until ctx
// ends. Closing the file releases the lock.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	return filelock.Open(path, func(file *os.File) error { return filelock.Wait(ctx, file, syscall.LOCK_EX) })
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
	file, err := filelock.Open(db.path+".copy.lock", func(file *os.File) error { return filelock.Set(file, how) })
	if errors.Is(err, filelock.ErrLocked) {
		return nil, sqldb.ErrLocked
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}
