package sqlite

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"merchantorders/internal/filelock"
)

const (
	// pollInterval is how often a process tries to take the turn, and the write lock.
	pollInterval = 500 * time.Microsecond
	// maxTurnWait is when it goes on without, because the holder may be stopped.
	maxTurnWait = 5 * time.Second
)

// turn lets the processes that write a database take turns. A process takes the
// turn before it waits for the write lock, and passes it when it has the lock. So
// one that commits in a loop, such as an import, cannot begin its next transaction
// before another one that waits. SQLite alone gives the lock to whoever asks at the
// right moment, which is hardly ever the one that has to poll.
//
// The turn is a lock file. It is for fairness only: without it, a process still
// waits for the write lock.
type turn struct {
	path string
	file *os.File // nil before the first transaction, and where files cannot be written
}

// take takes the turn. It waits until ctx ends, but not longer than maxTurnWait.
func (t *turn) take(ctx context.Context) {
	if t.file == nil {
		var err error
		if t.file, err = os.OpenFile(t.path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
			return
		}
	}
	for range maxTurnWait / pollInterval {
		if err := filelock.Set(t.file, syscall.LOCK_EX); !errors.Is(err, filelock.ErrLocked) || !pause(ctx) {
			return
		}
	}
}

// pause waits for pollInterval. It returns false if ctx has ended.
func pause(ctx context.Context) bool {
	select {
	case <-time.After(pollInterval):
		return true
	case <-ctx.Done():
		return false
	}
}

// pass passes the turn on.
func (t *turn) pass() {
	if t.file != nil {
		_ = filelock.Set(t.file, syscall.LOCK_UN)
	}
}

func (t *turn) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}
