package store

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// readWords returns all words, and how many blocks have staged ones.
func readWords(t *testing.T, db *DB) (rows []Word, blocks int) {
	t.Helper()
	rows, err := sqldb.All(t.Context(), db.sql, `SELECT word, created_at, legacy_id, merchant_id FROM order_words`, nil, scanWord)
	testenv.NoError(t, err)
	slices.SortFunc(rows, Word.Compare)
	all, err := stagedBlocks(t.Context(), db.sql)
	testenv.NoError(t, err)
	return rows, len(all)
}

// TestMergeWords fills blocks, and merges them beside an import.
func TestMergeWords(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.db")
	db := openTest(t, path)
	db.dialect.WordsPerBlock = 100
	testenv.NoError(t, addTestMerchant(t.Context(), db, 7))
	add := func(ctx context.Context, prefix string, n int) error {
		_, err := db.ImportOrders(ctx, testBatch(7, prefix, n), order.Cause{At: testTime})
		return err
	}
	if merged, err := db.MergeWords(t.Context()); merged || err != nil {
		t.Errorf("merged nothing: %v, %v", merged, err)
	}
	for i := range 40 {
		testenv.NoError(t, add(t.Context(), fmt.Sprintf("R%d", i), 20))
	}
	before, blocks := readWords(t, db)
	if len(before) < 800*5 || blocks < 2*mergedBlocks {
		t.Fatalf("%d words in %d blocks", len(before), blocks)
	}
	// A process that has just started merges at once: there is nothing to compare with.
	if merged, err := openTest(t, path).MergeWords(t.Context()); !merged || err != nil {
		t.Errorf("merged at the start: %v, %v", merged, err)
	}
	added := make(chan error)
	go func() { added <- add(t.Context(), "S", 100) }()
	merge := func() {
		// Twice, because the first call sees the newest block.
		for calls := 0; calls < 2; calls++ {
			merged, err := db.MergeWords(t.Context())
			testenv.NoError(t, err)
			if merged {
				calls = 0
			}
		}
	}
	merge()
	testenv.NoError(t, <-added)
	merge()
	after, blocks := readWords(t, db)
	if blocks >= minBlocks {
		t.Errorf("%d blocks are left", blocks)
	}
	if len(after) != len(before)/800*900 || len(slices.Compact(after)) != len(after) {
		t.Errorf("%d words were merged to %d", len(before), len(after))
	}
	page, err := db.Search(t.Context(), order.Search{Reference: "r39-1", From: order.NoDay, To: order.NoDay, Limit: 100})
	if err != nil || len(page.Orders) != 11 {
		t.Errorf("%d orders found, %v", len(page.Orders), err)
	}
}

// TestChangeWords changes what words are derived from.
func TestChangeWords(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	testenv.NoError(t, addTestMerchant(t.Context(), db, 7))
	if _, err := db.ImportOrders(t.Context(), testBatch(7, "R", 3), order.Cause{At: testTime}); err != nil {
		t.Fatal(err)
	}
	change := func(phone string) {
		err := db.InTx(t.Context(), func(o order.Tx) error {
			locked, err := o.LockOrder(t.Context(), 7, order.ByReference("R-1"))
			if err != nil {
				return err
			}
			return o.(*tx).changeWords(t.Context(), 7, locked.LegacyID, func() error {
				_, err := o.(*tx).Exec(t.Context(), `UPDATE orders SET phone = $1 WHERE merchant_id = $2 AND legacy_id = $3`, phone, 7, locked.LegacyID)
				return err
			})
		})
		testenv.NoError(t, err)
	}
	found := func(phone string) int {
		page, err := db.Search(t.Context(), order.Search{Phone: phone, From: order.NoDay, To: order.NoDay, Limit: 100})
		testenv.NoError(t, err)
		return len(page.Orders)
	}
	words, _ := readWords(t, db)
	change("6900000001")
	if a, b := found("21"), found("69"); a != 2 || b != 1 {
		t.Errorf("found %d by the old number and %d by the new one", a, b)
	}
	change("2100000000")
	if now, _ := readWords(t, db); !slices.Equal(now, words) {
		t.Errorf("words %v, want %v", now, words)
	}
}
