package store

import (
	"context"
	"database/sql"
	"math"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// DayCounts implements order.Store.
func (db *DB) DayCounts(ctx context.Context, merchantID int64, days order.Filter) (counts []order.DayCount, err error) {
	defer db.observe(&ctx, "day_counts")(&err)
	numbers, err := db.readDayCounts(ctx, merchantID, days)
	for day := days.From; day <= days.To; day++ {
		for _, state := range order.States() {
			if n := numbers[dayState{day, state}]; n > 0 {
				counts = append(counts, order.DayCount{Day: day, State: state, Orders: n})
			}
		}
	}
	return counts, db.readError("read day counts", err, nil)
}

// selectDayCounts returns the statement that reads numbers of orders by day in UTC, and in
// rows without a number when orders were created, of those created in several times: from
// those in the list $1 on and before those in $2.
func selectDayCounts(d *sqldb.Dialect) string {
	l := listing{filter: order.Filter{States: order.States()}} // the index by state has all of this
	return `SELECT created_at, state, NULL FROM ` + d.PairList + ` CROSS JOIN orders
		WHERE merchant_id = $3` + l.inStates() + ` AND created_at >= k.a AND created_at < k.b
		UNION ALL SELECT day, state, orders FROM order_days WHERE merchant_id = $3 AND day >= $4 AND day <= $5`
}

// readDayCounts returns the numbers of orders by day in a time zone: those by day in UTC,
// without the orders that are of another day in the zone, which are those between the starts
// of a day in both.
func (db *DB) readDayCounts(ctx context.Context, merchantID int64, days order.Filter) (map[dayState]int64, error) {
	begins, ends := []int64{}, []int64{}
	for day := days.From; day <= days.To+1; day++ {
		utc, local := day.Start().Unix(), day.StartIn(days.Zone).Unix()
		if utc != local {
			begins, ends = append(begins, min(utc, local)), append(ends, max(utc, local))
		}
	}
	numbers := make(map[dayState]int64)
	var when int64
	var state order.State
	var n sql.NullInt64
	args := []any{begins, ends, merchantID, int64(days.From), int64(days.To)}
	err := db.sql.Query(ctx, selectDayCounts(db.dialect), args, func(rows sqldb.Rows) error {
		err := rows.Scan(&when, sqldb.Int(&state), &n)
		if n.Valid {
			numbers[dayState{order.Day(when), state}] += n.Int64
			return err
		}
		at := time.Unix(when, 0)
		numbers[dayState{order.DayOf(at), state}]--
		numbers[dayState{order.DayIn(at, days.Zone), state}]++
		return err
	})
	return numbers, err
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
func (db *DB) Overview(ctx context.Context, query order.OverviewQuery, now time.Time) (o order.Overview, err error) {
	defer db.observe(&ctx, "overview")(&err)
	var counts stateCounts
	after := order.OverviewCursor{Unanswered: math.MaxInt64}
	if query.After != nil {
		after = *query.After
	}
	err = db.sql.QueryMany(ctx, func(yield func(string, []any) bool) {
		_ = yield(selectOrderCounts, nil) && yield(selectOldest, nil) && yield(selectOverdue, []any{now.Unix(), order.MaxOverdue}) &&
			yield(selectUnanswered, []any{after.Unanswered, after.MerchantID, query.Limit + 1})
	}, func(n int, rows sqldb.Rows) error {
		switch n {
		case 0:
			return rows.Scan(counts.dest()...)
		case 1:
			return rows.Scan(sqldb.Time(&o.OldestUnanswered))
		case 2:
			return rows.Scan(&o.Overdue)
		}
		var m order.MerchantUnanswered
		err := rows.Scan(&m.MerchantID, &m.Unanswered)
		o.Merchants = append(o.Merchants, m)
		return err
	})
	if len(o.Merchants) > query.Limit {
		o.Merchants = o.Merchants[:query.Limit]
		last := o.Merchants[query.Limit-1]
		o.Next = &order.OverviewCursor{Unanswered: last.Unanswered, MerchantID: last.MerchantID}
	}
	if err == nil {
		err = db.sql.QueryMany(ctx, func(yield func(string, []any) bool) {
			for _, m := range o.Merchants {
				if !yield(selectOldestOf, []any{m.MerchantID}) {
					return
				}
			}
		}, func(n int, rows sqldb.Rows) error {
			return rows.Scan(sqldb.Time(&o.Merchants[n].Oldest), &o.Merchants[n].Name)
		})
	}
	o.States = counts.byState()
	return o, db.readError("read the overview", err, nil)
}
