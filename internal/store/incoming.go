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
	"strconv"
	"time"

	"merchantorders/internal/order"
)

// intake takes one batch of orders into a transaction. What the batch adds to
// day counts, event numbers and the order counter is gathered and written at
// its end, so that these rows are locked for a short time.
type intake struct {
	tx        *tx
	now       time.Time
	merchants map[int64]bool // whether they exist, of those looked for
	last      int64          // the highest order number that is known to be given
	created   map[int64][]order.Head
	days      map[dayKey]int64
}

type dayKey struct {
	merchantID int64
	day        order.Day
	state      order.State
}

// AddOrders implements order.Store.
func (db *DB) AddOrders(ctx context.Context, batch []order.Incoming, now time.Time) ([]order.Outcome, error) {
	// Encoding needs no lock on the database.
	texts := make([][]byte, len(batch))
	for i, incoming := range batch {
		var err error
		if texts[i], err = encodeDetails(incoming.Order); err != nil {
			return nil, fmt.Errorf("order %s: %w", incoming.Order.Reference, err)
		}
	}
	outcomes := make([]order.Outcome, len(batch))
	limit := db.dialect.changeLimit + time.Duration(len(batch))*db.dialect.orderLimit
	err := db.inTxWithin(ctx, limit, "add", func(t *tx) error {
		in := &intake{
			tx: t, now: now, merchants: make(map[int64]bool),
			created: make(map[int64][]order.Head), days: make(map[dayKey]int64),
		}
		if err := t.row(ctx, `SELECT last FROM counters WHERE name = 'order'`, nil, &in.last); err != nil {
			return err
		}
		for i, incoming := range batch {
			var err error
			if outcomes[i], err = in.add(ctx, incoming, texts[i]); err != nil {
				return fmt.Errorf("order %s: %w", incoming.Order.Reference, err)
			}
		}
		return in.finish(ctx)
	})
	if err != nil {
		return nil, err
	}
	return outcomes, nil
}

// add takes in one order on its own merits.
func (in *intake) add(ctx context.Context, incoming order.Incoming, details []byte) (order.Outcome, error) {
	o := incoming.Order
	known, err := in.merchantExists(ctx, o.MerchantID)
	if err != nil {
		return order.Outcome{}, err
	}
	if !known {
		return refused(order.Invalid, "merchantId: there is no merchant %d", o.MerchantID)
	}
	free, err := in.takeKey(ctx, o.MerchantID, o.Reference)
	if err != nil {
		return order.Outcome{}, err
	}
	if !free {
		return in.compare(ctx, incoming)
	}
	if o.Number, err = in.takeNumber(ctx, o); err != nil {
		return order.Outcome{}, err
	}
	if o.Number == 0 {
		if _, err := in.tx.exec(ctx, `DELETE FROM order_keys WHERE key = $1`, o.Reference); err != nil {
			return order.Outcome{}, err
		}
		return refused(order.Conflicting, "orderId: %d is taken by another order", incoming.Order.Number)
	}
	if err := in.insert(ctx, o, incoming.Digest[:], details); err != nil {
		return order.Outcome{}, err
	}
	return order.Outcome{Verdict: order.Created, Number: o.Number}, nil
}

func refused(verdict order.Verdict, format string, args ...any) (order.Outcome, error) {
	return order.Outcome{Verdict: verdict, Reason: fmt.Sprintf(format, args...)}, nil
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

// takeKey takes a key that is unique in the service, or reports that it is
// taken.
func (in *intake) takeKey(ctx context.Context, merchantID int64, key string) (bool, error) {
	return changed(in.tx.exec(ctx, `INSERT INTO order_keys (key, merchant_id) VALUES ($1, $2)
		ON CONFLICT (key) DO NOTHING`, key, merchantID))
}

// mostCounted is the highest number asked for after which counting goes on
// from there: 2^53, beyond which many a JSON reader loses digits. One order
// with the highest number there is must not use up all others.
const mostCounted = 1 << 53

// takeNumber takes the number that an order asks for, or the next free one. It
// returns 0 when the number asked for is taken.
func (in *intake) takeNumber(ctx context.Context, o order.Order) (int64, error) {
	number := o.Number
	for {
		if o.Number == 0 {
			number = in.last + 1
		}
		if number <= mostCounted {
			in.last = max(in.last, number)
		}
		// No reference begins with this sign.
		free, err := in.takeKey(ctx, o.MerchantID, "#"+strconv.FormatInt(number, 10))
		if err != nil || free {
			return number, err
		}
		if o.Number != 0 {
			return 0, nil
		}
	}
}

// compare judges an order whose reference is taken.
func (in *intake) compare(ctx context.Context, incoming order.Incoming) (order.Outcome, error) {
	var number int64
	var digest []byte
	err := in.tx.row(ctx, `SELECT number, digest FROM orders WHERE merchant_id = $1 AND reference = $2`,
		[]any{incoming.Order.MerchantID, incoming.Order.Reference}, &number, &digest)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return order.Outcome{}, err
	}
	asked := incoming.Order.Number
	switch {
	case err != nil || !bytes.Equal(digest, incoming.Digest[:]):
		return refused(order.Conflicting, "reference: %s is taken by an order with other content", incoming.Order.Reference)
	case asked != 0 && asked != number:
		return refused(order.Conflicting, "orderId: the order %s has the number %d", incoming.Order.Reference, number)
	}
	return order.Outcome{Verdict: order.Unchanged, Number: number}, nil
}

func (in *intake) insert(ctx context.Context, o order.Order, digest, details []byte) error {
	hasInvoice := 0
	if o.InvoiceDetails != nil {
		hasInvoice = 1
	}
	_, err := in.tx.exec(ctx, `INSERT INTO orders (merchant_id, number, reference, state, created_at, updated_at,
			currency, country_code, total, has_invoice, user_id, email, phone, first_name, last_name, company,
			revision, active_invoices, digest, details)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, 1, 0, $17, $18)`,
		o.MerchantID, o.Number, o.Reference, o.State, o.CreatedAt.Unix(), seconds(o.UpdatedAt),
		o.Currency, o.CountryCode, o.Total, hasInvoice, o.Customer.UserID, o.Customer.Email, o.Customer.Phone,
		o.Customer.FirstName, o.Customer.LastName, o.Customer.Company, digest, details)
	if err != nil {
		return err
	}
	in.created[o.MerchantID] = append(in.created[o.MerchantID], order.Head{
		MerchantID: o.MerchantID, Number: o.Number, State: o.State, CreatedAt: o.CreatedAt,
	})
	in.days[dayKey{o.MerchantID, order.DayOf(o.CreatedAt), o.State}]++
	return nil
}

// finish writes what the batch has added up, each kind in an order that is the
// same in every transaction, so that no two wait for each other.
func (in *intake) finish(ctx context.Context) error {
	if _, err := in.tx.exec(ctx, `UPDATE counters SET last = $1 WHERE name = 'order' AND last < $1`, in.last); err != nil {
		return err
	}
	keys := slices.SortedFunc(maps.Keys(in.days), func(a, b dayKey) int {
		return cmp.Or(cmp.Compare(a.merchantID, b.merchantID), cmp.Compare(a.day, b.day), cmp.Compare(a.state, b.state))
	})
	for _, key := range keys {
		if err := in.tx.countDay(ctx, key.merchantID, dayChange{key.day, key.state, in.days[key]}); err != nil {
			return err
		}
	}
	for _, merchantID := range slices.Sorted(maps.Keys(in.created)) {
		heads := in.created[merchantID]
		last, err := in.tx.takeEvents(ctx, merchantID, len(heads))
		if err != nil {
			return err
		}
		for i, head := range heads {
			event := order.Event{
				Seq: last - int64(len(heads)-1-i), Type: order.OrderCreated, Actor: order.Operator,
				At: in.now, To: head.State,
			}
			if err := in.tx.insertEvent(ctx, head, event); err != nil {
				return err
			}
		}
	}
	return nil
}
