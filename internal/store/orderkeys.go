package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// What an order coming in takes for itself in the whole service: its reference
// and its number, a row each in order_keys.

// MaxCountedLegacyID is the highest requested legacy id from which the counter
// counts on: 2^53, above which many JSON readers lose digits. Without it one
// order with the highest id possible would leave none for others.
const MaxCountedLegacyID = 1 << 53

var insertKeys = newManyRows("order_keys", "key, merchant_id", " ON CONFLICT (key) DO NOTHING RETURNING key")

// takeKeys takes those of some keys that are free, each for the merchant that
// it leads to, and returns them. Keys are taken in the order of their text, so
// that two batches seldom wait for each other.
func (in *intake) takeKeys(ctx context.Context, wanted map[string]int64) (map[string]bool, error) {
	values := make([]any, 0, len(wanted)*insertKeys.columns)
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		values = append(values, key, wanted[key])
	}
	taken := make(map[string]bool, len(wanted))
	for text, part := range insertKeys.statements(in.tx.db.dialect, values) {
		err := sqldb.Each(ctx, in.tx, text, part, func(rows sqldb.Rows) error {
			var key string
			if err := rows.Scan(&key); err != nil {
				return err
			}
			taken[key] = true
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return taken, nil
}

// takeReferences takes the references of orders, judges the orders whose
// reference was taken before, and returns the others.
func (in *intake) takeReferences(ctx context.Context, arrivals []*arrival) ([]*arrival, error) {
	wanted := make(map[string]int64, len(arrivals))
	for _, a := range arrivals {
		wanted[a.Order.Reference] = a.Order.MerchantID
	}
	taken, err := in.takeKeys(ctx, wanted)
	if err != nil {
		return nil, err
	}
	var free []*arrival
	for _, a := range arrivals {
		if taken[a.Order.Reference] {
			free = append(free, a)
		} else if err := in.compare(ctx, a); err != nil {
			return nil, err
		}
	}
	return free, nil
}

// releaseReference gives back the reference of an order that was refused.
func (in *intake) releaseReference(ctx context.Context, a *arrival) error {
	_, err := in.tx.Exec(ctx, `DELETE FROM order_keys WHERE key = $1`, a.Order.Reference)
	return err
}

// takeNumbers gives each order the number that it asks for, or the next free
// one. It refuses an order whose number is taken.
func (in *intake) takeNumbers(ctx context.Context, arrivals []*arrival) error {
	for len(arrivals) > 0 {
		wanted := make(map[string]int64, len(arrivals))
		for _, a := range arrivals {
			a.number = in.choose(a, wanted)
			if a.number != 0 {
				wanted[LegacyIDKey(a.number)] = a.Order.MerchantID
			}
		}
		taken, err := in.takeKeys(ctx, wanted)
		if err != nil {
			return err
		}
		var again []*arrival
		for _, a := range arrivals {
			switch {
			case a.number != 0 && taken[LegacyIDKey(a.number)]:
			case a.Order.LegacyID != 0:
				a.number = 0
				a.refuse(order.Conflict, "orderId: %d is taken by another order", a.Order.LegacyID)
			default:
				again = append(again, a)
			}
		}
		if len(again) > 0 {
			// Another batch has taken them meanwhile, and counted further.
			if err := in.readCounter(ctx); err != nil {
				return err
			}
		}
		arrivals = again
	}
	return nil
}

// choose returns the number to try for an order; 0 when it asks for one that an
// order before it is about to take.
func (in *intake) choose(a *arrival, wanted map[string]int64) int64 {
	number := a.Order.LegacyID
	if number == 0 {
		for wants := true; wants; _, wants = wanted[LegacyIDKey(in.last)] {
			in.last++
		}
		return in.last
	}
	if number <= MaxCountedLegacyID {
		in.last = max(in.last, number)
	}
	if _, wants := wanted[LegacyIDKey(number)]; wants {
		return 0
	}
	return number
}

// readCounter reads how far numbers are given, by whoever has committed.
func (in *intake) readCounter(ctx context.Context) error {
	var last int64
	if err := in.tx.QueryRow(ctx, `SELECT last FROM counters WHERE name = 'order'`, nil, &last); err != nil {
		return fmt.Errorf("read the order counter: %w", err)
	}
	in.last = max(in.last, last)
	return nil
}

// LegacyIDKey returns the order key of a legacy id. No reference begins with #.
func LegacyIDKey(legacyID int64) string { return "#" + strconv.FormatInt(legacyID, 10) }
