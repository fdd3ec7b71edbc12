package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"

	"merchantorders/internal/order"
	"merchantorders/internal/store/orderwords"
	"merchantorders/internal/store/sqldb"
)

// The words of orders are rows of order_words. On SQLite a transaction pays for each
// page that it changes, and sorted words are on as many pages as there are words. So
// new words go into a small block of the table, all of whose pages a batch changes
// anyway, and MergeWords moves them to the others later, many at a time. A reader
// looks into each block; every word is in one of them.

// Word is a word of an order, a row of order_words without its block.
type Word struct {
	Text       string
	CreatedAt  int64 // of the order
	LegacyID   int64
	MerchantID int64
}

// WordsOf returns the words of an order in ascending order.
func WordsOf(o *order.Order) []Word {
	texts := orderwords.Of(o.Reference, &o.Customer)
	words := make([]Word, len(texts))
	for i, text := range texts {
		words[i] = Word{text, o.CreatedAt.Unix(), o.LegacyID, o.MerchantID}
	}
	return words
}

// Compare orders words as the table does.
func (w Word) Compare(other Word) int {
	return cmp.Or(strings.Compare(w.Text, other.Text), cmp.Compare(w.CreatedAt, other.CreatedAt),
		cmp.Compare(w.LegacyID, other.LegacyID), cmp.Compare(w.MerchantID, other.MerchantID))
}

// WordWriter writes the words of orders. It is safe for concurrent use.
type WordWriter struct {
	dialect *sqldb.Dialect

	mu      sync.Mutex
	block   int64 // that this writer writes to
	written int   // words that it has written to the block
}

// NewWordWriter returns a writer for one database.
func NewWordWriter(dialect *sqldb.Dialect) *WordWriter { return &WordWriter{dialect: dialect} }

const selectNewestBlock = `SELECT MAX(block) FROM order_words`

// insertWords has a tail because a background job may have written the same rows.
var insertWords = newBulkInsert("order_words", "block, word, created_at, legacy_id, merchant_id", " ON CONFLICT DO NOTHING")

// Add writes words to the current block, in a transaction.
func (w *WordWriter) Add(ctx context.Context, tx sqldb.Querier, words []Word) error {
	if len(words) == 0 {
		return nil
	}
	block := int64(0)
	if w.dialect.WordsPerBlock > 0 {
		var newest sql.NullInt64
		if err := tx.QueryRow(ctx, selectNewestBlock, nil, &newest); err != nil {
			return err
		}
		block = w.take(newest.Int64, len(words))
	}
	return w.write(ctx, tx, block, words)
}

// take returns the block for new words, if newest is the newest one of the table.
func (w *WordWriter) take(newest int64, words int) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	newest = max(newest, 1)
	switch {
	case w.block != newest:
		w.block, w.written = newest, 0
	case w.written >= w.dialect.WordsPerBlock:
		w.block, w.written = newest+1, 0
	}
	w.written += words
	return w.block
}

// write writes words in ascending order: neighbors one after the other, and so that two
// transactions lock them in the same order.
func (w *WordWriter) write(ctx context.Context, tx sqldb.Querier, block int64, words []Word) error {
	slices.SortFunc(words, Word.Compare)
	values := make([]any, 0, len(words)*insertWords.columns)
	for _, word := range words {
		values = append(values, block, word.Text, word.CreatedAt, word.LegacyID, word.MerchantID)
	}
	for text, args := range insertWords.statements(w.dialect, values) {
		if _, err := tx.Exec(ctx, text, args...); err != nil {
			return err
		}
	}
	return nil
}

// Delete deletes words, whatever their blocks, in a transaction.
func (w *WordWriter) Delete(ctx context.Context, tx sqldb.Querier, words []Word) error {
	if len(words) == 0 {
		return nil
	}
	blocks, err := wordBlocks(ctx, tx)
	if err != nil {
		return err
	}
	for _, block := range blocks {
		for _, word := range words {
			_, err := tx.Exec(ctx, `DELETE FROM order_words WHERE block = $1 AND word = $2 AND created_at = $3 AND legacy_id = $4 AND merchant_id = $5`,
				block, word.Text, word.CreatedAt, word.LegacyID, word.MerchantID)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// insertWords writes the words of new orders.
func (in *importTx) insertWords(ctx context.Context, items []*importItem) error {
	words := make([]Word, 0, 6*len(items))
	for _, item := range items {
		for _, text := range item.words {
			words = append(words, Word{text, item.Order.CreatedAt.Unix(), item.legacyID, item.Order.MerchantID})
		}
	}
	return in.db.words.Add(ctx, in, words)
}
