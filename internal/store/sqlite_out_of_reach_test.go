package store

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/order"
)

// blocked opens a database whose lock for writing somebody else holds. The lock
// is let go of by unblock.
func blocked(t *testing.T, patience time.Duration) (db *DB, unblock func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "orders.db")
	first := openTest(t, path)
	if err := addTestMerchant(t.Context(), first, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := first.ImportOrders(t.Context(), testBatch(1, "R", 1), testTime); err != nil {
		t.Fatal(err)
	}
	db = openTest(t, path)
	db.conns.(*file).writer.patience = patience
	lock, err := sqlOn(t, db).BeginTx(t.Context(), nil)
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
	db, unblock := blocked(t, 20*time.Millisecond)
	if err := moveTest(t.Context(), db, 1, 1, order.InProcessing); !errors.Is(err, order.ErrUnavailable) {
		t.Errorf("move: %v, want %v", err, order.ErrUnavailable)
	}
	if _, err := db.ImportOrders(t.Context(), testBatch(1, "S", 1), testTime); !errors.Is(err, order.ErrUnavailable) {
		t.Errorf("add: %v, want %v", err, order.ErrUnavailable)
	}
	// Readers have nothing to do with it.
	if got, err := db.Order(t.Context(), 1, order.ByLegacyID(1)); err != nil || got.State != order.Registered {
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
	db, unblock := blocked(t, time.Hour)
	ctx := &askedContext{Context: t.Context(), again: make(chan struct{})}
	moved := make(chan error)
	go func() { moved <- moveTest(ctx, db, 1, 1, order.InProcessing) }()
	<-ctx.again
	unblock()
	if err := <-moved; err != nil {
		t.Errorf("move: %v", err)
	}
}

// askedContext tells when it is asked for the second time whether it has ended:
// each try to begin does so first.
type askedContext struct {
	context.Context
	times atomic.Int32
	again chan struct{}
}

func (c *askedContext) Err() error {
	if c.times.Add(1) == 2 {
		close(c.again)
	}
	return c.Context.Err()
}

// TestSQLiteFull lets the database grow no further, as a full disk does.
func TestSQLiteFull(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	if err := addTestMerchant(t.Context(), db, 1); err != nil {
		t.Fatal(err)
	}
	// The number of pages cannot be set below what there are.
	if _, err := db.conns.(*file).writer.conn.exec(t.Context(), "PRAGMA max_page_count = 1"); err != nil {
		t.Fatal(err)
	}
	const size = 50
	if _, err := db.ImportOrders(t.Context(), testBatch(1, "R", size), testTime); !errors.Is(err, order.ErrUnavailable) {
		t.Errorf("add: %v, want %v", err, order.ErrUnavailable)
	}
	page, err := db.List(t.Context(), 1, order.NewFilter())
	if err != nil || page.Total != 0 {
		t.Errorf("%d orders, error %v, want none", page.Total, err)
	}
	if _, err := db.conns.(*file).writer.conn.exec(t.Context(), "PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ImportOrders(t.Context(), testBatch(1, "R", size), testTime); err != nil {
		t.Errorf("add afterwards: %v", err)
	}
	if page, err = db.List(t.Context(), 1, order.NewFilter()); err != nil || page.Total != size {
		t.Errorf("%d orders, error %v, want %d", page.Total, err, size)
	}
}
