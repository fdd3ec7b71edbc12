package copier

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/check"
	"merchantorders/internal/store/sqldb"
)

// RowCounts is the number of rows of a merchant, or of all merchants, by table.
type RowCounts struct {
	Orders, Days, Invoices, Events, Audit, Deleted int64
}

// countRows counts the rows of a merchant.
func countRows(ctx context.Context, q sqldb.Querier, merchantID int64) (RowCounts, error) {
	var c RowCounts
	for table, count := range map[string]*int64{"orders": &c.Orders, "order_days": &c.Days, "invoices": &c.Invoices, "events": &c.Events, "audit": &c.Audit, "deleted_orders": &c.Deleted} {
		err := q.QueryRow(ctx, `SELECT COUNT(*) FROM `+table+` WHERE merchant_id = $1`, []any{merchantID}, count)
		if err != nil {
			return RowCounts{}, fmt.Errorf("count %s of merchant %d: %w", table, merchantID, err)
		}
	}
	return c, nil
}

// find reports a difference between source and target.
func (j *job) find(merchantID int64, format string, args ...any) {
	j.reporter.Find(maintenance.Finding{
		MerchantID: merchantID, Problem: fmt.Sprintf(format, args...), Cure: "check the source, then copy again into an empty target",
	})
}

// verifyRows compares the number of rows of each merchant in the snapshot that
// was copied with the number in the target. An order has two keys.
func (j *job) verifyRows(ctx context.Context) error {
	var keys map[int64]int64
	err := maintenance.Slice(ctx, j.target.DB, func(q sqldb.Querier) (err error) {
		if keys, err = maintenance.PerMerchant(ctx, q, maintenance.OrderKeyCounts); err != nil {
			return err
		}
		return q.QueryRow(ctx, `SELECT COUNT(*) FROM tokens`, nil, &j.result.Tokens)
	})
	if err != nil {
		return err
	}
	if j.result.Tokens != j.sourceTokens {
		j.find(0, "the source has %d tokens, the target %d", j.sourceTokens, j.result.Tokens)
	}
	for _, id := range slices.Sorted(maps.Keys(j.copied)) {
		source, target := j.copied[id].source, j.copied[id].target
		if source != target {
			j.find(id, "the source has the rows %+v, the target %+v", source, target)
		}
		if keys[id] != 2*(target.Orders+target.Deleted) {
			j.find(id, "the target has %d orders, but %d order keys", target.Orders, keys[id])
		}
		j.result.Merchants++
		j.result.OrderKeys += keys[id]
		j.result.Rows.Orders += target.Orders
		j.result.Rows.Days += target.Days
		j.result.Rows.Invoices += target.Invoices
		j.result.Rows.Events += target.Events
	}
	return nil
}

// verified is the installation that is in use after the copy: the target's
// files with the target's database or, if that was not copied, the source's.
func (j *job) verified() maintenance.Installation {
	in := j.target
	if in.DB == nil {
		in.DB = j.source.DB
	}
	return in
}

// verifyFiles compares every file of the target with its entry. It copies those that
// are missing or damaged.
func (j *job) verifyFiles(ctx context.Context) (err error) {
	j.result.FilesVerified, err = check.Files(ctx, j.verified(), j.reporter, j.mendFile)
	return err
}

// checkTarget returns ErrForeignTarget with a reason if the target holds
// anything that the source does not have.
func checkTarget(ctx context.Context, source, target sqldb.DB) error {
	return maintenance.Slice(ctx, target, func(target sqldb.Querier) error {
		return maintenance.Slice(ctx, source, func(source sqldb.Querier) error {
			merchants, err := checkIdentities(ctx, source, target, merchantsTable, allRows, "name", "created_at")
			if err != nil {
				return err
			}
			// The source may have deleted tokens of sessions since: those without a hint.
			if _, err := checkIdentities(ctx, source, target, tokensTable, "hint <> ''", "hash"); err != nil {
				return err
			}
			for id := range merchants {
				if err := checkEvents(ctx, source, target, id); err != nil {
					return err
				}
			}
			orders, err := maintenance.PerMerchant(ctx, target, maintenance.OrderCounts)
			for id := range orders {
				if !merchants[id] {
					return fmt.Errorf("%w: it has orders of merchant %d", ErrForeignTarget, id)
				}
			}
			return err
		})
	})
}

// checkIdentities looks for rows of the target that meet a condition and that the source lacks
// or that have other values in some columns there. It returns the ids of the target.
func checkIdentities(ctx context.Context, source, target sqldb.Querier, t *table, where string, columns ...string) (map[int64]bool, error) {
	rows, err := readRows(ctx, target, t, where)
	if err != nil {
		return nil, err
	}
	sourceRows, err := rows.readFrom(ctx, source)
	if err != nil {
		return nil, err
	}
	inSource := make(map[int64][]any, len(sourceRows))
	for _, row := range sourceRows {
		inSource[t.int(row, "id")] = row
	}
	ids := make(map[int64]bool, len(rows.rows))
	for _, row := range rows.rows {
		id := t.int(row, "id")
		ids[id] = true
		other, ok := inSource[id]
		for _, column := range columns {
			if ok && column == "name" && !equalValues(t.column(row, "name_nonce"), t.column(other, "name_nonce")) {
				continue // the source was renamed after the copy
			}
			if !ok || !equalValues(t.column(row, column), t.column(other, column)) {
				return nil, fmt.Errorf("%w: it has another row %d in %s", ErrForeignTarget, id, t.name)
			}
		}
	}
	return ids, nil
}

// checkEvents compares the target's newest event with the same event of the
// source. The nonces of events differ if the histories differ before them.
func checkEvents(ctx context.Context, source, target sqldb.Querier, merchantID int64) error {
	var newest int64
	err := target.QueryRow(ctx, `SELECT COALESCE(MAX(seq), 0) FROM events WHERE merchant_id = $1`, []any{merchantID}, &newest)
	if err != nil {
		return err
	}
	event, err := readRows(ctx, target, eventsTable, eventsTable.wherePage, merchantID, newest-1, newest)
	if err != nil {
		return err
	}
	differing, err := event.diff(ctx, source)
	if err == nil && len(differing.write)+len(differing.remove) > 0 {
		err = fmt.Errorf("%w: merchant %d has other events", ErrForeignTarget, merchantID)
	}
	return err
}
