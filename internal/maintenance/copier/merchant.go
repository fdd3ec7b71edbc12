package copier

import (
	"context"
	"fmt"
	"slices"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/store/sqldb"
)

// copyMerchant makes the target equal to a snapshot of a merchant. The first
// time it copies all orders before, in batches that each have a snapshot of
// their own; ends are those before that, so that every change during it has a
// later event.
func (j *job) copyMerchant(ctx context.Context, id int64, ends logEnds) error {
	before, copied := j.copied[id]
	if !copied {
		before.ends = ends
		if err := j.copyAll(ctx, id, ends); err != nil {
			return err
		}
	}
	return j.copyChanges(ctx, id, before.ends)
}

// copyAll copies all orders of a merchant, and its events and audit entries up to
// ends.
func (j *job) copyAll(ctx context.Context, id int64, ends logEnds) error {
	if err := j.addMerchant(ctx, id); err != nil {
		return err
	}
	ids, err := sqldb.Column[int64](ctx, j.source.DB.WithoutTimeout(), selectLegacyIDs, id)
	if err != nil {
		return err
	}
	for page := range slices.Chunk(ids, orderPage) {
		var orders orderSet
		err := maintenance.Slice(ctx, j.source.DB, func(q sqldb.Querier) (err error) {
			orders, err = readOrders(ctx, q, id, page)
			return err
		})
		if err != nil {
			return err
		}
		if err := j.applyOrders(ctx, orders); err != nil {
			return err
		}
		j.reporter.Advance(OrdersStage, int64(len(page)), j.orders)
	}
	// Without a snapshot: what is in the logs never changes.
	return j.copyLogs(ctx, j.source.DB.WithoutTimeout(), id, logEnds{}, ends)
}

// addMerchant inserts a merchant without events unless the target has it. A
// resumed copy recognizes its target by the merchants.
func (j *job) addMerchant(ctx context.Context, id int64) error {
	var name string
	var createdAt int64
	err := j.source.DB.QueryRow(ctx, `SELECT name, created_at FROM merchants WHERE id = $1`, []any{id}, &name, &createdAt)
	if err != nil {
		return fmt.Errorf("read merchant %d: %w", id, err)
	}
	return j.inTx(ctx, func(tx sqldb.Querier) error {
		_, err := tx.Exec(ctx, `INSERT INTO merchants (id, name, created_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`, id, name, createdAt)
		return err
	})
}

// copyLogs copies the events and the audit entries of a merchant between two ends.
func (j *job) copyLogs(ctx context.Context, q sqldb.Querier, id int64, after, last logEnds) error {
	if err := j.copyLog(ctx, q, eventsTable, id, after.event, last.event); err != nil {
		return err
	}
	return j.copyLog(ctx, q, auditTable, id, after.audit, last.audit)
}

// copyLog copies the rows of a merchant after a number, up to another.
func (j *job) copyLog(ctx context.Context, q sqldb.Querier, t *table, id, after, last int64) error {
	for after < last {
		end := min(last, after+rowPage)
		rows, err := readRows(ctx, q, t, t.wherePage, id, after, end)
		if err != nil {
			return err
		}
		if err := j.apply(ctx, rows); err != nil {
			return err
		}
		after = end
	}
	return nil
}

// copyPages copies the rows of a merchant of a table that is read page by page. Older
// rows come first: an idempotency key that was used again has left its old page when
// its new one is written.
func (j *job) copyPages(ctx context.Context, q sqldb.Querier, t *table, id int64) error {
	for rows, err := range t.pages(ctx, q, id) {
		if err != nil {
			return err
		}
		if err := j.apply(ctx, rows); err != nil {
			return err
		}
	}
	return nil
}

// copyChanges makes the target equal to a snapshot of everything that a
// merchant has. Orders without an event after since are equal already, except
// for changes of invoices that have no event: a reservation, its expiry, a purge.
func (j *job) copyChanges(ctx context.Context, id int64, since logEnds) error {
	var now copiedMerchant
	err := maintenance.Slice(ctx, j.source.DB, func(q sqldb.Querier) (err error) {
		merchant, err := readRows(ctx, q, merchantsTable, `id = $1`, id)
		if err != nil {
			return err
		}
		now.ends.event = merchantsTable.int(merchant.rows[0], "last_event")
		now.ends.audit = merchantsTable.int(merchant.rows[0], "audit_seq")
		if err := j.copyChangedOrders(ctx, q, id, since.event); err != nil {
			return err
		}
		if err := j.copyLogs(ctx, q, id, since, now.ends); err != nil {
			return err
		}
		for _, t := range []*table{idempotencyTable, deliveriesTable} {
			if err := j.copyPages(ctx, q, t, id); err != nil {
				return err
			}
		}
		if err := j.copyDeletedOrders(ctx, q, id); err != nil {
			return err
		}
		var sets []rowSet
		for _, t := range []*table{daysTable, webhooksTable, keptTable} {
			rows, err := readRows(ctx, q, t, `merchant_id = $1`, id)
			if err != nil {
				return err
			}
			sets = append(sets, rows)
		}
		if err := j.apply(ctx, append(sets, merchant)...); err != nil {
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

// copyDeletedOrders copies what is left of the orders of a merchant that are older than
// the retention time, and their keys.
func (j *job) copyDeletedOrders(ctx context.Context, q sqldb.Querier, id int64) error {
	for deleted, err := range deletedOrdersTable.pages(ctx, q, id) {
		if err != nil {
			return err
		}
		if err := j.apply(ctx, deleted); err != nil {
			return err
		}
		for page := range slices.Chunk(deleted.rows, orderPage) {
			keys, err := readKeys(ctx, q, deletedOrdersTable, page)
			if err != nil {
				return err
			}
			ids := make([]int64, len(page))
			for i, row := range page {
				ids[i] = deletedOrdersTable.int(row, "legacy_id")
			}
			// An earlier copy may have brought the orders themselves.
			orders, err := readOrders(ctx, q, id, ids)
			if err != nil {
				return err
			}
			if err := j.apply(ctx, keys, orders.orders, orders.invoices); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyChangedOrders copies the orders that have events after since and those
// whose invoices differ.
func (j *job) copyChangedOrders(ctx context.Context, q sqldb.Querier, id, since int64) error {
	changed, err := sqldb.Column[int64](ctx, q, selectChangedIDs, id, since)
	if err != nil {
		return err
	}
	for invoices, err := range invoicesTable.pages(ctx, q, id) {
		if err != nil {
			return err
		}
		differing, err := invoices.diff(ctx, j.target.DB.WithoutTimeout())
		if err != nil {
			return err
		}
		for _, row := range append(differing.write, differing.remove...) {
			changed = append(changed, invoicesTable.int(row, "legacy_id"))
		}
	}
	slices.Sort(changed)
	for page := range slices.Chunk(slices.Compact(changed), orderPage) {
		orders, err := readOrders(ctx, q, id, page)
		if err != nil {
			return err
		}
		if err := j.applyOrders(ctx, orders); err != nil {
			return err
		}
	}
	return nil
}
