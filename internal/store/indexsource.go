package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pageindex"
	"merchantorders/internal/store/sqldb"
)

// indexSource reads what a page index is made of. It implements
// pageindex.Source.
type indexSource struct {
	q          sqldb.Querier
	merchantID int64
}

var _ pageindex.Source = indexSource{}

const selectDataVersion = `SELECT last_event, data_nonce FROM merchants WHERE id = $1`

// Version returns the data version, the zero version of a merchant that does not
// exist.
func (s indexSource) Version(ctx context.Context) (order.DataVersion, error) {
	var version order.DataVersion
	err := s.q.QueryRow(ctx, selectDataVersion, []any{s.merchantID}, &version.Event, &version.Nonce)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return order.DataVersion{}, fmt.Errorf("read the data version: %w", err)
	}
	return version, nil
}

const selectDayCounts = `SELECT day, state, orders, ` + dataVersion + ` FROM order_days WHERE merchant_id = $1 ORDER BY day`

// DayCounts implements pageindex.Source.
func (s indexSource) DayCounts(ctx context.Context) ([]pageindex.DayCount, order.DataVersion, error) {
	var days []pageindex.DayCount
	var version order.DataVersion
	var d pageindex.DayCount
	dest := []any{sqldb.Int(&d.Day), sqldb.Int(&d.State), sqldb.Int(&d.Orders), &version.Event, &version.Nonce}
	err := sqldb.Each(ctx, s.q, selectDayCounts, []any{s.merchantID}, func(rows sqldb.Rows) error {
		err := rows.Scan(dest...)
		days = append(days, d)
		return err
	})
	if err != nil {
		return nil, order.DataVersion{}, fmt.Errorf("read day counts: %w", err)
	}
	return days, version, nil
}

// Statements that read events. An event has the day of its order but not the
// order's key. Scan returns an error for the NULL of an order that is missing. An event
// without an order, whose legacy id is 0, changes no state.
const (
	selectDeltas       = `SELECT seq, nonce, from_state, to_state, order_day` + fromDeltas
	selectDeltasByKeys = `SELECT seq, nonce, from_state, to_state, order_day, legacy_id,
		COALESCE((SELECT o.created_at FROM orders o WHERE o.merchant_id = $1 AND o.legacy_id = events.legacy_id),
			(SELECT d.created_at FROM deleted_orders d WHERE d.merchant_id = $1 AND d.legacy_id = events.legacy_id),
			CASE legacy_id WHEN 0 THEN 0 END)` + fromDeltas
	fromDeltas = ` FROM events WHERE merchant_id = $1 AND seq >= $2 ORDER BY seq`
)

// Deltas implements pageindex.Source. Event numbers are assigned under a lock
// that lasts until the commit, so one statement sees them without gaps.
func (s indexSource) Deltas(ctx context.Context, from int64, keys bool) ([]pageindex.Delta, error) {
	var deltas []pageindex.Delta
	var d pageindex.Delta
	var day order.Day
	text := selectDeltas
	dest := []any{&d.Version.Event, &d.Version.Nonce, sqldb.Int(&d.From), sqldb.Int(&d.To), sqldb.Int(&day)}
	if keys {
		text, dest = selectDeltasByKeys, append(dest, &d.Key.LegacyID, &d.Key.CreatedAt)
	}
	err := sqldb.Each(ctx, s.q, text, []any{s.merchantID, from}, func(rows sqldb.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if !keys {
			d.Key = pageindex.StartOfDay(day)
		}
		deltas = append(deltas, d)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return deltas, nil
}

// selectKeys reads the keys and states of orders from one end of a range. They
// come from the index by state alone, which has the orders of each state in the
// order of keys; both databases merge the states while they read.
func selectKeys(ascending bool) string {
	direction := ` DESC`
	if ascending {
		direction = ` ASC`
	}
	branches := mergedKeys(order.States(), `created_at, legacy_id, state`,
		`(created_at, legacy_id) >= ($2, $3) AND (created_at, legacy_id) < ($4, $5)`, direction)
	return `SELECT created_at, legacy_id, state, ` + dataVersion + ` FROM (` + branches + ` LIMIT $6+0) k`
}

// Keys implements pageindex.Source.
func (s indexSource) Keys(ctx context.Context, r pageindex.SplitRange) (pageindex.Keys, error) {
	var keys pageindex.Keys
	var o pageindex.OrderState
	dest := []any{&o.Key.CreatedAt, &o.Key.LegacyID, sqldb.Int(&o.State), &keys.Version.Event, &keys.Version.Nonce}
	args := []any{s.merchantID, r.Low.CreatedAt, r.Low.LegacyID, r.High.CreatedAt, r.High.LegacyID, r.Limit}
	keys.Orders = make([]pageindex.OrderState, 0, r.Limit)
	err := sqldb.Each(ctx, s.q, selectKeys(r.Ascending), args, func(rows sqldb.Rows) error {
		err := rows.Scan(dest...)
		keys.Orders = append(keys.Orders, o)
		return err
	})
	if err != nil {
		return pageindex.Keys{}, fmt.Errorf("read order keys: %w", err)
	}
	return keys, nil
}
