package search

import (
	"context"

	"merchantorders/internal/store/sqldb"
)

const (
	// mergedBlocks is how many blocks are merged at a time: the more, the more
	// words of a page are changed together.
	mergedBlocks = 16
	// minBlocks is how many blocks there must be, because a search reads each, and
	// maxBlocks while words are being written.
	minBlocks, maxBlocks = 2, 64
	// mergedRows is how many words of each block a transaction moves, so that others
	// wait for about 10 ms.
	mergedRows = 128
)

const (
	selectFirstWords = `SELECT word, created_at, legacy_id, merchant_id FROM order_words
		WHERE block = $1 ORDER BY word, created_at, legacy_id, merchant_id LIMIT $2+0`
	deleteFirstWords = `DELETE FROM order_words
		WHERE block = $1 AND (word, created_at, legacy_id, merchant_id) <= ($2, $3, $4, $5)`
)

// ToMerge returns the oldest blocks of staged words, if there are minBlocks or more and no
// new ones are written since the last call; else none.
func (w *Writer) ToMerge(ctx context.Context, q sqldb.Querier) ([]int64, error) {
	blocks, err := stagedBlocks(ctx, q)
	if err != nil {
		return nil, err
	}
	newest := int64(-1)
	if len(blocks) > 0 {
		newest = blocks[len(blocks)-1]
	}
	before := w.newestBlock.Swap(newest)
	// An import is faster if it does not share the database with a merge.
	busy := before != 0 && before != newest && len(blocks) < maxBlocks
	if len(blocks) < minBlocks || busy {
		return nil, nil
	}
	return blocks[:min(len(blocks), mergedBlocks)], nil
}

// Merge moves the first words of each of some blocks to their periods, in a transaction,
// and reports whether there may be more. The blocks have about the same words, so what it
// moves at a time has neighbors in the periods. It may run beside everything else, and be
// interrupted: what it leaves is moved by the next call.
func (w *Writer) Merge(ctx context.Context, tx sqldb.Querier, blocks []int64) (more bool, err error) {
	var words []Word
	for _, block := range blocks {
		read, err := sqldb.All(ctx, tx, selectFirstWords, []any{block, mergedRows}, scanWord)
		if err != nil {
			return false, err
		}
		if len(read) == 0 {
			continue
		}
		last := read[len(read)-1]
		if _, err := tx.Exec(ctx, deleteFirstWords, block, last.Text, last.CreatedAt, last.LegacyID, last.MerchantID); err != nil {
			return false, err
		}
		words = append(words, read...)
		more = more || len(read) == mergedRows
	}
	return more, w.write(ctx, tx, 0, words)
}

func scanWord(rows sqldb.Rows) (Word, error) {
	var word Word
	err := rows.Scan(&word.Text, &word.CreatedAt, &word.LegacyID, &word.MerchantID)
	return word, err
}
