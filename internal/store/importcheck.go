package store

import (
	"context"
	"fmt"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// importCheck finds out what an import would do, and changes nothing. It remembers
// the orders of earlier batches as if they were imported, about 300 bytes for each.
type importCheck struct {
	db           *DB
	seen         map[string]seenOrder // by reference
	chosen       map[string]int64     // merchants by the order keys of legacy ids
	lastLegacyID int64
}

// seenOrder is an order of an earlier line.
type seenOrder struct {
	merchantID, legacyID int64
	digest               [32]byte
}

// NewImportCheck returns a function that returns what DB.ImportOrders would return
// for a batch, as if the batches of its earlier calls were imported. It changes
// nothing. A legacy id that the import would assign is a guess, because other
// imports may take it. The function is not safe for concurrent use.
func (db *DB) NewImportCheck() func(context.Context, order.Caller, []order.Incoming) ([]order.ImportResult, error) {
	c := &importCheck{db: db, seen: make(map[string]seenOrder), chosen: make(map[string]int64)}
	return c.check
}

func (c *importCheck) check(ctx context.Context, _ order.Caller, batch []order.Incoming) ([]order.ImportResult, error) {
	items := make([]*importItem, len(batch))
	for i := range batch {
		items[i] = &importItem{Incoming: batch[i]}
	}
	err := c.db.sql.Snapshot(ctx, func(q sqldb.Querier) error {
		return c.checkAll(ctx, &importTx{tx: &tx{Querier: q, db: c.db}}, items)
	})
	if err != nil {
		return nil, c.db.wrap(fmt.Errorf("check orders: %w", err))
	}
	return importResults(items), nil
}

func (c *importCheck) checkAll(ctx context.Context, in *importTx, items []*importItem) error {
	in.lastLegacyID = c.lastLegacyID
	defer func() { c.lastLegacyID = in.lastLegacyID }()
	known, err := in.checkMerchants(ctx, items)
	if err != nil {
		return err
	}
	taken, err := in.takenKeys(ctx, known)
	if err != nil {
		return err
	}
	for _, item := range known {
		reference := item.Order.Reference
		earlier, seen := c.seen[reference]
		switch {
		case seen:
			item.compareWith(earlier.legacyID, earlier.merchantID == item.Order.MerchantID && earlier.digest == item.Digest)
		case taken[reference]:
			if err := in.compare(ctx, item); err != nil {
				return err
			}
		default:
			c.claim(in, item, taken)
		}
	}
	return nil
}

// claim sets the result of an order with a new reference, and remembers it.
func (c *importCheck) claim(in *importTx, item *importItem, taken map[string]bool) {
	in.chooseLegacyID(item, c.chosen)
	if item.legacyID == 0 || taken[LegacyIDKey(item.legacyID)] {
		item.rejectLegacyID()
		return
	}
	item.result = order.ImportResult{Status: order.Created, LegacyID: item.legacyID}
	c.seen[item.Order.Reference] = seenOrder{merchantID: item.Order.MerchantID, legacyID: item.legacyID, digest: item.Digest}
}

// takenKeys returns which references and requested legacy ids of orders exist.
func (in *importTx) takenKeys(ctx context.Context, items []*importItem) (map[string]bool, error) {
	var keys []string
	for _, item := range items {
		keys = append(keys, item.Order.Reference)
		if id := item.Order.LegacyID; id != 0 {
			keys = append(keys, LegacyIDKey(id))
		}
	}
	found, err := sqldb.Column[string](ctx, in, `SELECT key FROM order_keys WHERE key `+in.db.dialect.InList, keys)
	taken := make(map[string]bool, len(found))
	for _, key := range found {
		taken[key] = true
	}
	return taken, err
}
