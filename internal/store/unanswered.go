package store

import (
	"context"
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

// Unanswered implements order.Store. The orders without a deadline follow those with one,
// of which there may be enough for the page.
func (db *DB) Unanswered(ctx context.Context, merchantID int64, query order.UnansweredQuery) (page order.UnansweredPage, err error) {
	defer db.observe(&ctx, "unanswered")(&err)
	from, createdAt, legacyID, before := int64(math.MinInt64), int64(math.MinInt64), int64(0), int64(math.MaxInt64)
	withDeadline := true
	if after := query.After; after != nil {
		createdAt, legacyID = after.CreatedAt.Unix(), after.LegacyID
		if withDeadline = !after.ExpiresAt.IsZero(); withDeadline {
			from = after.ExpiresAt.Unix()
		}
	}
	if !query.ExpiresBefore.IsZero() {
		before = query.ExpiresBefore.Unix()
	}
	wanted := query.Limit + 1
	var o order.UnansweredOrder
	dest := append(summaryDest(&o.Summary), sqldb.Time(&o.ExpiresAt), &o.Revision, &o.Size)
	err = db.sql.QueryMany(ctx, func(yield func(string, []any) bool) {
		if withDeadline {
			if !yield(selectWithDeadline, []any{merchantID, from, createdAt, legacyID, before, wanted}) {
				return
			}
			createdAt, legacyID = math.MinInt64, 0
		}
		if query.ExpiresBefore.IsZero() && len(page.Orders) < wanted {
			yield(selectWithoutDeadline, []any{merchantID, createdAt, legacyID, wanted - len(page.Orders)})
		}
	}, func(_ int, rows sqldb.Rows) error {
		if len(page.Orders) == wanted {
			return nil
		}
		err := rows.Scan(dest...)
		page.Orders = append(page.Orders, o)
		return err
	})
	if len(page.Orders) > query.Limit {
		page.Orders = page.Orders[:query.Limit]
		page.Next = page.Orders[query.Limit-1].Cursor()
	}
	return page, db.readError("read unanswered orders", err, nil)
}
