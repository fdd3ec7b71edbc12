package store

import (
	"context"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// OrdersBefore implements order.Store. It reads the index that begins with the state.
func (db *DB) OrdersBefore(ctx context.Context, before time.Time, limit int) ([]order.LockedOrder, error) {
	defer db.timed("retention")()
	var orders []order.LockedOrder
	for _, state := range order.States() {
		text := `SELECT merchant_id, legacy_id, reference FROM orders WHERE state = ` + sqldb.Literal(state) + ` AND created_at < $1
			ORDER BY created_at, legacy_id LIMIT $2+0`
		some, err := sqldb.All(ctx, db.sql, text, []any{before.Unix(), limit - len(orders)}, func(rows sqldb.Rows) (o order.LockedOrder, err error) {
			err = rows.Scan(&o.MerchantID, &o.LegacyID, &o.Reference)
			return o, err
		})
		if orders = append(orders, some...); err != nil || len(orders) == limit {
			return orders, db.readError("find old orders", err, nil)
		}
	}
	return orders, nil
}

const countStoredFiles = `SELECT COUNT(*) FROM invoices WHERE merchant_id = $1 AND legacy_id = $2 AND purged_at IS NULL`

// DeleteOrder implements order.Tx.
func (t *tx) DeleteOrder(ctx context.Context, o order.LockedOrder, cause order.Cause) (bool, error) {
	var files int64
	if err := t.QueryRow(ctx, countStoredFiles, []any{o.MerchantID, o.LegacyID}, &files); err != nil || files > 0 {
		return false, err
	}
	words, err := t.readWords(ctx, o.MerchantID, o.LegacyID)
	if err != nil {
		return false, err
	}
	if err := t.db.words.Delete(ctx, t, words); err != nil {
		return false, err
	}
	if err := t.eraseTraces(ctx, o); err != nil {
		return false, err
	}
	if _, err := t.Exec(ctx, `DELETE FROM invoices WHERE merchant_id = $1 AND legacy_id = $2`, o.MerchantID, o.LegacyID); err != nil {
		return false, err
	}
	if err := t.update(ctx, errNoRow, `DELETE FROM orders WHERE merchant_id = $1 AND legacy_id = $2`, o.MerchantID, o.LegacyID); err != nil {
		return false, err
	}
	_, err = t.Exec(ctx, `INSERT INTO deleted_orders (merchant_id, legacy_id, reference, created_at, deleted_at) VALUES ($1, $2, $3, $4, $5)`,
		o.MerchantID, o.LegacyID, o.Reference, o.CreatedAt.Unix(), cause.At.Unix())
	if err != nil {
		return false, err
	}
	t.addEvent(o, order.Event{Type: order.OrderDeleted, By: cause.By, At: cause.At, From: o.State})
	return true, nil
}
