package check

import (
	"context"
	"fmt"
	"math"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/sqldb"
)

// orderPage is how many orders are read at a time.
const orderPage = 1000

// orderRow is the part of an order that must agree with other rows.
type orderRow struct {
	legacyID       int64
	reference      string
	state          order.State
	activeInvoices int64 // active and reserved
	invoiceNumbers string
}

// orderKey is a key that an order must have.
type orderKey struct {
	key   string
	order orderRow
}

// findInOrder reports a finding about an order.
func (c *merchantCheck) findInOrder(o orderRow, invoiceID int64, format string, args ...any) {
	c.reporter.Find(maintenance.Finding{
		MerchantID: c.merchantID, OrderLegacyID: o.legacyID, OrderReference: o.reference, InvoiceID: invoiceID,
		Problem: fmt.Sprintf(format, args...), Cure: maintenance.CureRows,
	})
}

// checkOrders checks all orders with their invoices and keys, page by page.
func (c *merchantCheck) checkOrders(ctx context.Context) error {
	for after := int64(0); after < math.MaxInt64; {
		err := c.slice(ctx, func(ctx context.Context) (err error) {
			after, err = c.checkOrderPage(ctx, after)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkOrderPage checks the orders after a legacy id, and returns up to which one.
func (c *merchantCheck) checkOrderPage(ctx context.Context, after int64) (int64, error) {
	orders, err := sqldb.All(ctx, c.q, `SELECT legacy_id, reference, state, active_invoices, invoice_numbers FROM orders
		WHERE merchant_id = $1 AND legacy_id > $2 ORDER BY legacy_id LIMIT $3+0`, []any{c.merchantID, after, orderPage}, c.scanOrder)
	if err != nil {
		return 0, err
	}
	c.totals.orders += int64(len(orders))
	last := int64(math.MaxInt64) // the last page covers invoices behind the last order too
	if len(orders) == orderPage {
		last = orders[orderPage-1].legacyID
	}
	if err := c.checkInvoices(ctx, orders, after, last); err != nil {
		return 0, err
	}
	if err := c.checkKeys(ctx, orders); err != nil {
		return 0, err
	}
	return last, c.checkStates(ctx, orders, after, last)
}

// scanOrder reads an order and counts it.
func (c *merchantCheck) scanOrder(rows sqldb.Rows) (orderRow, error) {
	var o orderRow
	err := rows.Scan(&o.legacyID, &o.reference, sqldb.Int(&o.state), &o.activeInvoices, &o.invoiceNumbers)
	if err != nil {
		return o, err
	}
	if !o.state.Valid() {
		c.badState = true
		c.findInOrder(o, 0, "its state is %d, which is not valid", o.state)
	}
	if o.legacyID <= store.MaxCountedLegacyID {
		c.totals.maxLegacyID = max(c.totals.maxLegacyID, o.legacyID)
	}
	return o, nil
}

// checkInvoices compares active_invoices and invoice_numbers of orders with the invoices in a
// range of legacy ids.
func (c *merchantCheck) checkInvoices(ctx context.Context, orders []orderRow, after, last int64) error {
	counted := make(map[int64]int64, len(orders)) // active and reserved invoices of each order
	for _, o := range orders {
		counted[o.legacyID] = 0
	}
	active := make(map[int64][]order.Invoice)
	err := c.q.Query(ctx, `SELECT legacy_id, id, status IN (`+store.InvoiceReserved+`, `+store.InvoiceActive+`),
			status = `+store.InvoiceActive+` AND (number <> '' OR mark <> ''), number, mark
		FROM invoices WHERE merchant_id = $1 AND legacy_id > $2 AND legacy_id <= $3 ORDER BY legacy_id, id`,
		[]any{c.merchantID, after, last}, func(rows sqldb.Rows) error {
			var legacyID, id int64
			var counts, numbered bool
			var data order.InvoiceData
			if err := rows.Scan(&legacyID, &id, &counts, &numbered, &data.Number, &data.Mark); err != nil {
				return err
			}
			c.totals.invoices++
			c.totals.maxInvoiceID = max(c.totals.maxInvoiceID, id)
			if n, known := counted[legacyID]; !known {
				c.findInOrder(orderRow{legacyID: legacyID}, id, "the order does not exist")
			} else if counts {
				counted[legacyID] = n + 1
			}
			if numbered {
				active[legacyID] = append(active[legacyID], order.Invoice{InvoiceData: data})
			}
			return nil
		})
	for _, o := range orders {
		if n := counted[o.legacyID]; o.activeInvoices != n {
			c.findInOrder(o, 0, "active_invoices is %d, but %d invoices are active or reserved", o.activeInvoices, n)
		}
		if err == nil && o.invoiceNumbers != order.InvoiceNumbers(active[o.legacyID]) {
			c.wrongNumbers = append(c.wrongNumbers, o)
		}
	}
	return err
}

// checkStates compares the states of orders with their newest events, in a range of legacy
// ids: who follows the feed has those. checkEvents finds events that are missing.
func (c *merchantCheck) checkStates(ctx context.Context, orders []orderRow, after, last int64) error {
	newest := make(map[int64]order.State, len(orders))
	err := c.q.Query(ctx, `SELECT legacy_id, to_state FROM events
		WHERE merchant_id = $1 AND legacy_id > $2 AND legacy_id <= $3 AND to_state <> 0 ORDER BY legacy_id, seq`,
		[]any{c.merchantID, after, last}, func(rows sqldb.Rows) error {
			var legacyID int64
			var to order.State
			err := rows.Scan(&legacyID, sqldb.Int(&to))
			newest[legacyID] = to
			return err
		})
	for _, o := range orders {
		if to, ok := newest[o.legacyID]; err == nil && ok && o.state.Valid() && to != o.state {
			c.findInOrder(o, 0, "its state is %v, but its newest event says %v", o.state, to)
		}
	}
	return err
}

// checkKeys looks for the keys of orders: the reference and the legacy id.
func (c *merchantCheck) checkKeys(ctx context.Context, orders []orderRow) error {
	keys := make([]orderKey, 0, 2*len(orders))
	for _, o := range orders {
		keys = append(keys, orderKey{o.reference, o}, orderKey{store.LegacyIDKey(o.legacyID), o})
	}
	missing, err := c.lacking(ctx, c.q, keys)
	c.missingKeys = append(c.missingKeys, missing...)
	return err
}

// confirmMissingKeys looks again for the keys that the snapshot lacked and
// reports those that are still missing. On a cluster keys and orders are on
// different nodes, and a snapshot may see a commit on one of them only.
func (c *merchantCheck) confirmMissingKeys(ctx context.Context) error {
	missing, err := c.lacking(ctx, c.db.WithoutTimeout(), c.missingKeys)
	for _, key := range missing {
		c.totals.missingKeys++
		c.findInOrder(key.order, 0, "its key %s is missing or belongs to another merchant", key.key)
	}
	return err
}

// lacking returns those of the keys that the merchant lacks.
func (c *merchantCheck) lacking(ctx context.Context, q sqldb.Querier, keys []orderKey) (missing []orderKey, err error) {
	wanted := make([]string, len(keys))
	for i, key := range keys {
		wanted[i] = key.key
	}
	found, err := sqldb.Column[string](ctx, q, `SELECT key FROM order_keys WHERE key `+c.db.Dialect().InList+` AND merchant_id = $2`, wanted, c.merchantID)
	has := make(map[string]bool, len(found))
	for _, key := range found {
		has[key] = true
	}
	for _, key := range keys {
		if !has[key.key] && err == nil {
			missing = append(missing, key)
		}
	}
	return missing, err
}
