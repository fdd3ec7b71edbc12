package store

import (
	"context"
	"strconv"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// checkedOrder is what has to agree with other rows about an order.
type checkedOrder struct {
	number    int64
	reference string
	places    int64 // files active or on their way, by its own account
}

// orderKey is a key that an order should have.
type orderKey struct {
	key    string
	number int64
}

// checkOrders looks at the next orders after a number, and at all that hangs on
// them. It returns the highest number that is covered, and whether there are
// more.
func (c *merchantCheck) checkOrders(ctx context.Context, after int64) (int64, bool, error) {
	last, more, err := c.end(ctx, selectOrdersEnd, copiedRows, c.merchantID, after)
	if err != nil {
		return 0, false, err
	}
	orders, err := sqldb.All(ctx, c, `SELECT number, reference, state, created_at, active_invoices FROM orders
		WHERE merchant_id = $1 AND number > $2 AND number <= $3`, []any{c.merchantID, after, last}, c.scanOrder)
	if err != nil {
		return 0, false, err
	}
	c.seen.Orders += int64(len(orders))
	if err := c.checkPlaces(ctx, orders, after, last); err != nil {
		return 0, false, err
	}
	return last, more, c.checkKeys(ctx, orders)
}

// scanOrder reads an order and counts it in.
func (c *merchantCheck) scanOrder(rows sqldb.Rows) (checkedOrder, error) {
	var o checkedOrder
	var state order.State
	var createdAt int64
	err := rows.Scan(&o.number, &o.reference, sqldb.Int(&state), &createdAt, &o.places)
	if err != nil {
		return o, err
	}
	if !state.Valid() {
		c.report(o.number, 0, "its state, %d, is none", state)
	}
	c.days[dayState{order.DayOf(time.Unix(createdAt, 0)), state}]++
	if o.number <= mostCounted {
		c.seen.LastOrder = max(c.seen.LastOrder, o.number)
	}
	return o, nil
}

// checkPlaces counts the places that invoices take.
func (c *merchantCheck) checkPlaces(ctx context.Context, orders []checkedOrder, after, last int64) error {
	taken := make(map[int64]int64)
	known := make(map[int64]bool, len(orders))
	for _, o := range orders {
		known[o.number] = true
	}
	err := sqldb.Each(ctx, c, `SELECT order_number, id, CASE WHEN status IN (`+statusReserved+`, `+statusActive+`) THEN 1 ELSE 0 END
		FROM invoices WHERE merchant_id = $1 AND order_number > $2 AND order_number <= $3`,
		[]any{c.merchantID, after, last}, func(rows sqldb.Rows) error {
			var number, id, place int64
			if err := rows.Scan(&number, &id, &place); err != nil {
				return err
			}
			taken[number] += place
			c.seen.Invoices++
			c.seen.LastInvoice = max(c.seen.LastInvoice, id)
			if !known[number] {
				c.report(number, id, "there is no such order")
			}
			return nil
		})
	for _, o := range orders {
		if o.places != taken[o.number] {
			c.report(o.number, 0, "active_invoices says %d, invoices that take a place are %d", o.places, taken[o.number])
		}
	}
	return err
}

// mostKeysAsked is how many keys are looked for at a time.
const mostKeysAsked = 400

// checkKeys looks for the keys of orders: the reference and the number.
func (c *merchantCheck) checkKeys(ctx context.Context, orders []checkedOrder) error {
	keys := make([]orderKey, 0, 2*len(orders))
	for _, o := range orders {
		keys = append(keys, orderKey{o.reference, o.number}, orderKey{numberKey(o.number), o.number})
	}
	for len(keys) > 0 {
		asked := keys[:min(len(keys), mostKeysAsked)]
		missing, err := missingKeys(ctx, c, c.merchantID, asked)
		if err != nil {
			return err
		}
		c.missing = append(c.missing, missing...)
		keys = keys[len(asked):]
	}
	return nil
}

// confirmMissing looks once more for keys that were not found, and reports those
// that are missing still: keys lie elsewhere than orders where the data is spread
// over several servers, and a moment of the one is not quite one of the other.
func (c *merchantCheck) confirmMissing(ctx context.Context, db *DB) error {
	for _, key := range c.missing {
		missing, err := missingKeys(ctx, db.sql.WithoutTimeout(), c.merchantID, []orderKey{key})
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			c.seen.MissingKeys++
			c.report(key.number, 0, "its key %s is missing, or another merchant's", key.key)
		}
	}
	return nil
}

// missingKeys returns those of some keys that a merchant does not have.
func missingKeys(ctx context.Context, r sqldb.Querier, merchantID int64, keys []orderKey) ([]orderKey, error) {
	args := make([]any, 0, 1+mostKeysAsked)
	args = append(args, merchantID)
	for i := range mostKeysAsked {
		args = append(args, keys[min(i, len(keys)-1)].key)
	}
	there := make(map[string]bool, len(keys))
	err := sqldb.Each(ctx, r, `SELECT key FROM order_keys WHERE merchant_id = $1 AND key IN (`+parameters(1, mostKeysAsked)+`)`,
		args, func(rows sqldb.Rows) error {
			var key string
			err := rows.Scan(&key)
			there[key] = true
			return err
		})
	var missing []orderKey
	for _, key := range keys {
		if !there[key.key] {
			missing = append(missing, key)
		}
	}
	return missing, err
}

// numberKey is the key of an order's number. No reference begins with its sign.
func numberKey(number int64) string { return "#" + strconv.FormatInt(number, 10) }
