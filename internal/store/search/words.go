package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// The words of orders are rows of order_words. A block has the words of the orders that
// were created in a period, so that a search reads the newest periods first, and from
// each only the words that it is for. The blocks of periods have negative numbers, the
// newest period the lowest.

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

// BlockTimes returns between which times the orders of a block were created: from the first
// on, before the second.
func BlockTimes(block int64) (from, to int64) { return periodStart(block), (1 - block) * period }

// Blocks returns the blocks that orders or words are in.
func Blocks(ctx context.Context, q sqldb.Querier) ([]int64, error) {
	blocks, err := sqldb.Column[int64](ctx, q, `SELECT DISTINCT created_at / $1 FROM orders`, period)
	for i, n := range blocks {
		blocks[i] = periodBlock(n * period)
	}
	for last := int64(math.MinInt64); err == nil; blocks = append(blocks, last) {
		err = q.QueryRow(ctx, `SELECT COALESCE(MIN(block), 0) FROM order_words WHERE block > $1 AND block < 0`, []any{last}, &last)
		if err != nil || last == 0 {
			break
		}
	}
	slices.Sort(blocks)
	return slices.Compact(blocks), err
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
	texts := textsOf(o.Reference, &o.Customer, o.Codes(), &o.MerchantData, o.InvoiceNumbers)
	words := make([]Word, len(texts))
	for i, text := range texts {
		words[i] = Word{text, o.CreatedAt.Unix(), o.LegacyID, o.MerchantID}
	}
	return words
}

// Misplaced reports whether a word is not in the block of its period, where searches look
// for it.
func (w Word) Misplaced(block int64) bool { return block != periodBlock(w.CreatedAt) }

// SinceFirst reports whether 1.0 did not write words of this kind: orders of that time may
// lack them.
func (w Word) SinceFirst() bool { return strings.Contains(kindsSinceFirst, w.Text[:1]) }

// insertWords leaves a word that is there already: it fails no change.
var insertWords = sqldb.NewBulkInsert("order_words", "block, word, created_at, legacy_id, merchant_id", " ON CONFLICT DO NOTHING")

// Add writes the words of orders, in a transaction. It sorts them: neighbors come one after
// the other, and two transactions lock them in the same order.
func Add(ctx context.Context, tx sqldb.Querier, d *sqldb.Dialect, words []Word) error {
	sorted := make([]*Word, len(words)) // a word itself takes a third longer to move
	for i := range words {
		sorted[i] = &words[i]
	}
	slices.SortFunc(sorted, compareWords)
	values := make([]any, 0, len(words)*insertWords.Columns)
	for _, word := range sorted {
		values = append(values, periodBlock(word.CreatedAt), word.Text, word.CreatedAt, word.LegacyID, word.MerchantID)
	}
	return insertWords.Insert(ctx, tx, d, values)
}

// AddNew is Add for orders that have no words yet, those of one order after those of another.
// A server with lists takes all with one statement, in which the numbers of an order are
// once, and sorts them.
func AddNew(ctx context.Context, tx sqldb.Querier, d *sqldb.Dialect, words []Word) error {
	if d.WordLists == "" || len(words) == 0 {
		return Add(ctx, tx, d, words)
	}
	var texts strings.Builder
	var blocks, created, ids, merchants []int64
	for i, w := range words {
		if i > 0 && w.LegacyID == words[i-1].LegacyID {
			texts.WriteByte('\t')
		} else {
			if i > 0 {
				texts.WriteByte('\n')
			}
			blocks, created = append(blocks, periodBlock(w.CreatedAt)), append(created, w.CreatedAt)
			ids, merchants = append(ids, w.LegacyID), append(merchants, w.MerchantID)
		}
		texts.WriteString(w.Text)
	}
	return tx.Later(ctx, nil, `INSERT INTO order_words (block, word, created_at, legacy_id, merchant_id) SELECT * FROM `+d.WordLists+` ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING`,
		blocks, texts.String(), created, ids, merchants)
}

// compareWords compares words as the table sorts them. Nearly all differ in their periods or
// texts.
func compareWords(a, b *Word) int {
	n := cmp.Compare(periodBlock(a.CreatedAt), periodBlock(b.CreatedAt))
	if n == 0 {
		n = strings.Compare(a.Text, b.Text)
	}
	if n == 0 {
		n = cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.LegacyID, b.LegacyID), cmp.Compare(a.MerchantID, b.MerchantID))
	}
	return n
}

// Replace writes the words of changed orders, in a transaction.
func Replace(ctx context.Context, tx sqldb.Querier, d *sqldb.Dialect, before, after []Word) error {
	if err := Delete(ctx, tx, before); err != nil {
		return err
	}
	return Add(ctx, tx, d, after)
}

// Delete deletes words, in a transaction.
func Delete(ctx context.Context, tx sqldb.Querier, words []Word) error {
	for _, word := range words {
		_, err := tx.Exec(ctx, `DELETE FROM order_words WHERE block = $1 AND word = $2 AND created_at = $3 AND legacy_id = $4 AND merchant_id = $5`,
			periodBlock(word.CreatedAt), word.Text, word.CreatedAt, word.LegacyID, word.MerchantID)
		if err != nil {
			return err
		}
	}
	return nil
}

// movedWords is how many words a transaction of MoveStaged moves.
const movedWords = 2000

const (
	selectStaged = `SELECT EXISTS (SELECT 1 FROM order_words WHERE block > 0)`
	// The block is periodBlock.
	moveStaged = `UPDATE OR REPLACE order_words SET block = -MAX(created_at / $1, 1)
		WHERE (block, word, created_at, legacy_id, merchant_id) IN (
			SELECT block, word, created_at, legacy_id, merchant_id FROM order_words WHERE block > 0 LIMIT $2+0)`
)

// MoveStaged moves to their periods the words that 1.0 has written to an SQLite database:
// in blocks with positive numbers, where searches do not look. Others may write meanwhile,
// and it may be interrupted. In a damaged database it leaves what it cannot move.
func MoveStaged(ctx context.Context, db sqldb.DB) error {
	for {
		var staged, moved int64
		if err := db.QueryRow(ctx, selectStaged, nil, &staged); err != nil || staged == 0 {
			return err
		}
		err := db.InTx(ctx, func(tx sqldb.Querier) (err error) {
			moved, err = tx.Exec(ctx, moveStaged, period, movedWords)
			return err
		})
		if err != nil || moved == 0 {
			return err
		}
	}
}
