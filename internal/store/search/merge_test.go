package search

import (
	"fmt"
	"slices"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// readWords returns all words, and how many blocks have staged ones.
func readWords(t *testing.T, db sqldb.DB) (rows []Word, blocks int) {
	t.Helper()
	rows, err := sqldb.All(t.Context(), db, `SELECT word, created_at, legacy_id, merchant_id FROM order_words`, nil, scanWord)
	testenv.NoError(t, err)
	slices.SortFunc(rows, Word.Compare)
	all, err := stagedBlocks(t.Context(), db)
	testenv.NoError(t, err)
	return rows, len(all)
}

// TestMerge fills blocks, and merges them beside an import.
func TestMerge(t *testing.T) {
	t.Parallel()
	db := openSQLite(t)
	db.Dialect().WordsPerBlock = 100
	words := NewWriter(db.Dialect())
	if blocks, err := words.ToMerge(t.Context(), db); blocks != nil || err != nil {
		t.Errorf("of nothing: blocks %v, %v", blocks, err)
	}
	orders := sampleOrders(900)
	for i := range 40 {
		testenv.NoError(t, write(t.Context(), db, words, orders[20*i:20*i+20]))
	}
	before, blocks := readWords(t, db)
	if len(before) < 800*5 || blocks < 2*mergedBlocks {
		t.Fatalf("%d words in %d blocks", len(before), blocks)
	}
	// A process that has just started merges at once: there is nothing to compare with.
	if blocks, err := NewWriter(db.Dialect()).ToMerge(t.Context(), db); len(blocks) != mergedBlocks || err != nil {
		t.Errorf("at the start: blocks %v, %v", blocks, err)
	}
	added := make(chan error)
	go func() { added <- write(t.Context(), db, words, orders[800:]) }()
	merge(t, db, words)
	testenv.NoError(t, <-added)
	merge(t, db, words)
	after, blocks := readWords(t, db)
	if blocks >= minBlocks {
		t.Errorf("%d blocks are left", blocks)
	}
	if len(after) != len(before)+100*8 || len(slices.Compact(after)) != len(after) {
		t.Errorf("%d words were merged to %d", len(before), len(after))
	}
	found, err := sqldb.Column[int64](t.Context(), db, `SELECT legacy_id FROM order_words WHERE block < 0 AND word >= $1 AND word < $2`, "rr-39", endOf("rr-39"))
	if err != nil || len(found) != 11 {
		t.Errorf("%d words in periods, %v", len(found), err)
	}
}

// TestRewrite deletes staged and merged words, and writes others.
func TestRewrite(t *testing.T) {
	t.Parallel()
	db := openSQLite(t)
	db.Dialect().WordsPerBlock = 100
	words := NewWriter(db.Dialect())
	orders := sampleOrders(60)
	fill(t, db, words, orders[:40])
	merge(t, db, words)
	fill(t, db, words, orders[40:])
	want, _ := readWords(t, db)
	rewrite := func(before, after []order.Order) {
		err := sqldb.RetryTx(t.Context(), db, func(q sqldb.Querier) error {
			var from, to []Word
			for i := range before {
				from, to = append(from, WordsOf(&before[i])...), append(to, WordsOf(&after[i])...)
			}
			if err := words.Delete(t.Context(), q, from); err != nil {
				return err
			}
			return words.Add(t.Context(), q, to)
		})
		testenv.NoError(t, err)
	}
	changed := slices.Clone(orders)
	for i := range changed {
		phone := fmt.Sprint(6900000000 + i)
		changed[i].Customer.Phone = &phone
	}
	rewrite(orders, changed)
	if got, _ := readWords(t, db); len(got) != len(want) || slices.Equal(got, want) {
		t.Errorf("%d words of the changed orders, want %d others", len(got), len(want))
	}
	rewrite(changed, orders)
	if got, _ := readWords(t, db); !slices.Equal(got, want) {
		t.Errorf("words %v, want %v", got, want)
	}
}
