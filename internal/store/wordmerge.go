package store

import (
	"context"
	"slices"

	"merchantorders/internal/store/sqldb"
)

const (
	// mergedBlocks is how many blocks MergeWords moves at a time: the more, the more
	// words of a page are changed together.
	mergedBlocks = 16
	// minBlocks is how many blocks there must be, because a search reads each, and
	// maxBlocks while words are being written.
	minBlocks, maxBlocks = 4, 64
	// mergedRows is how many words of each block a transaction moves, so that others
	// wait for about 10 ms.
	mergedRows = 128
)

const (
	selectWordsFrom = `SELECT word, created_at, legacy_id, merchant_id FROM order_words
		WHERE block = $1 AND word >= $2 ORDER BY word, created_at, legacy_id, merchant_id LIMIT $3+0`
	deleteWordsTo = `DELETE FROM order_words
		WHERE block = $1 AND word >= $2 AND (word, created_at, legacy_id, merchant_id) <= ($3, $4, $5, $6)`
)

// MergeWords moves the staged words of the oldest blocks to their periods, if there are
// minBlocks or more and no new ones are written, and reports whether it has. It may run
// beside everything else, and be interrupted: what it leaves is moved by the next call.
func (db *DB) MergeWords(ctx context.Context) (bool, error) {
	blocks, err := stagedBlocks(ctx, db.sql)
	if err != nil {
		return false, db.readError("merge words", err, nil)
	}
	if len(blocks) < minBlocks {
		return false, nil
	}
	// An import is faster if it does not share the database with a merge.
	newest := blocks[len(blocks)-1]
	if db.newestBlock.Swap(newest) != newest && len(blocks) < maxBlocks {
		return false, nil
	}
	blocks = blocks[:min(len(blocks), mergedBlocks)]
	for from, more := "", true; more; {
		var last string
		err := db.inTx(ctx, "merge_words", func(t *tx) (err error) {
			last, more, err = t.mergeWords(ctx, blocks, from)
			return err
		})
		if err != nil {
			return true, err
		}
		from = last
	}
	return true, nil
}

// mergeWords moves the next words of blocks, from a word on. It returns the last of
// them, and false if there are no more.
func (t *tx) mergeWords(ctx context.Context, blocks []int64, from string) (string, bool, error) {
	var words []Word
	var end *Word // the lowest end of what was read of a block; nil: all was read
	for _, block := range blocks {
		read, err := sqldb.All(ctx, t, selectWordsFrom, []any{block, from, mergedRows}, scanWord)
		if err != nil {
			return "", false, err
		}
		if n := len(read); n == mergedRows && (end == nil || read[n-1].Compare(*end) < 0) {
			end = &read[n-1]
		}
		words = append(words, read...)
	}
	if end != nil {
		words = slices.DeleteFunc(words, func(word Word) bool { return word.Compare(*end) > 0 })
	}
	if len(words) == 0 {
		return "", false, nil
	}
	last := slices.MaxFunc(words, Word.Compare)
	if err := t.db.words.write(ctx, t, 0, words); err != nil {
		return "", false, err
	}
	for _, block := range blocks {
		if _, err := t.Exec(ctx, deleteWordsTo, block, from, last.Text, last.CreatedAt, last.LegacyID, last.MerchantID); err != nil {
			return "", false, err
		}
	}
	return last.Text, end != nil, nil
}

func scanWord(rows sqldb.Rows) (Word, error) {
	var word Word
	err := rows.Scan(&word.Text, &word.CreatedAt, &word.LegacyID, &word.MerchantID)
	return word, err
}
