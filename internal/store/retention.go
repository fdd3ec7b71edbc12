package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/search"
	"merchantorders/internal/store/sqldb"
)

// finalStates are the states of OrdersBefore.
var finalStates = slices.DeleteFunc(order.States(), func(state order.State) bool { return !state.Final() })

// OrdersBefore implements order.Store. It reads the index that begins with the state.
func (db *DB) OrdersBefore(ctx context.Context, before time.Time, limit int) (_ []order.LockedOrder, err error) {
	defer db.observe(&ctx, "retention")(&err)
	var orders []order.LockedOrder
	for _, state := range finalStates {
		text := `SELECT merchant_id, legacy_id, reference FROM orders WHERE state = ` + sqldb.Literal(state) + ` AND created_at < $1
			ORDER BY created_at, legacy_id LIMIT $2+0`
		some, err := sqldb.All(ctx, db.sql, text, []any{before.Unix(), limit - len(orders)}, func(rows sqldb.Rows) (o order.LockedOrder, err error) {
			err = rows.Scan(&o.MerchantID, &o.LegacyID, &o.Reference)
			return o, err
		})
		if orders = append(orders, some...); err != nil || len(orders) == limit {
			return orders, db.readError("find old orders", err, nil)
		}
	}
	return orders, nil
}

// CountOrdersBefore implements order.Store.
func (db *DB) CountOrdersBefore(ctx context.Context, before time.Time) (n int64, err error) {
	defer db.observe(&ctx, "retention")(&err)
	for _, state := range finalStates {
		var some int64
		text := `SELECT COUNT(*) FROM orders WHERE state = ` + sqldb.Literal(state) + ` AND created_at < $1`
		if err := db.sql.QueryRow(ctx, text, []any{before.Unix()}, &some); err != nil {
			return 0, db.readError("count old orders", err, nil)
		}
		n += some
	}
	return n, nil
}

// The rows of counters that hold an order.RetentionPeriod, in seconds.
const (
	retainBegun       = "retain"
	retainAnnounced   = "retain_announced"
	retainAnnouncedAt = "retain_announced_at"
	retainRanAt       = "retain_ran_at"
	retainWaitUntil   = "retain_wait_until"
)

// RetentionPeriod implements order.Store.
func (db *DB) RetentionPeriod(ctx context.Context) (_ order.RetentionPeriod, err error) {
	defer db.observe(&ctx, "retention")(&err)
	period, err := readRetention(ctx, db.sql)
	return period, db.readError("read the retention", err, nil)
}

func readRetention(ctx context.Context, q sqldb.Querier) (order.RetentionPeriod, error) {
	numbers := make(map[string]int64)
	err := q.Query(ctx, `SELECT name, last FROM counters WHERE name LIKE 'retain%'`, nil, func(rows sqldb.Rows) error {
		var name string
		var n int64
		err := rows.Scan(&name, &n)
		numbers[name] = n
		return err
	})
	if _, ran := numbers[retainRanAt]; err == nil && !ran {
		var newest []int64
		newest, err = sqldb.Column[int64](ctx, q, `SELECT at FROM events ORDER BY position DESC LIMIT 1`)
		if len(newest) > 0 {
			numbers[retainRanAt] = newest[0]
		}
	}
	at := func(name string) (t time.Time) {
		if n := numbers[name]; n != 0 {
			t = time.Unix(n, 0).UTC()
		}
		return t
	}
	return order.RetentionPeriod{
		Begun: time.Duration(numbers[retainBegun]) * time.Second, Announced: time.Duration(numbers[retainAnnounced]) * time.Second,
		AnnouncedAt: at(retainAnnouncedAt), RanAt: at(retainRanAt), WaitUntil: at(retainWaitUntil),
	}, err
}

// ChangeRetention implements order.Store.
func (db *DB) ChangeRetention(ctx context.Context, fn func(*order.RetentionPeriod)) error {
	return db.inTx(ctx, "retention", func(t *tx) error {
		period, err := readRetention(ctx, t)
		if err != nil {
			return err
		}
		before := period
		if fn(&period); period == before {
			return nil
		}
		numbers := map[string]int64{retainBegun: int64(period.Begun / time.Second), retainAnnounced: int64(period.Announced / time.Second)}
		for name, at := range map[string]time.Time{retainAnnouncedAt: period.AnnouncedAt, retainRanAt: period.RanAt, retainWaitUntil: period.WaitUntil} {
			if numbers[name] = 0; !at.IsZero() {
				numbers[name] = at.Unix()
			}
		}
		for _, name := range slices.Sorted(maps.Keys(numbers)) {
			if err := setCounter(ctx, t, name, numbers[name]); err != nil {
				return err
			}
		}
		return nil
	})
}

const countStoredFiles = `SELECT COUNT(*) FROM invoices WHERE merchant_id = $1 AND legacy_id = $2 AND purged_at IS NULL`

// DeleteOrder implements order.Tx.
func (t *tx) DeleteOrder(ctx context.Context, o order.LockedOrder, cause order.Cause) (bool, error) {
	var files int64
	if err := t.QueryRow(ctx, countStoredFiles, []any{o.MerchantID, o.LegacyID}, &files); err != nil || files > 0 {
		return false, err
	}
	words, err := t.readWords(ctx, o.MerchantID, o.LegacyID)
	if err != nil {
		return false, err
	}
	if err := search.Delete(ctx, t, words); err != nil {
		return false, err
	}
	if err := t.eraseTraces(ctx, o); err != nil {
		return false, err
	}
	if _, err := t.Exec(ctx, `DELETE FROM invoices WHERE merchant_id = $1 AND legacy_id = $2`, o.MerchantID, o.LegacyID); err != nil {
		return false, err
	}
	if err := t.Later(ctx, errNoRow, `DELETE FROM orders WHERE merchant_id = $1 AND legacy_id = $2`, o.MerchantID, o.LegacyID); err != nil {
		return false, err
	}
	_, err = t.Exec(ctx, `INSERT INTO deleted_orders (merchant_id, legacy_id, reference, created_at, deleted_at) VALUES ($1, $2, $3, $4, $5)`,
		o.MerchantID, o.LegacyID, o.Reference, o.CreatedAt.Unix(), cause.At.Unix())
	if err != nil {
		return false, err
	}
	t.addEvent(o, order.Event{Type: order.OrderDeleted, By: cause.By, At: cause.At, From: o.State})
	return true, nil
}
