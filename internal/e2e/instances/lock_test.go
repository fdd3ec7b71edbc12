package instances

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// waiting returns how many sessions of a database wait for a lock.
func waiting(t *testing.T, db *sql.DB) int {
	t.Helper()
	return number(t, db, `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
}

// locked keeps the rows that a statement locks until release is called.
func locked(t *testing.T, db *sql.DB, statement string, args ...any) (release func()) {
	t.Helper()
	tx := testenv.Of(db.BeginTx(t.Context(), nil)).Must(t)
	testenv.Of(tx.ExecContext(t.Context(), statement, args...)).Must(t)
	t.Cleanup(func() { _ = tx.Rollback() })
	return func() { _ = tx.Rollback() }
}

// stopped reports whether every thread of a process is stopped by a signal.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("process %d is not there: %v", pid, err)
	}
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil || !strings.Contains(string(text), "\nState:\tT") {
			return false
		}
	}
	return true
}

// TestLockIsHeldForLong has an order locked from elsewhere, as by somebody at
// work on the database by hand. Changes of that order are given up, and nothing
// else waits.
func TestLockIsHeldForLong(t *testing.T) {
	t.Parallel()
	i := onPostgres(t, pgtest.Shared(t).Database(t))
	c := apptest.NewClient(t, i.start(t), i.filled(t, 2))
	tables := i.tables(t)
	release := locked(t, tables, `SELECT state FROM orders WHERE legacy_id = $1 FOR UPDATE`, sample(1).Number())
	d := decisions[2]
	got := c.Ask(t, d.Method, d.Path(1), d.Body)
	if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" || !codedUnavailable.MatchString(got.Body) {
		t.Errorf("accept: %d %v %s, want 503 with Retry-After", got.Status, got.Header, got.Body)
	}
	testenv.Equal(t, "the order's state", order.Registered.String(), c.Order(t, 1, 1).State)
	if got := c.Ask(t, d.Method, d.Path(2), d.Body); got.Status != http.StatusOK {
		t.Errorf("accept of another order: %d %s", got.Status, got.Body)
	}
	testenv.Eventually(t, "what waited for the lock is given up", func() bool { return waiting(t, tables) == 0 })
	release()
	if got := c.Ask(t, d.Method, d.Path(1), d.Body); got.Status != http.StatusOK {
		t.Errorf("accept when the lock is gone: %d %s", got.Status, got.Body)
	}
}

// TestFrozenInstanceLosesLocks freezes an instance in the midst of a change, as a
// host does that moves a machine or runs out of memory. The locks that it holds
// are taken from it, and it finds its way back.
func TestFrozenInstanceLosesLocks(t *testing.T) {
	t.Parallel()
	i := onPostgres(t, pgtest.Shared(t).Database(t))
	token := i.filled(t, 2)
	frozen := i.process(t)
	one, other := apptest.NewClient(t, frozen.BaseURL, token), apptest.NewClient(t, i.start(t), token)
	tables, d := i.tables(t), decisions[2]

	// The change gets as far as the merchant's counter, the order locked.
	release := locked(t, tables, `SELECT last_event FROM merchants WHERE id = $1 FOR UPDATE`, merchantID)
	responded := make(chan response, 1)
	go func() { responded <- one.Ask(t, d.Method, d.Path(1), d.Body) }()
	testenv.Eventually(t, "the change waits for the counter", func() bool { return waiting(t, tables) == 1 })
	testenv.NoError(t, syscall.Kill(frozen.PID(), syscall.SIGSTOP))
	testenv.Eventually(t, "the instance is frozen", func() bool { return stopped(t, frozen.PID()) })
	release()
	testenv.Eventually(t, "the frozen instance holds the lock", func() bool {
		return number(t, tables, `SELECT COUNT(*) FROM pg_stat_activity
			WHERE datname = current_database() AND state = 'idle in transaction'`) == 1
	})
	// Of the same merchant, whose counter is locked as well.
	testenv.Eventually(t, "another instance changes another order", func() bool {
		return other.Ask(t, d.Method, d.Path(2), d.Body).Status == http.StatusOK
	})
	testenv.NoError(t, syscall.Kill(frozen.PID(), syscall.SIGCONT))
	(<-responded).WantStatus(t, http.StatusServiceUnavailable)
	testenv.Equal(t, "the order's state", order.Registered.String(), other.Order(t, 1, 1).State)
	one.Ask(t, d.Method, d.Path(1), d.Body).WantStatus(t, http.StatusOK)
	checkTotals(t, one, tables, merchantID)
}
