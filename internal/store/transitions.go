package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Statements that lock an order.
const (
	selectLocked            = `SELECT legacy_id, reference, state, created_at, expires_at, revision, active_invoices FROM orders WHERE merchant_id = $1 AND `
	selectLockedByLegacyID  = selectLocked + `legacy_id = $2`
	selectLockedByReference = selectLocked + `reference = $2`
)

// LockOrder implements order.Tx.
func (t *tx) LockOrder(ctx context.Context, merchantID int64, id order.Identifier) (order.LockedOrder, error) {
	text, value := byIdentifier(id, selectLockedByLegacyID, selectLockedByReference)
	o := order.LockedOrder{MerchantID: merchantID}
	var createdAt int64
	var expiresAt sql.NullInt64
	err := t.QueryRow(ctx, text+t.db.dialect.RowLock, []any{merchantID, value},
		&o.LegacyID, &o.Reference, sqldb.Int(&o.State), &createdAt, &expiresAt, &o.Revision, sqldb.Int(&o.ActiveInvoices))
	if errors.Is(err, sql.ErrNoRows) {
		return order.LockedOrder{}, order.ErrNotFound
	}
	t.lockedOrder = o.LegacyID
	o.CreatedAt, o.ExpiresAt, o.NextRevision = time.Unix(createdAt, 0).UTC(), timeOf(expiresAt), order.NextRevision(o.Revision)
	return o, err
}

// Transition implements order.Tx.
func (t *tx) Transition(ctx context.Context, o order.LockedOrder, to order.State, cause order.Cause) error {
	err := t.update(ctx, errNoRow, `UPDATE orders SET state = $1, updated_at = $2, revision = $3
		WHERE merchant_id = $4 AND legacy_id = $5`, int64(to), cause.At.Unix(), o.NextRevision, o.MerchantID, o.LegacyID)
	if err != nil {
		return err
	}
	low, high, n := o.State, to, -1
	if to < o.State {
		// The lower state first, so that two transactions cannot deadlock.
		low, high, n = to, o.State, +1
	}
	day := int64(order.DayOf(o.CreatedAt))
	values := []any{o.MerchantID, day, int64(low), n, o.MerchantID, day, int64(high), -n}
	if err := t.insert(ctx, addDayCounts, values); err != nil {
		return err
	}
	return t.appendEvent(ctx, o, order.Event{
		Type: order.OrderStateChanged, By: cause.By, At: cause.At, From: o.State, To: to, Reason: cause.Reason,
	})
}

// addDayCounts adds to day counts. Each day and state may occur only once in a
// statement.
var addDayCounts = sqldb.NewBulkInsert("order_days", "merchant_id, day, state, orders",
	" ON CONFLICT (merchant_id, day, state) DO UPDATE SET orders = order_days.orders + excluded.orders")
