package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Statements that lock an order.
const (
	selectHead = `SELECT legacy_id, reference, state, created_at, revision, active_invoices
	FROM orders WHERE merchant_id = $1 AND `
	selectHeadByNumber    = selectHead + `legacy_id = $2`
	selectHeadByReference = selectHead + `reference = $2`
)

// LockOrder implements order.Tx.
func (t *tx) LockOrder(ctx context.Context, merchantID int64, key order.Identifier) (order.LockedOrder, error) {
	text, value := byKey(key, selectHeadByNumber, selectHeadByReference)
	head := order.LockedOrder{MerchantID: merchantID}
	var createdAt int64
	err := t.QueryRow(ctx, text+t.db.dialect.RowLock, []any{merchantID, value},
		&head.LegacyID, &head.Reference, sqldb.Int(&head.State), &createdAt, &head.Revision, sqldb.Int(&head.ActiveInvoices))
	if errors.Is(err, sql.ErrNoRows) {
		return order.LockedOrder{}, order.ErrNotFound
	}
	head.CreatedAt = time.Unix(createdAt, 0).UTC()
	return head, err
}

// Transition implements order.Tx.
func (t *tx) Transition(ctx context.Context, o order.LockedOrder, to order.State, cause order.Cause) error {
	err := expectOneRow(t.Exec(ctx, `UPDATE orders SET state = $1, updated_at = $2, revision = revision + 1
		WHERE merchant_id = $3 AND legacy_id = $4`, int64(to), cause.At.Unix(), o.MerchantID, o.LegacyID))
	if err != nil {
		return err
	}
	day := order.DayOf(o.CreatedAt)
	// Lower state first, in every transaction, so that no two wait for each other.
	changes := []dayChange{{day, o.State, -1}, {day, to, +1}}
	if to < o.State {
		changes[0], changes[1] = changes[1], changes[0]
	}
	for _, change := range changes {
		if err := t.countDay(ctx, o.MerchantID, change); err != nil {
			return err
		}
	}
	return t.appendEvent(ctx, o, order.Event{
		Type: order.OrderStateChanged, Actor: cause.Actor, At: cause.At, From: o.State, To: to, Reason: cause.Reason,
	})
}

// dayChange is how many orders more, or fewer, a day has in a state.
type dayChange struct {
	day    order.Day
	state  order.State
	orders int64
}

// addDays is the statement that adds to day counts. No two rows of one statement
// may be of the same day and state.
var addDays = newManyRows("order_days", "merchant_id, day, state, orders",
	" ON CONFLICT (merchant_id, day, state) DO UPDATE SET orders = order_days.orders + excluded.orders")

func (t *tx) countDay(ctx context.Context, merchantID int64, change dayChange) error {
	return t.write(ctx, addDays, []any{merchantID, int64(change.day), int64(change.state), change.orders})
}

// write writes rows whose values stand one row after the other.
func (t *tx) write(ctx context.Context, rows manyRows, values []any) error {
	for text, part := range rows.statements(t.db.dialect, values) {
		if _, err := t.Exec(ctx, text, part...); err != nil {
			return err
		}
	}
	return nil
}

// appendEvent writes an event of an order and gives it the merchant's next number.
// It is called last: it locks the merchant's row until the transaction ends.
func (t *tx) appendEvent(ctx context.Context, o order.LockedOrder, event order.Event) error {
	version, err := t.takeEvents(ctx, o.MerchantID, 1)
	if err != nil {
		return err
	}
	event.Seq = version.Event
	return t.write(ctx, insertEvents, eventValues(nil, version.Mark, o, event))
}

// takeEvents takes the next n event numbers of a merchant. It returns the data
// version that the merchant has after the transaction: the last of the numbers
// and the mark of the events. The merchant's row stays locked until the
// transaction ends, so numbers are in commit order and have no gaps.
func (t *tx) takeEvents(ctx context.Context, merchantID int64, n int) (order.DataVersion, error) {
	version := order.DataVersion{Mark: 1 + rand.Int64N(math.MaxInt64)}
	err := t.QueryRow(ctx, `UPDATE merchants SET last_event = last_event + $1, data_mark = $2 WHERE id = $3 RETURNING last_event`,
		[]any{n, version.Mark, merchantID}, &version.Event)
	return version, err
}

var insertEvents = newManyRows("events", `merchant_id, seq, mark, type, actor, at, legacy_id, order_day,
	from_state, to_state, reason, invoice_id`, "")

// eventValues appends the values of an event's row.
func eventValues(values []any, mark int64, o order.LockedOrder, e order.Event) []any {
	reason := sql.NullString{String: string(e.Reason), Valid: e.Reason != ""}
	invoice := sql.NullInt64{Int64: e.InvoiceID, Valid: e.InvoiceID != 0}
	return append(values, o.MerchantID, e.Seq, mark, int64(e.Type), int64(e.Actor), e.At.Unix(), o.LegacyID, int64(order.DayOf(o.CreatedAt)),
		int64(e.From), int64(e.To), reason, invoice)
}
