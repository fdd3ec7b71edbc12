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

// importTx imports one batch of orders in a transaction. It collects what the
// batch adds to day counts, event numbers and the counter of legacy ids, and
// writes that last, so that these rows are locked for a short time.
type importTx struct {
	*tx
	now           time.Time
	merchants     map[int64]bool // whether they exist, as far as known
	lastLegacyID  int64          // the highest one known to be given out
	created       map[int64][]order.LockedOrder
	createdPerDay map[dayKey]int64
}

// dayKey identifies a row of order_days.
type dayKey struct {
	merchantID int64
	day        order.Day
	state      order.State
}

// importItem is one order of a batch.
type importItem struct {
	order.Incoming
	details  []byte
	legacyID int64 // assigned to it; 0: none yet
	result   order.ImportResult
}

// reject sets the result of an order that is not imported.
func (i *importItem) reject(status order.ImportStatus, format string, args ...any) {
	i.result = order.ImportResult{Status: status, Reason: fmt.Sprintf(format, args...)}
}

// ImportOrders implements order.Store.
func (db *DB) ImportOrders(ctx context.Context, batch []order.Incoming, now time.Time) ([]order.ImportResult, error) {
	// Outside of the transaction, which locks rows.
	items := make([]importItem, len(batch))
	for i, incoming := range batch {
		items[i].Incoming = incoming
		var err error
		if items[i].details, err = orderpb.EncodeDetails(&batch[i].Order); err != nil {
			return nil, err
		}
	}
	timeout := db.dialect.TxTimeout + time.Duration(len(batch))*db.dialect.TxTimeoutPerOrder
	err := db.inTxWithin(ctx, timeout, "add", func(t *tx) error {
		in := &importTx{
			tx: t, now: now, merchants: make(map[int64]bool),
			created: make(map[int64][]order.LockedOrder), createdPerDay: make(map[dayKey]int64),
		}
		return in.importAll(ctx, items)
	})
	if err != nil {
		return nil, err
	}
	results := make([]order.ImportResult, len(items))
	for i := range items {
		results[i] = items[i].result
	}
	return results, nil
}

func (in *importTx) importAll(ctx context.Context, items []importItem) error {
	if err := in.readLegacyIDCounter(ctx); err != nil {
		return err
	}
	for len(items) > 0 {
		n := distinctReferences(items)
		if err := in.importDistinct(ctx, items[:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	return in.finish(ctx)
}

// distinctReferences returns how many items, from the first on, have different
// references. Their results are independent of each other, except for the legacy
// ids.
func distinctReferences(items []importItem) int {
	seen := make(map[string]bool, len(items))
	for i := range items {
		reference := items[i].Order.Reference
		if seen[reference] {
			return i
		}
		seen[reference] = true
	}
	return len(items)
}

// importDistinct imports orders with different references.
func (in *importTx) importDistinct(ctx context.Context, items []importItem) error {
	var known []*importItem
	for i := range items {
		item := &items[i]
		item.legacyID, item.result = 0, order.ImportResult{} // of an earlier attempt of the transaction
		exists, err := in.merchantIsKnown(ctx, item.Order.MerchantID)
		if err != nil {
			return err
		}
		if !exists {
			item.reject(order.Invalid, "merchantId: there is no merchant %d", item.Order.MerchantID)
			continue
		}
		known = append(known, item)
	}
	unused, err := in.claimReferences(ctx, known)
	if err != nil {
		return fmt.Errorf("claim references: %w", err)
	}
	if err := in.claimLegacyIDs(ctx, unused); err != nil {
		return fmt.Errorf("claim legacy ids: %w", err)
	}
	byMerchant := make(map[int64][]*importItem)
	for _, item := range unused {
		if item.legacyID != 0 {
			byMerchant[item.Order.MerchantID] = append(byMerchant[item.Order.MerchantID], item)
		} else if err := in.releaseReference(ctx, item); err != nil {
			return err
		}
	}
	// By id, so that two transactions cannot deadlock.
	for _, merchantID := range slices.Sorted(maps.Keys(byMerchant)) {
		if err := in.insertOrders(ctx, byMerchant[merchantID]); err != nil {
			return fmt.Errorf("insert orders of merchant %d: %w", merchantID, err)
		}
	}
	return nil
}

func (in *importTx) merchantIsKnown(ctx context.Context, id int64) (bool, error) {
	exists, ok := in.merchants[id]
	if ok {
		return exists, nil
	}
	exists, err := in.merchantExists(ctx, id)
	in.merchants[id] = exists
	return exists, err
}

// compare sets the result of an order whose reference exists.
func (in *importTx) compare(ctx context.Context, item *importItem) error {
	var legacyID int64
	var digest []byte
	err := in.QueryRow(ctx, `SELECT legacy_id, digest FROM orders WHERE merchant_id = $1 AND reference = $2`,
		[]any{item.Order.MerchantID, item.Order.Reference}, &legacyID, &digest)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	requested := item.Order.LegacyID
	switch {
	case err != nil || !bytes.Equal(digest, item.Digest[:]):
		item.reject(order.Conflict, "reference: %s is taken by an order with other content", item.Order.Reference)
	case requested != 0 && requested != legacyID:
		item.reject(order.Conflict, "orderId: the order %s has the number %d", item.Order.Reference, legacyID)
	default:
		item.result = order.ImportResult{Status: order.Unchanged, LegacyID: legacyID}
	}
	return nil
}

var insertOrders = newBulkInsert("orders", `merchant_id, legacy_id, reference, state, created_at, updated_at,
	currency, country_code, total, has_invoice, user_id, email, phone, first_name, last_name, company,
	revision, active_invoices, digest, details`, "")

// insertOrders inserts orders of one merchant.
func (in *importTx) insertOrders(ctx context.Context, items []*importItem) error {
	values := make([]any, 0, len(items)*insertOrders.columns)
	for _, item := range items {
		o, c := &item.Order, &item.Order.Customer
		hasInvoice := 0
		if o.InvoiceDetails != nil {
			hasInvoice = 1
		}
		values = append(values, o.MerchantID, item.legacyID, o.Reference, int64(o.State), o.CreatedAt.Unix(), seconds(o.UpdatedAt),
			o.Currency, o.CountryCode, o.Total, hasInvoice, c.UserID, c.Email, c.Phone, c.FirstName, c.LastName, c.Company,
			1, 0, item.Digest[:], item.details)
		in.created[o.MerchantID] = append(in.created[o.MerchantID], order.LockedOrder{
			MerchantID: o.MerchantID, LegacyID: item.legacyID, State: o.State, CreatedAt: o.CreatedAt,
		})
		in.createdPerDay[dayKey{o.MerchantID, order.DayOf(o.CreatedAt), o.State}]++
		item.result = order.ImportResult{Status: order.Created, LegacyID: item.legacyID}
	}
	return in.insert(ctx, insertOrders, values)
}

// finish writes what the batch has collected. All transactions do so in the same
// order, so that they cannot deadlock. The counter, which all merchants share,
// comes last: its row is locked during the commit only.
func (in *importTx) finish(ctx context.Context) error {
	if err := in.addDays(ctx); err != nil {
		return fmt.Errorf("add to day counts: %w", err)
	}
	for _, merchantID := range slices.Sorted(maps.Keys(in.created)) {
		if err := in.appendEvents(ctx, merchantID); err != nil {
			return fmt.Errorf("append events: %w", err)
		}
	}
	_, err := in.Exec(ctx, `UPDATE counters SET last = $1 WHERE name = 'order' AND last < $1`, in.lastLegacyID)
	return err
}

func (in *importTx) addDays(ctx context.Context) error {
	keys := slices.SortedFunc(maps.Keys(in.createdPerDay), func(a, b dayKey) int {
		return cmp.Or(cmp.Compare(a.merchantID, b.merchantID), cmp.Compare(a.day, b.day), cmp.Compare(a.state, b.state))
	})
	var values []any
	for i, key := range keys {
		values = dayDelta{key.day, key.state, in.createdPerDay[key]}.values(values, key.merchantID)
		// Each statement is for one merchant, so that one node of a cluster runs it.
		if i == len(keys)-1 || keys[i+1].merchantID != key.merchantID {
			if err := in.insert(ctx, addDayCounts, values); err != nil {
				return err
			}
			values = nil
		}
	}
	return nil
}

// appendEvents writes the events of a merchant's new orders.
func (in *importTx) appendEvents(ctx context.Context, merchantID int64) error {
	orders := in.created[merchantID]
	version, err := in.takeEvents(ctx, merchantID, len(orders))
	if err != nil {
		return err
	}
	values := make([]any, 0, len(orders)*insertEvents.columns)
	for i, o := range orders {
		values = eventValues(values, version.Mark, o, order.Event{
			Seq: version.Event - int64(len(orders)-1-i), Type: order.OrderCreated, Actor: order.ActorOperator,
			At: in.now, To: o.State,
		})
	}
	return in.insert(ctx, insertEvents, values)
}
