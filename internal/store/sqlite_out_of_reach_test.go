package store

import (
	"database/sql"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/order"
)

// blocked opens a database whose lock for writing somebody else holds. The lock
// is let go of by unblock.
func blocked(t *testing.T, dialect dialect) (db *DB, unblock func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "orders.db")
	first := openTest(t, path)
	if err := addTestMerchant(t.Context(), first, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := first.AddOrders(t.Context(), testBatch(1, "R", 1), testTime); err != nil {
		t.Fatal(err)
	}
	db, err := openSQLite(t.Context(), path, dialect, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	other, err := sql.Open("sqlite", sqliteDSN(path, "immediate", sqliteSettings(busyTimeout)...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	lock, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return db, func() {
		t.Helper()
		if err := lock.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSQLiteLockedTooLong(t *testing.T) {
	t.Parallel()
	dialect := sqliteDialect
	dialect.patience = 20 * time.Millisecond
	db, unblock := blocked(t, dialect)
	if err := moveTest(t.Context(), db, 1, 1, order.InProcessing); !errors.Is(err, order.ErrUnavailable) {
		t.Errorf("move: %v, want %v", err, order.ErrUnavailable)
	}
	if _, err := db.AddOrders(t.Context(), testBatch(1, "S", 1), testTime); !errors.Is(err, order.ErrUnavailable) {
		t.Errorf("add: %v, want %v", err, order.ErrUnavailable)
	}
	// Readers have nothing to do with it.
	if got, err := db.Order(t.Context(), 1, order.NumberKey(1)); err != nil || got.State != order.Registered {
		t.Errorf("order is %v, error %v, want %v", got.State, err, order.Registered)
	}
	unblock()
	if err := moveTest(t.Context(), db, 1, 1, order.InProcessing); err != nil {
		t.Errorf("move afterwards: %v", err)
	}
}

// TestSQLiteLockedForAWhile begins while somebody else is writing, and waits.
func TestSQLiteLockedForAWhile(t *testing.T) {
	t.Parallel()
	dialect := sqliteDialect
	dialect.patience = time.Hour
	met := make(chan struct{})
	var once sync.Once
	dialect.locked = func(err error) bool {
		locked := sqliteDialect.locked(err)
		if locked {
			once.Do(func() { close(met) })
		}
		return locked
	}
	db, unblock := blocked(t, dialect)
	moved := make(chan error)
	go func() { moved <- moveTest(t.Context(), db, 1, 1, order.InProcessing) }()
	<-met
	unblock()
	if err := <-moved; err != nil {
		t.Errorf("move: %v", err)
	}
}

// TestSQLiteFull lets the database grow no further, as a full disk does.
func TestSQLiteFull(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	if err := addTestMerchant(t.Context(), db, 1); err != nil {
		t.Fatal(err)
	}
	// The number of pages cannot be set below what there are.
	if _, err := db.write.db.ExecContext(t.Context(), "PRAGMA max_page_count = 1"); err != nil {
		t.Fatal(err)
	}
	const size = 50
	if _, err := db.AddOrders(t.Context(), testBatch(1, "R", size), testTime); !errors.Is(err, order.ErrUnavailable) {
		t.Errorf("add: %v, want %v", err, order.ErrUnavailable)
	}
	page, err := db.List(t.Context(), 1, order.NewFilter())
	if err != nil || page.Total != 0 {
		t.Errorf("%d orders, error %v, want none", page.Total, err)
	}
	if _, err := db.write.db.ExecContext(t.Context(), "PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.AddOrders(t.Context(), testBatch(1, "R", size), testTime); err != nil {
		t.Errorf("add afterwards: %v", err)
	}
	if page, err = db.List(t.Context(), 1, order.NewFilter()); err != nil || page.Total != size {
		t.Errorf("%d orders, error %v, want %d", page.Total, err, size)
	}
}
