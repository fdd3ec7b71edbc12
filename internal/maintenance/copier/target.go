package copier

import (
	"context"
	"fmt"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/store/sqldb"
)

// checkTarget returns ErrForeignTarget with a reason if the target holds
// anything that the source does not have.
func checkTarget(ctx context.Context, source, target sqldb.DB) error {
	return snapshot(ctx, target, func(target sqldb.Querier) error {
		return snapshot(ctx, source, func(source sqldb.Querier) error {
			merchants, err := checkIdentities(ctx, source, target, merchantsTable, "name", "created_at")
			if err != nil {
				return err
			}
			if _, err := checkIdentities(ctx, source, target, tokensTable, "hash"); err != nil {
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

// checkIdentities looks for rows of the target that the source lacks or that
// have other values in some columns there. It returns the ids of the target.
func checkIdentities(ctx context.Context, source, target sqldb.Querier, t *table, columns ...string) (map[int64]bool, error) {
	rows, err := readRows(ctx, target, t, allRows)
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
			if !ok || !equalValues(t.column(row, column), t.column(other, column)) {
				return nil, fmt.Errorf("%w: it has another row %d in %s", ErrForeignTarget, id, t.name)
			}
		}
	}
	return ids, nil
}

// checkEvents compares the target's newest event with the same event of the
// source. The marks of events differ if the histories differ before them.
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
