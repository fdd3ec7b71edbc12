package store

import (
	"context"
	"database/sql"
	"math"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Statements that read registered orders after a position, with a deadline and without.
// Each has an index of its own.
var (
	selectUnansweredOrders = `SELECT ` + summaryColumns + `, o.expires_at, o.revision, length(o.details) FROM orders o
		WHERE o.merchant_id = $1 AND o.state = ` + sqldb.Literal(order.Registered) + ` AND `
	selectWithDeadline = selectUnansweredOrders + `(o.expires_at, o.created_at, o.legacy_id) > ($2, $3, $4) AND o.expires_at < $5
		ORDER BY o.expires_at, o.created_at, o.legacy_id LIMIT $6+0`
	selectWithoutDeadline = selectUnansweredOrders + `o.expires_at IS NULL AND (o.created_at, o.legacy_id) > ($2, $3)
		ORDER BY o.created_at, o.legacy_id LIMIT $4+0`
)

// Unanswered implements order.Store.
func (db *DB) Unanswered(ctx context.Context, merchantID int64, query order.UnansweredQuery) (page order.UnansweredPage, err error) {
	defer db.observe(&ctx, "unanswered")(&err)
	from, createdAt, legacyID, before := int64(math.MinInt64), int64(math.MinInt64), int64(0), int64(math.MaxInt64)
	after := query.After
	if after != nil {
		createdAt, legacyID = after.CreatedAt.Unix(), after.LegacyID
	}
	if !query.ExpiresBefore.IsZero() {
		before = query.ExpiresBefore.Unix()
	}
	if after == nil || !after.ExpiresAt.IsZero() {
		if after != nil {
			from = after.ExpiresAt.Unix()
		}
		page.Orders, err = db.readUnanswered(ctx, selectWithDeadline, merchantID, from, createdAt, legacyID, before, query.Limit+1)
		createdAt, legacyID = math.MinInt64, 0
	}
	if missing := query.Limit + 1 - len(page.Orders); err == nil && missing > 0 && query.ExpiresBefore.IsZero() {
		var rest []order.UnansweredOrder
		rest, err = db.readUnanswered(ctx, selectWithoutDeadline, merchantID, createdAt, legacyID, missing)
		page.Orders = append(page.Orders, rest...)
	}
	if len(page.Orders) > query.Limit {
		page.Orders = page.Orders[:query.Limit]
		page.Next = page.Orders[query.Limit-1].Cursor()
	}
	return page, db.readError("read unanswered orders", err, nil)
}

// readUnanswered returns the orders that a statement reads.
func (db *DB) readUnanswered(ctx context.Context, text string, args ...any) ([]order.UnansweredOrder, error) {
	var row summaryRow
	var expiresAt sql.NullInt64
	var revision, size int64
	dest := append(row.dest(), &expiresAt, &revision, &size)
	return sqldb.All(ctx, db.sql, text, args, func(rows sqldb.Rows) (order.UnansweredOrder, error) {
		err := rows.Scan(dest...)
		return order.UnansweredOrder{Summary: row.summary(), ExpiresAt: timeOf(expiresAt), Revision: revision, Size: size}, err
	})
}
