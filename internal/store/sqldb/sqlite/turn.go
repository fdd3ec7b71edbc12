package sqlite

import (
	"context"
	"time"

	"github.com/gofrs/flock"
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
type turn struct{ *flock.Flock }

func newTurn(path string) turn { return turn{flock.New(path)} }

// take takes the turn. It waits until ctx ends, but not longer than maxTurnWait.
func (t turn) take(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxTurnWait)
	defer cancel()
	_, _ = t.TryLockContext(ctx, pollInterval) // an error is that of a file that cannot be written, or of ctx
}

// pass passes the turn on.
func (t turn) pass() { _ = t.Unlock() }

// pause waits for pollInterval. It returns false if ctx has ended.
func pause(ctx context.Context) bool {
	select {
	case <-time.After(pollInterval):
		return true
	case <-ctx.Done():
		return false
	}
}
