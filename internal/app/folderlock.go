package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// folderLock tells servers on one data folder of each other: each holds it
// shared as long as it lives. The kernel lets go of it when a process ends,
// however it ends.
type folderLock struct {
	file *os.File
}

// lockPoll is how often a lock that another server holds is tried again.
const lockPoll = 20 * time.Millisecond

// lockFolder takes the lock, and reports whether no other server works on the
// folder: the lock is exclusive then, and others wait for share.
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

// share lets others in that share too, and waits for one that does not.
func (l *folderLock) share(ctx context.Context) error {
	for {
		taken, err := l.try(syscall.LOCK_SH)
		if taken || err != nil {
			return err
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *folderLock) try(how int) (bool, error) {
	for {
		err := syscall.Flock(int(l.file.Fd()), how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, fmt.Errorf("lock the data folder: %w", err)
		}
	}
}

// release lets go of the lock.
func (l *folderLock) release() error { return l.file.Close() }
