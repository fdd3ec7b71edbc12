package sqlite

import (
	"context"
	"path/filepath"
	"testing"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// TestSnapshotCancelled ends the context of a snapshot while it reads. The
// connection must be out of its transaction when it is used again: it would
// show the same state ever after.
func TestSnapshotCancelled(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	ctx, cancel := context.WithCancel(t.Context())
	testenv.Equal(t, "error", context.Canceled, db.Snapshot(ctx, func(q sqldb.Querier) error {
		var n int64
		if err := q.QueryRow(ctx, `SELECT COUNT(*) FROM merchants`, nil, &n); err != nil {
			return err
		}
		cancel()
		return q.QueryRow(ctx, `SELECT COUNT(*) FROM merchants`, nil, &n)
	}))
	for range cap(db.free) {
		reader := testenv.Of(db.take(t.Context())).Must(t)
		defer db.put(reader)
		if !reader.sqlite.AutocommitEnabled() {
			t.Error("a connection is still in the transaction")
		}
	}
}

// TestSyncUntil syncs a file while it is written, and once more at its end.
func TestSyncUntil(t *testing.T) {
	t.Parallel()
	written, syncs, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- syncUntil(written, func() error { syncs <- struct{}{}; return nil })
	}()
	<-syncs
	<-syncs
	close(written)
	<-syncs
	select {
	case <-syncs: // the last one: the one before began earlier
		testenv.NoError(t, <-ended)
	case err := <-ended:
		testenv.NoError(t, err)
	}
}
