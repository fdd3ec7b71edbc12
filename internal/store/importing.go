package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/orderpb"
)

// intake takes one batch of orders into a transaction. What the batch adds to
// day counts, event numbers and the order counter is gathered and written at
// its end, so that these rows are locked for a short time.
type intake struct {
	tx        *tx
	now       time.Time
	merchants map[int64]bool // whether they exist, of those looked for
	last      int64          // the highest order number that is known to be given
	created   map[int64][]order.LockedOrder
	days      map[dayKey]int64
}

type dayKey struct {
	merchantID int64
	day        order.Day
	state      order.State
}

// arrival is one order of a batch.
type arrival struct {
	order.Incoming
	details []byte
	number  int64 // given to it; 0: none
	outcome order.ImportResult
}

// ImportOrders implements order.Store.
func (db *DB) ImportOrders(ctx context.Context, batch []order.Incoming, now time.Time) ([]order.ImportResult, error) {
	// Encoding needs no lock on the database.
	arrivals := make([]arrival, len(batch))
	for i, incoming := range batch {
		arrivals[i].Incoming = incoming
		var err error
		if arrivals[i].details, err = orderpb.EncodeDetails(&batch[i].Order); err != nil {
			return nil, fmt.Errorf("order %s: %w", incoming.Order.Reference, err)
		}
	}
	limit := db.dialect.TxTimeout + time.Duration(len(batch))*db.dialect.TxTimeoutPerOrder
	err := db.inTxWithin(ctx, limit, "add", func(t *tx) error {
		in := &intake{
			tx: t, now: now, merchants: make(map[int64]bool),
			created: make(map[int64][]order.LockedOrder), days: make(map[dayKey]int64),
		}
		if err := in.readCounter(ctx); err != nil {
			return err
		}
		for rest := arrivals; len(rest) > 0; {
			together := distinct(rest)
			if err := in.add(ctx, rest[:together]); err != nil {
				return err
			}
			rest = rest[together:]
		}
		return in.finish(ctx)
	})
	if err != nil {
		return nil, err
	}
	outcomes := make([]order.ImportResult, len(arrivals))
	for i := range arrivals {
		outcomes[i] = arrivals[i].outcome
	}
	return outcomes, nil
}

// distinct returns how many orders, from the first on, have references of their
// own. These can be taken in together: what becomes of one of them does not
// depend on what became of another, but by its number.
func distinct(arrivals []arrival) int {
	seen := make(map[string]bool, len(arrivals))
	for i := range arrivals {
		reference := arrivals[i].Order.Reference
		if seen[reference] {
			return i
		}
		seen[reference] = true
	}
	return len(arrivals)
}

// add takes in orders, each on its own merits, whose references differ.
func (in *intake) add(ctx context.Context, arrivals []arrival) error {
	var known []*arrival
	for i := range arrivals {
		a := &arrivals[i]
		a.number, a.outcome = 0, order.ImportResult{} // the transaction may be run again
		exists, err := in.merchantExists(ctx, a.Order.MerchantID)
		if err != nil {
			return err
		}
		if !exists {
			a.refuse(order.Invalid, "merchantId: there is no merchant %d", a.Order.MerchantID)
			continue
		}
		known = append(known, a)
	}
	free, err := in.takeReferences(ctx, known)
	if err != nil {
		return fmt.Errorf("take references: %w", err)
	}
	if err := in.takeNumbers(ctx, free); err != nil {
		return fmt.Errorf("take numbers: %w", err)
	}
	numbered := make(map[int64][]*arrival)
	for _, a := range free {
		if a.number != 0 {
			numbered[a.Order.MerchantID] = append(numbered[a.Order.MerchantID], a)
		} else if err := in.releaseReference(ctx, a); err != nil {
			return err
		}
	}
	for _, merchantID := range slices.Sorted(maps.Keys(numbered)) {
		if err := in.insert(ctx, numbered[merchantID]); err != nil {
			return fmt.Errorf("orders of merchant %d: %w", merchantID, err)
		}
	}
	return nil
}

func (a *arrival) refuse(verdict order.ImportStatus, format string, args ...any) {
	a.outcome = order.ImportResult{Status: verdict, Reason: fmt.Sprintf(format, args...)}
}

func (in *intake) merchantExists(ctx context.Context, id int64) (bool, error) {
	known, looked := in.merchants[id]
	if looked {
		return known, nil
	}
	known, err := in.tx.merchantExists(ctx, id)
	in.merchants[id] = known
	return known, err
}

// compare judges an order whose reference is taken.
func (in *intake) compare(ctx context.Context, a *arrival) error {
	var number int64
	var digest []byte
	err := in.tx.QueryRow(ctx, `SELECT legacy_id, digest FROM orders WHERE merchant_id = $1 AND reference = $2`,
		[]any{a.Order.MerchantID, a.Order.Reference}, &number, &digest)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	asked := a.Order.LegacyID
	switch {
	case err != nil || !bytes.Equal(digest, a.Digest[:]):
		a.refuse(order.Conflict, "reference: %s is taken by an order with other content", a.Order.Reference)
	case asked != 0 && asked != number:
		a.refuse(order.Conflict, "orderId: the order %s has the number %d", a.Order.Reference, number)
	default:
		a.outcome = order.ImportResult{Status: order.Unchanged, LegacyID: number}
	}
	return nil
}

var insertOrders = newManyRows("orders", `merchant_id, legacy_id, reference, state, created_at, updated_at,
	currency, country_code, total, has_invoice, user_id, email, phone, first_name, last_name, company,
	revision, active_invoices, digest, details`, "")

// insert writes orders of one merchant.
func (in *intake) insert(ctx context.Context, arrivals []*arrival) error {
	values := make([]any, 0, len(arrivals)*insertOrders.columns)
	for _, a := range arrivals {
		o := a.Order
		hasInvoice := 0
		if o.InvoiceDetails != nil {
			hasInvoice = 1
		}
		values = append(values, o.MerchantID, a.number, o.Reference, int64(o.State), o.CreatedAt.Unix(), seconds(o.UpdatedAt),
			o.Currency, o.CountryCode, o.Total, hasInvoice, o.Customer.UserID, o.Customer.Email, o.Customer.Phone,
			o.Customer.FirstName, o.Customer.LastName, o.Customer.Company, 1, 0, a.Digest[:], a.details)
		in.created[o.MerchantID] = append(in.created[o.MerchantID], order.LockedOrder{
			MerchantID: o.MerchantID, LegacyID: a.number, State: o.State, CreatedAt: o.CreatedAt,
		})
		in.days[dayKey{o.MerchantID, order.DayOf(o.CreatedAt), o.State}]++
		a.outcome = order.ImportResult{Status: order.Created, LegacyID: a.number}
	}
	return in.tx.write(ctx, insertOrders, values)
}

// finish writes what the batch has added up, each kind in an order that is the
// same in every transaction, so that no two wait for each other. The order
// counter, which all merchants share, comes last: its row is locked for the
// length of the commit.
func (in *intake) finish(ctx context.Context) error {
	if err := in.countDays(ctx); err != nil {
		return fmt.Errorf("count days: %w", err)
	}
	for _, merchantID := range slices.Sorted(maps.Keys(in.created)) {
		if err := in.appendEvents(ctx, merchantID); err != nil {
			return fmt.Errorf("append events: %w", err)
		}
	}
	_, err := in.tx.Exec(ctx, `UPDATE counters SET last = $1 WHERE name = 'order' AND last < $1`, in.last)
	return err
}

func (in *intake) countDays(ctx context.Context) error {
	keys := slices.SortedFunc(maps.Keys(in.days), func(a, b dayKey) int {
		return cmp.Or(cmp.Compare(a.merchantID, b.merchantID), cmp.Compare(a.day, b.day), cmp.Compare(a.state, b.state))
	})
	var values []any
	for i, key := range keys {
		values = append(values, key.merchantID, int64(key.day), int64(key.state), in.days[key])
		// A statement is for one merchant, so that one node has all its rows.
		if i == len(keys)-1 || keys[i+1].merchantID != key.merchantID {
			if err := in.tx.write(ctx, addDays, values); err != nil {
				return err
			}
			values = values[:0]
		}
	}
	return nil
}

// appendEvents writes the events of a merchant's new orders.
func (in *intake) appendEvents(ctx context.Context, merchantID int64) error {
	heads := in.created[merchantID]
	version, err := in.tx.takeEvents(ctx, merchantID, len(heads))
	if err != nil {
		return err
	}
	values := make([]any, 0, len(heads)*insertEvents.columns)
	for i, head := range heads {
		values = eventValues(values, version.Mark, head, order.Event{
			Seq: version.Event - int64(len(heads)-1-i), Type: order.OrderCreated, Actor: order.ActorOperator,
			At: in.now, To: head.State,
		})
	}
	return in.tx.write(ctx, insertEvents, values)
}
