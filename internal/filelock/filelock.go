// Package filelock locks files between processes (flock). The kernel releases a lock when
// its file is closed or the process ends, also after a crash.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// ErrLocked means that another process holds the lock.
var ErrLocked = errors.New("another process holds the lock")

// interval is how often Wait tries to get a lock.
const interval = 20 * time.Millisecond

// Set locks a file, shared (LOCK_SH) or exclusively (LOCK_EX), or unlocks it (LOCK_UN). It
// returns ErrLocked if another process holds the lock.
func Set(file *os.File, how int) error {
	for {
		err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EINTR):
			return fmt.Errorf("lock %s: %w", file.Name(), err)
		}
	}
}

// Wait is Set, but waits until no other process holds the lock, or ctx ends.
func Wait(ctx context.Context, file *os.File, how int) error {
	for {
		err := Set(file, how)
		if !errors.Is(err, ErrLocked) {
			return err
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return fmt.Errorf("lock %s: %w", file.Name(), ctx.Err())
		}
	}
}

// Open opens a file, which it creates if necessary, and locks it with Set or Wait.
func Open(path string, lock func(*os.File) error) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock %s: %w", path, errors.Unwrap(err))
	}
	if err := lock(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
