package store

import (
	"context"
	"math"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// selectExportKeys returns the statement that reads keys of orders in a state, or in any
// for zero. The size of the details is read without them.
func selectExportKeys(state order.State) string {
	text := `SELECT created_at, legacy_id, length(details) FROM orders
		WHERE merchant_id = $1 AND (created_at, legacy_id) > ($2, $3) AND (created_at, legacy_id) < ($4, $5)`
	if state != 0 {
		text += ` AND state = ` + sqldb.Literal(state)
	}
	return text + ` ORDER BY created_at, legacy_id LIMIT $6+0`
}

// ExportKeys implements order.Store.
func (db *DB) ExportKeys(ctx context.Context, merchantID int64, query order.ExportQuery, after *order.Cursor, limit int) (_ []order.ExportKey, err error) {
	defer db.observe(&ctx, "export_keys")(&err)
	low, high := [2]int64{math.MinInt64, 0}, int64(math.MaxInt64) // no order has the legacy id 0
	if query.From != order.NoDay {
		low[0] = query.From.Start().Unix()
	}
	if after != nil && after.CreatedAt.Unix() >= low[0] {
		low = [2]int64{after.CreatedAt.Unix(), after.LegacyID}
	}
	if query.To != order.NoDay {
		high = query.To.End().Unix() + 1
	}
	args := []any{merchantID, low[0], low[1], high, int64(0), limit}
	keys, err := sqldb.All(ctx, db.sql, selectExportKeys(query.State), args, func(rows sqldb.Rows) (key order.ExportKey, err error) {
		err = rows.Scan(sqldb.Time(&key.CreatedAt), &key.LegacyID, &key.Size)
		return key, err
	})
	return keys, db.readError("read order keys", err, nil)
}

const selectCursor = `SELECT created_at, legacy_id FROM orders WHERE merchant_id = $1 AND reference = $2
	UNION ALL SELECT created_at, legacy_id FROM deleted_orders WHERE merchant_id = $1 AND reference = $2`

// OrderCursor implements order.Store.
func (db *DB) OrderCursor(ctx context.Context, merchantID int64, reference string) (cursor order.Cursor, err error) {
	defer db.observe(&ctx, "order_cursor")(&err)
	err = db.sql.QueryRow(ctx, selectCursor, []any{merchantID, reference}, sqldb.Time(&cursor.CreatedAt), &cursor.LegacyID)
	return cursor, db.readError("read the key of an order", err, order.ErrNotFound)
}
