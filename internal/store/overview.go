package store

import (
	"context"
	"database/sql"
	"math"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pageindex"
	"merchantorders/internal/store/sqldb"
)

// DayCounts implements order.Store. The page index has the numbers: the table order_days
// has days in UTC only.
func (db *DB) DayCounts(ctx context.Context, merchantID int64, days order.Filter) (counts []order.DayCount, err error) {
	defer db.observe(&ctx, "day_counts")(&err)
	index, source := db.indexes.Get(merchantID), indexSource{db.sql, merchantID}
	version, err := source.Version(ctx)
	if err == nil {
		err = index.Refresh(ctx, source, version)
	}
	exact := false
	if err == nil {
		counts, exact, err = dayCounts(ctx, index, source, days)
	}
	if err == nil && !exact {
		err = db.sql.Snapshot(ctx, func(q sqldb.Querier) error {
			counts, _, err = dayCounts(ctx, pageindex.NewShared(pageindex.DefaultSizes), indexSource{q, merchantID}, days)
			return err
		})
	}
	return counts, db.readError("read day counts", err, nil)
}

// dayCounts returns the day counts that an index has. It reports false if the index was
// loaded again too often meanwhile.
func dayCounts(ctx context.Context, index *pageindex.Shared, source indexSource, days order.Filter) ([]order.DayCount, bool, error) {
	var counts []order.DayCount
	filter := order.Filter{Zone: days.Zone, Page: 1, PageSize: 1}
	for day := days.From; day <= days.To; day++ {
		for _, state := range order.States() {
			filter.From, filter.To, filter.States = day, day, []order.State{state}
			position, err := index.Locate(ctx, source, filter)
			if err != nil || position.Inexact {
				return nil, false, err
			}
			if position.Total > 0 {
				counts = append(counts, order.DayCount{Day: day, State: state, Orders: position.Total})
			}
		}
	}
	return counts, true, nil
}

// WithoutInvoice implements order.Store. The inner LIMIT bounds what is read if all
// orders have files.
func (db *DB) WithoutInvoice(ctx context.Context, merchantID int64, state order.State, examined, limit int) (_ []order.Summary, err error) {
	defer db.observe(&ctx, "without_invoice")(&err)
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

// Statements of an overview. Their indexes have the registered orders only.
var (
	registered     = sqldb.Literal(order.Registered)
	selectOldest   = `SELECT MIN(created_at) FROM orders WHERE state = ` + registered
	selectOldestOf = `SELECT (SELECT MIN(o.created_at) FROM orders o WHERE o.merchant_id = $1 AND o.state = ` + registered + `), m.name
		FROM merchants m WHERE m.id = $1`
	selectOverdue = `SELECT COUNT(*) FROM (SELECT 1 FROM orders WHERE state = ` + registered + ` AND expires_at IS NOT NULL AND expires_at <= $1 LIMIT $2+0) o`
)

// Overview implements order.Store.
func (db *DB) Overview(ctx context.Context, query order.OverviewQuery, now time.Time) (_ order.Overview, err error) {
	defer db.observe(&ctx, "overview")(&err)
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
