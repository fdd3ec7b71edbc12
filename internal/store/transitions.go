package store

import (
	"context"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Statements that lock an order.
const (
	selectLocked            = `SELECT legacy_id, reference, state, created_at, expires_at, revision, active_invoices, invoice_numbers FROM orders WHERE merchant_id = $1 AND `
	selectLockedByLegacyID  = selectLocked + `legacy_id = $2`
	selectLockedByReference = selectLocked + `reference = $2`
)

// lockedDest returns the Scan destinations of selectLocked.
func lockedDest(o *order.LockedOrder) []any {
	return []any{&o.LegacyID, &o.Reference, sqldb.Int(&o.State), sqldb.Time(&o.CreatedAt), sqldb.Time(&o.ExpiresAt), &o.Revision, sqldb.Int(&o.ActiveInvoices), &o.InvoiceNumbers}
}

// LockOrder implements order.Tx.
func (t *tx) LockOrder(ctx context.Context, merchantID int64, id order.Identifier) (order.LockedOrder, error) {
	key := orderKey{merchantID, id}
	o, ok := t.ahead[key]
	if delete(t.ahead, key); !ok { // the next caller sees what this one changes
		text, value := byIdentifier(id, selectLockedByLegacyID, selectLockedByReference)
		err := t.QueryRow(ctx, text+t.db.dialect.RowLock, []any{merchantID, value}, lockedDest(&o)...)
		if err != nil {
			return order.LockedOrder{}, noRow(err, order.ErrNotFound)
		}
		o.MerchantID, o.NextRevision = merchantID, order.NextRevision(o.Revision)
		t.limit.extend(1)
	}
	t.lockedOrder = o.LegacyID
	return o, nil
}

// orderKey identifies an order.
type orderKey struct {
	merchantID int64
	id         order.Identifier
}

// LockOrders implements order.Tx. It does nothing where there are no row locks and no round
// trips.
func (t *tx) LockOrders(ctx context.Context, merchantID int64, references []string) error {
	if t.db.dialect.InTexts == "" || len(references) < 2 {
		return nil
	}
	t.limit.extend(len(references))
	if t.ahead == nil {
		t.ahead = make(map[orderKey]order.LockedOrder, len(references))
	}
	o := order.LockedOrder{MerchantID: merchantID}
	dest := lockedDest(&o)
	text := selectLocked + `reference ` + t.db.dialect.InTexts + ` ORDER BY reference` + t.db.dialect.ByteOrder + t.db.dialect.RowLock
	return t.Query(ctx, text, []any{merchantID, strings.Join(references, "\n")}, func(rows sqldb.Rows) error {
		err := rows.Scan(dest...)
		o.NextRevision = order.NextRevision(o.Revision)
		t.ahead[orderKey{merchantID, order.ByReference(o.Reference)}] = o
		return err
	})
}

// Transition implements order.Tx.
func (t *tx) Transition(ctx context.Context, o order.LockedOrder, to order.State, cause order.Cause) error {
	err := t.Later(ctx, errNoRow, `UPDATE orders SET state = $1, updated_at = $2, revision = $3
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
