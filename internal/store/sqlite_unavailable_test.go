package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// blocked opens a database whose lock for writing somebody else holds. The lock
// is released by unblock.
func blocked(t *testing.T) (db *DB, unblock func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "orders.db")
	first := openTest(t, path)
	testenv.NoError(t, addTestMerchant(t.Context(), first, 1))
	testenv.Of(first.ImportOrders(t.Context(), testBatch(1, "R", 1), order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})).Must(t)
	db = openTest(t, path)
	lock := testenv.Of(sqlOn(t, path).BeginTx(t.Context(), nil)).Must(t)
	return db, func() {
		t.Helper()
		testenv.NoError(t, lock.Rollback())
	}
}

// TestSQLiteLockedForAWhile begins while somebody else is writing, and waits.
func TestSQLiteLockedForAWhile(t *testing.T) {
	t.Parallel()
	db, unblock := blocked(t)
	ctx := &countingContext{Context: t.Context(), again: make(chan struct{})}
	moved := make(chan error)
	go func() { moved <- transitionTest(ctx, db, 1, 1, order.InProcessing) }()
	<-ctx.again
	unblock()
	testenv.NoError(t, <-moved)
}

// countingContext closes again when Err is called for the second time: each
// attempt to begin calls it first.
type countingContext struct {
	context.Context
	times atomic.Int32
	again chan struct{}
}

func (c *countingContext) Err() error {
	if c.times.Add(1) == 2 {
		close(c.again)
	}
	return c.Context.Err()
}

// TestSQLiteFull lets the database grow no further, as a full disk does.
func TestSQLiteFull(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	testenv.NoError(t, addTestMerchant(t.Context(), db, 1))
	// The number of pages cannot be set below what there are.
	limitPages(t, db, 1)
	const size = 50
	if _, err := db.ImportOrders(t.Context(), testBatch(1, "R", size), order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime}); !errors.Is(err, order.ErrUnavailable) || strings.Contains(err.Error(), "storage") {
		t.Errorf("add: %v, want %v, and no word of the file storage", err, order.ErrUnavailable)
	}
	page, err := db.List(t.Context(), 1, order.NewFilter())
	if err != nil || page.Total != 0 {
		t.Errorf("%d orders, error %v, want none", page.Total, err)
	}
	limitPages(t, db, 1_000_000)
	testenv.Of(db.ImportOrders(t.Context(), testBatch(1, "R", size), order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})).Must(t)
	if page, err = db.List(t.Context(), 1, order.NewFilter()); err != nil || page.Total != size {
		t.Errorf("%d orders, error %v, want %d", page.Total, err, size)
	}
}

// limitPages sets how many pages the database may have.
func limitPages(t *testing.T, db *DB, n int) {
	t.Helper()
	testenv.NoError(t, db.sql.InTx(t.Context(), func(q sqldb.Querier) error {
		_, err := q.Exec(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", n))
		return err
	}))
}
