package store

import (
	"context"
	"database/sql"
	"math"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/search"
	"merchantorders/internal/store/sqldb"
)

// OrderMerchant implements order.Store.
func (db *DB) OrderMerchant(ctx context.Context, reference string) (int64, error) {
	defer db.timed("order_merchant")()
	var merchantID int64
	err := db.sql.QueryRow(ctx, `SELECT merchant_id FROM order_keys WHERE key = $1`, []any{reference}, &merchantID)
	return merchantID, db.readError("read the merchant of an order", err, order.ErrNotFound)
}

const selectFileEntries = `SELECT ` + invoiceColumns + `, i.deleted_at, i.purged_at FROM invoices i
	WHERE i.merchant_id = $1 AND i.legacy_id = $2 AND i.status IN (` + InvoiceActive + `, ` + InvoiceDeleted + `) ORDER BY i.id`

// FileEntries implements order.Store.
func (db *DB) FileEntries(ctx context.Context, merchantID, legacyID int64) ([]order.FileEntry, error) {
	defer db.timed("file_entries")()
	entries, err := sqldb.All(ctx, db.sql, selectFileEntries, []any{merchantID, legacyID}, func(rows sqldb.Rows) (order.FileEntry, error) {
		var row invoiceRow
		var deletedAt, purgedAt sql.NullInt64
		err := rows.Scan(append(row.dest(), &deletedAt, &purgedAt)...)
		return order.FileEntry{Invoice: row.invoice(), DeletedAt: timeOf(deletedAt), PurgedAt: timeOf(purgedAt)}, err
	})
	return entries, db.readError("read the files of an order", err, nil)
}

// Statements of an overview. Their indexes have the registered orders only.
var (
	registered     = sqldb.Literal(order.Registered)
	selectOldest   = `SELECT MIN(created_at) FROM orders WHERE state = ` + registered
	selectOldestOf = `SELECT (SELECT MIN(o.created_at) FROM orders o WHERE o.merchant_id = $1 AND o.state = ` + registered + `), m.name
		FROM merchants m WHERE m.id = $1`
	selectOverdue = `SELECT COUNT(*) FROM (SELECT 1 FROM orders WHERE state = ` + registered + ` AND expires_at IS NOT NULL AND expires_at <= $1 LIMIT $2+0) o`
)

// Overview implements order.Store.
func (db *DB) Overview(ctx context.Context, query order.OverviewQuery, now time.Time) (order.Overview, error) {
	defer db.timed("overview")()
	var o order.Overview
	var oldest sql.NullInt64
	counts, err := readOrderCounts(ctx, db.sql)
	if err == nil {
		err = db.sql.QueryRow(ctx, selectOldest, nil, &oldest)
	}
	if err == nil {
		err = db.sql.QueryRow(ctx, selectOverdue, []any{now.Unix(), order.MaxOverdue}, &o.Overdue)
	}
	if err == nil {
		o.Merchants, o.Next, err = readUnanswered(ctx, db.sql, query)
	}
	o.States, o.OldestUnanswered = counts, timeOf(oldest)
	return o, db.readError("read the overview", err, nil)
}

// readUnanswered returns a page of the merchants with unanswered orders.
func readUnanswered(ctx context.Context, q sqldb.Querier, query order.OverviewQuery) ([]order.MerchantUnanswered, *order.OverviewCursor, error) {
	after := order.OverviewCursor{Unanswered: math.MaxInt64}
	if query.After != nil {
		after = *query.After
	}
	page, err := sqldb.All(ctx, q, selectUnanswered, []any{after.Unanswered, after.MerchantID, query.Limit + 1}, func(rows sqldb.Rows) (order.OverviewCursor, error) {
		var c order.OverviewCursor
		err := rows.Scan(&c.MerchantID, &c.Unanswered)
		return c, err
	})
	if err != nil {
		return nil, nil, err
	}
	var next *order.OverviewCursor
	if len(page) > query.Limit {
		page = page[:query.Limit]
		next = &page[query.Limit-1]
	}
	merchants := make([]order.MerchantUnanswered, len(page))
	for i, c := range page {
		var oldest sql.NullInt64
		var name string
		if err := q.QueryRow(ctx, selectOldestOf, []any{c.MerchantID}, &oldest, &name); err != nil {
			return nil, nil, err
		}
		merchants[i] = order.MerchantUnanswered{MerchantID: c.MerchantID, Name: name, Unanswered: c.Unanswered, Oldest: timeOf(oldest)}
	}
	return merchants, next, nil
}

// DueOrders implements order.Store.
func (db *DB) DueOrders(ctx context.Context, now time.Time, after order.Due, limit int) ([]order.Due, error) {
	defer db.timed("due_orders")()
	from := int64(math.MinInt64)
	if !after.ExpiresAt.IsZero() {
		from = after.ExpiresAt.Unix()
	}
	keys, err := search.Due(ctx, db.sql, now.Unix()+1, search.Key{At: from, LegacyID: after.LegacyID}, limit)
	due := make([]order.Due, len(keys))
	for i, key := range keys {
		due[i] = order.Due{ExpiresAt: time.Unix(key.At, 0).UTC(), LegacyID: key.LegacyID, MerchantID: key.MerchantID}
	}
	return due, db.readError("read orders past their deadline", err, nil)
}
