package store

import (
	"context"
	"math"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// selectWithoutInvoice reads orders after a position. A reservation holds the place of a file
// that may never come: the orders with one are few. CROSS JOIN makes SQLite begin with them.
// Step 108 has the indexes.
var selectWithoutInvoice = func() string {
	branch := func(tables, condition string) string {
		return `SELECT * FROM (SELECT ` + summaryColumns + ` FROM ` + tables + ` WHERE o.merchant_id = $1 AND (o.created_at, o.legacy_id) > ($2, $3)
			AND o.has_invoice = 1 AND o.state NOT IN (` + sqldb.Literal(order.RejectedByMerchant) + `, ` + sqldb.Literal(order.Canceled) + `) AND ` + condition + `
			ORDER BY o.created_at, o.legacy_id LIMIT $4+0)`
	}
	return `SELECT ` + summaryColumns + ` FROM (` + branch(`orders o`, `o.active_invoices = 0`) + ` none UNION ALL ` +
		branch(`(SELECT DISTINCT legacy_id FROM invoices WHERE merchant_id = $1 AND status = `+InvoiceReserved+`) r CROSS JOIN orders o`,
			`o.legacy_id = r.legacy_id AND o.active_invoices > 0
			AND NOT EXISTS (SELECT 1 FROM invoices i WHERE i.merchant_id = $1 AND i.legacy_id = o.legacy_id AND i.status = `+InvoiceActive+`)`) +
		` reserved) o ORDER BY o.created_at, o.legacy_id LIMIT $4+0`
}()

// WithoutInvoice implements order.Store.
func (db *DB) WithoutInvoice(ctx context.Context, merchantID int64, after *order.Cursor, limit int) (orders []order.Summary, err error) {
	defer db.observe(&ctx, "without_invoice")(&err)
	createdAt, legacyID := int64(math.MinInt64), int64(0)
	if after != nil {
		createdAt, legacyID = after.CreatedAt.Unix(), after.LegacyID
	}
	orders, err = readSummaries(ctx, db.sql, selectWithoutInvoice, []any{merchantID, createdAt, legacyID, limit})
	return orders, db.readError("read orders without invoice", err, nil)
}
