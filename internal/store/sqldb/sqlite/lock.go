package sqlite

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gofrs/flock"

	"merchantorders/internal/store/sqldb"
)

// lockInterval is how often lockFile tries to get a lock.
const lockInterval = 20 * time.Millisecond

// lockFile creates a lock file and locks it exclusively. It waits until ctx ends.
func lockFile(ctx context.Context, path string) (io.Closer, error) {
	lock := flock.New(path)
	if _, err := lock.TryLockContext(ctx, lockInterval); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return lock, nil
}

// LockForCopy implements sqldb.DB with a lock file beside the database.
func (db *DB) LockForCopy(ctx context.Context, shared bool) (io.Closer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lock := flock.New(db.path + ".copy.lock")
	try := lock.TryLock
	if shared {
		try = lock.TryRLock
	}
	locked, err := try()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock, err)
	}
	if !locked {
		return nil, sqldb.ErrLocked
	}
	return lock, nil
}
