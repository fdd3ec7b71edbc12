package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

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
