package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// The statements of a survey cover all merchants. None of them reads the orders of a
// merchant: the day counts hold one row for each day and state, and the index by
// state begins with the oldest order.
const (
	selectOrderCounts = `SELECT state, CAST(SUM(orders) AS BIGINT) FROM order_days GROUP BY state`
	selectOldestOrder = `SELECT MIN((SELECT MIN(o.created_at) FROM orders o WHERE o.merchant_id = m.id AND o.state = $1)) FROM merchants m`
	selectSchema      = `SELECT MAX(version_id) FROM goose_db_version WHERE is_applied`
)

// Survey is what the metrics tell of the orders of all merchants.
type Survey struct {
	SchemaVersion int64
	Orders        map[order.State]int64 // every state has an entry
	OldestNew     time.Time             // creation of the oldest order in state Registered; zero: none
}

// Survey reads a survey. Its statements end with ctx.
func (db *DB) Survey(ctx context.Context) (Survey, error) {
	defer db.timed("survey")()
	q := db.sql.WithoutTimeout()
	survey := Survey{Orders: make(map[order.State]int64)}
	for _, state := range order.States() {
		survey.Orders[state] = 0
	}
	err := sqldb.Each(ctx, q, selectOrderCounts, nil, func(rows sqldb.Rows) error {
		var state order.State
		var count int64
		err := rows.Scan(sqldb.Int(&state), &count)
		survey.Orders[state] = count
		return err
	})
	if err != nil {
		return Survey{}, db.wrap(fmt.Errorf("count the orders by state: %w", err))
	}
	var oldest sql.NullInt64
	if err := q.QueryRow(ctx, selectOldestOrder, []any{int64(order.Registered)}, &oldest); err != nil {
		return Survey{}, db.wrap(fmt.Errorf("read the oldest registered order: %w", err))
	}
	survey.OldestNew = timeOf(oldest)
	if err := q.QueryRow(ctx, selectSchema, nil, &survey.SchemaVersion); err != nil {
		return Survey{}, db.wrap(fmt.Errorf("read the version of the schema: %w", err))
	}
	return survey, nil
}

// Pool returns the use of the database connections at the moment.
func (db *DB) Pool() sqldb.PoolUse { return db.sql.Pool() }

// PageIndexes returns how many merchants have a page index in memory, and the number
// of all their buckets.
func (db *DB) PageIndexes() (merchants, buckets int) { return db.indexes.Size() }
