package search

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// The words of orders are rows of order_words. A block has the words of the orders that
// were created in a period, so that a search reads the newest periods first, and from
// each only the words that it is for. The blocks of periods have negative numbers, the
// newest period the lowest.
//
// On SQLite a transaction pays for each page that it changes, and sorted words of many
// periods are on as many pages as there are words. So new words are staged there: they
// go into a small block with a positive number, all of whose pages a batch changes
// anyway, and Merge moves them to their periods later, many at a time. A word is in
// one block. Words move in this direction only, so a search that reads the staged words
// first misses none.

// period is how many seconds a block of words covers, four weeks. A search for a rare
// word looks into each period, and one for a common word reads all its words of a period:
// a shorter period makes the former slower and the latter faster.
const period = 28 * 24 * 60 * 60

// periodBlock returns the block of the words of an order that was created at a time.
// Block -1 also has everything earlier.
func periodBlock(createdAt int64) int64 { return -max(createdAt/period, 1) }

// periodStart returns the time at which the period of a block begins.
func periodStart(block int64) int64 {
	if block == -1 {
		return math.MinInt64
	}
	return -block * period
}

// Word is a word of an order, a row of order_words without its block.
type Word struct {
	Text       string
	CreatedAt  int64 // of the order
	LegacyID   int64
	MerchantID int64
}

// WordsOf returns the words of an order in ascending order.
func WordsOf(o *order.Order) []Word {
	texts := textsOf(o.Reference, &o.Customer, o.Codes(), &o.MerchantData)
	words := make([]Word, len(texts))
	for i, text := range texts {
		words[i] = Word{text, o.CreatedAt.Unix(), o.LegacyID, o.MerchantID}
	}
	return words
}

// Misplaced reports whether a word is in the block of another period than its own, where
// searches do not find it.
func (w Word) Misplaced(block int64) bool { return block < 0 && block != periodBlock(w.CreatedAt) }

// SinceFirst reports whether 1.0 did not write words of this kind: orders of that time may
// lack them.
func (w Word) SinceFirst() bool { return strings.Contains(kindsSinceFirst, w.Text[:1]) }

// Compare orders words as the table does, within a block.
func (w Word) Compare(other Word) int {
	return cmp.Or(strings.Compare(w.Text, other.Text), cmp.Compare(w.CreatedAt, other.CreatedAt),
		cmp.Compare(w.LegacyID, other.LegacyID), cmp.Compare(w.MerchantID, other.MerchantID))
}

// Writer writes the words of orders. It is safe for concurrent use.
type Writer struct {
	dialect *sqldb.Dialect
	// newestBlock is that of the staged words at the last call of ToMerge. -1: there were
	// none, 0: there was no call.
	newestBlock atomic.Int64

	mu      sync.Mutex
	block   int64 // that this writer writes to
	written int   // words that it has written to the block
}

// NewWriter returns a writer for one database.
func NewWriter(dialect *sqldb.Dialect) *Writer { return &Writer{dialect: dialect} }

const (
	selectNewestBlock = `SELECT MAX(block) FROM order_words`
	selectStagedBlock = `SELECT MIN(block) FROM order_words WHERE block > $1`
)

// stagedBlocks returns the blocks that have staged words. It reads one row for each.
func stagedBlocks(ctx context.Context, q sqldb.Querier) ([]int64, error) {
	var blocks []int64
	for last := int64(0); ; {
		var block sql.NullInt64
		if err := q.QueryRow(ctx, selectStagedBlock, []any{last}, &block); err != nil || !block.Valid {
			return blocks, err
		}
		last = block.Int64
		blocks = append(blocks, last)
	}
}

// insertWords leaves a word that is there already: it fails no change.
var insertWords = sqldb.NewBulkInsert("order_words", "block, word, created_at, legacy_id, merchant_id", " ON CONFLICT DO NOTHING")

// Add writes the words of new orders, in a transaction.
func (w *Writer) Add(ctx context.Context, tx sqldb.Querier, words []Word) error {
	if len(words) == 0 {
		return nil
	}
	staged := int64(0)
	if w.dialect.WordsPerBlock > 0 {
		var newest sql.NullInt64
		if err := tx.QueryRow(ctx, selectNewestBlock, nil, &newest); err != nil {
			return err
		}
		staged = w.take(newest.Int64, len(words))
	}
	return w.write(ctx, tx, staged, words)
}

// take returns the block for new words, if newest is the newest one of the table.
func (w *Writer) take(newest int64, words int) int64 {
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

// write writes words to a block of staged words, or to their periods if staged is 0. It
// sorts them: neighbors come one after the other, and two transactions lock them in the
// same order.
func (w *Writer) write(ctx context.Context, tx sqldb.Querier, staged int64, words []Word) error {
	compare := Word.Compare
	if staged == 0 {
		compare = func(a, b Word) int {
			return cmp.Or(cmp.Compare(periodBlock(a.CreatedAt), periodBlock(b.CreatedAt)), a.Compare(b))
		}
	}
	slices.SortFunc(words, compare)
	values := make([]any, 0, len(words)*insertWords.Columns)
	for _, word := range words {
		values = append(values, cmp.Or(staged, periodBlock(word.CreatedAt)), word.Text, word.CreatedAt, word.LegacyID, word.MerchantID)
	}
	return insertWords.Insert(ctx, tx, w.dialect, values)
}

// Replace writes the words of a changed order to their period, in a transaction.
func (w *Writer) Replace(ctx context.Context, tx sqldb.Querier, before, after []Word) error {
	if err := w.Delete(ctx, tx, before); err != nil {
		return err
	}
	return w.write(ctx, tx, 0, after)
}

// Delete deletes words, whatever their blocks, in a transaction.
func (w *Writer) Delete(ctx context.Context, tx sqldb.Querier, words []Word) error {
	if len(words) == 0 {
		return nil
	}
	staged, err := stagedBlocks(ctx, tx)
	if err != nil {
		return err
	}
	for _, word := range words {
		for _, block := range append(staged, periodBlock(word.CreatedAt)) {
			_, err := tx.Exec(ctx, `DELETE FROM order_words WHERE block = $1 AND word = $2 AND created_at = $3 AND legacy_id = $4 AND merchant_id = $5`,
				block, word.Text, word.CreatedAt, word.LegacyID, word.MerchantID)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
