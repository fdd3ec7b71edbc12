package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"merchantorders/internal/order"
	"merchantorders/internal/store/orderpb"
	"merchantorders/internal/store/sqldb"
)

// indexBatch is how many orders a transaction of IndexOrders indexes.
const indexBatch = 100

const (
	selectToIndex = `SELECT legacy_id, merchant_id FROM orders WHERE indexed = 0 ORDER BY legacy_id LIMIT $1+0`
	selectIndexed = `SELECT ` + summaryColumns + `, o.details, o.indexed <> 0 FROM orders o WHERE o.merchant_id = $1 AND o.legacy_id = $2`
	updateIndexed = `UPDATE orders SET expires_at = $1, indexed = 1 WHERE merchant_id = $2 AND legacy_id = $3`
)

// IndexOrders writes the words and the deadlines of orders that have none yet: those
// that a version without the search has written. It returns how many orders it has
// indexed, at most indexBatch; fewer mean that none is left.
func (db *DB) IndexOrders(ctx context.Context) (int, error) {
	keys, err := sqldb.All(ctx, db.sql, selectToIndex, []any{indexBatch}, func(rows sqldb.Rows) (searchKey, error) {
		var key searchKey
		err := rows.Scan(&key.legacyID, &key.merchantID)
		return key, err
	})
	if err != nil || len(keys) == 0 {
		return 0, db.readError("read orders to index", err, nil)
	}
	err = db.inTx(ctx, "index", func(t *tx) error {
		var words []Word
		for _, key := range keys {
			state, err := t.readIndexed(ctx, key.merchantID, key.legacyID)
			if errors.Is(err, sql.ErrNoRows) || err == nil && state.indexed {
				continue // another instance was faster
			}
			if err != nil {
				return err
			}
			if err := t.setIndexed(ctx, state); err != nil {
				return err
			}
			words = append(words, state.words...)
		}
		return t.db.words.Add(ctx, t, words)
	})
	return len(keys), err
}

// indexState is what is derived from an order, as the order is.
type indexState struct {
	merchantID, legacyID int64
	expiresAt            any // as it is stored
	words                []Word
	indexed              bool // it is written
}

// readIndexed locks an order and returns what is derived from it. It returns
// sql.ErrNoRows if the order does not exist.
func (t *tx) readIndexed(ctx context.Context, merchantID, legacyID int64) (indexState, error) {
	var row summaryRow
	var details sql.RawBytes
	state := indexState{merchantID: merchantID, legacyID: legacyID}
	err := t.QueryRow(ctx, selectIndexed+t.db.dialect.RowLock, []any{merchantID, legacyID}, append(row.dest(), &details, &state.indexed)...)
	if err != nil {
		return state, err
	}
	summary := row.summary()
	o := order.Order{
		MerchantID: merchantID, LegacyID: legacyID, Reference: summary.Reference, CreatedAt: summary.CreatedAt, Customer: summary.Customer,
	}
	if err := orderpb.DecodeDetails(details, &o); err != nil {
		return state, err
	}
	state.expiresAt = seconds(o.ExpiresAt)
	state.words = WordsOf(&o)
	return state, nil
}

func (t *tx) setIndexed(ctx context.Context, state indexState) error {
	return t.update(ctx, errNoRow, updateIndexed, state.expiresAt, state.merchantID, state.legacyID)
}

// changeIndexed runs a change of a locked order's customer, deadline or details, and
// then rewrites what is derived from them: the words and the column expires_at.
func (t *tx) changeIndexed(ctx context.Context, merchantID, legacyID int64, change func() error) error {
	before, err := t.readIndexed(ctx, merchantID, legacyID)
	if err != nil {
		return fmt.Errorf("read the words of an order: %w", err)
	}
	if err := change(); err != nil {
		return err
	}
	after, err := t.readIndexed(ctx, merchantID, legacyID)
	if err != nil {
		return fmt.Errorf("read the words of an order: %w", err)
	}
	if err := t.setIndexed(ctx, after); err != nil || before.indexed && slices.Equal(before.words, after.words) {
		return err
	}
	if err := t.db.words.Delete(ctx, t, before.words); err != nil {
		return fmt.Errorf("delete the words of an order: %w", err)
	}
	return t.db.words.Add(ctx, t, after.words)
}
