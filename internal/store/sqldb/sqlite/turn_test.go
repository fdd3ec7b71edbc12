package sqlite

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/gofrs/flock"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// TestTurn checks that a process that commits in a loop does not keep another one
// waiting: the transaction that waits is the next.
func TestTurn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.db")
	busy, waiting := openTest(t, path), openTest(t, path)
	var mu sync.Mutex  // for the race detector, which does not see the write lock
	var order []string // of the transactions
	record := func(name string) func() {
		return func() {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, name)
		}
	}
	for range 20 {
		running, finish := make(chan struct{}), make(chan struct{})
		var group sync.WaitGroup
		group.Go(func() {
			transaction(t, busy, func() { close(running); <-finish })
			transaction(t, busy, record("busy"))
		})
		<-running
		group.Go(func() { transaction(t, waiting, record("waiting")) })
		awaitTurnTaken(t, path)
		close(finish)
		group.Wait()
	}
	testenv.Equal(t, "transactions", slices.Repeat([]string{"waiting", "busy"}, 20), order)
}

// transaction runs fn in a transaction.
func transaction(t *testing.T, db *DB, fn func()) {
	testenv.NoError(t, db.InTx(t.Context(), func(sqldb.Querier) error { fn(); return nil }))
}

// awaitTurnTaken waits until a process has taken the turn of a database.
func awaitTurnTaken(t *testing.T, path string) {
	t.Helper()
	testenv.Eventually(t, "a process takes the turn", func() bool {
		lock := flock.New(path + ".turn.lock")
		free := testenv.Of(lock.TryRLock()).Must(t)
		testenv.NoError(t, lock.Close())
		return !free
	})
}
