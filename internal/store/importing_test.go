package store

import (
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/order"
)

// TestImportInSlices checks that no transaction of an import on SQLite, for which all
// other changes wait, has more than MaxImportOrders orders.
func TestImportInSlices(t *testing.T) {
	t.Parallel()
	transactions := 0
	db, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "orders.db"), Options{Observe: func(operation string, _ time.Duration) {
		if operation == "add" {
			transactions++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := addTestMerchant(t.Context(), db, 1); err != nil {
		t.Fatal(err)
	}
	for orders, want := range map[int]int{1: 1, 384: 1, 385: 2, 1000: 3} {
		transactions = 0
		results, err := db.ImportOrders(t.Context(), testBatch(1, time.Duration(orders).String(), orders), order.Cause{Actor: order.ActorOperator, At: testTime})
		if err != nil || len(results) != orders || results[orders-1].Status != order.Created {
			t.Fatalf("%d orders: %d results, error %v", orders, len(results), err)
		}
		if transactions != want {
			t.Errorf("%d orders took %d transactions, want %d", orders, transactions, want)
		}
	}
}
