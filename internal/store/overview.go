package store

import (
	"context"
	"database/sql"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// DayCounts implements order.Store.
func (db *DB) DayCounts(ctx context.Context, merchantID int64, from order.Day) ([]order.DayCount, error) {
	defer db.timed("day_counts")()
	counts, err := sqldb.All(ctx, db.sql, `SELECT day, state, orders FROM order_days
		WHERE merchant_id = $1 AND day >= $2 AND orders <> 0 ORDER BY day, state`, []any{merchantID, int64(from)},
		func(rows sqldb.Rows) (order.DayCount, error) {
			var c order.DayCount
			err := rows.Scan(sqldb.Int(&c.Day), sqldb.Int(&c.State), &c.Orders)
			return c, err
		})
	return counts, db.readError("read day counts", err, nil)
}

// selectOldestNew reads the oldest orders in the state registered.
var selectOldestNew = `SELECT ` + summaryColumns + `, o.expires_at FROM orders o
	WHERE o.merchant_id = $1 AND o.state = ` + sqldb.Literal(order.Registered) + ` ORDER BY o.created_at, o.legacy_id LIMIT $2+0`

// Unanswered implements order.Store.
func (db *DB) Unanswered(ctx context.Context, merchantID int64, limit int) ([]order.UnansweredOrder, error) {
	defer db.timed("unanswered")()
	var row summaryRow
	var expiresAt sql.NullInt64
	dest := append(row.dest(), &expiresAt)
	orders, err := sqldb.All(ctx, db.sql, selectOldestNew, []any{merchantID, limit}, func(rows sqldb.Rows) (order.UnansweredOrder, error) {
		err := rows.Scan(dest...)
		return order.UnansweredOrder{Summary: row.summary(), ExpiresAt: timeOf(expiresAt)}, err
	})
	return orders, db.readError("read unanswered orders", err, nil)
}

// WithoutInvoice implements order.Store. The inner LIMIT bounds what is read if all
// orders have files.
func (db *DB) WithoutInvoice(ctx context.Context, merchantID int64, state order.State, examined, limit int) ([]order.Summary, error) {
	defer db.timed("without_invoice")()
	var row summaryRow
	dest := row.dest()
	orders, err := sqldb.All(ctx, db.sql, `SELECT `+summaryColumns+` FROM (
			SELECT * FROM orders WHERE merchant_id = $1 AND state = `+sqldb.Literal(state)+`
			ORDER BY created_at DESC, legacy_id DESC LIMIT $2+0
		) o WHERE o.active_invoices = 0 ORDER BY o.created_at DESC, o.legacy_id DESC LIMIT $3+0`, []any{merchantID, examined, limit},
		func(rows sqldb.Rows) (order.Summary, error) {
			err := rows.Scan(dest...)
			return row.summary(), err
		})
	return orders, db.readError("read orders without invoice", err, nil)
}
