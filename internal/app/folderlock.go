package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// folderLock lets servers on one data folder detect each other. Each server holds
// it as a shared lock. The kernel releases it when the process ends, also after a
// crash.
type folderLock struct {
	file *os.File
}

// lockPoll is the interval of attempts to get a lock that another server holds.
const lockPoll = 20 * time.Millisecond

// lockFolder acquires the lock and reports whether no other server uses the
// folder. In that case the lock is exclusive, and other servers wait until it is
// shared.
func lockFolder(ctx context.Context, path string) (*folderLock, bool, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("open the lock of the data folder: %w", err)
	}
	lock := &folderLock{file: file}
	alone, err := lock.try(syscall.LOCK_EX)
	if err == nil && !alone {
		err = lock.share(ctx)
	}
	if err != nil {
		return nil, false, errors.Join(err, file.Close())
	}
	return lock, alone, nil
}

// share converts the lock to a shared one. It waits for an exclusive owner.
func (l *folderLock) share(ctx context.Context) error {
	for {
		acquired, err := l.try(syscall.LOCK_SH)
		if acquired || err != nil {
			return err
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// try attempts to acquire the lock and reports whether it succeeded.
func (l *folderLock) try(how int) (bool, error) {
	err := syscall.Flock(int(l.file.Fd()), how|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("lock the data folder: %w", err)
	}
	return true, nil
}

// release releases the lock.
func (l *folderLock) release() error { return l.file.Close() }
