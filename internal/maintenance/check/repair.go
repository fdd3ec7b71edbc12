package check

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/sqldb"
)

// rebuildDayCounts makes the day counts of a merchant and its numbers by state equal to
// its orders, and returns how many were wrong. Other changes of the merchant wait meanwhile.
func rebuildDayCounts(ctx context.Context, db sqldb.DB, merchantID int64) (int, error) {
	changed := 0
	err := sqldb.RetryTx(ctx, db, func(q sqldb.Querier) error {
		q = q.WithoutTimeout()
		stored, err := lockDayCounts(ctx, q, merchantID, db.Dialect().RowLock)
		if err != nil {
			return err
		}
		counted, err := countOrders(ctx, q, merchantID)
		if err != nil {
			return err
		}
		if changed, err = writeDayCounts(ctx, q, merchantID, stored, counted); err != nil {
			return err
		}
		wrong, err := wrongStateCounts(ctx, q, merchantID, counted)
		if err != nil {
			return err
		}
		changed += len(wrong)
		return store.WriteStateCounts(ctx, q, merchantID)
	})
	return changed, err
}

// lockDayCounts reads the day counts. A change of an order locks its day counts and
// then the merchant, so after both locks every order that is counted is visible.
func lockDayCounts(ctx context.Context, q sqldb.Querier, merchantID int64, lock string) (map[dayState]int64, error) {
	stored := make(map[dayState]int64)
	err := q.Query(ctx, `SELECT day, state, orders FROM order_days WHERE merchant_id = $1 ORDER BY day, state`+lock,
		[]any{merchantID}, func(rows sqldb.Rows) error {
			var key dayState
			var count int64
			err := rows.Scan(sqldb.Int(&key.day), sqldb.Int(&key.state), &count)
			stored[key] = count
			return err
		})
	if err != nil {
		return nil, err
	}
	var id int64
	return stored, q.QueryRow(ctx, `SELECT id FROM merchants WHERE id = $1`+lock, []any{merchantID}, &id)
}

// countOrders counts the orders of a merchant.
func countOrders(ctx context.Context, q sqldb.Querier, merchantID int64) (map[dayState]int64, error) {
	counted := make(map[dayState]int64)
	err := q.Query(ctx, `SELECT state, created_at FROM orders WHERE merchant_id = $1`, []any{merchantID}, func(rows sqldb.Rows) error {
		var state order.State
		var createdAt int64
		err := rows.Scan(sqldb.Int(&state), &createdAt)
		counted[dayState{order.DayOf(time.Unix(createdAt, 0)), state}]++
		return err
	})
	return counted, err
}

// writeDayCounts writes the day counts that differ, and returns how many do.
func writeDayCounts(ctx context.Context, q sqldb.Querier, merchantID int64, stored, counted map[dayState]int64) (int, error) {
	changed := 0
	for key, n := range counted {
		if stored[key] == n {
			continue
		}
		changed++
		if _, err := q.Exec(ctx, `INSERT INTO order_days (merchant_id, day, state, orders) VALUES ($1, $2, $3, $4)
			ON CONFLICT (merchant_id, day, state) DO UPDATE SET orders = excluded.orders`,
			merchantID, int64(key.day), int64(key.state), n); err != nil {
			return 0, err
		}
	}
	for key, n := range stored {
		if n == 0 || counted[key] > 0 {
			continue
		}
		changed++
		if _, err := q.Exec(ctx, `DELETE FROM order_days WHERE merchant_id = $1 AND day = $2 AND state = $3`,
			merchantID, int64(key.day), int64(key.state)); err != nil {
			return 0, err
		}
	}
	return changed, nil
}

// renumber makes an order found by the numbers of its invoice files, unless it was deleted meanwhile.
func renumber(ctx context.Context, db sqldb.DB, merchantID, legacyID int64) error {
	return sqldb.RetryTx(ctx, db, func(q sqldb.Querier) error {
		o := order.LockedOrder{MerchantID: merchantID, LegacyID: legacyID}
		err := q.QueryRow(ctx, `SELECT created_at, invoice_numbers FROM orders WHERE merchant_id = $1 AND legacy_id = $2`+db.Dialect().RowLock,
			[]any{merchantID, legacyID}, sqldb.Time(&o.CreatedAt), &o.InvoiceNumbers)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return store.Renumber(ctx, q, db.Dialect(), o)
	})
}
