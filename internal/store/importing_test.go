package store

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// TestImportInSlices checks that no transaction of an import on SQLite, for which all
// other changes wait, has more than MaxImportOrders orders, or half after it has waited
// for one of them.
func TestImportInSlices(t *testing.T) {
	t.Parallel()
	var transactions int
	var wait time.Duration // of the next one
	now := testTime
	db, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db"), Options{Observe: func(ctx context.Context, operation string) (context.Context, func(error)) {
		if operation == "add" {
			transactions++
			now, wait = now.Add(wait), 0
		}
		return ctx, func(error) {}
	}})
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	db.now = func() time.Time { return now }
	testenv.NoError(t, addTestMerchant(t.Context(), db, 1))
	test := func(name string, orders, want int) {
		transactions = 0
		results, err := db.ImportOrders(t.Context(), testBatch(1, name, orders), order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})
		if err != nil || len(results) != orders || results[orders-1].Status != order.Created {
			t.Fatalf("%s: %d results, error %v", name, len(results), err)
		}
		testenv.Equal(t, name+": transactions", want, transactions)
	}
	for orders, want := range map[int]int{1: 1, 384: 1, 385: 2, 1000: 3} {
		test(fmt.Sprint(orders), orders, want)
	}
	wait = time.Millisecond
	test("waits", 384, 1)
	test("after it", 384, 2)
	test("alone again", 384, 1)
}

// TestImportOfManyMerchants counts the statements of a batch whose orders belong to
// different merchants: one for each merchant, and as many others as for one merchant.
func TestImportOfManyMerchants(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		const merchants = 32
		var batch []order.Incoming
		for id := range int64(merchants) {
			testenv.NoError(t, addTestMerchant(t.Context(), db, 1+id))
			batch = append(batch, testOrder(1+id, fmt.Sprintf("MANY%d", id)))
		}
		recorded := &recorder{DB: db.sql}
		imported := New(recorded, Options{})
		statements := func(batch []order.Incoming) int {
			recorded.forget()
			testenv.Of(imported.ImportOrders(t.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})).Must(t)
			return len(recorded.statements())
		}
		one, many := statements(testBatch(1, "ONE", merchants)), statements(batch)
		testenv.Equal(t, fmt.Sprintf("statements for orders of %d merchants, as for those of one", merchants), merchants-1, many-one)
	})
}

// TestFailedBulkInsert checks that nothing stays of a bulk insert whose last row fails:
// its statement leaves the rows before, and its transaction removes them.
func TestFailedBulkInsert(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	into := sqldb.NewBulkInsert("deleted_orders", "merchant_id, legacy_id, reference, created_at, deleted_at", "")
	var values []any
	for i := range sqldb.BatchSize {
		values = append(values, 1, i, fmt.Sprintf("R%d", i%(sqldb.BatchSize-1)), 0, 0) // the last reference is the first
	}
	err := db.inTx(t.Context(), "test", func(t *tx) error { return t.insert(context.Background(), into, values) })
	if err == nil || !strings.Contains(err.Error(), "UNIQUE") {
		t.Errorf("error %v, want one of a UNIQUE constraint", err)
	}
	var rows int64
	if err := db.sql.QueryRow(t.Context(), `SELECT COUNT(*) FROM deleted_orders`, nil, &rows); err != nil || rows != 0 {
		t.Errorf("%d rows, error %v; want none", rows, err)
	}
}

// TestImportAtTheEndOfTheCounter imports orders with a counter that 1.0 has left at the highest
// id: none gets a higher one.
func TestImportAtTheEndOfTheCounter(t *testing.T) {
	t.Parallel()
	db := testenv.Of(OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db"), Options{})).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	testenv.NoError(t, addTestMerchant(t.Context(), db, 1))
	testenv.NoError(t, db.inTx(t.Context(), "test", func(tx *tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE counters SET last = 9007199254740990 WHERE name = 'order'`)
		return err
	}))
	batch := testBatch(1, "R", 3)
	batch[2].Order.LegacyID = 7
	testenv.Equal(t, "results", []order.ImportResult{
		{Status: order.Created, LegacyID: order.MaxID},
		{Status: order.Invalid, Reason: "orderId: is required: no number after the last one is below 2^53"},
		{Status: order.Created, LegacyID: 7},
	}, testenv.Of(db.ImportOrders(t.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})).Must(t))
}
