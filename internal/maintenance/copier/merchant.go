package copier

import (
	"context"
	"maps"
	"slices"

	"merchantorders/internal/store/sqldb"
)

// copyMerchant makes the target equal to a snapshot of a merchant. The first
// time it copies all orders before, in batches that each have a snapshot of
// their own; lastEvent is the newest event before that, so that every change
// during it has a later event.
func (j *job) copyMerchant(ctx context.Context, id, lastEvent int64) error {
	if before, ok := j.copied[id]; ok {
		return j.copyChanges(ctx, id, before.lastEvent)
	}
	if err := j.copyAll(ctx, id, lastEvent); err != nil {
		return err
	}
	return j.copyChanges(ctx, id, lastEvent)
}

// copyAll copies all orders of a merchant, and its events up to lastEvent.
func (j *job) copyAll(ctx context.Context, id, lastEvent int64) error {
	var merchant rowSet
	err := snapshot(ctx, j.source.DB, func(q sqldb.Querier) (err error) {
		merchant, err = readRows(ctx, q, merchantsTable, `id = $1`, id)
		return err
	})
	if err != nil {
		return err
	}
	// The merchant's row comes first: a resumed copy recognizes its target by it.
	if err := j.inTx(ctx, func(tx sqldb.Querier) error { return insertWithoutEvents(ctx, tx, merchant) }); err != nil {
		return err
	}
	for after, more := int64(0), true; more; {
		var orders orderSet
		err := snapshot(ctx, j.source.DB, func(q sqldb.Querier) (err error) {
			orders, after, more, err = readOrders(ctx, q, id, after)
			return err
		})
		if err != nil {
			return err
		}
		if err := j.applyOrders(ctx, orders); err != nil {
			return err
		}
		j.reporter.Advance(OrdersStage, int64(len(orders.orders.rows)), j.orders)
	}
	return snapshot(ctx, j.source.DB, func(q sqldb.Querier) error { return j.copyEvents(ctx, q, id, 0, lastEvent) })
}

// applyOrders copies orders. Their files come first, so that the target never
// has an entry without its file.
func (j *job) applyOrders(ctx context.Context, set orderSet) error {
	if err := j.copyFiles(ctx, set.invoiceFiles()); err != nil {
		return err
	}
	return j.apply(ctx, set.sets()...)
}

// copyEvents copies the events of a merchant after one, up to another.
func (j *job) copyEvents(ctx context.Context, q sqldb.Querier, id, after, last int64) error {
	for after < last {
		end := min(last, after+rowPage)
		events, err := readEvents(ctx, q, id, after, end)
		if err != nil {
			return err
		}
		if err := j.apply(ctx, events); err != nil {
			return err
		}
		after = end
	}
	return nil
}

// copyIdempotencyRecords copies the idempotency records of a merchant, so that
// clients can repeat their requests at the target. Older records come first: a
// key that was used again has left its old page when its new one is written.
func (j *job) copyIdempotencyRecords(ctx context.Context, q sqldb.Querier, id int64) error {
	for after, more := int64(0), true; more; {
		var records rowSet
		var err error
		if records, after, more, err = readIdempotencyRecords(ctx, q, id, after); err != nil {
			return err
		}
		if err := j.apply(ctx, records); err != nil {
			return err
		}
	}
	return nil
}

// copyChanges makes the target equal to a snapshot of everything that a
// merchant has. Orders without an event after since are equal already, except
// for changes of invoices that have no event: a reservation, its expiry, a purge.
func (j *job) copyChanges(ctx context.Context, id, since int64) error {
	var now copiedMerchant
	err := snapshot(ctx, j.source.DB, func(q sqldb.Querier) (err error) {
		if now.lastEvent, err = readLastEvent(ctx, q, id); err != nil {
			return err
		}
		if err := j.copyChangedOrders(ctx, q, id, since); err != nil {
			return err
		}
		if err := j.copyEvents(ctx, q, id, since, now.lastEvent); err != nil {
			return err
		}
		if err := j.copyIdempotencyRecords(ctx, q, id); err != nil {
			return err
		}
		days, err := readRows(ctx, q, daysTable, `merchant_id = $1`, id)
		if err != nil {
			return err
		}
		merchant, err := readRows(ctx, q, merchantsTable, `id = $1`, id)
		if err != nil {
			return err
		}
		if err := j.apply(ctx, days, merchant); err != nil {
			return err
		}
		now.source, err = countRows(ctx, q, id)
		return err
	})
	if err != nil {
		return err
	}
	now.target, err = countRows(ctx, j.target.DB.WithoutTimeout(), id)
	j.copied[id] = now
	return err
}

// copyChangedOrders copies the orders that have events after since and those
// whose invoices differ.
func (j *job) copyChangedOrders(ctx context.Context, q sqldb.Querier, id, since int64) error {
	changed := make(map[int64]bool)
	ids, err := readChangedOrders(ctx, q, id, since)
	if err != nil {
		return err
	}
	for after, more := int64(0), true; more; {
		var invoices rowSet
		if invoices, after, more, err = readInvoices(ctx, q, id, after); err != nil {
			return err
		}
		differing, err := invoices.differingRows(ctx, j.target.DB.WithoutTimeout())
		if err != nil {
			return err
		}
		for _, row := range differing {
			ids = append(ids, invoicesTable.int(row, "legacy_id"))
		}
	}
	for _, legacyID := range ids {
		changed[legacyID] = true
	}
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(changed)), orderBatch) {
		orders, err := readOrdersByID(ctx, q, id, batch)
		if err != nil {
			return err
		}
		if err := j.applyOrders(ctx, orders); err != nil {
			return err
		}
	}
	return nil
}
