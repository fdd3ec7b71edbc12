package copier

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"merchantorders/internal/maintenance/check"
	"merchantorders/internal/store"
)

// found notes something that is not as in the source.
func (c *copier) found(merchantID int64, format string, args ...any) {
	c.done.Faults++
	if c.options.Found != nil {
		c.options.Found(store.Fault{MerchantID: merchantID, Problem: fmt.Sprintf(format, args...)})
	}
}

// verifyRows compares the numbers of rows of each merchant in source and target,
// both as of the moment for which the merchant was copied. Orders have two keys.
func (c *copier) verifyRows(ctx context.Context) error {
	var keys map[int64]int64
	err := c.to.DB.Snapshot(ctx, func(s *store.Snapshot) error {
		var err error
		if keys, err = s.KeyCounts(ctx); err != nil {
			return err
		}
		c.done.Tokens, err = s.CountTokens(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if c.done.Tokens != c.tokens {
		c.found(0, "tokens in the source are %d, in the target %d", c.tokens, c.done.Tokens)
	}
	for _, id := range slices.Sorted(maps.Keys(c.settled)) {
		source, target := c.settled[id].source, c.settled[id].target
		if source != target {
			c.found(id, "rows in the source are %+v, in the target %+v", source, target)
		}
		if keys[id] != 2*target.Orders {
			c.found(id, "orders are %d, their keys %d: see what check says of the source", target.Orders, keys[id])
		}
		c.done.Merchants++
		c.done.Keys += keys[id]
		c.done.Counts.Orders += target.Orders
		c.done.Counts.Days += target.Days
		c.done.Counts.Invoices += target.Invoices
		c.done.Counts.Events += target.Events
	}
	return nil
}

// verifyFiles reads every file in the target and compares it with its entry. Where
// the database stays, it is this that copies them.
func (c *copier) verifyFiles(ctx context.Context) error {
	db, fetch := c.to.DB, check.Fetch(nil)
	if db == nil {
		db, fetch = c.from.DB, c.bring
	}
	result, err := check.CheckFiles(ctx, db, c.to.Files, c.options, fetch)
	c.done.Compared = result.Files
	c.done.Faults += result.Faults
	return err
}

// purgeFiles removes the files that were copied once and purged in the source
// since: nobody would purge them any more.
func (c *copier) purgeFiles(ctx context.Context) error {
	db := c.to.DB
	if db == nil {
		db = c.from.DB
	}
	return check.EachLeftover(ctx, db, c.to.Files, func(path, _ string, purged bool) error {
		if !purged {
			return nil
		}
		c.done.Purged++
		return c.to.Files.Remove(ctx, path)
	})
}
