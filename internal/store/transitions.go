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
	t.limit.extend(1)
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
	t.addEvent(o, order.Event{
		Type: order.OrderStateChanged, By: cause.By, At: cause.At, From: o.State, To: to, Reason: cause.Reason,
	})
	return nil
}

// WarnOfDeadline implements order.Tx.
func (t *tx) WarnOfDeadline(ctx context.Context, o order.LockedOrder, cause order.Cause) (bool, error) {
	changed, err := t.Exec(ctx, `UPDATE orders SET deadline_warned = 1
		WHERE merchant_id = $1 AND legacy_id = $2 AND deadline_warned = 0`, o.MerchantID, o.LegacyID)
	if err != nil || changed == 0 {
		return false, err
	}
	t.addEvent(o, order.Event{Type: order.DeadlineNear, By: cause.By, At: cause.At, ExpiresAt: o.ExpiresAt})
	return true, nil
}
