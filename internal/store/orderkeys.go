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

// An order claims two keys that are unique in the whole service, its reference
// and its legacy id, as rows of order_keys.

// MaxCountedLegacyID is the highest requested legacy id from which the counter counts on.
// Without it one order with the highest id possible would leave none for others.
const MaxCountedLegacyID = order.MaxID / 2

// LegacyIDKey returns the order key of a legacy id. No reference begins with #.
func LegacyIDKey(legacyID int64) string { return "#" + strconv.FormatInt(legacyID, 10) }

var insertKeys = sqldb.NewBulkInsert("order_keys", "key, merchant_id", " ON CONFLICT (key) DO NOTHING RETURNING key")

// claimKeys inserts those keys that do not exist, each with its merchant, and
// returns them. It sorts the keys, so that two batches rarely wait for each
// other.
func (in *importTx) claimKeys(ctx context.Context, merchants map[string]int64) (map[string]bool, error) {
	values := make([]any, 0, len(merchants)*insertKeys.Columns)
	for _, key := range slices.Sorted(maps.Keys(merchants)) {
		values = append(values, key, merchants[key])
	}
	claimed := make(map[string]bool, len(merchants))
	err := in.QueryMany(ctx, insertKeys.Statements(in.db.dialect, values), func(_ int, rows sqldb.Rows) error {
		var key string
		err := rows.Scan(&key)
		claimed[key] = true
		return err
	})
	return claimed, err
}

// claimReferences claims the references of orders. It returns the orders whose
// reference was unused, and sets the results of the others.
func (in *importTx) claimReferences(ctx context.Context, items []*importItem) ([]*importItem, error) {
	merchants := make(map[string]int64, len(items))
	for _, item := range items {
		merchants[item.Order.Reference] = item.Order.MerchantID
	}
	claimed, err := in.claimKeys(ctx, merchants)
	if err != nil {
		return nil, err
	}
	var unused []*importItem
	for _, item := range items {
		if claimed[item.Order.Reference] {
			unused = append(unused, item)
		} else if err := in.compare(ctx, item); err != nil {
			return nil, err
		}
	}
	return unused, nil
}

// claimLegacyIDs assigns each order the legacy id that it requests, or the next
// unused one. It rejects an order whose requested legacy id is taken, and
// releases its reference.
func (in *importTx) claimLegacyIDs(ctx context.Context, items []*importItem) error {
	for len(items) > 0 {
		chosen := make(map[string]int64, len(items))
		for _, item := range items {
			in.chooseLegacyID(item, chosen)
		}
		claimed, err := in.claimKeys(ctx, chosen)
		if err != nil {
			return err
		}
		var retry []*importItem
		for _, item := range items {
			switch {
			case item.legacyID != 0 && claimed[LegacyIDKey(item.legacyID)]:
			case item.Order.LegacyID == 0 && in.lastLegacyID <= order.MaxID:
				retry = append(retry, item)
			default:
				item.legacyID = 0
				if item.rejectLegacyID(); item.Order.LegacyID == 0 { // 1.0 counted beyond MaxID
					item.reject(order.Invalid, "orderId: is required: no number after the last one is below 2^53")
				}
				if err := in.Later(ctx, nil, `DELETE FROM order_keys WHERE key = $1`, item.Order.Reference); err != nil {
					return err
				}
			}
		}
		if items = retry; len(retry) > 0 {
			// Another batch has claimed them since, and advanced the counter.
			if err := in.readLegacyIDCounter(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// rejectLegacyID sets the result of an order whose requested legacy id is taken.
func (i *importItem) rejectLegacyID() {
	i.reject(order.Conflict, "orderId: %d is taken by another order", i.Order.LegacyID)
}

// chooseLegacyID chooses the legacy id to claim for an order: none if the order
// requests one that is already in chosen.
func (in *importTx) chooseLegacyID(item *importItem, chosen map[string]int64) {
	id := item.Order.LegacyID
	if id == 0 {
		for taken := true; taken; _, taken = chosen[LegacyIDKey(in.lastLegacyID)] {
			in.lastLegacyID++
		}
		if id = in.lastLegacyID; id > order.MaxID {
			return
		}
	} else if id <= MaxCountedLegacyID {
		in.lastLegacyID = max(in.lastLegacyID, id)
	}
	if _, taken := chosen[LegacyIDKey(id)]; !taken {
		item.legacyID, chosen[LegacyIDKey(id)] = id, item.Order.MerchantID
	}
}

const selectLegacyIDCounter = `SELECT last FROM counters WHERE name = 'order'`

// readLegacyIDCounter reads the counter as other transactions have committed it.
func (in *importTx) readLegacyIDCounter(ctx context.Context) error {
	var last int64
	if err := in.QueryRow(ctx, selectLegacyIDCounter, nil, &last); err != nil {
		return fmt.Errorf("read the counter of legacy ids: %w", err)
	}
	in.lastLegacyID = max(in.lastLegacyID, last)
	return nil
}
